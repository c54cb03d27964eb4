package files

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// guarded works in a project with refused files, on the disk or with a client's
// buffers of all of them.
func guarded(t testing.TB, buffered bool, deny, allow []string) *bench {
	t.Helper()
	b := newBench(t, map[string]string{
		".env": secret, "c/.env": secret, "secrets/k": secret, "link": "-> .env", "dirlink": "-> secrets", "a": "a", "c/b": "b", "../outside/open": "o",
		"../outside/shut": secret,
	})
	cfg := setting.Default[Config]()
	cfg.DenyRead, cfg.AllowRead = deny, allow
	session, err := workspace.New(b.dir)
	must(t, err)
	roots, warnings, err := cfg.Roots(session)
	must(t, err)
	if len(warnings) > 0 {
		t.Errorf("got %v, want none", warnings)
	}
	var fsys FS = Disk{Roots: roots}
	if buffered {
		b.buf = &buffers{Disk: Disk{Roots: roots}, text: map[string]string{}}
		for _, name := range []string{".env", "c/.env", "secrets/k", "a", "c/b", "secrets/only-a-buffer"} {
			if text, err := os.ReadFile(b.path(name)); err == nil {
				b.buf.text[b.path(name)] = string(text)
			} else {
				b.buf.text[b.path(name)] = secret
			}
		}
		fsys = b.buf
	}
	b.Registry = New(fsys, roots, cfg, nil)
	return b
}

var hidden = []string{"**/.env", "secrets/**"}

func TestDenied(t *testing.T) {
	for _, buffered := range []bool{false, true} {
		b := guarded(t, buffered, hidden, nil)
		before := shape(t, b.dir)
		for _, path := range []string{".env", "c/.env", "secrets/k", "link", "dirlink/k", "secrets/only-a-buffer"} {
			for tool, input := range map[string]in{"read": {}, "edit": {"old_string": "sk", "new_string": "x"}, "grep": {"pattern": "sk"}, "write": {"content": "x"}} {
				if tool == "write" && path == "secrets/only-a-buffer" {
					continue
				}
				input["path"] = path
				wantFailure(t, b.run(tool, input), executors.PolicyBlocked, "may not be read", "deny_read")
			}
			for _, tool := range []string{"copy_path", "move_path"} {
				if path == "link" || strings.HasSuffix(path, "buffer") { // a link itself may move: its target still may not be read
					continue
				}
				wantFailure(t, b.run(tool, in{"source": path, "destination": "stolen"}), executors.PolicyBlocked, "may not be read", "deny_read")
			}
		}
		for tool, input := range map[string]in{"list_directory": {}, "grep": {"pattern": "sk"}, "find_path": {"pattern": "*"}} {
			for _, dir := range []string{"secrets", "dirlink"} {
				input["path"] = dir
				wantFailure(t, b.run(tool, input), executors.PolicyBlocked, "deny_read")
			}
		}
		wantFailure(t, b.run("move_path", in{"source": "c", "destination": "open"}), executors.PolicyBlocked, "1 entry may not be read")
		wantFailure(t, b.run("move_path", in{"source": "secrets", "destination": "open"}), executors.PolicyBlocked, "may not be read")
		if after := shape(t, b.dir); after != before {
			t.Errorf("there is now\n%s, was\n%s", after, before)
		}
	}
}

func TestDeniedIsLeftOut(t *testing.T) {
	b := guarded(t, false, hidden, nil)
	for _, tt := range []struct {
		tool  string
		input in
		want  string
	}{
		{"list_directory", in{}, "[dir]  c\n[file] a\n[symlink] dirlink\n[symlink] link\n[2 entries left out by deny_read or allow_read]"},
		{"list_directory", in{"path": "c"}, "[file] b\n[1 entry left out by deny_read or allow_read]"},
		{"copy_path", in{"source": "c", "destination": "c2"}, "Copied: c -> c2 (1 file, 1 byte)\n[1 entry left out by deny_read or allow_read]"},
	} {
		if res := b.run(tt.tool, tt.input); res.ForModel() != tt.want {
			t.Errorf("%s %v gives\n%s", tt.tool, tt.input, res.ForModel())
		}
	}
	for tool, input := range map[string]in{"find_path": {"pattern": "**/*"}, "grep": {"pattern": "sk|a|b"}} {
		res := b.run(tool, input)
		for _, bad := range []string{".env", "secrets", secret, "link"} {
			if strings.Contains(res.ForModel(), bad) {
				t.Errorf("%s tells of %s:\n%s", tool, bad, res.ForModel())
			}
		}
		if !strings.Contains(res.ForModel(), "c/b") {
			t.Errorf("got %s, want %q in it", res.ForModel(), "c/b")
		}
	}
	if res := b.run("read", in{"path": "secrets/kk"}); strings.Contains(res.ForModel(), "mean") {
		t.Error("suggested:", res.ForModel())
	}
	if res := b.run("read", in{"path": ".en"}); strings.Contains(res.ForModel(), ".env") {
		t.Error("suggested:", res.ForModel())
	}
}

