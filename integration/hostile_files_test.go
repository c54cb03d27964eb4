package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// denied is the part of the configuration that hides files inside the workspace.
const denied = `[tools.file]
deny_read = ["**/.env", "secrets"]
`

// fileCalls returns calls of the file tools that must fail, although the user
// allows each of them.
func fileCalls() []modelCall {
	var calls []modelCall
	add := func(tool string, inputs ...map[string]any) {
		for _, in := range inputs {
			calls = append(calls, modelCall{tool, in})
		}
	}
	path := func(p string) map[string]any { return map[string]any{"path": p} }
	for _, p := range []string{
		// upwards out of the workspace
		"../outside/secret.txt",
		"$OUT/secret.txt",
		"./../outside/secret.txt",
		"sub/../../outside/secret.txt",
		"sub/deeper/../../../outside/secret.txt",
		"$WORK/../outside/secret.txt", "$WORK//..//outside//secret.txt", "nowhere/../../outside/secret.txt", "a.txt/../../outside/secret.txt",
		// through links
		"link/secret.txt",
		"file-link",
		"relative",
		"up/outside/secret.txt",
		"root$OUT/secret.txt",
		"chain/secret.txt",
		"sub/link/secret.txt",
		"link/../outside/secret.txt",
		"home/.ssh/id_ed25519", "loop", "loop/x", "dangling", "tree/secret", "tree/inner/deep.txt",
		// through system files
		"proc/environ",
		"proc/cwd/../outside/secret.txt",
		"/proc/self/environ",
		"/proc/self/root$OUT/secret.txt",
		"/proc/self/cwd/../outside/secret.txt",
		"/dev/stdin",
		"/dev/zero",
		"/dev/fd/0",
		// home, and other spellings
		"~/.ssh/id_ed25519",
		"~/.netrc",
		"~root/.bashrc",
		"$HOMEDIR/.aws/credentials",
		"file://$OUT/secret.txt",
		"..\\outside\\secret.txt",
		"%2e%2e/outside/secret.txt",
		"..%2foutside%2fsecret.txt",
		"．．/outside/secret.txt",
		"../outside/secret.txt\x00.txt",
		"",
		" ",
		"a\nb",
		strings.Repeat("../", 400) + "etc/passwd",
		strings.Repeat("x", 5000),
		// not regular files
		"fifo", "socket", ".", "sub",
		// zeph-acp's own files
		"$ZEPH/audit.jsonl", "$ZEPH/zeph.db", "../zeph/zeph.db", "$ZEPH",
		// files that the configuration hides
		".env", "./.env", "config/.env", "sub/../.env", "env-link", "tree/env", "secrets/key.pem", "secrets/deep/token", "$WORK/secrets/../.env",
	} {
		add("read", path(p))
	}
	edit := func(p string) map[string]any {
		return map[string]any{"path": p, "old_string": "hunter", "new_string": "gatherer"}
	}
	add("edit", edit("../outside/secret.txt"), edit("link/secret.txt"), edit("file-link"), edit("$OUT/keep.go"), edit(".env"), edit("secrets/key.pem"),
		edit("env-link"),
		edit("fifo"), edit("socket"), edit("~/.netrc"))
	text := func(p string) map[string]any { return map[string]any{"path": p, "content": "mine\n"} }
	add("write", text("../outside/new.txt"), text("../outside/secret.txt"), text("$OUT/new.txt"), text("link/new.txt"), text("link/new/deeper.txt"),
		text("dangling"), text("file-link"), text("up/new.txt"),
		text("sub/link/new.txt"),
		text("root/tmp/new-of-zeph.txt"),
		text("~/.bashrc"),
		text("$HOMEDIR/.ssh/authorized_keys"),
		text("/etc/cron.d/zeph"),
		text("/dev/null/x"),
		text("fifo"),
		text("socket"),
		text("."), text("sub"), text("a.txt/b"), text(".env"), text("env-link"), text("secrets/key.pem"), text("$ZEPH/permissions.toml"),
		text("../zeph/config.toml"), text("loop/x"), text("chain/new.txt"))
	add("list_directory", path(".."), path("../outside"), path("$OUT"), path("link"), path("up"), path("/"), path("root"), path("~"), path("home/.ssh"),
		path("/proc/self/fd"), path("secrets"), path("secrets/deep"),
		path("$ZEPH"), path("tree/inner"), path("fifo"))
	glob := func(p, dir string) map[string]any { return map[string]any{"pattern": p, "path": dir} }
	add("find_path", glob("*", ".."), glob("../**", "."), glob("/etc/*", "."), glob("$OUT/*", "."), glob("*", "link"), glob("~/.ssh/*", "."), glob("*", "/"),
		glob("*", "secrets"), glob("*", "$ZEPH"), glob("**/../../outside/*", "sub"))
	grep := func(dir string) map[string]any { return map[string]any{"pattern": "h.nter", "path": dir} }
	add("grep", grep(".."), grep("../outside"), grep("link"), grep("file-link"), grep("$OUT/secret.txt"), grep("/proc/self/environ"), grep("proc/environ"),
		grep("up"), grep("~"), grep(".env"), grep("secrets"),
		grep("env-link"), grep("$ZEPH"), grep("fifo"), grep("root"))
	add("create_directory", path("../new"), path("$OUT/new"), path("link/new"), path("link/new/deep"), path("dangling"), path("dangling/x"), path("up/new"),
		path("~/new"), path("/new-of-zeph"), path("a.txt"),
		path("a.txt/new"), path("fifo/new"), path("$ZEPH/new"), path("loop/new"))
	add("delete_path", path("."), path(""), path(".."), path("/"), path("$WORK"), path("$WORK/"), path("$WORK/."), path("$WORK/sub/.."), path("$OUT"),
		path("../outside"), path("../outside/secret.txt"), path("link/secret.txt"),
		path("link/"),
		path("link/."),
		path("link/dir"),
		path("up/outside"),
		path("up/work"),
		path("chain/dir"),
		path(".git"),
		path(".git/"),
		path(".git/HEAD"),
		path("./sub/../.git"),
		path(".git/config"),
		path("~"),
		path("~/.ssh"),
		path("$ZEPH"), path("$ZEPH/zeph.db"), path("../zeph"), path("sub/link/dir"), path("nowhere"), path("vendor/.git"))
	move := func(from, to string) map[string]any { return map[string]any{"source": from, "destination": to} }
	add("move_path", move("a.txt", "../outside/a.txt"), move("a.txt", "link/a.txt"), move("a.txt", "$OUT/a.txt"), move("a.txt", "dangling"),
		move("../outside/secret.txt", "stolen.txt"), move("link/secret.txt", "stolen.txt"),
		move("$HOMEDIR/.ssh", "stolen"),
		move(".", "sub/all"),
		move("$WORK", "../moved"),
		move("..", "sub/up"),
		move("sub", "sub/deeper/sub"),
		move("sub", "sub"),
		move(".git", "git"),
		move(".git/HEAD", "HEAD"),
		move("a.txt", ".git/hooks/x/../../../../outside/x"),
		move(".env", "plain.txt"),
		move("secrets", "open"),
		move("secrets/key.pem", "key.txt"),
		move("link/dir", "dir"),
		move("b.txt", "a.txt"),
		move("a.txt", "$ZEPH/a.txt"),
		move("$ZEPH/zeph.db", "zeph.db"), move("fifo/x", "y"), move("nowhere", "x"), move("a.txt", "nowhere/../../outside/x"))
	add("copy_path", move("a.txt", "../outside/a.txt"), move("a.txt", "link/a.txt"), move("a.txt", "dangling"), move("../outside/secret.txt", "stolen.txt"),
		move("$OUT", "stolen"), move("link/secret.txt", "stolen.txt"),
		move("link/dir", "stolen"),
		move("file-link/x", "stolen.txt"),
		move("up/outside", "stolen"),
		move(".env", "plain.txt"),
		move("env-link/x", "plain.txt"),
		move("secrets/key.pem", "key.txt"),
		move("/proc/self/environ", "environ.txt"),
		move("proc/environ", "environ.txt"),
		move("$HOMEDIR/.ssh", "ssh"),
		move("sub", "sub/deeper/sub"),
		move("a.txt", "a.txt"),
		move("b.txt", "a.txt"),
		move("fifo", "pipe"),
		move("socket", "socket2"),
		move("/dev/zero", "zero"),
		move("$ZEPH/zeph.db", "zeph.db"), move("sub", "$OUT/sub"), move("a.txt", "sub/link/a.txt"))
	return calls
}

