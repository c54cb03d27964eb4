package subagent

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
)

// builtIn are the types that every session has. An entry of the same name replaces one.
var builtIn = []Type{
	{Name: general, Description: "any task"},
	{
		Name: "explore", Description: "only reads; finds and explains code", readsFiles: true,
	},
}

// general is the type of a task that names none.
const general = "general"

// projectDirs are the directories of a repository with one file for each type.
var projectDirs = []string{".zeph/agents", ".claude/agents"}

// Limits on the files of types.
const (
	maxTypes       = 50
	maxFile        = 64 << 10 // bytes
	maxDescription = 200      // bytes that the main model sees
)

// parse reads the file of a type. Its warnings name the parts that have no effect.
func parse(name, text string, known []executors.Tool) (t Type, warnings []string, err error) {
	t, warnings, err = read(name, text, known)
	if err == nil && !typeName.MatchString(t.Name) {
		return t, nil, fmt.Errorf("its name %q %s", t.Name, badName)
	}
	return t, warnings, err
}

// read is parse without a check of the name.
func read(name, text string, known []executors.Tool) (t Type, warnings []string, err error) {
	head, body, err := frontmatter.Split(text)
	switch {
	case err != nil:
		return t, nil, err
	case head == nil:
		return t, nil, errors.New("it has no front matter with a name and a description")
	case len(text) > maxFile:
		return t, nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	t = Type{
		Name: head["name"].Text(), Description: head["description"].Text(), Prompt: strings.TrimSpace(body),
		Model: head["model"].Text(), file: name,
	}
	if t.Model == "inherit" {
		t.Model = ""
	}
	var unknown []string
	if written, ok := head["tools"]; ok && written.Text() != "*" {
		t.Tools, unknown = translateTools(written.List(), known)
		if t.Tools == nil {
			t.Tools = []string{} // no tools, and not all
		}
	}
	var left []string
	t.except, left = translateTools(head["disallowedTools"].List(), known)
	if len(left) > 0 { // it would get more than its author meant
		return t, nil, fmt.Errorf("its disallowedTools name tools that do not exist here: %s", strings.Join(left, ", "))
	}
	switch kind := head["isolation"].Text(); kind {
	case "":
	case "worktree":
		t.Worktree = true
	default: // it would work in the project itself, which its author did not want
		return t, nil, fmt.Errorf("its isolation %q is unknown; worktree is the only one", kind)
	}
	if len(unknown) > 0 {
		warnings = append(warnings, fmt.Sprintf("its tools %s do not exist here, or name only some of the calls of a tool", strings.Join(unknown, ", ")))
	}
	return t, warnings, nil
}

// translateTools translates names of known tools. Names that cannot be translated are in unknown.
func translateTools(names []string, known []executors.Tool) (tools, unknown []string) {
	for _, name := range names {
		if ours, ok := frontmatter.Tools(name, known); ok {
			tools = append(tools, ours...)
		} else {
			unknown = append(unknown, name)
		}
	}
	return tools, unknown
}

// offers reports whether a sub-agent of the type is offered a tool.
func (t Type) offers(tool executors.Tool) bool {
	if frontmatter.MatchesTool(t.except, tool.Name) {
		return false
	}
	if t.readsFiles && !tool.ReadsFiles() {
		return tool.Is(executors.ReadsStored)
	}
	return t.Tools == nil || frontmatter.MatchesTool(t.Tools, tool.Name) || tool.Is(executors.ReadsStored)
}

// writes reports whether a sub-agent of the type can change anything with these tools.
func (t Type) writes(tools []executors.Tool) bool {
	return slices.ContainsFunc(tools, func(tool executors.Tool) bool {
		return t.offers(tool) && !tool.Effect.InternalOnly() && (tool.Effect == 0 || tool.Effect.Has(executors.Mutates))
	})
}

// modelLine describes the type to the main model.
func (t Type) modelLine() string {
	if t.Description == "" {
		return "- " + t.Name
	}
	return "- " + t.Name + ": " + shortened(executors.Shown(t.Description), maxDescription)
}

// markdown describes the type to people, in Markdown. Texts of the repository are code spans,
// so that a link in them is not rendered.
func (t Type) markdown() string {
	span := func(text string) string { return executors.Quoted(executors.WholeLine(executors.Shown(text))) }
	about, tools := "no description", "all tools"
	if text := shortened(t.Description, maxDescription); text != "" {
		about = span(text)
	}
	switch {
	case t.readsFiles:
		tools = "tools that read files"
	case len(t.Tools) > 0:
		tools = span(strings.Join(t.Tools, ", "))
	case t.Tools != nil:
		tools = "no tools"
	}
	if len(t.except) > 0 {
		tools += " except " + span(strings.Join(t.except, ", "))
	}
	facts := []string{about, tools}
	if t.Model != "" {
		facts = append(facts, "model "+t.Model)
	}
	if t.Worktree {
		facts = append(facts, "in a worktree")
	}
	if t.file != "" {
		facts = append(facts, span(t.file))
	}
	return "- `" + t.Name + "`: " + strings.Join(facts, "; ")
}

// shortened returns a text on one line, truncated to limit bytes.
func shortened(s string, limit int) string {
	return line.Truncate(line.Join(s), limit)
}
