// Package prompt writes the system prompt of a session: who the agent is, how it
// works, where it is, which skills the user has, and what the project's own files
// say of how to work on it.
//
// Start with [System], and [Read] for what it gets of the project. It is the same
// for all turns of a conversation, so that the provider's cache holds: what
// changes meanwhile, such as the mode, goes in front of a prompt of the user's
// ([Mode]) and never into this text. What comes from the project is bounded,
// marked as such, and cannot end the mark.
//
// Why no text/template? It calls methods by name, and so the linker must keep
// every exported method of every type: the binary would grow by 15 MiB.
//
// Why is there neither date nor branch? Both change while a conversation goes on,
// and each is one command away for the few prompts that need them.
package prompt

import (
	_ "embed"
	"strings"
)

//go:embed system.md
var text string

//go:embed rules.md
var rulesText string

// Facts is what the system prompt says about a session.
type Facts struct {
	Dirs   []Dir  // the first is the working directory
	OS     string // as GOOS names it
	Shell  string // e.g. "bash"
	Rules  []Rule
	Skills []Skill
	// NoTools says that the model has none.
	NoTools bool
}

// Dir is a directory of the session.
type Dir struct {
	Path string   // absolute
	Seen []string // what it is by the files in it, such as "go.mod"
}

// Skill is what the model is told of a skill before it loads it.
type Skill struct {
	Name, Description string // one line each
}

// Bounds of the list of skills: all of it is in every request.
const (
	maxSkills      = 50
	maxDescription = 200 // characters
)

// System returns the system prompt.
func System(f Facts) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(text))
	b.WriteString("\n\nWhere you are:\n- Working directory: " + f.Dirs[0].show() + ". Relative paths start here.\n")
	for _, dir := range f.Dirs[1:] {
		b.WriteString("- Also open: " + dir.show() + "\n")
	}
	b.WriteString("- Operating system: " + f.OS + "; commands run in " + f.Shell + ".\n- You may touch files only inside these directories.\n")
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
	return b.String()
}

func (d Dir) show() string {
	path := oneLine(d.Path, maxPath)
	if len(d.Seen) == 0 {
		return path
	}
	return path + " (" + strings.Join(d.Seen, ", ") + ")"
}

func writeSkills(b *strings.Builder, skills []Skill) {
	if len(skills) == 0 {
		return
	}
	b.WriteString("\nSkills of the user; load_skill gives what one says. Load one before work that it is for:\n")
	for _, s := range skills[:min(len(skills), maxSkills)] {
		b.WriteString("- " + oneLine(s.Name, maxDescription))
		if about := oneLine(s.Description, maxDescription); about != "" {
			b.WriteString(": " + about)
		}
		b.WriteByte('\n')
	}
}
