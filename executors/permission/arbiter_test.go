package permission

import (
	"context"
	"errors"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// arbiter decides the same about all calls and counts them.
type arbiter struct {
	decision executors.Decision
	asked    *int
	end      func()
}

func (a arbiter) Decide(context.Context, *executors.Call, string) (executors.Decision, string) {
	*a.asked++
	if a.end != nil {
		a.end()
	}
	return a.decision, "the reason"
}

func TestArbiter(t *testing.T) {
	deletion := func() *executors.Call {
		c := file("edit", root+"/a")
		c.Card.Kind = executors.KindDelete
		return c
	}
	gated := func() *executors.Call {
		c := bash("make")
		c.Ask = []string{"a gate asks"}
		return c
	}
	tests := []struct {
		name     string
		mode     string
		decision executors.Decision
		call     *executors.Call
		judged   int // questions to the arbiter
		asked    int // questions to the user
		ran      bool
		rule     string
	}{
		{"allowed", "auto-judge", Allow, bash("make"), 1, 0, true, "auto-judge: the reason"},
		{"denied", "auto-judge", Deny, bash("make"), 1, 0, false, "auto-judge: the reason"},
		{"unsure", "auto-judge", Ask, bash("make"), 1, 1, false, ""},
		{"another mode", "auto", Allow, bash("make"), 0, 1, false, ""},
		{"edits need no judge", "auto-judge", Deny, file("edit", root+"/a"), 0, 0, true, ""},
		{"read-only commands need no judge", "auto-judge", Deny, bash("ls"), 0, 0, true, ""},
		{"a blocked command stays blocked", "auto-judge", Allow, bash("sudo make"), 0, 0, false, ""},
		{"a gate's reason stays with the user", "auto-judge", Allow, gated(), 0, 1, false, ""},
		{"a deletion stays with the user", "auto-judge", Allow, deletion(), 0, 1, false, ""},
		{"files of git stay with the user", "auto-judge", Allow, file("edit", root+"/.git/config"), 0, 1, false, ""},
		{"a command that deletes stays with the user", "auto-judge", Allow, bash("rm -rf x"), 0, 1, false, ""},
		{"also behind another", "auto-judge", Allow, bash("make && git push --force"), 0, 1, false, ""},
		{"a command that publishes stays with the user", "auto-judge", Allow, bash("npm publish"), 0, 1, false, ""},
		{"a command that cannot be parsed stays with the user", "auto-judge", Allow, bash("echo ("), 0, 1, false, ""},
		{"a hidden program stays with the user", "auto-judge", Allow, bash("$x"), 0, 1, false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSetup()
			s.mode = tt.mode
			s.build()
			var judged int
			s.perm.Arbiter = arbiter{decision: tt.decision, asked: &judged}
			var asked int
			s.perm.Approver = approve(func(context.Context) (string, error) { asked++; return rejectOnce, nil })
			res := s.do(t, tt.call)
			if judged != tt.judged || asked != tt.asked || res.Failed == tt.ran {
				t.Errorf("judged %d, asked %d, ran %v", judged, asked, !res.Failed)
			}
			if tt.rule != "" && tt.call.Record.Rule() != tt.rule {
				t.Errorf("rule %q", tt.call.Record.Rule())
			}
			verdicts := 0
			for _, v := range tt.call.Record.Verdicts {
				if v.Gate == executors.JudgeGate {
					verdicts++
				}
			}
			if verdicts != tt.judged {
				t.Errorf("%d verdicts on record", verdicts)
			}
			if shown := tt.call.Record.Judgement() != ""; shown != (tt.judged == 1 && tt.decision != Deny) {
				t.Errorf("the card shows %q", tt.call.Record.Judgement())
			}
		})
	}
}

// A cancel while the arbiter thinks ends the turn; the user is not asked.
func TestArbiterCancelled(t *testing.T) {
	s := newSetup()
	s.mode = "auto-judge"
	s.build()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	s.perm.Arbiter = arbiter{decision: Allow, asked: new(int), end: func() { cancel(stopped) }}
	s.perm.Approver = approve(func(context.Context) (string, error) { t.Error("asked"); return allowOnce, nil })
	call := bash("make")
	call.Record, call.Notify = &executors.Record{}, func(executors.Event) {}
	if _, err := s.chain.Execute(ctx, call); err != stopped {
		t.Error(err)
	}
}
