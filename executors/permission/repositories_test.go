package permission_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// runInBox runs a script as a command that runs without a question. ok is false if this system has
// no box.
func runInBox(t testing.TB, td *commands.TestDir, script string, limit time.Duration) (out string, ok bool) {
	t.Helper()
	roots, err := workspace.New(td.Dir)
	if err != nil {
		t.Fatal(err)
	}
	box := sandbox.NewBox(sandbox.Session{Roots: roots, Home: td.Home})
	if box == nil {
		return "", false
	}
	if err := box.Ready(); err != nil {
		t.Fatalf("the box is not ready: %v", err)
	}
	env := slices.DeleteFunc(td.Env(), func(v string) bool { return strings.HasPrefix(v, "SECRET_TOKEN=") })
	local := shell.Local{Confine: box.Confined, MaxTime: limit, Block: []string{"GOPATH", "GOMODCACHE", "GOCACHE", "CARGO_", "RUSTUP_"},
		Extra: slices.Concat(command.GitSafeEnv(), env, []string{"RUST_BACKTRACE=0"})}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute) // for a box without a limit
	defer stop()
	got, err := local.Run(ctx, shell.Command{Line: script, Dir: td.Dir, ReadOnly: true})
	if errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		t.Errorf("%q did not end", script)
	} else if err != nil {
		t.Fatalf("%q: %v", script, err)
	}
	return got.Text, true
}

// needBox skips a test where there is no box.
func needBox(t testing.TB) {
	t.Helper()
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if sandbox.NewBox(sandbox.Session{Roots: roots}) == nil {
		t.Skip("there is no box here")
	}
}

// repositoryReaders are commands that run without a question and read files of a repository which
// they do not name, by the program whose files these are.
var repositoryReaders = map[string][]string{
	"git": {
		"git status", "git status -s --ignored", "git diff", "git diff HEAD --stat", "git diff --cached", "git diff --no-index a.txt b.txt",
		"git diff --name-only | xargs cat", "git log -p -2", "git log --all --stat", "git log --oneline --all --decorate",
		"git log -g --all", "git log --format='%h %an %aN %s' --use-mailmap", "git show", "git show HEAD:a.txt", "git show HEAD~1 --stat", "git show leak",
		"git blame a.txt", "git grep -n one", "git grep --untracked zq7", "git ls-files | xargs sha256sum",
		"git ls-files | xargs cat", "git ls-files -s", "git ls-files -o --exclude-standard", "git ls-tree -r HEAD", "git describe --dirty --always --tags",
		"git rev-parse HEAD --git-dir --show-toplevel", "git rev-list --all --objects", "git branch -avv", "git tag -l", "git stash list",
		"git stash show -p", "git remote -v", "git shortlog -sn HEAD", "git submodule status", "git submodule summary", "git config --get user.name",
		"git config --show-origin user.name", "git for-each-ref", "git show-ref", "git cat-file -p HEAD", "git count-objects -v", "git check-ignore -v a.txt",
		"git check-attr -a a.txt", "git worktree list", "git reflog", "git notes list", "git range-diff HEAD~1..HEAD HEAD~1..HEAD", "git -C inner status",
		"git -C inner diff", "git -C sub status", "git -C inner log -p", "git help -a | head -3", "git check-mailmap 'Ann <ann@example.com>'",
		"cd inner && git diff", "cd sub && git log -1", "cat $(git ls-files | head -3)", "rg -n one", "rg --files", "fd", "grep -rn one src docs",
		"find . -name '*.go' -exec cat {} +", "ls -la", "du -s .",
	},
	"go": {
		"go list ./...", "go list -deps -json ./...", "go list -m all", "go list -m -json all", "go list -e -f '{{.Doc}} {{.Dir}}' all", "go list -test ./...",
		"go doc .", "go doc -all -src .", "go doc example.com/s", "go doc s", "go env", "go env GOFLAGS CC", "go version",
		"go mod graph", "go mod why -m example.com/s", "gofmt -l .", "gofmt -d .", "gofmt -d pkg src", "go help mod",
	},
	"rust": {"cargo --version", "rustc --version", "cargo tree", "cargo metadata --format-version 1", "cargo pkgid", "cargo locate-project", "cargo --list",
		"rustup show", "rustup toolchain list", "rustc --print cfg", "rustc --explain E0001"},
	"node": {"node --version", "npm --version", "npm ls", "npm ls --all --json", "npm root", "npm prefix", "npm pkg get name", "npm explain s",
		"node --check evil.js", "pnpm --version", "yarn --version", "npx --version", "tsc --version", "eslint --version"},
	"python": {"python3 --version", "python3 -m json.tool package.json", "pip list", "pip show pip", "pip --version", "python3 -m pip list", "pip check",
		"pip freeze", "pytest --version", "black --version", "mypy --version", "ruff --version", "poetry --version"},
	"files": {
		"rg -n x", "rg -n zq7 --no-ignore -uu", "rg --files --hidden", "fd -H", "fdfind -u", "grep -rn zq7 .", "find . -type f -exec cat {} +",
		"find . | xargs cat", "cat *", "for f in *; do head -3 \"$f\"; done", "ls -laR", "tree -a", "jq . package.json", "jq -n 'now'", "make --version",
		"shellcheck s.sh", "shellcheck -x s.sh", "xmllint x.xml", "xmllint --noout x.xml", "diff sub docs", "wc -l *", "file *", "stat *", "yq . config.yaml",
		"bash -n script.sh", "sort *.txt", "bat a.txt", "cat $(ls -a)",
	},
}

