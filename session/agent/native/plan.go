package native

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// planInput is a plan as the schema describes it; its limits are not checked
// again.
type planInput struct {
	Entries []planEntry `json:"entries" jsonschema:"maxItems=100"`
}

type planEntry struct {
	Content  string `json:"content"`
	Status   string `json:"status,omitempty" jsonschema:"enum=pending,enum=in_progress,enum=completed"`
	Priority string `json:"priority,omitempty" jsonschema:"enum=high,enum=medium,enum=low"`
}

const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
)

// maxContent is the longest step that is shown in full, in characters: a step
// is one line of a list.
const maxContent = 300

func preparePlan(_ context.Context, _ *executors.Call, in *planInput) (executors.Card, error) {
	plan, err := in.plan()
	title := fmt.Sprintf("Update the plan (%s)", quantity.Count(len(plan.Entries), "step"))
	switch len(plan.Entries) {
	case 0:
		title = "Clear the plan"
	case 1:
		title = "Update the plan (1 step)"
	}
	return executors.Card{Title: title, Kind: executors.KindThink}, err
}

// updatePlan sends the plan to the client, which replaces the previous one.
func updatePlan(_ context.Context, call *executors.Call, in *planInput) (executors.Result, error) {
	plan, err := in.plan()
	if err != nil {
		return executors.FailWith(err), nil
	}
	call.Notify(executors.Event{Plan: &plan})
	done := 0
	for _, e := range plan.Entries {
		if e.Status == completed {
			done++
		}
	}
	return executors.Result{Text: progress(plan.Entries), Raw: map[string]int{"steps": len(plan.Entries), "completed": done}}, nil
}

// plan returns the input in the form that clients show, with defaults filled
// in.
func (in planInput) plan() (executors.Plan, error) {
	plan := executors.Plan{Entries: make([]executors.PlanEntry, len(in.Entries))}
	for i, e := range in.Entries {
		content := oneLine(e.Content)
		if content == "" {
			return plan, executors.Failuref(executors.InvalidParameters, "update_plan: entries[%d].content is empty", i).
				Hint("Say in a few words what the step is, or leave the entry out.")
		}
		plan.Entries[i] = executors.PlanEntry{
			Content: content, Status: cmp.Or(e.Status, pending), Priority: cmp.Or(e.Priority, "medium"),
		}
	}
	return plan, nil
}

// oneLine returns a text on one line without control characters and changes of
// direction, truncated if it is long.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
	return line.TruncateRunes(line.Join(s), maxContent)
}

// progress returns a line with the number of completed steps and the current
// step: the first one in progress, or else the first pending one.
func progress(entries []executors.PlanEntry) string {
	done, now, next := 0, "", ""
	for _, e := range entries {
		switch e.Status {
		case completed:
			done++
		case inProgress:
			now = cmp.Or(now, e.Content)
		default:
			next = cmp.Or(next, e.Content)
		}
	}
	text := fmt.Sprintf("Plan updated: %d of %d done", done, len(entries))
	switch {
	case len(entries) == 0:
		return "Plan cleared."
	case now != "":
		return text + ", now: " + now
	case next != "":
		return text + ", next: " + next
	}
	return text + "."
}
