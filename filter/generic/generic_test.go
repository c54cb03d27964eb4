package generic

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

func TestGenericStrategies(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, parameters string
		run              strategy.Run
		in, want         string
		confidence       strategy.Confidence
	}{
		"strip_noise":          {"strip_noise", `patterns = ["^a"]`, strategy.Run{}, "a1\nb\n\na2\n\nc\n", "b\n\nc\n", strategy.Full},
		"strip_noise, nothing": {"strip_noise", `patterns = ["^x"]`, strategy.Run{}, "a\n", "a\n", strategy.Fallback},
		"strip_noise, keep":    {"strip_noise", `patterns = ["^a"], keep = ["2$"]`, strategy.Run{}, "a1\na2\n", "a2\n", strategy.Full},
		"truncate, short": {"truncate", `max_lines = 5, head = 1, tail = 1`, strategy.Run{}, strategytest.Numbered(1, 5),
			strategytest.Numbered(1, 5), strategy.Fallback},
		"truncate": {"truncate", `max_lines = 5, head = 2, tail = 1`, strategy.Run{}, strategytest.Numbered(1, 9),
			"line 1\nline 2\n... (6 lines omitted) ...\nline 9\n", strategy.Partial},
		"truncate, an error between": {"truncate", `max_lines = 5, head = 1, tail = 1, context = 1`, strategy.Run{},
			strategytest.Numbered(1, 5) + "x.go:3: error: y\n  here\n" + strategytest.Numbered(6, 9),
			"line 1\n... (4 lines omitted) ...\nx.go:3: error: y\n  here\n... (3 lines omitted) ...\nline 9\n", strategy.Partial},
		"truncate, no tail": {"truncate", `max_lines = 3, head = 3, tail = 0`, strategy.Run{}, strategytest.Numbered(1, 9),
			"line 1\nline 2\nline 3\n... (6 lines omitted) ...\n", strategy.Partial},
		"truncate, keep": {"truncate", `max_lines = 3, head = 1, tail = 1, keep = ["5"], context = 0`, strategy.Run{}, strategytest.Numbered(1, 9),
			"line 1\n... (3 lines omitted) ...\nline 5\n... (3 lines omitted) ...\nline 9\n", strategy.Partial},
		"truncate, few lines": {"truncate", `max_lines = 5`, strategy.Run{}, strategytest.Numbered(1, 9),
			"line 1\nline 2\n... (4 lines omitted) ...\nline 7\nline 8\nline 9\n", strategy.Partial},
		"truncate, one line": {"truncate", `max_lines = 1`, strategy.Run{}, strategytest.Numbered(1, 9), "... (8 lines omitted) ...\nline 9\n",
			strategy.Partial},
		"truncate, few lines, head": {"truncate", `max_lines = 5, head = 1`, strategy.Run{}, strategytest.Numbered(1, 9),
			"line 1\n... (4 lines omitted) ...\n" + strategytest.Numbered(6, 9), strategy.Partial},
		"truncate, few lines, tail": {"truncate", `max_lines = 5, tail = 5`, strategy.Run{}, strategytest.Numbered(1, 9),
			"... (4 lines omitted) ...\n" + strategytest.Numbered(5, 9), strategy.Partial},
		"strip_annotated, few lines": {"strip_annotated", `patterns = ["^C"], long_output_threshold = 3`, strategy.Run{}, "C\n" + strategytest.Numbered(1, 9),
			"(1 noise lines removed)\n\nline 1\nline 2\n... (6 lines omitted) ...\nline 9\n", strategy.Partial},
		"strip_annotated, long, quiet": {"strip_annotated", `patterns = ["^C"], long_output_threshold = 5, keep_head = 1, keep_tail = 1`, strategy.Run{},
			strategytest.Numbered(1, 9), strategytest.Numbered(1, 9), strategy.Fallback},
		"keep_matching":                {"keep_matching", `patterns = ["->"]`, strategy.Run{}, "x\na -> b\ny\n", "a -> b\n", strategy.Full},
		"keep_matching, nothing":       {"keep_matching", `patterns = ["->"]`, strategy.Run{}, "x\n", "x\n", strategy.Fallback},
		"keep_matching, failed":        {"keep_matching", `patterns = ["->"]`, strategy.Run{Exit: 1}, "x\na -> b\nerror: y\n", "a -> b\nerror: y\n", strategy.Full},
		"keep_matching, more than one": {"keep_matching", `patterns = ["->"]`, strategy.Run{Mixed: true}, "x\na -> b\n", "x\na -> b\n", strategy.Fallback},
		"strip_annotated": {"strip_annotated", `patterns = ["^C"], summary_pattern = "^ *F"`, strategy.Run{},
			"C 1\nC 2\nwarning: x\n  --> y\n  F in 1 s\n", "F in 1 s\n(3 noise lines removed)\n\nwarning: x\n  --> y\n", strategy.Full},
		"strip_annotated, failed": {"strip_annotated", `patterns = ["^C"]`, strategy.Run{Exit: 1}, "C 1\nerror: x\n",
			"(1 noise lines removed)\n\nerror: x\n", strategy.Full},
		"strip_annotated, no noise": {"strip_annotated", `patterns = ["^C"]`, strategy.Run{}, "x\n", "x\n", strategy.Fallback},
		"strip_annotated, long": {"strip_annotated", `patterns = ["^C"], long_output_threshold = 5, keep_head = 1, keep_tail = 1`, strategy.Run{},
			"C\n" + strategytest.Numbered(1, 9), "(1 noise lines removed)\n\nline 1\n... (7 lines omitted) ...\nline 9\n", strategy.Partial},
		"strip_annotated, long, failed": {"strip_annotated", `patterns = ["^C"], long_output_threshold = 5, keep_head = 1, keep_tail = 1`, strategy.Run{Exit: 1},
			strategytest.Numbered(1, 9), strategytest.Numbered(1, 9), strategy.Fallback},
		"strip_annotated, only noise": {"strip_annotated", `patterns = ["^C"]`, strategy.Run{}, "C\nC\n", "(2 noise lines removed)\n", strategy.Full},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies[tt.kind], tt.parameters)
			got, confidence := strategytest.Filter(t, s, tt.run, tt.in)
			if got != tt.want || confidence != tt.confidence {
				t.Errorf("%s:\n%s\nwant %s:\n%s", confidence, got, tt.confidence, tt.want)
			}
			if again, _ := strategytest.Filter(t, s, tt.run, got); again != got {
				t.Errorf("again:\n%s\nwant:\n%s", again, got)
			}
		})
	}
}

