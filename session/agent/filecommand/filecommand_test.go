package filecommand

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// world is the surroundings of a Set in a test.
type world struct {
	*Set
	files     fstest.MapFS
	warnings  []string
	announced int
	asked     []approval.Question
	answer    approval.Answer
}

// newWorld returns the commands in files, which belong to a repository if project is set.
// In the session's directory only a directory with one file exists.
func newWorld(dir string, project bool, files map[string]string) *world {
	w := &world{files: fstest.MapFS{}, answer: approval.Once}
	for name, text := range files {
		w.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	w.Set = New(Options{
		Known:   cataloguetest.Known,
		Sources: []skills.Source{{Name: ".zeph/commands", FS: w.files, Project: project}}, Dir: dir,
		Desk: &approval.Desk{Ask: func(_ context.Context, q approval.Question) approval.Answer {
			w.asked = append(w.asked, q)
			return w.answer
		}},
		Stat: func(path string) (exists, dir bool) {
			rel, _ := filepath.Rel(w.options.Dir, path)
			rel = filepath.ToSlash(rel)
			return rel == "docs" || rel == "docs/style.md", rel == "docs"
		},
		Warn: func(text string) { w.warnings = append(w.warnings, text) }, Announce: func() { w.announced++ },
	})
	return w
}

func TestCommands(t *testing.T) {
	w := newWorld(t.TempDir(), false, map[string]string{
		"fix.md":         "---\ndescription: Fix an issue\nargument-hint: NUMBER\n---\nFix $1.",
		"git/log.md":     "# Show *it*\n\nNow: $ARGUMENTS",
		"git/README.md":  "No command",
		"note.txt":       "No command",
		".hidden/a.md":   "No command",
		"bad name.md":    "x",
		"empty.md":       "---\ndescription: x\n---\n",
		"open.md":        "---\nx",
		"binary.md":      "a\x00b",
		"large.md":       strings.Repeat("x", maxBytes+1),
		"lines.md":       strings.Repeat("!`ls` ", maxLines+1),
		"a/b/c/d/x.md":   "Deep",
		"\u202eevil.md":  "x",
		"colour.md":      "---\ndescription: \"a\\e[31mb\"\n---\nx",
		"z/b/c/d/e/f.md": "Too deep",
	})
	want := []Command{
		{Name: "a:b:c:d:x", Description: "Deep"}, {Name: "colour", Description: `a\e[31mb`},
		{Name: "fix", Description: "Fix an issue", Hint: "NUMBER"}, {Name: "git:log", Description: "Show *it*", Hint: "[arguments]"},
	}
	for range 2 {
		if diff := gocmp.Diff(want, w.Commands()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if len(w.warnings) != 8 {
		t.Errorf("%d warnings: %s", len(w.warnings), strings.Join(w.warnings, "\n"))
	}
	w.Ready()
	if w.announced != 0 {
		t.Error("commands that have not changed were announced")
	}
	delete(w.files, "fix.md")
	w.Ready()
	w.Ready()
	if w.announced != 1 {
		t.Errorf("a change was announced %d times", w.announced)
	}
}

func TestManyFiles(t *testing.T) {
	files := map[string]string{}
	for i := range maxFiles + 1 {
		files[fmt.Sprintf("c%03d.md", i)] = "x"
	}
	w := newWorld(t.TempDir(), false, files)
	if n := len(w.Commands()); n != maxFiles || len(w.warnings) != 1 {
		t.Errorf("%d commands, %q", n, w.warnings)
	}
	w = newWorld(t.TempDir(), false, map[string]string{"a.md": "x"})
	w.files["link"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(".")}
	w.files["pipe.md"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	if got := w.Commands(); len(got) != 1 {
		t.Errorf("with a link and a pipe: %v", got)
	}
}

func TestExpand(t *testing.T) {
	dir := t.TempDir()
	style := Part{File: filepath.Join(dir, "docs/style.md"), Name: "docs/style.md"}
	for name, tt := range map[string]struct {
		body, rest string
		want       []Part
	}{
		"plain":                {"Do it.", "", []Part{{Text: "Do it."}}},
		"text after it":        {"Do it.", "now $1 !`ls` @docs/style.md", []Part{{Text: "Do it."}, {Text: "The user adds: now $1 !`ls` @docs/style.md"}}},
		"all arguments":        {"Say <$ARGUMENTS>", "a  b", []Part{{Text: "Say <a  b>"}}},
		"words":                {"$2, $1 and $3, for $100", "a b", []Part{{Text: "b, a and , for $100"}}},
		"not replaced again":   {"$1 $2", "$2 $ARGUMENTS", []Part{{Text: "$2 $ARGUMENTS"}}},
		"a command":            {"Now: !`git log -- $1`\nGo.", "a;b c", []Part{{Text: "Now: "}, {Command: "git log -- 'a;b'"}, {Text: "\nGo."}}},
		"a command with words": {"!`x $ARGUMENTS`", "$(a) `b` c", []Part{{Command: "x '$(a)' '`b`' c"}}},
		"no command":           {"a!`ls` `!ls` ! `ls`", "", []Part{{Text: "a!`ls` `!ls` ! `ls`"}}},
		"files": {"By @docs/style.md, @docs (@docs/style.md) and @gone.", "",
			[]Part{{Text: "By @docs/style.md, @docs (@docs/style.md) and @gone."}, style,
				{File: filepath.Join(dir, "docs") + string(filepath.Separator), Name: "docs"}}},
		"a file by argument": {"By @$1", "docs/style.md", []Part{{Text: "By @docs/style.md"}, style}},
		"no files":           {"@/etc/passwd @../x me@docs/style.md @~/x", "", []Part{{Text: "@/etc/passwd @../x me@docs/style.md @~/x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(dir, false, map[string]string{"git/x.md": tt.body})
			p, reply, ok, err := w.Expand(t.Context(), "git:x", tt.rest)
			if diff := gocmp.Diff(tt.want, p.Parts); diff != "" || reply != "" || !ok || err != nil {
				t.Errorf("%q, %v, %v, (-want +got)\n%s", reply, ok, err, diff)
			}
			for _, other := range []string{"x", "git", "git:x:y", "git/x", "../git:x", ""} {
				if _, _, ok, _ := w.Expand(t.Context(), other, ""); ok {
					t.Errorf("%q is a command", other)
				}
			}
		})
	}
}

// TestApproval checks that no text of a repository is used before the user has approved it.
func TestApproval(t *testing.T) {
	w := newWorld(t.TempDir(), true, map[string]string{"a.md": "---\nargument-hint: EVIL\n---\nEvil text", "b.md": "Other text"})
	if text := fmt.Sprint(w.Commands()); strings.Contains(text, "text") || strings.Contains(text, "EVIL") || !strings.Contains(text, "{a ") {
		t.Errorf("the commands are %s", text)
	}
	expand := func(name string) (string, string) {
		p, reply, ok, err := w.Expand(t.Context(), name, "")
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		return fmt.Sprint(p.Parts), reply
	}
	if text, _ := expand("b"); !strings.Contains(text, "Other text") || len(w.asked) != 1 || !strings.Contains(w.asked[0].Text, "Evil text") {
		t.Errorf("%s after %v", text, w.asked)
	}
	if text := fmt.Sprint(w.Commands()); !strings.Contains(text, "Evil text") {
		t.Errorf("after the approval the commands are %s", text)
	}
	w.answer = approval.No
	w.files["b.md"] = &fstest.MapFile{Data: []byte("Changed text")}
	if text, reply := expand("b"); strings.Contains(text, "text") || !strings.Contains(reply, "not approved") || len(w.asked) != 2 {
		t.Errorf("%s, %s after %d questions", text, reply, len(w.asked))
	}
	if text, _ := expand("a"); !strings.Contains(text, "Evil text") || len(w.asked) != 2 {
		t.Errorf("%s after %d questions", text, len(w.asked))
	}
}

func TestNoText(t *testing.T) {
	w := newWorld(t.TempDir(), false, map[string]string{"x.md": "$1 !`$2`"})
	if p, reply, ok, err := w.Expand(t.Context(), "x", ""); len(p.Parts) > 0 || !strings.Contains(reply, "without arguments") || !ok || err != nil {
		t.Error(p, reply, ok, err)
	}
}

func TestTooLong(t *testing.T) {
	w := newWorld(t.TempDir(), false, map[string]string{"x.md": strings.Repeat("$ARGUMENTS ", 1000)})
	for rest, long := range map[string]bool{strings.Repeat("a", 1000): false, strings.Repeat("a", 2000): true} {
		if p, reply, _, _ := w.Expand(t.Context(), "x", rest); long != strings.Contains(reply, "too long") || long != (len(p.Parts) == 0) {
			t.Errorf("with %d bytes: %q", len(rest), reply)
		}
	}
}

func TestBounds(t *testing.T) {
	dir := t.TempDir()
	bash := func(line string) *executors.Call {
		return &executors.Call{Tool: "bash", Card: executors.Card{Script: command.Parse(line, command.Shell{Dir: dir})}}
	}
	for head, permitted := range map[string][2]bool{
		"allowed-tools: Bash(git log:*)": {true, false}, "allowed-tools:": {false, false}, "allowed-tools: [": {false, false}, "other: x": {true, true},
	} {
		w := newWorld(dir, false, map[string]string{"x.md": "---\n" + head + "\n---\nx"})
		p, _, _, _ := w.Expand(t.Context(), "x", "")
		for i, line := range []string{"git log -1", "git log; touch x"} {
			if got := p.Bounds == nil || p.Bounds(bash(line)) == nil; got != permitted[i] {
				t.Errorf("%s: %q is permitted: %v", head, line, got)
			}
		}
	}
}

// FuzzExpand checks that a prompt has only commands that the file spells out, and only
// files within the session's directory.
func FuzzExpand(f *testing.F) {
	f.Add("---\nallowed-tools: Read\n---\nRun !`git log $1` by @docs/style.md $ARGUMENTS", "a 'b' $(c)")
	f.Add("@$1 !`$1`", "../../etc/passwd")
	f.Add("(!`a`!`b`) $9", "\x00 `")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text, rest string) {
		w := newWorld(dir, true, map[string]string{"x.md": text})
		w.options.Stat = func(string) (bool, bool) { return true, false }
		p, _, ok, err := w.Expand(t.Context(), "x", rest)
		if err != nil || !ok && len(p.Parts) > 0 {
			t.Fatal(ok, err)
		}
		for _, part := range p.Parts {
			rel, err := filepath.Rel(dir, cmp.Or(part.File, dir))
			if err != nil || !filepath.IsLocal(rel) {
				t.Errorf("the file %q", part.File)
			}
			if part.Text == "" && part.Command == "" && part.File == "" {
				t.Error("an empty part")
			}
		}
		if _, err := json.Marshal(p.Parts); err != nil {
			t.Error(err)
		}
	})
}