// TestHostileFiles makes the model request forbidden files, with a user who allows
// everything, on the disk and through the client's buffers.
func TestHostileFiles(t *testing.T) {
	for name, caps := range map[string]sdk.ClientCapabilities{"disk": {}, "buffers": fakeide.CanAll()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, denied, sdk.PermissionOptionKindAllowOnce, caps)
			calls := fileCalls()
			attacks(t, len(calls))
			if len(calls) < 80 {
				t.Errorf("only %d calls", len(calls))
			}
			for _, e := range w.run(calls) {
				if !e.failed {
					t.Errorf("%s: it succeeded: %.300s", e, e.result)
				}
				if !strings.HasPrefix(e.result, "[tool_error]\n") {
					t.Errorf("%s: the model got %.300q", e, e.result)
				}
			}
			for path, want := range map[string]string{"a.txt": "alpha\nbeta\n", "b.txt": "beta\n", ".git/HEAD": "ref: refs/heads/main\n", ".env": treasure,
				"secrets/key.pem": treasure, "sub/deeper/file.txt": "deep\n"} {
				if got := w.content(path); got != want {
					t.Errorf("%s is now %q", path, got)
				}
			}
			for _, path := range []string{"stolen", "stolen.txt", "plain.txt", "key.txt", "environ.txt", "ssh", "open", "zeph.db", "git", "HEAD"} {
				if _, err := os.Lstat(filepath.Join(w.dir, path)); err == nil {
					t.Errorf("%s was created", path)
				}
			}
		})
	}
}