func TestStrategyParameters(t *testing.T) {
	for kind, tt := range map[string]map[string]string{
		"strip_noise": {``: "patterns is empty", `patterns = ["("]`: "not a regular expression", `pattern = ["x"]`: `unknown key "pattern"`,
			`patterns = "x"`: "patterns"},
		"truncate": {``: "max_lines", `max_lines = 50, tail = -1`: "negative", `max_lines = 50, context = -1`: "context must be at least 0, got -1",
			`max_lines = 5, head = 6`: "are 6 lines, more than 5", `max_lines = 50, keep = ["("]`: "keep"},
		"keep_matching":   {``: "patterns is empty"},
		"strip_annotated": {`patterns = ["x"], keep_head = 100`: "keep_head", `patterns = ["x"], summary_pattern = "("`: "summary_pattern"},
	} {
		for parameters, want := range tt {
			if _, err := strategytest.Build(Strategies[kind], parameters); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, want %q", kind, parameters, err, want)
			}
		}
	}
}

// FuzzStrategies checks that filtering again changes nothing.
func FuzzStrategies(f *testing.F) {
	f.Add("a\nb\nerror: x\n"+strategytest.Numbered(1, 20), 0)
	f.Add("C\n\nC\n(2 noise lines removed)\n", 1)
	f.Add("... (3 lines omitted) ...\n"+strategytest.Numbered(1, 9), 0)
	f.Fuzz(func(t *testing.T, body string, exit int) {
		body = string(text.Sanitize([]byte(body)))
		for kind, parameters := range map[string]string{
			"strip_noise": `patterns = ["^a", "9$"]`, "truncate": `max_lines = 6, head = 2, tail = 2`, "keep_matching": `patterns = ["1", "b"]`,
			"strip_annotated": `patterns = ["^C"], summary_pattern = "^F", long_output_threshold = 6, keep_head = 2, keep_tail = 2`,
		} {
			s := strategytest.Make(t, Strategies[kind], parameters)
			got, _ := strategytest.Filter(t, s, strategy.Run{Exit: exit}, body)
			if again, _ := strategytest.Filter(t, s, strategy.Run{Exit: exit}, got); again != got && len(again) < len(got) {
				t.Errorf("%s: %q, again %q", kind, got, again)
			}
		}
	})
}
