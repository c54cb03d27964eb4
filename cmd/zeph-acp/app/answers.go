package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Permissions describes the remembered answers that apply to the session, for
// /permissions.
func (st *sessionTools) Permissions(context.Context, string) string {
	entries, err := st.answers.Entries()
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "No stored answer counts, since the file has a mistake: %s\n", err)
	}
	for _, e := range entries {
		answer, place := "allow", "in this session"
		if e.Answer == executors.Deny {
			answer = "reject"
		}
		if e.Line > 0 {
			place = fmt.Sprintf("line %d", e.Line)
		}
		fmt.Fprintf(&b, "- %s %s %s, %s\n", answer, e.Kind, executors.Quoted(executors.WholeLine(e.Covers)), place)
	}
	if b.Len() == 0 {
		return "No answer is remembered for this project."
	}
	return executors.Shown(b.String()) + "\nThe lines are those of permissions.toml. " +
		"Remove an entry there, or run `zeph-acp permissions forget`, and you are asked again."
}
