package filter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// A rule with unless is skipped if the named rule recognised the output.
// Otherwise all rules apply, and the worst confidence counts.
func TestUnless(t *testing.T) {
	const first = "[[rules]]\nname = \"first\"\nmatch = { exact = \"x\" }\nstrategy = { type = \"strip_noise\", patterns = ['^a'] }\n"
	const second = "[[rules]]\nname = \"second\"\nmatch = { exact = \"x\" }\nstrategy = { type = \"strip_noise\", patterns = ['^b'] }\n"
	for name, tt := range map[string]struct {
		unless, in string
		rules      []string
		confidence strategy.Confidence
	}{
		"recognised":     {"unless = \"first\"\n", "a\nc\n", []string{"first"}, strategy.Full},
		"not recognised": {"unless = \"first\"\n", "b\nc\n", []string{"first", "second"}, strategy.Fallback},
		"without":        {"", "a\nc\n", []string{"first", "second"}, strategy.Fallback},
		"both":           {"", "a\nb\nc\n", []string{"first", "second"}, strategy.Full},
		"of no rule":     {"unless = \"nosuch\"\n", "b\nc\n", []string{"first", "second"}, strategy.Fallback},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "filters.toml")
			if err := os.WriteFile(path, []byte(first+second+tt.unless), 0o600); err != nil {
				t.Fatal(err)
			}
			f, warnings := New(path)
			if len(warnings) > 0 {
				t.Fatalf("the rules cause warnings: %q", warnings)
			}
			o, err := f.Apply("x", 0, strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			var rules []string
			for _, r := range o.Rules {
				rules = append(rules, r.Rule)
			}
			if !slices.Equal(rules, tt.rules) || o.Confidence != tt.confidence {
				t.Errorf("%q, %s; want %q, %s", rules, o.Confidence, tt.rules, tt.confidence)
			}
		})
	}
}

// A rule that decodes an output may join the parts of a credential, which is
// masked too.
func TestDecodedIsMasked(t *testing.T) {
	const begin, end = `{"Action":"output","Package":"a","Test":"TestA","Output":"`, `"}` + "\n"
	in := begin + `=== RUN   TestA\n` + end + begin + `    token gh` + end + begin + `p_` + alnum2 + alnum2 + `\n` + end + begin + `--- FAIL: TestA (0.00s)\n` +
		end + `{"Action":"fail","Package":"a","Test":"TestA"}` + "\n"
	f := builtin(t)
	o, err := f.Apply("go test -json ./...", 1, strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if got := strategytest.Text(t, o.Text); strings.Contains(got, alnum2) || !strings.Contains(got, "[REDACTED:github token]") || redact.Warning(o.Found) == "" {
		t.Errorf("the joined token is not masked, or the warning %q is empty:\n%s", redact.Warning(o.Found), got)
	}
}
