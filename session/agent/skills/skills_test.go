package skills

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// write writes the file of a skill.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name, skillFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain", "---\nname: plain\ndescription: Does it. # well\n---\n\nHow.\n")
	write(t, dir, "quoted", "---\r\nname: \"quoted\"\r\ndescription: 'It''s: this'\r\nallowed-tools:\r\n  - bash\r\n---\r\nHow.")
	write(t, dir, "folded", "---\ndescription: >-\n  One\n  two.\n\n  Three.\nlicense: MIT\n---\n")
	write(t, dir, "long", "---\ndescription: one\n  two\n---\n"+strings.Repeat("line\n", maxBody/5+1))
	write(t, dir, "bare", "# Bare\n")
	write(t, dir, "other", "---\nname: another\n---\n")
	write(t, dir, "endless", "---\nname: endless\n")
	write(t, dir, "Upper", "x")
	write(t, dir, "binary", "a\x00")
	write(t, dir, ".git", "x")
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "irregular", skillFile), 0o700); err != nil {
		t.Fatal(err)
	}
	set, warnings := Load(dir)
	want := []Skill{{"bare", ""}, {"folded", "One two. Three."}, {"long", "one two"}, {"plain", "Does it."}, {"quoted", "It's: this"}}
	if diff := cmp.Diff(want, set.Skills); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	all := strings.Join(warnings, "\n")
	if len(warnings) != 5 {
		t.Errorf("warnings:\n%s", all)
	}
	for _, want := range []string{`"Upper" is left out`, "its name is \"another\"", "a line of --- is missing", "not a regular file", "not text"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}

	for name, tt := range map[string]struct {
		text   string
		failed bool
	}{
		"plain":    {text: "How."},
		"quoted":   {text: "How."},
		"bare":     {text: "# Bare"},
		"folded":   {text: "The skill has no text besides its description."},
		"long":     {text: "\n[The first 262144 bytes of the skill; the rest is left out.]"},
		"../plain": {text: "The skills are: bare, folded, long, plain, quoted.", failed: true},
		"Upper":    {text: "there is no skill", failed: true},
	} {
		in, err := json.Marshal(loadInput{name})
		if err != nil {
			t.Fatal(err)
		}
		res, err := set.Tools().Execute(t.Context(), &executors.Call{Tool: "load_skill", Input: in})
		if err != nil || res.Failed != tt.failed || !strings.Contains(res.ForModel(), tt.text) || !tt.failed && !strings.HasSuffix(res.ForModel(), tt.text) {
			t.Errorf("%s: %v, %v, %.300q", name, err, res.Failed, res.ForModel())
		}
	}
}

func TestNone(t *testing.T) {
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "missing")} {
		if set, warnings := Load(dir); set.Tools().Tools() != nil && len(set.Tools().Tools()) > 0 || warnings != nil {
			t.Errorf("%q: %v, %v", dir, set.Tools(), warnings)
		}
	}
}

func TestTooMany(t *testing.T) {
	dir := t.TempDir()
	for i := range maxSkills + 2 {
		write(t, dir, "s"+string(rune('a'+i/26))+string(rune('a'+i%26)), "x")
	}
	if set, warnings := Load(dir); len(set.Skills) != maxSkills || len(warnings) != 1 {
		t.Errorf("%d, %q", len(set.Skills), warnings)
	}
}

// FuzzSplit checks that no value spans lines, and that the body is the end of
// the file.
func FuzzSplit(f *testing.F) {
	f.Add("---\nname: a\ndescription: |\n  b\n---\nbody")
	f.Add("---\na: \"\\x00\\n\"\nb: '\n---")
	f.Add("\ufeff---\r\n: x\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		head, body, err := split(text)
		if err != nil {
			return
		}
		if !strings.HasSuffix(strings.ReplaceAll(text, "\r\n", "\n"), body) {
			t.Errorf("body %q", body)
		}
		for key, value := range head {
			if strings.Contains(key+value, "\n") || utf8.ValidString(text) && !utf8.ValidString(value) && !strings.Contains(text, `\`) {
				t.Errorf("%q: %q", key, value)
			}
		}
	})
}
