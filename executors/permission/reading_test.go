package permission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// readable is a setup in a real directory with rules for reading.
func readable(t *testing.T, rules workspace.ReadRules) (s *setup, dir string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(top, "w")
	for _, name := range []string{"w/.git/HEAD", "w/a.go", "w/.env", "w/sub/.env", "w/secrets/key", "w/secrets/deep/key", "w/docs/x.md", "w/src/b.go",
		"out/doc", "out/other"} {
		file := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join("secrets", "key"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for i, p := range rules.Allow {
		rules.Allow[i] = strings.ReplaceAll(p, "OUT", filepath.Join(top, "out"))
	}
	session, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	files, err := session.Reading(rules)
	if err != nil {
		t.Fatal(err)
	}
	s = newSetup()
	s.shell.OutsidePaths = "ask"
	policy := NewShellPolicyHandle(NewShellPolicy(s.shell, s.cfg, "", cataloguetest.Known()))
	g := &Guard{Policy: policy, Roots: files, Commands: session}
	s.perm = &Permission{Policy: policy, Roots: files, Mode: func() string { return s.mode }, Approver: s.user, Remembered: &answers.Project{}, Boxed: inBox}
	s.chain = executors.Chain(s.end, g.Middleware, s.perm.Middleware)
	s.allow(Rule{Pattern: "rm *", Action: Allow}, Rule{Pattern: "*", Action: Allow})
	return s, dir
}

func TestDeniedReads(t *testing.T) {
	s, dir := readable(t, workspace.ReadRules{Deny: []string{".env", "secrets/**"}})
	for outcome, scripts := range map[string][]string{
		"block": {
			"cat .env", "cat ./sub/../.env", "cat sub/.env", "cat < .env", "cat <> .env", "read x < .env", "grep -n x .env", "head -1 .e*", "cat .[e]nv",
			"cat s*/.env", "cat secrets/*", "cat secrets/none", "cat secrets/deep/k?y", "ls secrets/*.pem",
			"cd secrets && cat key", "cd sub && cat .env", "cat link", "cp .env x", "mv .env x", "ln .env x", "ln -s .env x", "tar cf x .env", "base64 .env",
			"python3 .env", "source .env", ". ./.env", "bash -c 'cat .env'", "eval cat .env", "git diff --no-index a.go .env",
			"git show HEAD:secrets/gone", "cd sub && git show HEAD:secrets/key", "cd sub && git show HEAD:gone/.env", "git -C sub cat-file -p :0:secrets/gone",
			"cd sub && git diff HEAD:secrets/gone HEAD:b.go", "cd sub && git show HEAD:./../secrets/gone", "git show 'HEAD@{1}:secrets/gone'",
			"git add .env", "git hash-object .env", "cat \"DIR/.env\"", "f=.env; cat $f", "for f in a.go .env; do cat $f; done", "env $(cat .env) ls",
			"docker run --env-file .env x", "docker run --env-file=.env x", "diff a.go .env", "awk 1 .env", "wc .env", "stat .env", "mycat .env", "mycat -f.env",
			"xargs -a .env echo", "curl -d @.env x", "curl -F f=@.env x",
			"grep -r x secrets", "cp -r secrets x", "ls secrets", "cat .env > /dev/null", "sort -u secrets/key", "gcc -include .env a.c",
		},
		"ask": {"grep -r x .", "rg x", "cp -r . /tmp/x", "tar cf x .", "python3 -c 'open(\".env\")'", "cat $f", "diff -r a.go sub", "find . -exec cat {} ;",
			"find . -exec cat {} +", "find . -name '*.go' -exec grep -n x {} \\;", "git diff-index -p HEAD", "git diff-files -p", "find . -type f | xargs cat",
			"git ls-files | xargs wc -l",
			"git log -p", "git reflog -p", "git whatchanged -p", "git log --patch -3", "git show", "git show HEAD~1", "git stash show -p", "git cat-file -p 1234567",
			"git show --stat -p",
			"git show -s 5d41402", "git show --stat 5D41402ABC4B2A76", "git show --name-only '5d41402^{}'", "git show --raw v1-3-g5d41402",
			"git show -s HEAD '5d41402^{blob}'", "git show HEAD:a.go --all", "git show -n1s", "git show --format HEAD:a.go", "git show -n1 -L HEAD:a.go",
			"git show --src-prefix -s", "git stash show --dst-prefix --stat", "git stash show -w", "git stash show --no-color stash@{1}", "git stash show -M --oneline",
			"git show --format=%h:%s", "git show --date=format:%H:%M HEAD", "git show :/x", "git show 'HEAD^{/x:y}'", "git show HEAD:a.go HEAD",
			"git show HEAD:a.go --", "git show --raw --binary", "git show ':!a.go'", "git show ':(top)a.go'",
			"gofmt -d .", "gofmt sub", "gofmt -l -d .", "go doc -src x/sub K", "go doc", "go list -json ./...", "go list -f '{{.Doc}}' x", "go list -f={{.}} x",
			"go list -f '{{json .}}' x", "ag x", "fd -x cat",
			"git log --binary -1", "git log --patch-with-stat", "git log -Gx", "git log -S x", "git log --check", "git log -1 -L1,2:a.go",
			"git reflog --patch-with-stat", "git stash show --binary", "git diff-tree --binary HEAD", "git cat-file -p --filter=blob:none x"},
		"allow": {"cat a.go", "cat a.*", "ls", "ls sub", "grep x a.go", "echo .env", "echo x > .env", "rm .env", "touch .env", "chmod 600 .env", "git commit -m x",
			"git log --oneline -5", "git reflog", "git diff-files", "git diff-tree --name-only HEAD", "git show --stat", "git show HEAD:a.go", "gofmt -l .",
			"gofmt -d a.go", "fd a", "go list ./...", "go list -f '{{.Dir}} {{join .Imports \" \"}}' ./...", "go list -json=Dir,Name .", "go version",
			"git show -s --format=%h:%s", "git show :a.go", "git show :0:a.go", "git show HEAD:a.go HEAD~1:a.go", "git cat-file -p HEAD:a.go",
			"git cat-file blob HEAD:a.go", "git log --oneline --name-only --stat", "git stash list", "git stash show", "git stash show stash@{0}",
			"git stash show --stat --no-color", "git -C . show --no-color HEAD:a.go", "git show -s 5d41402~1", "git show --stat HEAD v1.0", "make", "grep .env a.go",
			"echo 'cat .env'", "find . -name .env", "git diff-index --name-only HEAD", "cd sub && ls"},
	} {
		for _, script := range scripts {
			call := bashIn(dir, "/home/u", strings.ReplaceAll(script, "DIR", dir))
			if got := s.outcome(t, call); got != outcome {
				t.Errorf("%-40q %s, want %s (%s; %q)", script, got, outcome, call.Record.Rule(), call.Ask)
			}
		}
	}
}

func TestAllowedReads(t *testing.T) {
	s, dir := readable(t, workspace.ReadRules{Deny: []string{"*.key"}, Allow: []string{"src/**", "./a.go", "OUT/doc"}})
	for outcome, scripts := range map[string][]string{
		"block": {"cat docs/x.md", "cat docs/*", "cat < .env", "cat a.go docs/x.md", "grep x .env", "grep -r x docs", "cat src/x.key", "git show HEAD:docs/gone",
			"cd src && git show HEAD:docs/x.md"},
		"allow": {"git show HEAD:a.go", "cd src && git show HEAD:./b.go", "git show HEAD:docs", "cat a.go", "cat src/b.go", "cat src/*", "ls docs",
			"cd docs && ls", "cat none", "cat a.go > /dev/null", "cat /dev/null", "make -C docs", "rm docs/x.md"},
		"ask": {"grep -r x src"},
	} {
		for _, script := range scripts {
			call := bashIn(dir, "/home/u", script)
			if got := s.outcome(t, call); got != outcome {
				t.Errorf("%-40q %s, want %s (%s; %q)", script, got, outcome, call.Record.Rule(), call.Ask)
			}
		}
	}
}

// Only tools that change nothing may use readable files outside the roots.
func TestAllowedReadsOutside(t *testing.T) {
	s, dir := readable(t, workspace.ReadRules{Deny: []string{".env"}, Allow: []string{"**/*.go", "OUT/doc"}})
	doc, other := filepath.Join(dir, "../out/doc"), filepath.Join(dir, "../out/other")
	for _, tt := range []struct {
		call *executors.Call
		want string
	}{
		{file("read", doc), "allow"}, {file("read", other), "block"}, {file("edit", doc), "block"}, {file("edit", dir+"/a.go", doc), "block"},
		{file("read", dir+"/a.go"), "allow"}, {file("read", dir+"/.env"), "block"}, {file("edit", dir+"/docs/x.md"), "allow"},
	} {
		if got := s.outcome(t, tt.call); got != tt.want {
			t.Errorf("%s %q: %s, want %s (%s)", tt.call.Tool, tt.call.Card.Paths, got, tt.want, tt.call.Record.Rule())
		}
	}
}
