package integration

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakelsp"
	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// binary is the built command.
var binary string

var long = flag.Bool("long", false, "run the long forms of the tests, which take an hour")

// extent returns the extent of a test in its short form, which runs in CI, or in its
// long one.
func extent(short, whole int) int {
	if *long {
		return whole
	}
	return short
}

const command = "github.com/zeph-acp/zeph-acp/cmd/zeph-acp"

func TestMain(m *testing.M) {
	if behaviour := os.Getenv(fakemcp.Behaviour); behaviour != "" {
		fakemcp.Serve(behaviour)
		return
	}
	if len(os.Args) > 2 && os.Args[1] == fakelsp.Argument {
		fakelsp.Serve(os.Args[2:])
		return
	}
	if os.Getenv(certifiedClient) != "" {
		if err := runCertifiedClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(conformanceBinary) != "" {
		if err := conformanceClient(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(machine.Tests{M: m}))
}

func run(m machine.Tests) int {
	dir, err := os.MkdirTemp("", "zeph-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if binary = os.Getenv("BINARY_UNDER_TEST"); binary != "" {
		return m.Run() // .ci/run has built it
	}
	binary = filepath.Join(dir, "zeph-acp")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-o", binary, "-trimpath", "-ldflags", "-s -w", command) // the shipped form
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if raceEnabled() {
		build = exec.Command("go", "build", "-o", binary, "-race", command)
	}
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build %s: %v\n%s", command, err, out)
		return 1
	}
	return m.Run()
}

// raceEnabled reports whether this test was built with -race.
func raceEnabled() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
