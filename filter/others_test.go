package filter

import (
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
