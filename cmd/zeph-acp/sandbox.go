package main

import (
	"os"

	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
)

// enterSandbox plays the helper of [tools.sandbox] where this process was started
// as one: then it becomes the command, or exits. It is no cobra command, since
// each command of a session pays for it.
func enterSandbox() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Arg {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
}
