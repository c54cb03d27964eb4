package failover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

func TestResume(t *testing.T) {
	cut := `{"error": "broke off", "again": true}` + "\n\n"
	for name, tt := range map[string]struct {
		scripts []string
		want    string
	}{
		"goes on": {[]string{`{"text": "Half of "}` + "\n" + cut + `{"text": "it all."}`}, "Half of  [cut] it all. .end"},
		"begins anew": {[]string{`{"text": "Half of "}` + "\n" + cut + `{"text": "Ha"}` + "\n" + `{"text": "lf of it all."}`},
			"Half of  [cut] it all. .end"},
		"says the end again": {[]string{`{"text": "So this is half of "}` + "\n" + cut + `{"text": "this is half of it all."}`},
			"So this is half of  [cut] it all. .end"},
		"says no more":        {[]string{`{"text": "Half."}` + "\n" + cut + `{"text": "Half"}`}, "Half. [cut] .end"},
		"says a little again": {[]string{`{"text": "A ha, ha"}` + "\n" + cut + `{"text": "ha, ha!"}`}, "A ha, ha [cut] ha, ha! .end"},
		"thoughts alone": {[]string{`{"thought": "hm, so"}` + "\n" + cut + `{"thought": "hm, so what"}` + "\n" + `{"text": "Hi."}`},
			"<hm, so> [cut] < what> Hi. .end"},
		"other thoughts":         {[]string{`{"thought": "hm, so"}` + "\n" + cut + `{"thought": "hm, "}` + "\n" + `{"text": "Hi."}`}, "<hm, so> [cut] Hi. .end"},
		"a call":                 {[]string{`{"text": "I run."}` + "\n" + `{"tool": "t"}` + "\n" + cut + `{"tool": "t"}`}, "I run. t() [cut] t() .tools"},
		"held back before calls": {[]string{`{"text": "I run."}` + "\n" + cut + `{"text": "I "}` + "\n" + `{"tool": "t"}`}, "I run. [cut] I  t() .tools"},
		"twice": {
			[]string{`{"text": "One."}` + "\n" + cut + `{"text": "Two."}` + "\n" + cut + `{"text": "Three."}`},
			"One. [cut] Two. ! a: broke off (the answer so far is kept: send another prompt to continue)",
		},
		"thoughts twice": {
			[]string{`{"thought": "One."}` + "\n" + cut + `{"thought": "Two."}` + "\n" + cut}, "<One.> [cut] <Two.> ! a: broke off",
		},
		"tries before it goes on": {
			[]string{`{"text": "One."}` + "\n" + cut + overloaded + `{"text": "Two."}`}, "One. [cut] [a answered 529: Overloaded. Trying again (2 of 2).] Two. .end",
		},
		"another goes on": {
			[]string{`{"text": "One."}` + "\n" + cut + `{"error": "gone", "status": 404}`, `{"text": "Two."}`}, "One. [cut] [a answered 404: gone. b:] Two. .end",
		},
		"not to be asked again": {[]string{`{"text": "One."}` + "\n" + `{"error": "bad", "status": 400}`}, "One. ! a answered 400: bad"},
		"nothing said":          {[]string{cut + cut}, "[a: broke off. Trying again (2 of 2).] ! a: broke off (tried 2 times)"},
	} {
		t.Run(name, func(t *testing.T) {
			var c llmtest.IdleClock
			if diff := cmp.Diff(tt.want, describeAnswer(scripts(t, idleClock(&c), backoff.Limits{MaxAttempts: 1}, tt.scripts...), t.Context())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// No text is repeated, wherever an answer breaks off, and whether the model
// continues or starts again.
func FuzzTrimmer(f *testing.F) {
	f.Add("The quick brown fox jumps over the lazy dog.", 9, 0, 3)
	f.Add("The quick brown fox jumps over the lazy dog.", 40, 20, 1)
	f.Add("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 20, 3, 2)
	f.Fuzz(func(t *testing.T, answer string, cut, back, size int) {
		cut = min(max(cut, 0), len(answer))
		back = min(max(back, 0), cut)
		said, rest := answer[:cut], answer[back:]
		tr := newTrimmer(said)
		var out strings.Builder
		for size = min(max(size, 1), 64); rest != ""; {
			n := min(size, len(rest))
			out.WriteString(tr.trim(rest[:n]))
			rest = rest[n:]
		}
		out.WriteString(tr.flushIfEnded(true))
		if got := said + out.String(); back == 0 && cut >= minRestart && cut <= maxCompared && got != answer {
			t.Errorf("begun anew: %q after %q", out.String(), said)
		} else if len(got) > len(answer)+cut-back {
			t.Errorf("%q is more than was sent", out.String())
		}
	})
}
