package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

const secret = "sk-secret"

// atHome works in a home directory with zeph-acp's own files.
func atHome(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, map[string]string{
		".config/zeph-acp/keys.toml": secret, ".config/zeph-acp/skills/x.md": secret, ".config/other/a": "a", "project/a": "a",
		"project/link": "-> ../.config/zeph-acp",
		"project/key":  "-> ../.config/zeph-acp/keys.toml",
	})
	must(t, os.Link(b.path(".config/zeph-acp/keys.toml"), b.path("project/hard")))
	must(t, os.Link(b.path(".config/zeph-acp/keys.toml"), b.path("project/.gitignore")))
	roots := privateRoots(b)
	b.Registry = New(Disk{Roots: roots}, roots, setting.Default[Config](), nil)
	return b
}

// privateRoots returns the roots without the files of zeph-acp.
func privateRoots(b *bench) *workspace.Roots {
	roots, err := workspace.New(b.dir)
	must(b.t, err)
	return roots.Without(&workspace.AgentFiles{Places: []workspace.Place{{Dir: b.path(".config/zeph-acp"), Files: []string{"keys.toml"}}}})
}

func TestPrivate(t *testing.T) {
	b := atHome(t)
	for _, path := range []string{".config/zeph-acp/keys.toml", "project/key", "project/hard", "project/link/keys.toml",
		"project/../.config/zeph-acp/keys.toml", ".config/zeph-acp/new.toml", ".config/zeph-acp/skills/x.md", ".config/zeph-acp",
		b.path(".config/zeph-acp/keys.toml")} {
		for tool, input := range map[string]in{
			"read": {}, "write": {"content": "x"}, "edit": {"old_string": "sk", "new_string": "x"}, "grep": {"pattern": "sk"}, "list_directory": {},
		} {
			input["path"] = path
			wantFailure(t, b.run(tool, input), executors.PolicyBlocked, "zeph-acp's own files")
		}
	}
	for _, input := range []in{{"pattern": ".config/zeph-acp/*"}, {"pattern": "*", "path": "project/link"}, {"pattern": b.path(".config/zeph-acp/k*")}} {
		wantFailure(t, b.run("find_path", input), executors.PolicyBlocked, "zeph-acp's own files")
	}
	if got := b.content(".config/zeph-acp/keys.toml"); got != secret {
		t.Errorf("the file holds %q", got)
	}
	if entries, err := os.ReadDir(b.path(".config/zeph-acp")); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// Walks leave out hidden files, and report that.
func TestPrivateIsLeftOut(t *testing.T) {
	b := atHome(t)
	for _, tt := range []struct {
		tool  string
		input in
		want  string
	}{
		{"list_directory", in{"path": ".config"}, "[dir]  other\n" + walk.HiddenNote},
		{"find_path", in{"pattern": "**/*", "path": ".config"}, ".config/other/\n.config/other/a\n" + walk.HiddenNote},
		{"find_path", in{"pattern": "keys.toml"}, "No files matching: keys.toml\n" + walk.HiddenNote},
		{"find_path", in{"pattern": "project/*k*"}, ""}, // links to hidden files are not reported
		{"grep", in{"pattern": "sk-|^a"}, ".config/other/a:1: a\nproject/a:1: a\n" + walk.HiddenNote},
		{"grep", in{"pattern": "sk-", "path": "project"}, "No matches for: sk-\n" + walk.HiddenNote},
	} {
		res := b.run(tt.tool, tt.input)
		if strings.Contains(res.ForModel(), secret) || tt.want != "" && res.ForModel() != tt.want || strings.Contains(res.ForModel(),
			"project/link") || strings.Contains(res.ForModel(), "project/key") {
			t.Errorf("%s %v gives\n%s", tt.tool, tt.input, res.ForModel())
		}
	}
	if res := b.run("read", in{"path": ".config/zeph-ac"}); strings.Contains(res.ForModel(), "zeph-acp?") {
		t.Error("suggested:", res.ForModel())
	}
}

// A refused path is never sent to the client.
func TestPrivateIsNotAskedFor(t *testing.T) {
	b := atHome(t)
	roots := privateRoots(b)
	b.buf = &buffers{Disk: Disk{Roots: roots}, text: map[string]string{b.path(".config/zeph-acp/keys.toml"): secret, b.path("project/hard"): secret}}
	b.Registry = New(b.buf, roots, setting.Default[Config](), nil)
	for _, path := range []string{".config/zeph-acp/keys.toml", "project/hard"} {
		for tool, input := range map[string]in{"read": {}, "write": {"content": "x"}, "edit": {"old_string": "sk", "new_string": "x"}, "grep": {"pattern": "sk"}} {
			input["path"] = path
			wantFailure(t, b.run(tool, input), executors.PolicyBlocked, "zeph-acp's own files")
		}
	}
}

// A write does not follow a directory that becomes a link to ours.
func TestPrivateWriteRace(t *testing.T) {
	b := atHome(t)
	must(t, os.MkdirAll(b.path("project/d"), 0o755))
	stop := b.swap("project/d", "project/link")
	for range 300 {
		for tool, input := range map[string]in{"write": {"path": "project/d/keys.toml", "content": "x"}, "read": {"path": "project/d/keys.toml"},
			"grep": {"path": "project/d", "pattern": "sk"}, "list_directory": {"path": "project/d"}} {
			res, err := b.Execute(t.Context(), b.call(tool, input))
			if err != nil || strings.Contains(res.ForModel(), secret) || strings.Contains(res.ForModel(), "skills") {
				t.Fatal(tool, res.ForModel(), err)
			}
		}
	}
	stop()
	if got := b.content(".config/zeph-acp/keys.toml"); got != secret {
		t.Errorf("the file holds %q", got)
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, ".config/zeph-acp"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
