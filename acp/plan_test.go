package acp

import (
	"encoding/json"
	"testing"
)

// A plan has the form that the client's capabilities ask for, and no other.
func TestPlanForms(t *testing.T) {
	steps := PlanUpdate{PlanID: PlanSteps, Entries: []PlanEntry{{Content: "a", Priority: "high", Status: "pending"}}}
	none, document := PlanUpdate{PlanID: PlanSteps, Entries: []PlanEntry{}}, PlanUpdate{PlanID: PlanApproved, Markdown: "# a"}
	removed := PlanRemoved{Update: UpdatePlanRemoved, PlanID: PlanApproved}
	const entries = `[{"content":"a","priority":"high","status":"pending"}]`
	for name, tt := range map[string]struct {
		update               SessionUpdate
		list, withOperations string // null: the client is sent nothing
	}{
		"steps": {steps, `{"sessionUpdate":"plan","entries":` + entries + `}`,
			`{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"steps","entries":` + entries + `}}`},
		"no steps": {none, `{"sessionUpdate":"plan","entries":[]}`, `{"sessionUpdate":"plan_removed","planId":"steps"}`},
		"document": {document, `null`, `{"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"approved","content":"# a"}}`},
		"removed":  {removed, `null`, `{"sessionUpdate":"plan_removed","planId":"approved"}`},
	} {
		for _, operations := range []bool{false, true} {
			want := tt.list
			if operations {
				want = tt.withOperations
			}
			got, err := json.Marshal(ClientCapabilities{PlanOperations: operations}.form(tt.update))
			if err != nil || string(got) != want {
				t.Errorf("%s, with operations %t: %s, %v, want %s", name, operations, got, err, want)
			}
		}
	}
}
