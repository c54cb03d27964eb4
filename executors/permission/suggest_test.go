package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// TestSuggestedRules checks that the suggested rules allow exactly the refused
// call when pasted into config.toml. There is no suggestion if no rule can
// allow it.
func TestSuggestedRules(t *testing.T) {
	web := func(url string) *executors.Call {
		return &executors.Call{Tool: "http_head", Card: executors.Card{URL: url, Kind: executors.KindFetch}}
	}
	for name, c := range map[string]struct {
		call  *executors.Call
		rules int // 0: none helps
		other *executors.Call
	}{
		"one command":                {bash("touch a"), 1, bash("touch ab")},
		"one of two":                 {bash("make | grep X"), 1, bash("make all")},
		"env":                        {bash("env | grep X"), 1, bash("env X=1 touch a")},
		"two commands":               {bash("touch a; touch b"), 2, bash("touch c")},
		"the same command twice":     {bash("make && make"), 1, nil},
		"letters of patterns":        {bash(`make 'a*b?[c]' "q\\\\"`), 1, bash(`make aXbYc "q\\\\"`)},
		"lines":                      {bash("node -e 'a\n\tb'"), 1, nil},
		"control characters":         {bash("node -e 'a\u007f'"), 0, nil},
		"a wrapped command":          {bash("timeout 5 make x"), 1, bash("timeout 5 make y")},
		"a download":                 {bash("curl https://example.com"), 0, nil},
		"a download among others":    {bash("make; wget https://example.com"), 0, nil},
		"a computed program":         {bash("$X a"), 0, nil},
		"a computed file":            {bash(`cat "$f"`), 0, nil},
		"redirected into .zeph":      {bash("echo x > .zeph/config.toml"), 0, nil},
		"what only reads, to a file": {bash("echo x > a"), 0, nil},
		"what cannot be parsed":      {bash("echo 'x"), 0, nil},
		"an edit":                    {file("edit", root+"/a[1].go"), 1, file("edit", root+"/a1.go")},
		"two files":                  {file("edit", root+"/a", root+"/b"), 2, file("edit", root+"/c")},
		"an edit of .zeph":           {file("edit", root+"/.zeph/config.toml"), 0, nil},
		"an edit of .git":            {file("edit", root+"/.git/config"), 0, nil},
		"a page":                     {web("https://example.com:444/a?b"), 1, web("https://example.org")},
		"a tool without a card":      {&executors.Call{Tool: "untold", Input: []byte(`{"a":1}`)}, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			again := func(c *executors.Call) *executors.Call {
				return &executors.Call{Tool: c.Tool, Card: c.Card, Input: c.Input}
			}
			res := newSetup().build().do(t, again(c.call))
			if res.Category() != executors.ConfirmationRequired {
				t.Fatalf("not asked about: %s", res.ForModel())
			}
			_, suggested, _ := strings.Cut(res.ForModel(), "retryable: false")
			var pasted struct {
				Tools Config `toml:"tools"`
			}
			if err := toml.Unmarshal([]byte(suggested), &pasted); err != nil {
				t.Fatalf("%v\n%s", err, suggested)
			}
			if got := len(pasted.Tools.Permissions[c.call.Tool]); got != c.rules {
				t.Fatalf("%d rules, want %d\n%s", got, c.rules, res.ForModel())
			}
			if wrong := setting.Check(pasted.Tools); len(wrong) > 0 {
				t.Errorf("setting.Check(pasted.Tools): got %v, want none", wrong)
			}
			if c.rules == 0 {
				if strings.Contains(res.ForModel(), "config.toml") && !strings.Contains(c.call.Card.Command()+strings.Join(c.call.Card.Paths, ""), "config.toml") {
					t.Errorf("sends to config.toml: %s", res.ForModel())
				}
				return
			}
			s := newSetup()
			s.cfg = pasted.Tools
			s.build()
			if got := s.outcome(t, again(c.call)); got != "allow" {
				t.Errorf("%s with\n%s", got, suggested)
			}
			if c.other != nil && s.outcome(t, c.other) != "ask" {
				t.Errorf("another call is allowed too, by\n%s", suggested)
			}
		})
	}
}

