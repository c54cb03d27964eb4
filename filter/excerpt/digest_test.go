package excerpt

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

func TestDigest(t *testing.T) {
	for name, tt := range map[string]struct {
		parameters string
		exit       int
		in, want   string
		confidence strategy.Confidence
	}{
		"noise":               {`patterns = ["^a"], keep = ["2"]`, 0, "a1\na2\nb\n", "a2\nb\n", strategy.Full},
		"nothing":             {`patterns = ["^x"]`, 0, "a\n", "a\n", strategy.Fallback},
		"failed":              {`patterns = ["^a"]`, 1, "a\nerror: b\n", "error: b\n", strategy.Full},
		"failed, unknown":     {`patterns = ["^a"]`, 1, "a\nb\n", "a\nb\n", strategy.Fallback},
		"only noise":          {`patterns = ["^a"]`, 0, "a1\na2\n", "a2\n", strategy.Full},
		"last":                {`last = ["^p"]`, 0, "x\np1\np2\ny\np3\n", "x\np2\ny\np3\n", strategy.Full},
		"last, noise between": {`last = ["^p"], patterns = ["^n"]`, 0, "p1\nn\np2\ny\n", "p2\ny\n", strategy.Full},
		"lead":                {`lead = ["^get"], patterns = ["^n"]`, 0, "x\nget a\nget b\nn\nerror: y\nget c\n", "x\nget b\nerror: y\n", strategy.Full},
		"lead, order":         {`lead = ["^get"]`, 0, "get a\nx\nerror: y\n", "x\nerror: y\n", strategy.Full},
		"heads":               {`heads = ["^=="], patterns = ["^ok"]`, 0, "== a\nok\n== b\nbad\nworse\n== c\nok\n", "== b\nbad\nworse\n", strategy.Full},
		"fold":                {`fold = [{ pattern = '^old (\S+)', as = "old" }]`, 0, "old a\nx\nold b\n", "x\n... (2 old: a, b) ...\n", strategy.Full},
		"fold, first": {`fold = [{ pattern = '^old (\S+)', as = "more", first = 1 }]`, 0, "old a\nx\nold b\n", "old a\nx\n... (1 more: b) ...\n",
			strategy.Full},
		"fold, states": {`fold = [{ pattern = '^(\S+) is (\w+)' }]`, 0, "a is up\nb is up\nx\na is down\n", "x\n... (1 down: a) ...\n... (1 up: b) ...\n",
			strategy.Full},
		"fold, more of each": {`fold = [{ pattern = '^(\S+) is (\w+)(?: at (\d+))?' }]`, 0, "a is new\nx\na is up at 7\nb is up\n",
			"x\n... (2 up: a 7, b) ...\n", strategy.Full},
		"block":              {`blocks = [{ begin = "^new:", end = "^$|^=" }]`, 0, "new:\na\nb\n= c\n", "= c\n", strategy.Full},
		"block, error in it": {`blocks = [{ begin = "^new:", end = "^=" }]`, 0, "new:\na\nerror: b\n\nc\n= c\n", "error: b\n= c\n", strategy.Full},
		"block, whole": {`blocks = [{ begin = "^new:", end = "^=", whole = true }]`, 0, "new:\na\nerror: b" + strings.Repeat("b", 40) + "\n= c\n",
			"... (3 lines omitted) ...\n= c\n", strategy.Full},
		"block, without an end": {`blocks = [{ begin = "^new:", end = "^=", max = 2 }]`, 0, "new:\na\nb\nc\nd\n", "c\nd\n", strategy.Full},
		"diffstat":              {`diffstat = true`, 0, " a.go   | 3 +++\n", " a.go | 3 +\n", strategy.Full},
		"long": {`patterns = ["^a"], max_lines = 6, head = 2, tail = 2`, 0,
			"a\n" + strategytest.Numbered(1, 9) + "error: x\n" + strategytest.Numbered(10, 15),
			"line 1\nline 2\n... (7 lines omitted) ...\nerror: x\nline 10\nline 11\n... (2 lines omitted) ...\nline 14\nline 15\n", strategy.Partial},
		"long, without a match": {`patterns = ["^a"], max_lines = 6, head = 2, tail = 2`, 0, strategytest.Numbered(1, 15), strategytest.Numbered(1, 15),
			strategy.Fallback},
		"cut before": {`patterns = ["^a"]`, 0, "a\n... (3 lines omitted) ...\n", "a\n... (3 lines omitted) ...\n", strategy.Fallback},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["digest"], tt.parameters)
			run := strategy.Run{Exit: tt.exit}
			got, confidence := strategytest.Filter(t, s, run, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, run, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	for kind, tt := range map[string]map[string]string{
		"digest": {``: "empty", `patterns = ["("]`: "patterns", `last = ["("]`: "last", `fold = [{ pattern = "x", as = "y" }]`: "group",
			`fold = [{ pattern = "(x)" }]`: "as", `fold = [{ pattern = "(x)", as = "y", first = -1 }]`: "first", `blocks = [{ begin = "x" }]`: "end",
			`patterns = ["x"], head = 999`: "max_lines"},
		"build_steps": {``: "empty"},
		"terraform":   {``: "empty"},
		"kubectl":     {`patterns = ["x"], max_rows = 0`: "max_rows", `rows = 1`: `unknown key "rows"`},
	} {
		for parameters, want := range tt {
			if _, err := strategytest.Build(Strategies[kind], parameters); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", kind, parameters, err, want)
			}
		}
	}
}
