package filter

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// A panic of a scan fails a test, although it only masks a line otherwise.
func init() { redact.OnPanic = func(value any) { panic(value) } }

// panicking is a strategy that drops every line until it panics.
type panicking struct {
	begin, end bool
	line       int // the line at which it panics; 0 means never
}

func (p panicking) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	if p.begin {
		panic("a bug")
	}
	return &panickingPass{p, out, 0}
}

type panickingPass struct {
	panicking
	out *text.Lines
	n   int
}

func (p *panickingPass) Line(l []byte) {
	p.out.Write(append([]byte(nil), l[:min(len(l), 1)]...))
	if p.n++; p.n == p.line {
		panic("a bug")
	}
}

func (p *panickingPass) End() strategy.Confidence {
	if p.end {
		panic("a bug")
	}
	return strategy.Full
}

// A rule that panics changes nothing: the turn continues with the result of the
// other rules, masked, and the log names the rule.
func TestPanicOfARule(t *testing.T) {
	long := manyLines(5000) + "key " + fakeKey + "\n"
	masked := strings.ReplaceAll(long, fakeKey, "[REDACTED:aws key]")
	drops := testLink(t).Filter.allRules()
	for name, bug := range map[string]panicking{
		"begin": {begin: true}, "first line": {line: 1}, "early": {line: 2000}, "last line": {line: 5001}, "end": {end: true},
	} {
		t.Run(name, func(t *testing.T) {
			bad := rule{name: "bad", match: matcher{prefix: "tool"}, strategy: bug, strategyType: "buggy"}
			for order, rules := range map[string][]rule{
				"alone": {bad}, "first": append([]rule{bad}, drops[len(drops)-1]), "last": {drops[len(drops)-1], bad},
			} {
				var log bytes.Buffer
				l := &Link{Filter: &Filter{rules: compiledRules(rules...), scan: &redact.Scanner{}}, Metrics: &Metrics{},
					Log: slog.New(slog.NewTextHandler(&log, nil))}
				full := spoolOf(t, noise(9)+long)
				res := executors.Result{Long: full, Output: &executors.Output{}}
				got, err := l.Middleware(tool{res: res}).Execute(t.Context(), &executors.Call{Card: executors.Card{Script: command.Parse("tool", command.Shell{})}})
				if err != nil {
					t.Fatalf("%s: %v", order, err)
				}
				got.Bound(1 << 30)
				warning := "[security] 1 credential masked: aws key"
				want := noise(9) + masked + warning
				if order != "alone" { // the result of the other rule stays
					want = masked + warning + "\n[shell] 5010 lines -> 5001 lines, 0.2% filtered"
				}
				if got.ForModel() != want {
					t.Errorf("%s: %d bytes, %q … %q", order, len(got.ForModel()), got.ForModel()[:100], got.ForModel()[len(got.ForModel())-200:])
				}
				if c := l.Metrics.Session(); c.Fallback != 1 || c.Masked != 1 {
					t.Errorf("%s: counted %+v, want one fallback and one masked credential", order, c)
				}
				if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "rule=bad") || !strings.Contains(text,
					"a bug") || strings.Contains(text, fakeKey) {
					t.Errorf("%s: want a warning that names the rule and its bug, and no key, in the log %s", order, text)
				}
				got.Full.Close()
			}
		})
	}
}

// noPanic fails the test if a rule panicked.
func noPanic(t testing.TB, o *Outcome) {
	t.Helper()
	for _, by := range o.Rules {
		if by.Failed != nil {
			t.Errorf("rule %s panicked: %v", by.Rule, by.Failed)
		}
	}
}