// A file with a refused name can still be made and deleted, without being
// shown.
func TestDeniedMayBeMadeAndDeleted(t *testing.T) {
	b := guarded(t, false, hidden, nil)
	if res := b.run("write", in{"path": "secrets/new/n", "content": "mine"}); res.Failed || b.content("secrets/new/n") != "mine" {
		t.Errorf("got %q, want a new file", res.ForModel())
	}
	if res := b.run("copy_path", in{"source": "a", "destination": "secrets/a"}); res.Failed {
		t.Errorf("got %s, want success", res.ForModel())
	}
	for _, path := range []string{".env", "secrets"} {
		card, err := b.Prepare(t.Context(), b.call("delete_path", in{"path": path}))
		if err != nil || len(card.Changes) != 1 || card.Changes[0].Old != nil {
			t.Errorf("%+v, %v", card, err)
		}
		if res := b.run("delete_path", in{"path": path}); res.Failed || strings.Contains(res.ForModel(), secret) || res.Content[0].Change.Old != nil {
			t.Errorf(`b.run("delete_path", in{"path": path}): got %s, want success and no %q in it`, res.ForModel(), secret)
		}
	}
	if got := shape(t, b.dir); strings.Contains(got, "secrets/") {
		t.Errorf("shape(t, b.dir): got %v, want no %q in it", got, "secrets/")
	}
}

func TestAllowed(t *testing.T) {
	b := guarded(t, false, nil, []string{"c", "/nowhere"})
	wantFailure(t, b.run("read", in{"path": "a"}), executors.PolicyBlocked, "allow_read does not name it")
	wantFailure(t, b.run("write", in{"path": "a", "content": "x"}), executors.PolicyBlocked, "allow_read")
	if res := b.run("list_directory", in{}); !strings.HasPrefix(res.ForModel(), "[dir]  c\n") || strings.Contains(res.ForModel(), "[file]") {
		t.Errorf(`b.run("list_directory", in{}): got %s, want %q at its beginning and no %q in it`, res.ForModel(), "[dir]  c\n", "[file]")
	}
	dir := strings.TrimSuffix(b.dir, "/w")
	cfg := setting.Default[Config]()
	cfg.DenyRead, cfg.AllowRead = []string{"shut"}, []string{"c", dir + "/outside"}
	session, err := workspace.New(b.dir)
	must(t, err)
	roots, _, err := cfg.Roots(session)
	must(t, err)
	b.Registry = New(Disk{Roots: roots}, roots, cfg, nil)
	for tool, input := range map[string]in{
		"read": {"path": dir + "/outside/open"}, "grep": {"path": dir + "/outside", "pattern": "o"}, "find_path": {"path": dir + "/outside", "pattern": "*"},
		"list_directory": {"path": "../outside"}, "copy_path": {"source": dir + "/outside", "destination": "copied"},
	} {
		if res := b.run(tool, input); res.Failed || strings.Contains(res.ForModel(), "shut") || strings.Contains(res.ForModel(),
			secret) || !strings.Contains(res.ForModel(), "o") {
			t.Errorf("%s: %s", tool, res.ForModel())
		}
	}
	if got := shape(t, b.path("copied")); got != "open=o" {
		t.Errorf(`shape(t, b.path("copied")): got %q, want %q`, got, "open=o")
	}
	for tool, input := range map[string]in{
		"write": {"path": dir + "/outside/open", "content": "x"}, "edit": {"path": dir + "/outside/open", "old_string": "o", "new_string": "x"},
		"delete_path": {"path": dir + "/outside/open"}, "create_directory": {"path": dir + "/outside/n"},
		"move_path": {"source": dir + "/outside/open", "destination": "m"},
	} {
		wantFailure(t, b.run(tool, input), executors.PolicyBlocked, "outside the session's directories")
	}
	wantFailure(t, b.run("read", in{"path": dir + "/outside/shut"}), executors.PolicyBlocked)
	wantFailure(t, b.run("read", in{"path": dir + "/other"}), executors.PolicyBlocked, "outside the session's directories")
}

func TestAllowedPaths(t *testing.T) {
	b := newBench(t, map[string]string{"../more/f": "x", "../home/p/f": "y"})
	t.Setenv("HOME", b.path("../home"))
	cfg := setting.Default[Config]()
	cfg.AllowedPaths = []string{".", b.path("../more"), "~/p", b.path("../missing"), b.path("../more/f")}
	session, err := workspace.New(b.dir)
	must(t, err)
	roots, warnings, err := cfg.Roots(session)
	must(t, err)
	if len(warnings) != 2 || !strings.Contains(warnings[0], "does not exist") || !strings.Contains(warnings[1], "is not a directory") {
		t.Error(warnings)
	}
	b.Registry = New(Disk{Roots: roots}, roots, cfg, nil)
	for _, path := range []string{"../more/f", "~/p/f"} {
		if res := b.run("edit", in{"path": path, "old_string": b.content(strings.Replace(path, "~", "../home", 1)), "new_string": "z"}); res.Failed {
			t.Errorf("got %s, want success", res.ForModel())
		}
	}
	wantFailure(t, b.run("delete_path", in{"path": "../more"}), executors.PolicyBlocked, "directory of the session")
	if !slices.Equal(session.Dirs(), []string{b.dir}) {
		t.Error("the session's own roots changed")
	}
	if wrong := setting.Check(cfg); len(wrong) > 0 {
		t.Errorf("setting.Check(cfg): got %v, want none", wrong)
	}
	for key, bad := range map[string]Config{"allowed_paths": {AllowedPaths: []string{"rel"}}, "deny_read": {DenyRead: []string{"a["}},
		"allow_read": {AllowRead: []string{"../x"}}} {
		if wrong := setting.Check(bad); wrong[key+"[0]"] == "" {
			t.Errorf("%s: %v", key, wrong)
		}
	}
}
