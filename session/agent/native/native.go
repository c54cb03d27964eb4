// Package native offers the tools whose only effect is on the session itself:
// update_plan, which shows the client what the agent is about to do, and
// compress_context, by which the model makes room in its conversation.
//
// Start with [New]. The tools touch no file, no process and no network, so
// no one has to be asked about them.
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
		}, preparePlan, updatePlan),
		executors.Bind(executors.Tool{
			Name: "compress_context", Description: strings.TrimSpace(compressText),
			Effect: executors.Internal, Kind: executors.KindThink, Phase: executors.PhaseAutonomous,
		}, prepareCompress, compress),
	}
}
