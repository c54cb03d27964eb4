package memory

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestRefused(t *testing.T) {
	m := &Memory{Session: "s", Secret: func(text string) string {
		if strings.Contains(text, "hunter2") {
			return "password"
		}
		return ""
	}, KnownTools: func() []executors.Tool {
		return []executors.Tool{{Name: "bash", Subject: executors.Script("command")}, {Name: "read"}, {Name: "edit"}, {Name: "web_scrape"}, {Name: "memory_save"}}
	}}
	for text, refused := range map[string]bool{
		"":                                       true,
		" \u200b\x07\n":                          true,
		strings.Repeat("x", 4097):                true,
		strings.Repeat("x", 4096):                false,
		"the login is hunter2":                   true,
		"I'm sorry, but I can't help with that.": true,
		"I cannot access the production database.":                               true,
		"As an AI language model, I do not remember.":                            true,
		"I am unable to run commands.":                                           true,
		"bash is denied by the user's policy":                                    true,
		"The bash tool is not allowed in the mode ask.":                          true,
		"Tool calls are blocked by the sandbox in this project.":                 true,
		"The agent is not permitted to write files by policy.":                   true,
		"The policy forbids the agent to push.":                                  true,
		"[tool_error]\ncategory: policy_blocked":                                 true,
		"You are not allowed to edit files in the mode ask":                      true,
		"Users cannot log in when Redis is down.":                                false,
		"Requests without a token are denied by the gateway's policy.":           false,
		"Pushes to main are blocked by branch protection rules.":                 false,
		"The write path of the store is guarded by a mutex.":                     false,
		"Interns are not allowed to deploy; company policy.":                     false,
		"The user wants no force push.":                                          false,
		"Sorry messages are shown in red.":                                       false,
		"Sorry, I can not do that.":                                              true,
		"The command make lint is disabled on Windows.":                          false,
		"In sandbox mode the payment provider rejects cards that end in 0002.":   false,
		"The permission model of the app: admins may edit, readers may comment.": false,
	} {
		f := Fact{Text: text}
		err := m.check(&f)
		if _, ok := errors.AsType[*RefusedError](err); ok != refused || (err != nil) != refused {
			t.Errorf("%.80q: %v, want refused: %t", text, err, refused)
		}
	}
	user := &Memory{}
	if err := user.check(&Fact{Text: "bash is denied by policy on the build machines"}); err != nil {
		t.Errorf("by a command of the user: %v", err)
	}
}

func TestKeys(t *testing.T) {
	for _, same := range [][2]string{{"The port is 1.", "the  port\nis 1"}, {"A;", "a"}, {"É!", "é"}} {
		if keyOf(same[0]) != keyOf(same[1]) {
			t.Errorf("%q and %q differ", same[0], same[1])
		}
	}
	if keyOf("The port is 1") == keyOf("The port is 2") || keyOf("a-b") == keyOf("a b") {
		t.Error("different texts are equal")
	}
}

