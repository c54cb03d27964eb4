package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/session"
)

// guardFeature blocks what no rule can allow. For namesForbidden see [permission.Guard].
func (b *sessionBuilder) guardFeature(box *sandbox.Box, namesForbidden func(text string) bool) Feature {
	guard := &permission.Guard{
		Policy: b.policy, Roots: b.dirs.files, Commands: b.dirs.roots, Home: b.dirs.home, AgentFiles: b.dirs.roots.HiddenWith,
		NamesForbidden: namesForbidden, Boxed: box.Ready,
	}
	return Feature{Name: "guard", Link: guard.Middleware, OwnCalls: true}
}

// newPermission returns the link that decides and asks.
func (b *sessionBuilder) newPermission(sh *sessionShell) *permission.Permission {
	return &permission.Permission{
		Policy: b.policy, Roots: b.dirs.files, Home: b.dirs.home, Boxed: sh.box.Ready, InTerminal: sh.HasTerminal,
		Mode: b.session.Mode, Approver: b.approver(), Arbiter: b.models.arbiter, Warn: b.session.Warn,
		Remembered: b.app.Answers.Project(b.dirs.roots.Cwd(), b.dirs.roots.Dirs()[1:]...),
		NoBash:     !shell.HasBash(), ScheduledTask: b.session.Unattended,
	}
}

// permissionFeature decides about calls by rules, mode, remembered answers and the user.
func (b *sessionBuilder) permissionFeature(p *permission.Permission) Feature {
	return Feature{
		Name: "permission", Link: p.Middleware, OwnCalls: true, BeforeTurn: b.policy.Renew,
		Builtins: []session.Builtin{{
			Name: "permissions", Description: "Show the remembered answers of this project",
			Run: func(context.Context, string) string { return remembered(p.Remembered) },
		}},
	}
}

// remembered describes the remembered answers that apply to the session.
func remembered(of *answers.Project) string {
	entries, err := of.Entries()
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
