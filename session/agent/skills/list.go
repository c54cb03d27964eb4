package skills

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// list describes the skills in Markdown: each with its source, its trust and its state.
func (s *Set) list() string {
	s.mu.Lock()
	all := s.all
	s.mu.Unlock()
	if len(all) == 0 {
		return "There are no skills. A skill is a directory with a SKILL.md, in skills/ of the data directory (docs/skills.md), or in " + strings.Join(ProjectDirs, ", ") +
			" of the project. `zeph-acp run` reads the project's skills only with `--skills-project`."
	}
	var b strings.Builder
	for _, skill := range all {
		trust, state := s.state(skill)
		fmt.Fprintf(&b, "- `%s` (%s): %s, %s", skill.Name, skill.source.Name, trust, state)
		if about := line.Join(skill.Description); about != "" {
			fmt.Fprintf(&b, ". %s", executors.Quoted(executors.WholeLine(executors.Shown(about)))) // a link in it must not be rendered
		}
		b.WriteByte('\n')
		if skill.Tools != nil {
			fmt.Fprintf(&b, "  - tools: %s\n", executors.Quoted(executors.WholeLine(skill.toolList())))
		}
		if len(skill.Secrets) > 0 {
			fmt.Fprintf(&b, "  - secrets: %s\n", executors.Quoted(strings.Join(skill.Secrets, ", ")))
		}
	}
	return b.String() + "\n" + usage
}

// toolList returns the allowed tools of a skill that restricts them.
func (s Skill) toolList() string { return cmp.Or(strings.Join(s.Tools, ", "), "no tool") }

// state returns the level of trust of a skill, and why it can be used or not.
func (s *Set) state(skill Skill) (trust, state string) {
	trust = s.options.level(skill.Name)
	if trust == blocked {
		return trust, "not offered"
	}
	if !skill.source.Project {
		return trust, "offered"
	}
	subject, _, err := s.subject(skill, "")
	if err != nil {
		return "untrusted", "cannot be used: " + err.Error()
	}
	switch s.options.Desk.State(subject) {
	case approval.Approved:
		return trust, "approved"
	case approval.Changed:
		return "untrusted", "changed since your approval"
	case approval.Rejected:
		return "untrusted", "rejected"
	}
	return "untrusted", "waits for your approval"
}
