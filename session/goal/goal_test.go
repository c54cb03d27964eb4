package goal

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for typed, want := range map[string]Request{
		"":                            {},
		"pause":                       {Act: Pause},
		"stop":                        {Act: Stop},
		"resume":                      {Act: Resume},
		"resume --max-rounds 300":     {Act: Resume, Bounds: Bounds{MaxRounds: 300}},
		"--max-rounds 300 resume":     {Act: Resume, Bounds: Bounds{MaxRounds: 300}},
		"resume --until make":         {Act: Resume, Until: "make"},
		"Pause the music":             {Act: Set, Text: "Pause the music"},
		"resume the work on the docs": {Act: Set, Text: "resume the work on the docs"},
		"fix the tests":               {Act: Set, Text: "fix the tests"},
		"fix\nall -- of it":           {Act: Set, Text: "fix\nall -- of it"},
		"-- --until is a flag":        {Act: Set, Text: "--until is a flag"},
		"--until 'go test ./...' fix": {Act: Set, Until: "go test ./...", Text: "fix"},
		"--until='make -s' fix":       {Act: Set, Until: "make -s", Text: "fix"},
		`--until "echo \"a\\b\"" fix`: {Act: Set, Until: `echo "a\b"`, Text: "fix"},
		"--until make\nfix it":        {Act: Set, Until: "make", Text: "fix it"},
		"--max-minutes=5 --max-tokens 1000 --max-rounds 7 fix": {Act: Set, Text: "fix", Bounds: Bounds{MaxMinutes: 5, MaxTokens: 1000, MaxRounds: 7}},
	} {
		got, err := Parse(typed)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Parse(%q): %v, (-want +got)\n%s", typed, err, diff)
		}
	}
	for typed, want := range map[string]string{
		"--until make":          "text of the goal is missing",
		"--until":               "--until: the value is missing",
		"--until 'make":         "the quote ' has no end",
		"--until '' fix":        "the value is empty",
		"--max-rounds many fix": `--max-rounds: want a number above 0, got "many"`,
		"--max-rounds 0 fix":    "want a number above 0",
		"--budget 3 fix":        "unknown flag --budget",
		"resume --budget 3":     "unknown flag --budget",
		"resume --until make x": "`resume` takes no text",
	} {
		if got, err := Parse(typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %+v, %v, want an error with %q", typed, got, err, want)
		}
	}
}

// FuzzParse checks that Parse reads what String writes.
func FuzzParse(f *testing.F) {
	f.Add("fix it", "go test ./...", 3)
	f.Add("--until", `echo 'a' "b\"`, 0)
	f.Fuzz(func(t *testing.T, text, until string, rounds int) {
		_, _ = Parse(text) // must not panic
		want := Request{Act: Set, Text: strings.TrimSpace(text), Until: until, Bounds: Bounds{MaxRounds: max(rounds, 0)}}
		if want.Text == "" || strings.TrimSpace(until) == "" {
			return
		}
		got, err := Parse(want.String())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Parse(%q): %v, (-want +got)\n%s", want, err, diff)
		}
	})
}

func TestParseVerdict(t *testing.T) {
	for answer, want := range map[string]Verdict{
		"MET":                              {Finding: IsMet},
		"met.":                             {Finding: IsMet},
		"**MET**":                          {Finding: IsMet},
		"MET: all tests pass":              {Finding: IsMet},
		"\n\nMET\nEverything is done.":     {Finding: IsMet},
		"NOT MET: the parser fails":        {Why: "the parser fails"},
		"Not met - two files\nare missing": {Why: "two files"},
		"`NOT MET: a.`":                    {Why: "a"},
		"NOT MET:\nthe second\nfile":       {Why: "the second file"},
		"BLOCKED: a password":              {Finding: IsBlocked, Why: "a password"},
		"The file is there, with both lines.\n\nMET": {Finding: IsMet},
		"I looked.\n> NOT MET: no test for it\n":     {Why: "no test for it"},
	} {
		if got, ok := ParseVerdict(answer); !ok || got != want {
			t.Errorf("ParseVerdict(%q) = %+v, %v, want %+v", answer, got, ok, want)
		}
	}
	for _, answer := range []string{
		"", " \n", "yes", "MET in part", "METADATA", "NOT METADATA", "NOT MET", "BLOCKED", "BLOCKED: …", "NOT MET: ...",
		"The goal is MET", "It is done.\nWell done.",
	} {
		if got, ok := ParseVerdict(answer); ok {
			t.Errorf("ParseVerdict(%q) = %+v, want no verdict", answer, got)
		}
	}
}

