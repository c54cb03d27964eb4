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
		return "No answers are remembered for this project."
	}
	return executors.Shown(b.String()) + "\nThe line numbers refer to permissions.toml. " +
		"To be asked again, remove an entry there or run `zeph-acp permissions forget`."
}