// readersOf returns the programs that read the files of a tree.
func readersOf(tree string) []string {
	family, _, _ := strings.Cut(tree, "-")
	switch family {
	case "git", "tracked":
		return []string{"git"}
	case "go":
		return []string{"go", "git"}
	case "rust", "cargo":
		return []string{"rust"}
	case "node", "npm":
		return []string{"node"}
	case "python", "pip":
		return []string{"python"}
	case "versions":
		return []string{"rust", "node", "python", "go"}
	}
	return []string{"files"}
}

// Nothing that a repository's files make an unasked command do leaves the box: no program runs with
// an effect, no file is written, and nothing outside of the session is shown.
func TestHostileRepositories(t *testing.T) {
	needBox(t)
	pool := newPool(t)
	trees := hostileTrees(pool)
	if len(trees) < 120 {
		t.Errorf("only %d hostile trees", len(trees))
	}
	t.Setenv("SECRET_TOKEN", commands.Secret)
	runs, asked := 0, 0
	for i, tree := range trees {
		if endless.MatchString(tree) || !runsToday(i) || testing.Short() && i%5 != 0 { // the race detector makes checking several times as slow
			continue
		}
		td := take(t, pool, tree)
		printed, refused := unasked(t, td)
		asked += refused
		if !*longRun { // another part for each tree
			const parts = 6
			at := 0
			printed = slices.DeleteFunc(printed, func(string) bool { at++; return (at+i)%parts != 0 })
		}
		for batch := range slices.Chunk(printed, 10) {
			runs += len(batch)
			out, _ := runInBox(t, td, "("+strings.Join(batch, ")\n(")+")", 20*time.Second)
			if commands.Effect(nil, []byte(out)) == "" {
				continue
			}
			for _, script := range batch {
				out, _ := runInBox(t, td, script, 20*time.Second)
				if effect := commands.Effect(nil, []byte(out)); effect != "" {
					t.Errorf("tree %s: %q %s:\n%.400s", tree, script, effect, out)
				}
			}
		}
		if changed := giveBack(t, td); len(changed) > 0 {
			t.Errorf("tree %s: the commands changed %q", tree, changed)
		}
	}
	t.Logf("%d commands ran in %d trees; %d ask", runs, len(trees), asked)
}

// endless matches the trees with a file that never ends, or nearly so.
var endless = regexp.MustCompile(`-(fifo|huge)$|^ignore-files$`)

