package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
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
	switch {
	case t.Name == "":
		out.problem = "it has no name"
		return out
	case len(t.Name) > maxToolName:
		out.problem = fmt.Sprintf("its name is longer than %d bytes", maxToolName)
		return out
	case mistake(t) != "":
		out.problem = "its definition cannot be read: " + mistake(t)
		return out
	case err != nil:
		out.problem = err.Error()
		return out
	}
	out.offered = executors.Tool{
		Server: e.Name, Description: describe(e.Name, t), Schema: checked, ModelSchema: offered, Kind: executors.KindOther,
	}
	out.pin = out.definition()
	if e.Trust == trusted && t.Annotations != nil && t.Annotations.ReadOnlyHint {
		out.offered.Effect, out.offered.Kind = executors.Reads, executors.KindRead
	}
	return out
}

// maxToolName bounds the name of a tool as the server has it, in bytes.
const maxToolName = 512

// describe returns the description of a tool for models, marked as the server's words.
func describe(server string, t *sdk.Tool) string {
	text := t.Description
	if strings.TrimSpace(text) == "" {
		text = t.Title
	}
	text = executors.TruncateRunes(strings.TrimSpace(stripInvisible(text)), maxDescription)
	return strings.TrimSpace(fmt.Sprintf("(MCP server %s) %s", server, text))
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
	return executors.TruncateRunes(strings.Join(strings.Fields(stripInvisible(text)), " "), 200)
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
