// Package native offers the tools that act only on the session. update_plan shows the
// client the agent's next steps. compress_context lets the model make room in its
// conversation. exit_plan lets it ask the user to leave the mode architect.
//
// Start with [New] and [ExitPlan]. The tools touch no file, process or network, so they need
// no permission.
package native

import (
	_ "embed"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

var (
	//go:embed update_plan.md
	planText string
	//go:embed compress_context.md
	compressText string
)

// New returns the native tools of a session.
func New() executors.Registry {
	return executors.Registry{
		executors.Bind(executors.Tool{
			Name: "update_plan", Description: strings.TrimSpace(planText),
			Effect: executors.Internal | executors.Idempotent, Kind: executors.KindThink,
			Names: executors.Names{Claude: "TodoWrite"}, Traits: executors.ShowsPlan,
		}, preparePlan, updatePlan),
		executors.Bind(executors.Tool{
			Name: "compress_context", Description: strings.TrimSpace(compressText),
			Effect: executors.Internal, Kind: executors.KindThink, Phase: executors.PhaseAutonomous,
		}, prepareCompress, compress),
	}
}