// hostileTrees returns the names of the trees that no other test uses.
func hostileTrees(pool *commands.Pool) []string {
	return slices.DeleteFunc(pool.Trees(), func(tree string) bool {
		// In "git-above" the repository around the session contains what is outside of it, and shows it.
		return slices.Contains([]string{"plain", "clean", "git-above", "git-above-names", "names-secret"}, tree) || strings.HasPrefix(tree, "dash-")
	})
}

// unasked returns the plain forms of the commands that read files of a tree and run without a
// question, and the number of those that ask.
func unasked(t *testing.T, td *commands.TestDir) (printed []string, asked int) {
	t.Helper()
	for _, family := range readersOf(td.Tree()) {
		for _, script := range repositoryReaders[family] {
			if missing(strings.Fields(script)[:1]) && !strings.HasPrefix(script, "for ") {
				continue
			}
			if runs, ok, _ := decideScript(t, td, "code", script); ok {
				printed = append(printed, runs)
			} else {
				asked++
			}
		}
	}
	return printed, asked
}

// A named pipe or a huge file as a configuration of git, go or rg does not keep an unasked command
// from its end.
func TestEndlessConfiguration(t *testing.T) {
	t.Parallel()
	needBox(t)
	pool := newPool(t)
	for _, tree := range commands.Sample(hostileTrees(pool)) {
		if !endless.MatchString(tree) {
			continue
		}
		td := take(t, pool, tree)
		printed, _ := unasked(t, td)
		for i := 0; i < len(printed); i += 9 { // most wait for their whole time
			out, _ := runInBox(t, td, printed[i], 300*time.Millisecond)
			if effect := commands.Effect(nil, []byte(out)); effect != "" {
				t.Errorf("tree %s: %q %s:\n%.400s", tree, printed[i], effect, out)
			}
		}
		if changed := giveBack(t, td); len(changed) > 0 {
			t.Errorf("tree %s: the commands changed %q", tree, changed)
		}
	}
}

// The trees do harm outside of the box, else they prove nothing.
func TestHostileRepositoriesAreHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and here git does all the work: run it without -short")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	pool := newPool(t)
	for tree, script := range map[string]string{
		"git-filters": "git status", "git-index-mode": "git diff", "git-worktree": "git diff", "git-alternates-relative": "git log -p leak",
		"git-pack-link":        "git log -p leak",
		"git-submodule-gitdir": "git -C inner log", "ignore-files": "cat .rgignore", "git-bare-here": "git status", "git-replace": "git show HEAD:a.txt",
		"git-index-version4": "git ls-files | xargs cat",
	} {
		td := take(t, pool, tree)
		out := td.Run(script)
		if effect := commands.Effect(giveBack(t, td), out); effect == "" {
			t.Errorf("%s: %q does no harm:\n%.300s", tree, script, out)
		}
	}
}

// A command reads nothing outside through a directory that a link replaces after the check, as
// one in the background could be made to.
func TestReplacedDirectory(t *testing.T) {
	needBox(t)
	pool := newPool(t)
	for _, script := range []string{"sleep 0; cat sub/secret.txt", "cat sub/*", "ls sub/", "cd sub && head -1 secret.txt",
		"while read -r x; do echo \"$x\"; done < sub/secret.txt", "grep -r zq7 sub/"} {
		td := take(t, pool, "clean")
		printed, ok, _ := decideScript(t, td, "auto", script)
		if !ok {
			t.Errorf("%q asks", script)
			continue
		}
		sub := filepath.Join(td.Dir, "sub")
		if err := errors.Join(os.RemoveAll(sub), os.Symlink("../out", sub)); err != nil {
			t.Fatal(err)
		}
		out, _ := runInBox(t, td, printed, time.Minute)
		if effect := commands.Effect(nil, []byte(out)); effect != "" || strings.Contains(out, "secret.txt\n") {
			t.Errorf("%q %s:\n%s", script, effect, out)
		}
		giveBack(t, td)
	}
}
