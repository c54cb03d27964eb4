package bundle

import (
	"context"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/process/program"
)

// repository makes a git repository from a folder and serves it. It returns its address, and a function that runs git in it.
func repository(t *testing.T, dir string) (address string, git func(args ...string) string) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed, and it fetches repositories")
	}
	git = func(args ...string) string {
		cmd := exec.Command(path, append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch=main")
	git("config", "http.uploadpack", "true")
	git("config", "uploadpack.allowReachableSHA1InWant", "true")
	git("add", "--all", "--force")
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	backend := filepath.Join(git("--exec-path"), "git-http-backend")
	if _, err := os.Stat(backend); err != nil {
		t.Skip("this git has no git-http-backend, which serves repositories")
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: backend, Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1"}, InheritEnv: []string{"HOME", "PATH"},
	})
	t.Cleanup(server.Close)
	return server.URL + "/" + filepath.Base(dir) + "/.git", git
}

// fetch fetches a plug-in with the user's own settings of git in a file.
func fetch(t *testing.T, source, listed, settings string) (*Plugin, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "gitconfig")
	must(t, os.WriteFile(file, []byte(settings), 0o600))
	runner := &program.Runner{Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_GLOBAL=" + file, "GIT_CONFIG_NOSYSTEM=1"}}
	s, err := ParseSource(source)
	if err != nil {
		return nil, err
	}
	return Fetch(t.Context(), func(ctx context.Context, s Source) (*Folder, error) { return Open(ctx, runner, s) }, s, listed)
}

// TestFetch checks that a repository is read without running anything: neither filters that the user has for other repositories,
// nor hooks of templates.
func TestFetch(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	dir := folder(t, map[string]string{
		manifestFile: `{"name":"p"}`, "commands/a.md": "x", "sub/.claude-plugin/plugin.json": `{"name":"q"}`, "sub/commands/b.md": "y", "run.sh": "#!/bin/sh",
		".gitattributes": "* filter=evil text eol=crlf export-subst\n", "l.md": "->commands/a.md",
	})
	address, git := repository(t, dir)
	template := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(template, "hooks"), 0o700))
	for _, hook := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
		must(t, os.WriteFile(filepath.Join(template, "hooks", hook), []byte("#!/bin/sh\ntouch "+ran), 0o700))
	}
	settings := "[filter \"evil\"]\nsmudge = touch " + ran + "\nclean = touch " + ran + "\nrequired = true\n[init]\ntemplateDir = " + template +
		"\n[core]\nfsmonitor = touch " + ran + "\nhooksPath = " + filepath.Join(template, "hooks") + "\n"
	p, err := fetch(t, address, "", settings)
	must(t, err)
	if p.Name != "p" || p.Commit != git("rev-parse", "HEAD") || string(p.Tree["l.md"].Data) != "x" || !p.Tree["run.sh"].Exec || p.Tree[manifestFile].Exec {
		t.Errorf("%+v", p)
	}
	if local, err := ReadTree(dir, "."); err != nil || local.Hash() != p.Tree.Hash() {
		t.Errorf("the hash differs from the folder's, %v", err)
	}
	first := git("rev-parse", "HEAD")
	must(t, os.WriteFile(filepath.Join(dir, "commands/a.md"), []byte("changed"), 0o600))
	git("commit", "--quiet", "--all", "-m", "second")
	git("tag", "v2")
	for source, want := range map[string]string{
		address + "#main": "changed", address + "#v2": "changed", address + "#" + first: "x",
	} {
		if p, err := fetch(t, source, "", settings); err != nil || string(p.Tree["commands/a.md"].Data) != want {
			t.Errorf("%s: %v, %v", source, p, err)
		}
	}
	if p, err := fetch(t, address+"#main:sub", "", settings); err != nil || p.Name != "q" || len(p.Tree) != 2 {
		t.Errorf("%v, %v", p, err)
	}
	for source, want := range map[string]string{
		address + "#gone":      "couldn't find remote ref gone",
		address + "#main:gone": "there is no folder gone",
		address + "x":          "not found",
	} {
		if p, err := fetch(t, source, "", settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %q", source, p, err, want)
		}
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a program of the settings ran")
	}
}

