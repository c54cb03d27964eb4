package skills

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
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

// own returns the skills of a user's directory.
func own(dir string) *Set {
	return New(Options{Config: setting.Default[Config](), Sources: []Source{{Name: "yours", FS: os.DirFS(dir)}}})
}

// load calls load_skill.
func load(t *testing.T, s *Set, in loadInput) executors.Result {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Execute(t.Context(), &executors.Call{Tool: "load_skill", Input: data})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestUsersSkills(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plain", "---\nname: plain\ndescription: Does it. # well\n---\n\nHow.\n")
	write(t, dir, "quoted", "---\r\nname: \"quoted\"\r\ndescription: 'It''s: this'\r\nallowed-tools:\r\n  - bash\r\n---\r\nHow.")
	write(t, dir, "folded", "---\ndescription: >-\n  One\n  two.\n\n  Three.\nlicense: MIT\n---\n")
	write(t, dir, "long", "---\ndescription: one\n  two\n---\n"+strings.Repeat("line\n", maxBody/5+1))
	write(t, dir, "bare", "# Bare\n")
	write(t, dir, "bare/docs", "nested")
	write(t, dir, "other", "---\nname: another\n---\n")
	write(t, dir, "endless", "---\nname: endless\n")
	write(t, dir, "shell", "---\nsecrets: [TOKEN, 'LD_PRELOAD=x']\n---\n")
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
	set := own(dir)
	set.Ready(t.Context())
	want := []Skill{{Name: "bare"}, {Name: "folded", Description: "One two. Three."}, {Name: "long", Description: "one two"},
		{Name: "plain", Description: "Does it."}, {Name: "quoted", Description: "It's: this", Tools: []string{"bash"}}}
	if diff := cmp.Diff(want, set.Usable(), cmpopts.IgnoreUnexported(Skill{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	all := strings.Join(set.Warnings, "\n")
	if len(set.Warnings) != 6 {
		t.Errorf("warnings:\n%s", all)
	}
	for _, want := range []string{`"Upper" of yours is left out`, "its name is \"another\"", "a line of --- is missing", "not a regular file", "not text",
		`"LD_PRELOAD=x" is not the name`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}

	for in, tt := range map[loadInput]struct {
		text   string
		failed bool
	}{
		{Name: "plain"}:                           {text: "How."},
		{Name: "quoted"}:                          {text: "How."},
		{Name: "bare"}:                            {text: "# Bare\n[Files of the skill; load_skill with file returns one.]\ndocs/SKILL.md"},
		{Name: "bare", File: "docs/SKILL.md"}:     {text: "nested"},
		{Name: "bare", File: "docs"}:              {text: "not a regular file", failed: true},
		{Name: "bare", File: "docs/x"}:            {text: `no file "docs/x"`, failed: true},
		{Name: "bare", File: "../plain/SKILL.md"}: {text: "file must be a path inside of the skill", failed: true},
		{Name: "folded"}:                          {text: "The skill has no text besides its description."},
		{Name: "long"}:                            {text: "\n[The first 262144 bytes; the rest is left out.]"},
		{Name: "../plain"}:                        {text: "The skills are: bare, folded, long, plain, quoted.", failed: true},
		{Name: "Upper"}:                           {text: "there is no skill", failed: true},
	} {
		res := load(t, set, in)
		if res.Failed != tt.failed || !strings.Contains(res.ForModel(), tt.text) || !tt.failed && !strings.HasSuffix(res.ForModel(), tt.text) {
			t.Errorf("%+v: %v, %.300q", in, res.Failed, res.ForModel())
		}
	}
}

// A description cannot change the terminal or the direction of the text that lists it.
func TestListSpellsControlCharacters(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "odd", "---\ndescription: \"a\\x1b[31m\\u202eb\"\nallowed-tools: \"Read\\u202e\"\n---\n")
	if got := own(dir).Command(""); !strings.Contains(got, "`a<U+001B>[31m<U+202E>b`") || !strings.Contains(got, "`Read<U+202E>`") {
		t.Errorf("got %q", got)
	}
}

func TestNoSkills(t *testing.T) {
	off := New(Options{Sources: []Source{{FS: fstest.MapFS{"a/SKILL.md": {}}}}})
	for _, set := range []*Set{New(Options{Config: setting.Default[Config]()}), own(filepath.Join(t.TempDir(), "missing")), off} {
		if set.Waiting() || len(set.Tools()) > 0 || set.Warnings != nil || len(set.Usable()) > 0 {
			t.Errorf("%v, %v", set.Tools(), set.Warnings)
		}
	}
	if got := off.Command(""); !strings.Contains(got, "switched off") {
		t.Errorf(`off.Command(""): got %v, want %q in it`, got, "switched off")
	}
}

func TestTooManySkills(t *testing.T) {
	dir := t.TempDir()
	for i := range maxSkills + 2 {
		write(t, dir, "s"+string(rune('a'+i/26))+string(rune('a'+i%26)), "x")
	}
	if set := own(dir); len(set.Usable()) != maxSkills || len(set.Warnings) != 1 {
		t.Errorf("%d, %q", len(set.Usable()), set.Warnings)
	}
}

// project is a repository with skills, and a user who gives one answer to all questions.
type project struct {
	*Set
	files    fstest.MapFS
	answer   approval.Answer
	asked    []approval.Question
	warnings []string
	level    map[string]string
}

func newProject(t *testing.T, store *approval.Store, files fstest.MapFS) *project {
	p := &project{files: files, level: map[string]string{}}
	user := fstest.MapFS{"mine/SKILL.md": {Data: []byte("Mine.")}, "same/SKILL.md": {Data: []byte("Mine too.")}}
	p.Set = New(Options{
		Known:  func() []executors.Tool { return claudeTools },
		Config: setting.Default[Config](), Dir: "/w",
		Sources: []Source{{Name: "yours", FS: user}, {Name: ".zeph/skills", FS: files, Project: true}, {Name: ".claude/skills", FS: files, Project: true}},
		Desk: &approval.Desk{Store: store, Ask: func(_ context.Context, q approval.Question) approval.Answer {
			p.asked = append(p.asked, q)
			return p.answer
		}},
		Level:    func(name string) string { return p.level[name] },
		SetLevel: func(name, level string) string { p.level[name] = level; return name + " is " + level },
		Warn:     func(w string) { p.warnings = append(p.warnings, w) },
	})
	return p
}

// usable returns the names of the skills that the model can load.
func (p *project) usable() string {
	var names []string
	for _, s := range p.Usable() {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// asks checks the titles of the questions since the last call.
func (p *project) asks(t *testing.T, titles ...string) {
	t.Helper()
	var got []string
	for _, q := range p.asked {
		got = append(got, q.Title)
	}
	if p.asked = nil; !slices.Equal(got, titles) {
		t.Errorf("asked %q, want %q", got, titles)
	}
}

// TestProject checks that no skill of a repository is used before the user has approved
// exactly its files.
func TestProject(t *testing.T) {
	saved := ""
	store := &approval.Store{
		Load: func() ([]byte, error) { return []byte(saved), nil },
		Change: func(edit func([]byte) ([]byte, error)) error {
			data, err := edit([]byte(saved))
			saved = string(data)
			return err
		},
		Log: func(err error) { t.Error(err) },
	}
	files := fstest.MapFS{
		"deploy/SKILL.md":       {Data: []byte("---\nname: deploy\ndescription: Ships it.\nallowed-tools: Bash(git:*), Read\nsecrets:\n- TOKEN\n---\nRun run.sh.")},
		"deploy/scripts/run.sh": {Data: []byte("echo")},
		"same/SKILL.md":         {Data: []byte("Theirs.")},
		"test/SKILL.md":         {Data: []byte("Test.")},
		"pipe/SKILL.md":         {Data: []byte("x")},
		"pipe/fifo":             {Mode: fs.ModeNamedPipe},
		"blank/SKILL.md":        {},
	}
	p := newProject(t, store, files)
	if !p.Waiting() || p.usable() != "mine same" {
		t.Errorf("before the question: %q", p.usable())
	}
	p.Ready(t.Context())
	if text := p.asked[0].Text; !strings.Contains(text, `"Ships it."`) || !strings.Contains(text, `"TOKEN"`) || !strings.Contains(text,
		`"Bash(git:*)"`) || !strings.Contains(text, `"scripts/run.sh"`) {
		t.Errorf("the question shows %s", text)
	}
	p.asks(t, "Use 3 skills of this project?")
	if p.Waiting() || p.usable() != "mine same" || len(p.warnings) != 1 || !strings.Contains(p.warnings[0], "fifo: not a regular file") {
		t.Errorf("rejected: %q, %q", p.usable(), p.warnings)
	}
	if res := load(t, p.Set, loadInput{Name: "deploy"}); !res.Failed || strings.Contains(res.ForModel(), "run.sh") {
		t.Errorf("a rejected skill: %s", res.ForModel())
	}
	if res := load(t, p.Set, loadInput{Name: "same"}); res.Text != "Mine too." {
		t.Errorf("a skill of the repository replaced the user's: %s", res.Text)
	}
	p.asks(t)

	p = newProject(t, store, files)
	p.answer = approval.Always
	p.Ready(t.Context())
	p.Ready(t.Context())
	p.asks(t, "Use 3 skills of this project?")
	if p.usable() != "mine same blank deploy test" {
		t.Errorf("approved: %q", p.usable())
	}
	want := "Run run.sh.\n[Files of the skill; load_skill with file returns one. They are in .zeph/skills/deploy.]\nscripts/run.sh\n[It uses secrets, which " +
		"its commands have only with invoke_skill.]"
	if res := load(t, p.Set, loadInput{Name: "deploy"}); res.Text != want {
		t.Errorf("approved: %q", res.Text)
	}
	if res := load(t, p.Set, loadInput{Name: "deploy", File: "scripts/run.sh"}); res.Text != "echo" {
		t.Errorf("a file: %q", res.ForModel())
	}

	p.answer = approval.No
	files["deploy/scripts/run.sh"] = &fstest.MapFile{Data: []byte("rm")}
	if res := load(t, p.Set, loadInput{Name: "deploy"}); res.Category() != executors.ConfirmationRequired {
		t.Errorf("a changed skill: %s", res.ForModel())
	}
	p.asks(t, "Use the skill deploy of this project's .zeph/skills, changed since your approval?")
	if p.usable() != "mine same blank test" {
		t.Errorf("a changed skill: %q", p.usable())
	}
	next := newProject(t, store, files)
	next.Desk().Ask = nil
	if next.Ready(t.Context()); next.usable() != "mine same blank test" {
		t.Errorf("without a user: %q", next.usable())
	}
	for _, tt := range []struct{ rest, want, usable string }{
		{"", "- `deploy` (.zeph/skills): untrusted, changed since your approval. `Ships it.`\n  - tools: `Bash(git:*), Read`\n  - secrets: `TOKEN`\n- `pipe` " +
			"(.zeph/skills): untrusted, cannot be used: ", "mine same blank test"},
		{"trust deploy", "deploy is trusted", "mine same blank deploy test"},
		{"", "- `deploy` (.zeph/skills): trusted, approved. ", "mine same blank deploy test"},
		{"block test", "test is blocked", "mine same blank deploy"},
		{"block mine", "mine is blocked", "same blank deploy"},
		{"", "- `mine` (yours): blocked, not offered\n", "same blank deploy"},
		{"trust pipe", "Nothing was changed: fifo: not a regular file.", "same blank deploy"},
		{"trust other", `Nothing was changed: there is no skill "other".`, "same blank deploy"},
		{"delete mine", "Nothing was changed. `/skill trust NAME`", "same blank deploy"},
	} {
		if got := next.Command(tt.rest); !strings.Contains(got, tt.want) || next.usable() != tt.usable {
			t.Errorf("/skill %s: %s\nusable %q", tt.rest, got, next.usable())
		}
	}
	if p = newProject(t, store, files); store.State(approvalOf(t, p.Set, "deploy")) != approval.Approved || store.State(approvalOf(t, p.Set, "test")) !=
		approval.Rejected {
		t.Error("/skill was not stored")
	}
	next.Desk().Approve(approvalOf(t, next.Set, "blank"))
	if res := load(t, next.Set, loadInput{Name: "blank"}); res.Failed || !strings.HasPrefix(res.Text, "The skill has no text") {
		t.Errorf("an empty skill: %s", res.ForModel())
	}
	if res := load(t, next.Set, loadInput{Name: "blank", File: "none"}); !strings.Contains(res.ForModel(), `no file "none"`) {
		t.Errorf("a missing file: %s", res.ForModel())
	}
	delete(files, "test/SKILL.md")
	files["new/SKILL.md"] = &fstest.MapFile{}
	next.Reset()
	next.Ready(t.Context())
	if list := next.Command(""); strings.Contains(list, "`test`") || !strings.Contains(list, "`new` (.zeph/skills): untrusted, waits for your approval") {
		t.Errorf("after a reset: %s", list)
	}
}

// Desk returns the desk of the set.
func (p *project) Desk() *approval.Desk { return p.options.Desk }

// approvalOf returns the subject of a skill.
func approvalOf(t *testing.T, s *Set, name string) approval.Subject {
	t.Helper()
	s.scanProject()
	skill, err := s.find(name)
	if err != nil {
		t.Fatal(err)
	}
	subject, _, err := s.subject(skill, "")
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

// A skill that is too large to compare is left out.
func TestBounds(t *testing.T) {
	many, large, deep, together := fstest.MapFS{"a/SKILL.md": {}}, fstest.MapFS{"a/SKILL.md": {}}, fstest.MapFS{"a/SKILL.md": {}}, fstest.MapFS{}
	for i := range maxFiles {
		many["a/"+strings.Repeat("x", i+1)] = &fstest.MapFile{}
	}
	large["a/big"] = &fstest.MapFile{Data: make([]byte, maxBytes+1)}
	for _, name := range []string{"b", "c", "d", "e", "f"} {
		together[name+"/SKILL.md"], together[name+"/big"] = &fstest.MapFile{}, &fstest.MapFile{Data: make([]byte, maxBytes)}
	}
	deep["a/"+strings.Repeat("d/", maxDepth+2)+"x"] = &fstest.MapFile{}
	p := newProject(t, nil, together)
	p.answer = approval.Once
	if p.Ready(t.Context()); p.usable() != "mine same b c d e" || len(p.warnings) != 1 || !strings.Contains(p.warnings[0], "have more than 64 MiB") {
		t.Errorf("together: %q, %q", p.usable(), p.warnings)
	}
	for want, files := range map[string]fstest.MapFS{"more than 500 files": many, "more than 16 MiB": large, "directories inside one another": deep} {
		p := newProject(t, nil, files)
		if p.Ready(t.Context()); p.usable() != "mine same" || len(p.asked) > 0 || len(p.warnings) != 1 || !strings.Contains(p.warnings[0], want) {
			t.Errorf("%s: %q, %q", want, p.usable(), p.warnings)
		}
	}
}

func TestConfig(t *testing.T) {
	if problems := setting.Check(setting.Default[Config]()); len(problems) > 0 {
		t.Errorf("the defaults have the problems %q", problems)
	}
	if setting.Check(Config{MaxRounds: 201})["max_rounds"] == "" {
		t.Error("max_rounds = 201 was accepted")
	}
	if got, ignored := setting.Tighten(setting.Default[Config](), Config{Enabled: true, MaxRounds: 5},
		setting.Paths[Config]()...); got != (Config{Enabled: true, MaxRounds: 5}) || ignored != nil {
		t.Errorf("%+v, %q", got, ignored)
	}
	if got, ignored := setting.Tighten((Config{MaxRounds: 2}), setting.Default[Config](),
		setting.Paths[Config]()...); got != (Config{MaxRounds: 2}) || len(ignored) != 3 {
		t.Errorf("%+v, %q", got, ignored)
	}
}

// brokenFS is a directory that cannot be read.
type brokenFS struct{}

func (brokenFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("broken")}
}

// A warning about a directory of the user names its path.
func TestUnreadableDirectory(t *testing.T) {
	for want, source := range map[string]Source{
		"The skills in /u/skills cannot be read: broken":      {Name: "yours", Path: "/u/skills", FS: brokenFS{}},
		"The skills in .claude/skills cannot be read: broken": {Name: ".claude/skills", FS: brokenFS{}},
	} {
		s := New(Options{Config: setting.Default[Config](), Sources: []Source{source}})
		if !slices.Equal(s.Warnings, []string{want}) {
			t.Errorf("warnings %q, want %q", s.Warnings, want)
		}
	}
}

// TestPluginSkills checks the names of a plug-in's skills. The directory names a skill, whatever its file says.
func TestPluginSkills(t *testing.T) {
	var notes []string
	files := fstest.MapFS{
		"style/SKILL.md": {Data: []byte("---\nname: Fine Style\ndescription: d\n---\nHow.")}, "style/ref/a.md": {Data: []byte("More.")},
		"Bad/SKILL.md": {Data: []byte("x")},
	}
	s := New(Options{Config: setting.Default[Config](), Sources: []Source{{
		Name: "the plug-in p", FS: files, Prefix: "p:", Note: func(text string) { notes = append(notes, text) },
	}}})
	if all := s.Usable(); len(all) != 1 || all[0].Name != "p:style" {
		t.Errorf("%+v", all)
	}
	if res := load(t, s, loadInput{Name: "p:style"}); res.Failed || !strings.Contains(res.Text, "How.") || !strings.Contains(res.Text, "ref/a.md") {
		t.Errorf("%+v", res)
	}
	if res := load(t, s, loadInput{Name: "p:style", File: "ref/a.md"}); res.Failed || res.Text != "More." {
		t.Errorf("%+v", res)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "Bad") || len(s.Warnings) > 0 {
		t.Errorf("%q, %q", notes, s.Warnings)
	}
}
