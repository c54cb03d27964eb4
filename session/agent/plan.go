package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// planTool is the tool by which a model keeps its plan.
const planTool = "update_plan"

// maxPlan bounds a plan in a digest, in bytes.
const maxPlan = 4 << 10

// planText is the plan that a call of planTool makes; empty if nothing of it is
// open. It is not ok if the input is none.
func planText(input []byte) (text string, ok bool) {
	var in struct {
		Entries []struct{ Content, Status string } `json:"entries"`
	}
	if json.Unmarshal(input, &in) != nil {
		return "", false
	}
	var b strings.Builder
	open := false
	for _, e := range in.Entries {
		open = open || e.Status != "completed"
		fmt.Fprintf(&b, "- [%s] %s\n", cmp.Or(e.Status, "pending"), strings.Join(strings.Fields(e.Content), " "))
	}
	if !open {
		return "", true
	}
	return shortened(strings.TrimSpace(b.String()), maxPlan), true
}
