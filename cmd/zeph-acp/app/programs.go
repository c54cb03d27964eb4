package app

import (
	"os"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/program"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/process"
)

// Programs returns the runner of the programs that zeph-acp starts for itself, such as git.
func Programs(cfg config.Config, reaper *process.Reaper) *program.Runner {
	return &program.Runner{Env: shell.Env(os.Environ(), localShell(cfg).Block), Reaper: reaper}
}