// An entry cites the files that it lists and those that its text names.
func TestCite(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"conf/db.toml": "a", "Makefile": "b", "src/a b.go": "c", "secret.key": "d"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if roots, err = roots.Reading(workspace.ReadRules{Deny: []string{"*.key"}}); err != nil {
		t.Fatal(err)
	}
	m := &Memory{Project: roots.Cwd(), Roots: roots}
	cited := func(f Fact, global bool) []string {
		files, err := m.cite(f, global)
		if err != nil {
			return []string{err.Error()}
		}
		var names []string
		for name := range files {
			names = append(names, name)
		}
		slices.Sort(names)
		return names
	}
	for name, tt := range map[string]struct {
		fact Fact
		want []string
	}{
		"named":     {Fact{Text: "See conf/db.toml:3, ./Makefile and nothing/else.go."}, []string{"Makefile", "conf/db.toml"}},
		"listed":    {Fact{Text: "x", Files: []string{"src/a b.go", "conf/../Makefile"}}, []string{"Makefile", "src/a b.go"}},
		"denied":    {Fact{Text: "the key is in secret.key"}, nil},
		"outside":   {Fact{Text: "see /etc/passwd and ../x"}, nil},
		"directory": {Fact{Text: "see conf/ and src/"}, nil},
		"prose":     {Fact{Text: "e.g. version 1.2.3, i.e. the 2nd."}, nil},
	} {
		if diff := cmp.Diff(tt.want, cited(tt.fact, false)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	for _, name := range []string{"gone.go", "secret.key", "/etc/passwd", "conf", ""} {
		if got := cited(Fact{Text: "x", Files: []string{name}}, false); len(got) != 1 || !strings.Contains(got[0], "cannot be cited") {
			t.Errorf("%q: %q", name, got)
		}
	}
	if runtime.GOOS != "windows" {
		if got := cited(Fact{Text: "see Makefile"}, true); !slices.Equal(got, []string{filepath.Join(dir, "Makefile")}) {
			t.Errorf("for all projects: %q", got)
		}
	}
}

func TestStale(t *testing.T) {
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(roots.Cwd(), "a.txt")
	m := &Memory{Project: roots.Cwd(), Roots: roots}
	if err := os.WriteFile(file, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := Entry{Project: m.Project}
	if e.Files, err = m.cite(Fact{Text: "see a.txt"}, false); err != nil || len(e.Files) != 1 {
		t.Fatalf("got %v, %v, want 1 of them", e.Files, err)
	}
	if got := m.Stale(e); got != nil {
		t.Errorf("m.Stale(e): got %v, want nil", got)
	}
	if err := os.WriteFile(file, []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	e.Files[filepath.Join(filepath.Dir(roots.Cwd()), "b.txt")] = "x"
	got := m.Stale(e)
	if len(got) != 2 || !strings.HasSuffix(got[0], "b.txt is outside of this workspace and was not compared") || got[1] != "a.txt has changed" {
		t.Errorf("got %q, want that b.txt is outside and a.txt has changed", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := m.Stale(e); got[1] != "a.txt is gone" {
		t.Errorf("got %q, want that a.txt is gone", got)
	}
}

func TestTighten(t *testing.T) {
	for name, tt := range map[string]struct {
		own, repo Config
		want      Config
		ignored   []string
	}{
		"off": {setting.Default[Config](), Config{}, Config{MaxEntries: 1000}, []string{"max_entries"}},
		"on": {Config{MaxEntries: 5}, Config{Enabled: true, Sessions: true, MaxEntries: 6}, Config{MaxEntries: 5},
			[]string{"enabled", "max_entries", "sessions"}},
		"lower":   {setting.Default[Config](), Config{Enabled: true, MaxEntries: 5}, Config{Enabled: true, MaxEntries: 5}, nil},
		"bounded": {Config{}, Config{MaxEntries: 5}, Config{MaxEntries: 5}, nil},
	} {
		got, ignored := setting.Tighten(tt.own, tt.repo, setting.Paths[Config]()...)
		if diff := cmp.Diff(tt.want, got) + cmp.Diff(tt.ignored, ignored); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if wrong := setting.Check(Config{MaxEntries: -1}); len(wrong) != 1 {
		t.Errorf("setting.Check(Config{MaxEntries: -1}): got %v, want 1 of them", wrong)
	}
}

// The model reads the labels of a hit's session, also if only a message is found.
func TestLabels(t *testing.T) {
	var got []string
	m := &Memory{AddLabels: func(labels json.RawMessage) { got = append(got, string(labels)) }}
	m.addLabelsOf([]Hit{{Entry: Entry{Labels: json.RawMessage(`1`)}}}, []Message{{Labels: json.RawMessage(`2`)}, {}})
	if !slices.Equal(got, []string{"1", "2", ""}) {
		t.Errorf("got the labels %q, want 1, 2 and none", got)
	}
}

func TestLine(t *testing.T) {
	for want, k := range map[string]*counts{
		"": {earlierSessions: true},
		"[memory: 1 saved entry (1 of this project); memory_search finds them.]":                       {project: 1},
		"[memory: 2 saved entries (for all projects); memory_search finds them.]":                      {global: 2},
		"[memory: 4 saved entries (3 of this project, 1 for all projects); memory_search finds them.]": {project: 3, global: 1},
	} {
		m := &Memory{Config: setting.Default[Config]()}
		m.counts.Store(k)
		if got := m.Line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// docs/instructions.md shows a result and the line as they are.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/instructions.md")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	m := &Memory{Project: "/w", Now: func() time.Time { return now }}
	m.counts.Store(&counts{project: 3, global: 1})
	hit := Hit{
		Entry: Entry{ID: 1, Project: "/w", Text: "The staging database listens on port 5433, see conf/db.toml", Updated: now.AddDate(0, 0, -12)},
		Stale: []string{"conf/db.toml has changed"},
	}
	message := Message{Title: "move the staging database", Role: "user", Text: "please move the staging database to port 5433", Time: now.AddDate(0, 0, -15)}
	for _, want := range []string{m.report([]Hit{hit}, []Message{message}, 0), m.Line()} {
		if !strings.Contains(string(page), "```\n"+want+"\n```") {
			t.Errorf("the page does not have\n%s", want)
		}
	}
}

// A session asks a broken embedder no more after some failures.
func TestBrokenEmbedder(t *testing.T) {
	calls := 0
	m := &Memory{Embedder: func() (string, rank.Embedder) {
		return "m", embedderFunc(func() error { calls++; return errors.New("no model") })
	}}
	for range 9 {
		m.similarities(t.Context(), "x", make([]Entry, 2), time.Time{})
	}
	if calls != rank.MaxFailures {
		t.Errorf("%d calls", calls)
	}
}

type embedderFunc func() error

func (f embedderFunc) Embed(context.Context, []string) ([][]float32, error) { return nil, f() }
