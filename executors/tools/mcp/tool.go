package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// maxDescription bounds the description of a tool, in characters.
const maxDescription = 1024

// tool is a tool of a server.
type tool struct {
	name    string         // as the server has it
	title   string         // one line for people; may be empty
	offered executors.Tool // without a name, which depends on the session
	problem string         // the reason for not offering it, or empty
	pin     string         // the text of the definition that the user approves
}

// newTool reads the definition of a tool of a server.
func newTool(e Server, t *sdk.Tool) tool {
	out := tool{name: t.Name, title: oneLine(t.Title)}
	if out.title == "" && t.Annotations != nil {
		out.title = oneLine(t.Annotations.Title)
	}
	checked, offered, err := inputSchema(t.InputSchema)
	if out.problem = problemOf(t, err); out.problem != "" {
		return out
	}
	out.offered = executors.Tool{
		Server: e.Name, Act: "Call", Description: describe(e.Name, t), Schema: checked, ModelSchema: offered, Kind: executors.KindOther,
	}
	out.pin = out.definition()
	if e.Trust == trusted && t.Annotations != nil && t.Annotations.ReadOnlyHint {
		out.offered.Effect, out.offered.Kind = executors.Reads, executors.KindRead
	}
	return out
}

// problemOf returns the reason for not offering a tool, or "". wrong is the error of its
// schema.
func problemOf(t *sdk.Tool, wrong error) string {
	switch {
	case t.Name == "":
		return "it has no name"
	case len(t.Name) > maxToolName:
		return fmt.Sprintf("its name is longer than %d bytes", maxToolName)
	case mistake(t) != "":
		return "its definition cannot be read: " + mistake(t)
	case wrong != nil:
		return wrong.Error()
	}
	return ""
}

// maxToolName bounds the name of a tool as the server has it, in bytes.
const maxToolName = 512

// describe returns the description of a tool for models, marked as the server's words.
func describe(server string, t *sdk.Tool) string {
	text := t.Description
	if strings.TrimSpace(text) == "" {
		text = t.Title
	}
	text = line.TruncateRunes(strings.TrimSpace(stripInvisible(text)), maxDescription)
	return strings.TrimSpace(executors.ServerMark(server) + " " + text)
}

// stripInvisible returns a text without invisible characters, which people miss and models
// read.
func stripInvisible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// oneLine returns a text on one line, bounded.
func oneLine(text string) string {
	return line.TruncateRunes(line.Join(stripInvisible(text)), 200)
}

// definition returns the text of a tool that the user approves: all parts that
// influence the model.
func (t tool) definition() string {
	raw, err := json.MarshalIndent(struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"schema"`
	}{t.name, t.offered.Description, t.offered.Schema}, "", "  ")
	if err != nil { // the schema is valid JSON
		return t.name
	}
	return string(raw) + "\n"
}
