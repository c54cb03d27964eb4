// Package prompt writes the system prompt of a session: the agent's role and
// methods, its environment, the user's skills, and the project's own
// instructions.
//
// Start with [System] and [Context], and with [Read] for the input from the project. Both
// are the same for all turns of a conversation, so that the provider can cache them. A
// changing fact, such as the mode, is written in front of a user's prompt ([Mode]). Text
// from the project is limited and is enclosed in an element that it cannot end.
//
// Why two texts? A provider's cache holds up to the first difference. Everything that differs
// between projects comes after the tools, so conversations in all projects share the rest.
//
// Why no text/template? It calls methods by name, so the linker must keep every
// exported method of every type: the binary would grow by 15 MiB.
//
// Why are date and branch missing? Both change during a conversation, and a command
// returns them for the few prompts that need them.
package prompt

import (
	_ "embed"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

//go:embed system.md
var systemText string

//go:embed rules.md
var rulesText string

// Facts are the facts about a session in the system prompt.
type Facts struct {
	Dirs   []Dir  // the first is the working directory
	OS     string // a GOOS
	Shell  string // e.g. "bash"
	Rules  []Rule
	Skills []Skill
	// NoTools reports that the model has no tools.
	NoTools bool
	Advice  executors.Advice // about the tools that the prompt recommends
	// Instructions replace the built-in instructions; empty keeps them.
	Instructions string
	// Append are texts for the end, of the client and the user.
	Append []string
}

// Dir is a directory of the session.
type Dir struct {
	Path    string   // absolute
	Markers []string // the names of files in it that show its kind, such as "go.mod"
}

// Skill is the entry of a skill in the system prompt.
type Skill struct {
	Name, Description string // one line each
}

// Limits of the list of skills. Every request contains the whole list.
const (
	maxSkills       = 50
	maxDescription  = 200     // characters
	maxDescriptions = 4 << 10 // bytes of all lines with a description
)

// System returns the part of the system prompt that is the same in all projects.
func System(f Facts) string {
	text := f.Instructions
	if text == "" {
		text = f.Advice.Edit(strings.TrimSpace(systemText))
	}
	text = strings.TrimSpace(text) + "\n"
	for _, more := range f.Append {
		if more = strings.TrimSpace(more); more != "" {
			text += "\n" + more + "\n"
		}
	}
	return text
}

// Context returns the part of the system prompt about the session's directories, skills and rules.
func Context(f Facts) string {
	var b strings.Builder
	// Nothing follows the path: small models take a full stop for a part of it.
	b.WriteString("<" + contextName + ">\n- Working directory, where relative paths start: " + f.Dirs[0].show() + "\n")
	for _, dir := range f.Dirs[1:] {
		b.WriteString("- Also open: " + dir.show() + "\n")
	}
	b.WriteString("- Commands run in " + f.Shell + " on " + f.OS + ". Other files are off limits.\n")
	if f.NoTools {
		b.WriteString("- You have no tools in this session: answer from what the user shows you, and say so where that is not enough.\n")
	}
	writeSkills(&b, f.Skills)
	if len(f.Rules) > 0 {
		b.WriteString("\n" + strings.TrimSpace(rulesText) + "\n")
	}
	for _, r := range f.Rules {
		r.write(&b)
	}
	b.WriteString("</" + contextName + ">")
	return b.String()
}

// show describes the directory in one line.
func (d Dir) show() string {
	path := oneLine(d.Path, maxPath)
	if len(d.Markers) == 0 {
		return path
	}
	return path + " (" + strings.Join(d.Markers, ", ") + ")"
}

// writeSkills writes the list of skills within its limits.
func writeSkills(b *strings.Builder, skills []Skill) {
	if len(skills) == 0 {
		return
	}
	b.WriteString("\nThe user's skills; load_skill returns the text of one, invoke_skill runs one in a separate turn. Load it before work that it applies to:\n")
	used := 0
	for _, s := range skills[:min(len(skills), maxSkills)] {
		line := "- " + oneLine(s.Name, maxDescription)
		if about := oneLine(s.Description, maxDescription); about != "" && used+len(about) <= maxDescriptions {
			line += ": " + about
		}
		b.WriteString(line + "\n")
		used += len(line)
	}
}
