package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// If the first of two commands failed, the output is filtered as its own.
func TestApplyEarlierCommand(t *testing.T) {
	f := builtin(t)
	apply := func(script string, output []byte) string {
		got, _ := applied(t, f, script, 101, string(output))
		return got
	}
	for _, s := range samples(t, "testdata/samples") {
		if s.rule != "cargo-clippy" || s.name != "denied" {
			continue
		}
		want := apply("cargo clippy", s.output)
		if got := apply("cargo clippy && cargo test", s.output); got != want {
			t.Errorf("got %s", strategytest.Difference(want, got))
		}
		return
	}
	t.Fatal("the sample cargo-clippy/denied is missing")
}

// If no rule matches the last command, the rules of the command before it filter its
// lines.
func TestApplyBeforeUnknownCommand(t *testing.T) {
	const tests = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\nPASS\nok  \tshop\t0.01s\n"
	f := builtin(t)
	for script, want := range map[string]string{
		"go test -v ./... ; go tool cover -func=c.out": "ok  \tshop\t0.01s\nshop/a.go:7:\tAdd\t100.0%\n(5 noise lines removed)\n",
		"go test -v ./... && cat a.txt":                "ok  \tshop\t0.01s\nshop/a.go:7:\tAdd\t100.0%\n(5 noise lines removed)\n",
		"ls -la; cat a.txt":                            tests + "shop/a.go:7:\tAdd\t100.0%\n",
	} {
		got, _ := applied(t, f, script, 0, tests+"shop/a.go:7:\tAdd\t100.0%\n")
		if got != want {
			t.Errorf("%s: got %q, want %q", script, got, want)
		}
		checkAgain(t, f, script, 0, tests+"shop/a.go:7:\tAdd\t100.0%\n")
	}
}

// Lines that a pipeline selected stay, whatever their kind.
func TestApplySelectedLines(t *testing.T) {
	var passed, built, copied strings.Builder
	for i := range 60 {
		fmt.Fprintf(&passed, "--- PASS: Test%d (0.00s)\n", i)
		fmt.Fprintf(&built, "gcc -O2 -Wall -c -o f%d.o f%[1]d.c\n", i)
		fmt.Fprintf(&copied, "Setting up lib%d (1.%[1]d) ...\n", i)
	}
	f := builtin(t)
	for script, in := range map[string]string{
		"go test -v ./... | grep PASS":                  passed.String(),
		"cd x && go test -v ./... | tail -90 | grep -E": passed.String(),
		"make V=1 | grep gcc":                           built.String(),
		"apt-get install -y x | awk '/Setting/'":        copied.String(),
	} {
		if got, _ := applied(t, f, script, 0, in); got != in {
			t.Errorf("%s: got %s", script, strategytest.Difference(in, got))
		}
	}
	repeated := "a.go:1:2: SA1000: bad (staticcheck)\n" + strings.Repeat("b.go:1:2: SA1000: bad (staticcheck)\n", 9)
	if got, _ := applied(t, f, "golangci-lint run | grep SA", 0, repeated); !strings.Contains(got, "also b.go:1:2") {
		t.Errorf("diagnostics are not grouped: %s", got)
	}
}
