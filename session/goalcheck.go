package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/goal"
)

// check checks whether the goal is met. If the work goes on, next is the prompt for it: also if the user
// has added a text meanwhile, which the model has not seen.
func (r *goalRun) check(ctx context.Context) (status goal.Status, why, next string) {
	status, why, next = r.find(ctx)
	switch status {
	case goal.Met, goal.Blocked, goal.Stalled:
		if !r.inbox.Release() {
			r.inbox.Hold()
			g := r.snapshot()
			g.Reason = "the user has added a message"
			return goal.Running, "", g.Next("")
		}
	}
	return status, why, next
}

// find returns the status that a check finds.
func (r *goalRun) find(ctx context.Context) (status goal.Status, why, next string) {
	s := r.session
	s.mu.Lock()
	r.Checks++
	s.mu.Unlock()
	g := r.snapshot()
	var script agent.ScriptResult
	if g.Until != "" {
		var err error
		script, err = s.runner().RunScript(ctx, g.Text, g.Until)
		switch {
		case ctx.Err() != nil:
			return goal.Paused, causeOf(ctx), ""
		case err != nil:
			return goal.Failed, err.Error(), ""
		case script.Refused != "":
			why, _, _ := strings.Cut(script.Refused, ". ")
			return goal.Blocked, fmt.Sprintf("the command `%s` did not run: %s", g.Until, why), ""
		case script.Exit != nil && *script.Exit == 0:
			return goal.Met, fmt.Sprintf("`%s` exits with 0", g.Until), ""
		}
	}
	s.mu.Lock()
	exceeded := r.Exceeded()
	s.mu.Unlock()
	if exceeded != "" { // before another request to the model
		return goal.Limit, exceeded, ""
	}
	answer, reason, err := s.runner().Check(ctx, s.history, agent.Check{
		Instructions: goal.CheckInstructions(),
		Question:     func(work string) string { return g.Question(work, g.Until != "") },
		Accept:       func(answer string) bool { _, ok := goal.ParseVerdict(answer); return ok },
		Supervisor:   r,
	})
	switch {
	case ctx.Err() != nil:
		return goal.Paused, causeOf(ctx), ""
	case err != nil:
		return goal.Failed, "the check failed: " + err.Error(), ""
	case reason != "":
		status, why := r.ended(ctx, reason, nil)
		return status, why, ""
	}
	v, form := goal.ParseVerdict(answer)
	if !form {
		v = goal.Verdict{Why: "the check gave no clear answer"}
	}
	switch {
	case v.Finding == goal.IsBlocked:
		return goal.Blocked, v.Why, ""
	case v.Finding == goal.IsMet && g.Until == "":
		return goal.Met, "", ""
	case v.Finding == goal.IsMet, g.Until != "" && !form:
		v.Why = fmt.Sprintf("`%s` does not exit with 0", g.Until)
	}
	return r.notMet(ctx, v.Why, script)
}

// notMet says whether and how the work goes on after a check.
func (r *goalRun) notMet(ctx context.Context, why string, script agent.ScriptResult) (status goal.Status, reason, next string) {
	s := r.session
	changed, err := s.files().Changed()
	s.mu.Lock()
	r.addTime()
	progress := r.Checked(why, script.Stable, err == nil && changed[s.turnNumber] > 0)
	exceeded, g := r.Exceeded(), r.Goal
	s.mu.Unlock()
	switch {
	case !progress:
		return goal.Stalled, why, ""
	case exceeded != "":
		return goal.Limit, exceeded, ""
	}
	if err := s.runner().Say(ctx, "\n\n"+g.CheckLine()+"\n\n"); err != nil {
		return goal.Failed, err.Error(), ""
	}
	return goal.Running, "", g.Next(script.Text)
}
