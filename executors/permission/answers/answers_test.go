package answers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// newStore returns a store in an empty directory.
func newStore(t testing.TB) *Store {
	return &Store{
		File: filepath.Join(t.TempDir(), FileName), Read: os.ReadFile,
		Edit: func(file string, edit func([]byte) ([]byte, error)) error {
			old, err := os.ReadFile(file)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			data, err := edit(old)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file+".new", data, 0o600); err != nil {
				return err
			}
			return os.Rename(file+".new", file)
		},
	}
}

func (s *Store) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.File+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(s.File+".new", s.File); err != nil {
		t.Fatal(err)
	}
}

func (s *Store) text(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// want checks the answer for keys.
func (p *Project) want(t *testing.T, want executors.Decision, keys ...string) {
	t.Helper()
	if got, err := p.Answer(keys); got != want || err != nil {
		t.Errorf("answer for %q: %s, %v, want %s", keys, got, err, want)
	}
}

func TestProject(t *testing.T) {
	s := newStore(t)
	a, b := s.Project("/w/a"), s.Project("/w/b")
	a.want(t, executors.Ask, "command go test")
	a.want(t, executors.Ask)
	for _, set := range []error{
		a.Set([]string{"command go test", "command go vet", "command go vet"}, executors.Allow),
		a.Set([]string{"exactly rm -rf \"x\\y\"\n\tz\u202e#"}, executors.Deny),
	} {
		if set != nil {
			t.Fatalf("got %v, want nil", set)
		}
	}
	for _, p := range []*Project{a, s.Project("/w/a"), (&Store{File: s.File, Read: s.Read}).Project("/w/a")} {
		p.want(t, executors.Allow, "command go test", "command go vet")
		p.want(t, executors.Ask, "command go test", "command go build")
		p.want(t, executors.Deny, "command go test", "exactly rm -rf \"x\\y\"\n\tz\u202e#")
		p.want(t, executors.Ask, "tool go test")
	}
	b.want(t, executors.Ask, "command go test")
	if strings.Contains(s.text(t), "\u202e") {
		t.Error("the file has a character that editors do not show")
	}
	if err := a.Set([]string{"command go test"}, executors.Deny); err != nil { // a later answer replaces the earlier one
		t.Fatal(err)
	}
	a.want(t, executors.Deny, "command go test")
	if n := strings.Count(s.text(t), `"go test"`); n != 1 {
		t.Errorf("%d entries for one command:\n%s", n, s.text(t))
	}
}

// An "allow" holds in no directory that the session did not have when it was given.
func TestDirs(t *testing.T) {
	s := newStore(t)
	if err := s.Project("/w", "/x").Set([]string{"tool edit"}, executors.Allow); err != nil {
		t.Fatal(err)
	}
	s.Project("/w").want(t, executors.Allow, "tool edit")
	s.Project("/w", "/x").want(t, executors.Allow, "tool edit")
	s.Project("/w", "/x", "/etc").want(t, executors.Ask, "tool edit")
	if err := s.Project("/w").Set([]string{"tool edit"}, executors.Deny); err != nil {
		t.Fatal(err)
	}
	s.Project("/w", "/etc").want(t, executors.Deny, "tool edit")
}

// The user edits the file: the next answer follows it, and new answers keep its
// comments.
func TestEditedByHand(t *testing.T) {
	s := newStore(t)
	p := s.Project("/w")
	const mine = `# mine
[project."/w"] # all of it
allow = [{ command = "go test" }, { tool = "edit" }]

# why not
[[project."/w".reject]]
command = 'git push'
`
	s.write(t, mine)
	p.want(t, executors.Allow, "command go test", "tool edit")
	p.want(t, executors.Deny, "command git push")
	if err := p.Set([]string{"web go.dev"}, executors.Allow); err == nil {
		t.Error("a table was added to an array that is written inline")
	}
	p.want(t, executors.Allow, "web go.dev") // in this session
	s.Project("/w").want(t, executors.Ask, "web go.dev")
	if s.text(t) != mine {
		t.Errorf("the file was changed:\n%s", s.text(t))
	}

	s.write(t, "\ufeff"+strings.ReplaceAll(mine, "\n", "\r\n"))
	p.want(t, executors.Allow, "command go test")
	s.write(t, "")
	p.want(t, executors.Ask, "command go test")
	p.want(t, executors.Ask, "command git push")
	s.write(t, strings.Replace(mine, "allow = [", "#", 1))
	if err := p.Set([]string{"command make"}, executors.Allow); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.text(t), "# mine\n[project.\"/w\"] # all of it\n#") || !strings.Contains(s.text(t), "# why not\n[[") {
		t.Errorf("comments are lost:\n%s", s.text(t))
	}
	p.want(t, executors.Allow, "command make")
	if err := os.Remove(s.File); err != nil {
		t.Fatal(err)
	}
	p.want(t, executors.Ask, "command make")
}

