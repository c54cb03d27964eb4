package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
)

// The rule that divides outputs does not count where there is nothing to divide.
func TestConfidenceWithoutStreams(t *testing.T) {
	f, _ := New("")
	for command, line := range map[string]string{
		"make":         "make[1]: Entering directory '/w'\ngcc -c a.c\n",
		"npm install":  "npm warn deprecated a@1.0.0: old\n",
		"yarn install": "warning a > b@1.0.0: old\n",
		"pnpm install": "Progress: resolved 10, reused 10, downloaded 0, added 0\n",
	} {
		o, err := f.Apply(command, 0, strings.NewReader(strings.Repeat(line, 50)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, by := range o.Rules {
			names = append(names, fmt.Sprint(by.Rule, " ", by.Confidence))
		}
		o.Close()
		if o.Confidence == strategy.Fallback || len(names) == 0 || strings.Contains(strings.Join(names, ","), dividingRule) {
			t.Errorf("%s: %v by %q", command, o.Confidence, names)
		}
	}
}