func FuzzParseVerdict(f *testing.F) {
	f.Add("NOT MET: a\nb")
	f.Add("**met**")
	f.Fuzz(func(t *testing.T, answer string) {
		v, ok := ParseVerdict(answer)
		if ok && (v.Finding == IsMet) != (v.Why == "") {
			t.Errorf("%q: %+v", answer, v)
		}
		if strings.Contains(v.Why, "\n") || len([]rune(v.Why)) > maxReason+1 {
			t.Errorf("%q: the reason is %q", answer, v.Why)
		}
	})
}

// Three checks that find the same, without a changed file in between, are no progress.
func TestChecked(t *testing.T) {
	type check struct {
		why, output string
		changed     bool
	}
	for name, tt := range map[string]struct {
		checks []check
		want   int // the check that ends the work; 0 for none
	}{
		"the same":          {[]check{{"a", "x", true}, {"a", "x", false}, {"A.", "x", false}}, 3},
		"another reason":    {[]check{{"a", "x", false}, {"a", "x", false}, {"b", "x", false}, {"b", "x", false}}, 0},
		"another output":    {[]check{{"a", "x", false}, {"a", "y", false}, {"a", "x", false}, {"a", "x", false}}, 0},
		"a changed file":    {[]check{{"a", "x", false}, {"a", "x", false}, {"a", "x", true}, {"a", "x", false}}, 0},
		"the same after it": {[]check{{"a", "x", false}, {"a", "x", true}, {"a", "x", false}, {"a", "x", false}}, 4},
	} {
		g, got := Goal{}, 0
		for i, c := range tt.checks {
			if !g.Checked(c.why, c.output, c.changed) && got == 0 {
				got = i + 1
			}
		}
		if got != tt.want {
			t.Errorf("%s: the work ends at check %d, want %d", name, got, tt.want)
		}
	}
}

// The bounds count from the last start of the work.
func TestExceeded(t *testing.T) {
	g := New(Request{Text: "x", Bounds: Bounds{MaxMinutes: 5}}, Bounds{MaxRounds: 10, MaxMinutes: 120, MaxTokens: 1000})
	for _, step := range []struct {
		used Used
		want string
	}{
		{Used{9, 999, 4 * time.Minute}, ""},
		{Used{10, 999, 4 * time.Minute}, "10 rounds (agent.goal.max_rounds)"},
		{Used{9, 999, 5 * time.Minute}, "5 minutes (--max-minutes)"},
		{Used{9, 1000, 0}, "1,000 tokens (agent.goal.max_tokens)"},
	} {
		g.Used = step.used
		if got := g.Exceeded(); !strings.Contains(got, step.want) || (got == "") != (step.want == "") {
			t.Errorf("%+v: %q, want %q", step.used, got, step.want)
		}
	}
	g.Used = Used{Rounds: 10}
	g.Resume(Request{Bounds: Bounds{MaxRounds: 20}})
	g.Used.Rounds = 29
	if got := g.Exceeded(); got != "" || g.Status != Running {
		t.Errorf("after a resume: %q, %s", got, g.Status)
	}
	g.Used.Rounds++
	if got := g.Exceeded(); !strings.Contains(got, "20 rounds (--max-rounds)") {
		t.Errorf("the bound of the resume: %q", got)
	}
}