// A file with a mistake allows nothing, is named, and is not replaced.
func TestDamaged(t *testing.T) {
	const good = "[[project.\"/w\".allow]]\ncommand = \"go test\"\n"
	for text, want := range map[string]string{
		good + "[[": "line 3: ",
		good + "[[project.\"/w\".allow]]\nCommand = \"go vet\"\n":             "line 3: unknown key \"Command\"",
		good + "[[project.\"/w\".Reject]]\ncommand = \"go vet\"\n":            "line 3: unknown key \"Reject\"",
		good + "[[project.\"/w\".allow]]\ncomand = \"go vet\"\n":              "line 4: unknown key \"project./w.allow.comand\"",
		good + "[[project.\"/w\".allow]]\n":                                   "line 3: an entry has none of command",
		good + "[[project.\"/w\".allow]]\ncommand = \"a\"\ntool = \"edit\"\n": "line 3: an entry has either command or tool",
		good + "[[project.w.allow]]\ncommand = \"a\"\n":                       "line 3: \"w\" is not an absolute path",
		good + "[[project.\"/w\".allow]]\ncommand = 1\n":                      "line 4: ",
		good + "\xff": "line 3: ",
	} {
		s := newStore(t)
		s.write(t, text)
		p := s.Project("/w")
		for range 2 {
			if got, err := p.Answer([]string{"command go test"}); got != executors.Ask || err == nil || !strings.Contains(err.Error(), FileName+": "+want) {
				t.Errorf("%q: %s, %v, want %s", text, got, err, want)
			}
		}
		if err := p.Set([]string{"command make"}, executors.Allow); err == nil || s.text(t) != text {
			t.Errorf("%q was replaced, %v", text, err)
		}
		if entries, err := p.Entries(); err == nil || len(entries) != 1 || entries[0].Covers != "make" {
			t.Errorf("%q: entries %+v, %v", text, entries, err)
		}
		if got, _ := p.Answer([]string{"command make"}); got != executors.Allow {
			t.Errorf("%q: an answer that cannot be stored does not hold for the session", text)
		}
		s.write(t, good)
		p.want(t, executors.Allow, "command go test")
	}
}

func TestForget(t *testing.T) {
	s := newStore(t)
	if removed, err := s.Forget(func(Entry) bool { return true }); len(removed) > 0 || err != nil {
		t.Fatalf("s.Forget(func(Entry) bool { return true }): got %v, %v, want none", removed, err)
	}
	if err := s.Project("/w").Set([]string{"command a", "command b"}, executors.Allow); err != nil {
		t.Fatal(err)
	}
	if err := s.Project("/x").Set([]string{"command a"}, executors.Deny); err != nil {
		t.Fatal(err)
	}
	before := s.text(t)
	removed, err := s.Forget(func(e Entry) bool { return e.Project == "/w" && e.Covers == "a" })
	want := []Entry{{Project: "/w", Answer: executors.Allow, Kind: Command, Covers: "a", Line: 4}}
	if diff := cmp.Diff(want, removed); err != nil || diff != "" {
		t.Errorf("%v, removed (-want +got)\n%s", err, diff)
	}
	gone := "[[project.\"/w\".allow]]\ncommand = \"a\"\n\n"
	if diff := cmp.Diff(strings.Replace(before, gone, "", 1), s.text(t)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Project("/w").want(t, executors.Ask, "command a")
	s.Project("/w").want(t, executors.Allow, "command b")
	if entries, err := s.Project("/w").Entries(); err != nil || len(entries) != 1 || entries[0].Covers != "b" {
		t.Errorf("entries %+v, %v", entries, err)
	}
	s.Project("/x").want(t, executors.Deny, "command a")
	if _, err := s.Forget(func(Entry) bool { return true }); err != nil || s.text(t) == "" {
		t.Errorf("%v, left %q", err, s.text(t))
	}
	s.Project("/x").want(t, executors.Ask, "command a")
}

// The zero value keeps answers in memory.
func TestInMemory(t *testing.T) {
	p := &Project{}
	changed := p.Changed()
	if err := p.Set([]string{"command a"}, executors.Allow); err == nil {
		t.Error("there is nowhere to store it")
	}
	<-changed
	p.want(t, executors.Allow, "command a")
}

// An answer in one session is announced to the others.
func TestChanged(t *testing.T) {
	s := newStore(t)
	a, b := s.Project("/w"), s.Project("/w")
	changed := a.Changed()
	if err := b.Set([]string{"command a"}, executors.Allow); err != nil {
		t.Fatal(err)
	}
	<-changed
	a.want(t, executors.Allow, "command a")
}

func FuzzParse(f *testing.F) {
	f.Add("[[project.\"/w\".allow]]\ncommand = \"a\"\n# x\n[[project.\"/w\".reject]]\nexactly = '''\n# b\n'''\n")
	f.Add("project.\"/w\".allow = [{tool='edit'},{web='x'}]\n")
	f.Fuzz(func(t *testing.T, text string) {
		before, err := Parse([]byte(text))
		if err != nil {
			return
		}
		added := Entry{Project: "/fuzz", Answer: executors.Allow, Kind: Command, Covers: "a \"b\""}
		data, err := appendEntries([]byte(text), []Entry{added})
		if err != nil {
			return
		}
		after, err := Parse(data)
		if err != nil || len(after) < len(before) || after[len(after)-1].key() != added.key() {
			t.Errorf("%q became %q: %v", text, data, err)
		}
		left, removed, err := removeEntries(data, func(e Entry) bool { return e.Project == "/fuzz" })
		if err != nil || len(removed) == 0 {
			t.Errorf("%q: %v", data, err)
		}
		if _, err := Parse(left); err != nil {
			t.Errorf("%q without the entry is %q: %v", data, left, err)
		}
	})
}

func BenchmarkAnswer(b *testing.B) {
	s := newStore(b)
	p := s.Project("/w")
	var keys []string
	for range 100 {
		keys = append(keys, "command "+strings.Repeat("x", len(keys)+1))
	}
	if err := p.Set(keys, executors.Allow); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := p.Answer(keys[:2]); got != executors.Allow || err != nil {
			b.Fatal(got, err)
		}
	}
}
