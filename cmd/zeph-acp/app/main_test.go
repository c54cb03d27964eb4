package app

import (
	"os"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestMain lets the test binary act as the helper of the sandbox: a command in a sandbox starts
// its own binary, which would otherwise run all tests again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case sandbox.Arg:
			os.Exit(sandbox.Main(os.Args[2:]))
		case sandbox.BoxArg:
			os.Exit(sandbox.BoxMain(os.Args[2:], nil))
		}
	}
	os.Exit(machine.Tests{M: m}.Run())
}
