// Package catalogue lists every tool that zeph-acp has, with all that is true of it. Configuration
// and importers look tools up here; a session's own list is the Tools of its chain.
//
// A new tool adds one line to [Tools], and one to the composite of sessions in package app.
package catalogue

import (
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/executors/tools/websearch"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// Tools returns the tools of a session whose configuration enables all of them. The caller must not
// change them.
var Tools = sync.OnceValue(func() []executors.Tool {
	return executors.NewDynExecutor(
		shell.New(shell.Local{}, "", setting.Default[shell.Config]()),
		files.New(nil, nil, setting.Default[files.Config](), nil),
		web.New(setting.Default[web.Config]()),
		websearch.Catalogue(),
		diagnostics.New(shell.Local{}, nil, setting.Default[diagnostics.Config]()),
		(&overflow.Overflow{}).Tools(),
		native.New(),
		question.New(setting.Default[question.Config]()),
		subagent.Catalogue(),
		skills.Catalogue(),
		(&memory.Memory{}).Catalogue(),
		schedule.Catalogue(),
		(&native.ExitPlan{}).Catalogue(),
	).Tools()
})

// Known returns the tools that a session may have, besides the tools that MCP servers offer. The
// caller must not change them.
var Known = sync.OnceValue(func() []executors.Tool { return slices.Concat(Tools(), mcp.ResourceTools()) })
