package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// A rule that panicked is reported as having a bug, and not as one that did not
// recognize the output.
func TestExplainPanic(t *testing.T) {
	lines := text.NewLines()
	defer lines.Close()
	var said strings.Builder
	explainer(&said)(filter.Applied{Rule: "mine", Strategy: "dedup", Confidence: strategy.Fallback, Failed: errors.New("a bug\nmain.go:7")}, lines, lines)
	if want := "rule mine (dedup): fallback, nothing changed: it panicked, which is a bug worth a report:\na bug\nmain.go:7\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}
