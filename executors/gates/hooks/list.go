package hooks

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// List describes the hooks of all files, in Markdown, for /hooks.
func (s *Session) List() string {
	if !s.options.Enabled {
		return "Hooks are switched off: enabled = false in [tools.hooks]."
	}
	s.mu.Lock()
	files := s.files
	s.mu.Unlock()
	var b strings.Builder
	for _, f := range files {
		if f == nil {
			continue
		}
		state := ""
		if f.Project {
			state = ", " + string(s.options.Desk.State(s.subject(f)))
		}
		fmt.Fprintf(&b, "%s%s:\n", executors.Quoted(executors.WholeLine(f.Name)), state)
		for _, h := range f.hooks {
			fmt.Fprintf(&b, "- %s %s: %s%s\n", h.event, executors.Quoted(cmp.Or(h.match.text, "*")),
				executors.Quoted(executors.WholeLine(h.command)), h.state())
		}
		if f.note != "" {
			fmt.Fprintf(&b, "- %s\n", executors.WholeLine(f.note))
		}
	}
	return cmp.Or(executors.Shown(b.String()), "There are no hooks. docs/hooks.md lists the files that define them. "+
		"`zeph-acp run` reads the project's hooks only with `--hooks-project`.")
}

// state returns how the last run of a hook ended.
func (h *hook) state() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.broken != "":
		return " (" + executors.WholeLine(h.broken) + ")"
	case h.last.Event == "":
		return ", not run yet"
	case h.last.Error != "":
		return ", last run failed: " + executors.WholeLine(h.last.Error)
	case h.last.Decision != "":
		return fmt.Sprintf(", last run: %s after %d ms", h.last.Decision, h.last.DurationMS)
	}
	return fmt.Sprintf(", last run: no objection after %d ms", h.last.DurationMS)
}
