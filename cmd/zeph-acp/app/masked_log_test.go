package app

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// Messages, attributes, groups, errors and other values are masked in the log, and numbers stay.
func TestLogMasks(t *testing.T) {
	const key = "AKIA" + "Q3EGRT7WNYJ4KLM2"
	var out strings.Builder
	scan := &redact.Scanner{}
	log := slog.New(maskedHandler{slog.NewTextHandler(&out, nil), scan.Exit})
	log.With("a", key).WithGroup("g").Info("with "+key, "b", key, "err", errors.New("no "+key), "all", []string{key}, slog.Group("in", "c", key), "n", 7)
	if got := out.String(); strings.Contains(got, "Q3EGRT7WNYJ4KLM2") || strings.Count(got, "[REDACTED:aws key]") != 6 || !strings.Contains(got, "g.n=7") {
		t.Error(got)
	}
}