func TestFetchRefuses(t *testing.T) {
	other := folder(t, map[string]string{"a": "1"})
	repository(t, other)
	dir := folder(t, map[string]string{manifestFile: `{"name":"p"}`, "commands/a.md": "x"})
	address, git := repository(t, dir)
	git("submodule", "--quiet", "add", other, "vendor")
	git("commit", "--quiet", "-m", "submodule")
	if p, err := fetch(t, address, "", ""); err == nil || !strings.Contains(err.Error(), "vendor is a submodule") {
		t.Errorf("%v, %v", p, err)
	}
	git("rm", "--quiet", "vendor", ".gitmodules")
	must(t, os.Symlink("../../../etc/passwd", filepath.Join(dir, "commands/b.md")))
	git("add", "--all")
	git("commit", "--quiet", "-m", "link")
	if p, err := fetch(t, address, "", ""); err == nil || !strings.Contains(err.Error(), "the link commands/b.md: it leads out of the plug-in") {
		t.Errorf("%v, %v", p, err)
	}
}

func TestMarketplace(t *testing.T) {
	dir := folder(t, map[string]string{
		".claude-plugin/marketplace.json": `{"name":"m","metadata":{"pluginRoot":"./plugins"},"plugins":[
			{"name":"a","description":"A","source":"./a"},
			{"name":"b","source":"./b","strict":false,"commands":"./x.md"},
			{"name":"out","source":"./../../x"},
			{"name":"npm","source":{"source":"npm","package":"x"}},
			{"name":"evil","source":{"source":"url","url":"ext::sh -c x"}},
			{"name":"dash","source":{"source":"url","url":"https://example.com/x","ref":"--upload-pack=x"}},
			{"name":"hub","source":{"source":"github","repo":"o/r","ref":"main","sha":"abc123"}},
			{"name":"gone","source":"./gone"}]}`,
		"plugins/a/.claude-plugin/plugin.json": `{"name":"a"}`, "plugins/a/commands/c.md": "x", "plugins/b/x.md": "y",
	})
	address, _ := repository(t, dir)
	for _, source := range []string{dir, address} {
		_, err := fetch(t, source, "", "")
		choice, ok := err.(*ChoiceError)
		if !ok || len(choice.Marketplace.Plugins) != 8 || choice.Marketplace.Plugins[6].Source.String() != "https://github.com/o/r#abc123" {
			t.Fatalf("%s: %v", source, err)
		}
		if p, err := fetch(t, source, "a", ""); err != nil || p.Name != "a" || p.From.Sub != "plugins/a" || len(p.Tree) != 2 {
			t.Errorf("%s: %+v, %v", source, p, err)
		}
		if p, err := fetch(t, source, "b", ""); err != nil || p.Name != "b" || p.Commands.empty() || p.Tree[manifestFile].Data == nil {
			t.Errorf("%s: %+v, %v", source, p, err)
		}
		for name, want := range map[string]string{
			"out": "leads out of the plug-in", "npm": `its source "npm" is not supported`, "evil": "is not an address", "dash": "is not a branch",
			"gone": "there is no folder plugins/gone", "zzz": "the marketplace has no plug-in zzz; it has a, b",
		} {
			if p, err := fetch(t, source, name, ""); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v, %v, want %q", source, name, p, err, want)
			}
		}
	}
	if _, err := fetch(t, filepath.Join(dir, "plugins/a"), "x", ""); err == nil || !strings.Contains(err.Error(), "is not a marketplace") {
		t.Error(err)
	}
}

func FuzzParseMarketplace(f *testing.F) {
	f.Add(`{"plugins":[{"name":"a","source":"./a"},{"name":"b","source":{"source":"github","repo":"o/r"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMarketplace("m", []byte(text))
		if err != nil {
			return
		}
		for _, l := range m.Plugins {
			if l.Unusable != "" {
				continue
			}
			if l.Source.URL != "" && l.Source.check() != nil || strings.HasPrefix(l.Sub, "..") || strings.HasPrefix(l.Sub, "/") {
				t.Errorf("%+v", l)
			}
		}
	})
}
