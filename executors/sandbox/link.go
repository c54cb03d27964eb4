package sandbox

import (
	"context"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Outcome is the raw output of a tool that runs commands.
type Outcome interface {
	// Outcome returns the exit code of the command, nil if it is unknown, and
	// its stderr.
	Outcome() (exitCode *int, stderr string)
}

// Middleware adds an explanation for the model if the sandbox, and not the
// command, made a call of next fail. next runs its commands through
// [Sandbox.Wrap].
func (s *Sandbox) Middleware(next executors.Executor) executors.Executor {
	if s == nil {
		return next
	}
	return explainer{next, s}
}

type explainer struct {
	executors.Executor
	sandbox *Sandbox
}

func (e explainer) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := e.Executor.Execute(ctx, call)
	if err != nil || !res.Failed {
		return res, err
	}
	if raw, ok := res.Raw.(Outcome); ok {
		if reason, broken := setupFailure(raw.Outcome()); broken {
			failure := executors.Failuref(executors.PermanentFailure, "the sandbox could not be set up, so the command did not run: %s", reason).
				Hint("Ask the user to check [tools.sandbox] in config.toml.").Result()
			res.Failure, res.Text, res.Notes, res.Output = failure.Failure, "", nil, nil
			return res, nil
		}
	}
	res.Below(e.sandbox.hint(res.ForModel()))
	return res, nil
}
