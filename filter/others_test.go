package filter

import (
	"bytes"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// If the first of two commands failed, the output is filtered as its own.
func TestApplyEarlierCommand(t *testing.T) {
	f, _ := New("")
	apply := func(script string, output []byte) string {
		o, err := f.Apply(script, 101, bytes.NewReader(output))
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		return strategytest.Text(t, o.Text)
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
	t.Fatal("no sample")
}
