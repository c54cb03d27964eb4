package chat

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestHiddenQuestion has questions that appear while the person cannot see them.
func TestHiddenQuestion(t *testing.T) {
	for name, tt := range map[string]struct{ hide, show func(p *person) }{
		"by a list":             {func(p *person) { p.enter("/model") }, func(p *person) { p.press("enter") }},
		"by an editor":          {func(p *person) {}, func(p *person) { p.update(edited{path: "none"}) }},
		"by a suspended screen": {func(p *person) {}, func(p *person) { p.update(tea.ResumeMsg{}) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := sit(t, nil)
			p.begin()
			tt.hide(p)
			q := p.ask("rm x")
			p.wait(time.Second)
			tt.show(p)
			p.press("enter", "y")
			if got := q.given(); got != "" {
				t.Errorf("answered %q before the question was shown", got)
			}
			p.wait(time.Second)
			p.press("y")
			if got := q.given(); got != "once" {
				t.Errorf("answered %q", got)
			}
		})
	}
}