// TestSuggestedRulesAboveTheOthers: if an earlier rule matches, the suggested
// rules go above it, where they allow exactly that call.
func TestSuggestedRulesAboveTheOthers(t *testing.T) {
	for name, c := range map[string]struct {
		rule        Rule
		call, other *executors.Call
	}{
		"a rule that asks":                  {Rule{Pattern: "touch *", Action: Ask}, bash("touch a"), bash("touch ab")},
		"a rule that does not name what is": {Rule{Pattern: "*", Action: Allow}, bash("rm q"), bash("rm qq")},
		"a part of a command":               {Rule{Pattern: "*", Action: Allow}, bash("make; git push --force"), bash("git push -f")},
		"a file":                            {Rule{Pattern: "*", Action: Ask}, file("edit", root+"/a"), file("edit", root+"/ab")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup()
			s.cfg.Permissions = map[string][]Rule{c.call.Tool: {c.rule}}
			again := *c.call
			res := s.build().do(t, &again)
			_, suggested, _ := strings.Cut(res.ForModel(), "retryable: false")
			var pasted struct {
				Tools Config `toml:"tools"`
			}
			if err := toml.Unmarshal([]byte(suggested), &pasted); err != nil || !strings.Contains(res.ForModel(), "above the other rules") {
				t.Fatalf("%v\n%s", err, res.ForModel())
			}
			s = newSetup()
			s.cfg.Permissions = map[string][]Rule{c.call.Tool: append(pasted.Tools.Permissions[c.call.Tool], c.rule)}
			s.build()
			if got := s.outcome(t, c.call); got != "allow" {
				t.Errorf("%s with\n%s", got, suggested)
			}
			if got := s.outcome(t, c.other); got != "ask" {
				t.Errorf("another call: %s with\n%s", got, suggested)
			}
		})
	}
}

// TestNoRuleHelps: if a rule of the project asks, no rule of the user can
// weaken it.
func TestNoRuleHelps(t *testing.T) {
	s := newSetup()
	s.cfg.repository = map[string][]Rule{"bash": {{Pattern: "touch *", Action: Ask}}}
	if res := s.build().do(t, bash("touch a")); strings.Contains(res.ForModel(), "[[tools") {
		t.Errorf(`s.build().do(t, bash("touch a")): got %s, want no %q in it`, res.ForModel(), "[[tools")
	}
}

// TestOtherModeIsNamed: a denial by the mode alone names another mode.
func TestOtherModeIsNamed(t *testing.T) {
	for _, call := range []*executors.Call{bash("touch a"), file("edit", root+"/a")} {
		s := newSetup()
		s.mode = "ask"
		if res := s.build().do(t, call); res.Category() != executors.PolicyBlocked || !strings.Contains(res.ForModel(), "--mode code") {
			t.Errorf("s.build().do(t, call): got %s, want the category %s and %q in it", res.ForModel(), executors.PolicyBlocked, "--mode code")
		}
	}
}

// TestOldNamesOfTools: rules under the old name of a tool apply.
func TestOldNamesOfTools(t *testing.T) {
	for tool, old := range map[string]string{"bash": "shell", "find_path": "glob"} {
		if got := rulesFor(underNames(map[string][]Rule{old: {{Pattern: "*", Action: Deny}}}, cataloguetest.Known()), tool); len(got) != 1 {
			t.Errorf("rules of %s that are written for %s: %v, want the one", tool, old, got)
		}
	}
}

// A file of answers with a mistake is named, and does not keep a rule from allowing the call.
func TestSuggestedBesideBrokenAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), answers.FileName)
	if err := os.WriteFile(file, []byte("[[project.\"/w\".allow]]\ncomand = \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSetup().build()
	s.perm.Approver, s.perm.Remembered = nil, (&answers.Store{File: file, Read: os.ReadFile}).Project("/w")
	got := s.do(t, bash("touch a")).ForPeople()
	for _, want := range []string{file + ": line 2", `pattern = "touch a"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
