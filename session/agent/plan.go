package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// maxPlan limits a plan in a digest, in bytes.
const maxPlan = 4 << 10

// planText returns the plan in the input of a tool that shows plans, or "" if all its steps
// are done. It reports false if the input is not a plan.
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
		fmt.Fprintf(&b, "- [%s] %s\n", cmp.Or(e.Status, "pending"), line.Join(e.Content))
	}
	if !open {
		return "", true
	}
	return line.Truncate(strings.TrimSpace(b.String()), maxPlan), true
}
