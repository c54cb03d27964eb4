package editors

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestChange(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	write(t, file, "{\n  \"a\": 1\n}\n", 0o640)
	if err := os.Symlink(file, link); err != nil {
		t.Skip(err) // Windows without the right
	}
	e := named(t, "vscode")
	c, err := e.Change(link, entry)
	if err != nil || c.Empty() || !strings.Contains(c.Diff(), "\n+  \"acp.agents\": {\n") {
		t.Fatalf("Change: %v, want the entry added in\n%s", err, c.Diff())
	}
	backup, err := c.Apply()
	if err != nil {
		t.Fatal(err)
	}
	if old, err := os.ReadFile(backup); err != nil || string(old) != "{\n  \"a\": 1\n}\n" {
		t.Errorf("the copy holds %q, %v", old, err)
	}
	if target, err := os.Readlink(link); err != nil || target != file {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("the file has the mode %v, %v, want 0640", info.Mode(), err)
	}
	if c, err := e.Change(link, entry); err != nil || !c.Empty() {
		t.Errorf("the second change: %v\n%s", err, c.Diff())
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Change(link, entry); err == nil || !strings.Contains(err.Error(),
		"link.json is a link to "+file+", which does not exist: create that file or remove the link") {
		t.Errorf("a link to no file: %v", err)
	}
}

// A file that another program changes between the question and the answer keeps that
// change.
func TestChangedMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	for _, before := range []string{"{}\n", ""} {
		os.Remove(file)
		if before != "" {
			write(t, file, before, 0o600)
		}
		c, err := named(t, "zed").Change(file, entry)
		if err != nil {
			t.Fatal(err)
		}
		write(t, file, `{"theme": "new"}`, 0o600)
		if _, err := c.Apply(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
			t.Errorf("Apply: %v, want that the file has changed", err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != `{"theme": "new"}` {
			t.Errorf("the file is now %s, %v, want the other program's text", got, err)
		}
	}
}

// The settings of each system are where the editors look for them.
func TestFiles(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct{ system, editor, want string }{
		{"linux", "zed", ".config/zed/settings.json"},
		{"darwin", "zed", ".config/zed/settings.json"},
		{"windows", "zed", "AppData/Roaming/Zed/settings.json"},
		{"linux", "vscode", ".config/Code/User/settings.json"},
		{"darwin", "vscode", "Library/Application Support/Code/User/settings.json"},
		{"windows", "vscode", "AppData/Roaming/Code/User/settings.json"},
		{"windows", "jetbrains", ".jetbrains/acp.json"},
		{"linux", "neovim", ".config/nvim"},
		{"windows", "neovim", "AppData/Local/nvim"},
		{"linux", "emacs", ".emacs.d/init.el"},
	} {
		p := Places{System: tt.system, Home: home, Getenv: func(string) string { return "" }}
		if got := named(t, tt.editor).File(p); got != filepath.Join(home, filepath.FromSlash(tt.want)) {
			t.Errorf("%s on %s: %s, want %s", tt.editor, tt.system, got, tt.want)
		}
	}
	if got := named(t, "zed").File(Places{System: "linux", Getenv: func(string) string { return "" }}); got != "" {
		t.Errorf("without a home directory: %s", got)
	}
}

func TestConnected(t *testing.T) {
	home := t.TempDir()
	p := Places{System: "linux", Home: home, Getenv: func(string) string { return "" }}
	for _, dir := range []string{".config/nvim/lua/plugins", ".config/zed", ".emacs.d"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	check := func(editor, want string) {
		t.Helper()
		if got, err := named(t, editor).Connected(p); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", editor, got, err, want)
		}
	}
	for _, e := range All() {
		check(e.Name, "")
	}
	lua, el := filepath.Join(home, ".config/nvim/lua/plugins/ai.lua"), filepath.Join(home, ".emacs.d/init.el")
	write(t, lua, named(t, "neovim").Snippet("/bin/zeph-acp"), 0o600)
	write(t, el, named(t, "emacs").Snippet("/bin/zeph-acp"), 0o600)
	write(t, filepath.Join(home, ".config/zed/settings.json"), `{/* x */"agent_servers":{"Z":{"command":"/opt/zeph-acp"}}}`, 0o600)
	check("neovim", lua)
	check("emacs", el)
	check("zed", "/opt/zeph-acp")
}

func TestSnippetQuotes(t *testing.T) {
	got := named(t, "emacs").Snippet(`C:\My "Go"\zeph-acp.exe`)
	if !strings.Contains(got, `:command "C:\\My \"Go\"\\zeph-acp.exe" :command-params`) {
		t.Errorf("quotes and backslashes are not escaped in\n%s", got)
	}
}
