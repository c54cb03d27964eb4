package native

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// The tool exists where a plan can be approved, and offers only modes that the session may
// have.
func TestExitPlanOffered(t *testing.T) {
	ask := func(context.Context, *executors.Call, []Option) (string, error) { return "", nil }
	for name, tt := range map[string]struct {
		plan    ExitPlan
		mode    string
		options int // 0 means that the tool is not offered
	}{
		"architect":        {ExitPlan{Modes: []string{"ask", "architect", "code", "auto"}, Ask: ask}, "architect", 3},
		"no auto":          {ExitPlan{Modes: []string{"ask", "architect", "code"}, Ask: ask}, "architect", 2},
		"no way out":       {ExitPlan{Modes: []string{"ask", "architect"}, Ask: ask}, "architect", 0},
		"another mode":     {ExitPlan{Modes: []string{"architect", "code"}, Ask: ask}, "code", 0},
		"no one to answer": {ExitPlan{Modes: []string{"architect", "code"}}, "architect", 0},
	} {
		tt.plan.Mode = func() string { return tt.mode }
		if got := len(tt.plan.Tools()); got != min(1, tt.options) || got == 1 && len(tt.plan.options()) != tt.options {
			t.Errorf("%s: %d tools with %d options, want %d", name, got, len(tt.plan.options()), tt.options)
		}
	}
}

// Only an approval changes the mode, and shows the plan as approved.
func TestExitPlan(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, reason string
		err          error
		mode, want   string
	}{
		"code":      {"allow_once", "", nil, "code", "The mode is now code"},
		"auto":      {"allow_always", "", nil, "auto", "The mode is now auto"},
		"rejected":  {"reject_once", "", nil, "", "keeps planning"},
		"in words":  {"reject_once", "split step 2", nil, "", "keeps planning and says: split step 2"},
		"dismissed": {"", "", nil, "", "keeps planning"},
		"unknown":   {"yes", "", nil, "", "keeps planning"},
		"no answer": {"", "", errors.New("gone"), "", "no one answered"},
	} {
		var mode string
		e := &ExitPlan{
			Mode: func() string { return "architect" }, Modes: []string{"code", "auto"},
			SetMode: func(_ context.Context, id string) error { mode = id; return nil },
			Ask: func(_ context.Context, call *executors.Call, _ []Option) (string, error) {
				call.Record.Reason = tt.reason
				return tt.kind, tt.err
			},
		}
		approved := ""
		call := &executors.Call{
			Tool: toolExit, Input: json.RawMessage(`{"plan":"1."}`), Record: &executors.Record{},
			Notify: func(ev executors.Event) { approved = ev.Plan.Approved },
		}
		got, err := e.Execute(t.Context(), call)
		if err != nil || mode != tt.mode || !strings.Contains(got.ForModel(), tt.want) {
			t.Errorf("%s: %q in mode %q, %v", name, got.ForModel(), mode, err)
		}
		if (approved == "1.") != (tt.mode != "") {
			t.Errorf("%s: the approved plan is %q in mode %q", name, approved, mode)
		}
	}
}

// The user is asked only about a plan that has a text, and that a client shows whole.
func TestExitPlanLength(t *testing.T) {
	for plan, want := range map[string]string{
		"1. Move it.": "", " \n": "plan is empty", strings.Repeat("x", 64<<10): "",
		strings.Repeat("x", 64<<10+1): "the plan has 65537 bytes, too many for a question",
	} {
		input, err := json.Marshal(map[string]string{"plan": plan})
		if err != nil {
			t.Fatal(err)
		}
		card, err := new(ExitPlan).Prepare(t.Context(), &executors.Call{Tool: toolExit, Input: input})
		if want == "" && (err != nil || card.Said != plan) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("a plan of %d bytes: %v, want %q", len(plan), err, want)
		}
	}
}