// TestHostileTrees requests trees with forbidden files. The calls succeed without
// those files.
func TestHostileTrees(t *testing.T) {
	w := newWorld(t, denied, sdk.PermissionOptionKindAllowOnce, sdk.ClientCapabilities{})
	for _, e := range w.run([]modelCall{
		{"grep", map[string]any{"pattern": "h.nter"}},
		{"grep", map[string]any{"pattern": "package", "path": "."}},
		{"find_path", map[string]any{"pattern": "**/*"}},
		{"find_path", map[string]any{"pattern": "**/.env"}},
		{"find_path", map[string]any{"pattern": "**/deep.txt"}},
		{"list_directory", map[string]any{"path": "."}},
		{"list_directory", map[string]any{"path": "tree"}},
		{"copy_path", map[string]any{"source": "tree", "destination": "copied"}},
		{"delete_path", map[string]any{"path": "tree"}},
		{"delete_path", map[string]any{"path": "link"}},
		{"delete_path", map[string]any{"path": "dangling"}},
		{"delete_path", map[string]any{"path": "file-link"}},
		{"move_path", map[string]any{"source": "chain2", "destination": "chain3"}},
	}) {
		if e.failed {
			t.Errorf("%s: %.300s", e, e.result)
		}
		for _, hidden := range []string{"id_ed25519", "deep.txt:", "key.pem", "keep.go"} {
			if strings.Contains(e.result, hidden) {
				t.Errorf("%s shows %q: %s", e, hidden, e.result)
			}
		}
	}
	err := filepath.WalkDir(filepath.Join(w.dir, "copied"), func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if to, err := filepath.EvalSymlinks(path); err == nil && !strings.HasPrefix(to, w.dir) {
			t.Errorf("%s leads to %s", path, to)
		}
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), treasure) && d.Type().IsRegular() {
			t.Errorf("%s holds a secret", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
