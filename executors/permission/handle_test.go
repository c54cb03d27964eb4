package permission

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// A call is checked by one policy from the first link to the last, even if
// another policy is stored while the user thinks.
func TestOnePolicyPerCall(t *testing.T) {
	s := newSetup().build()
	blocked := s.shell
	blocked.BlockedCommands = []string{"make"}
	// The new policy blocks the command, the old one asks: a mix would let
	// "make" run without a question.
	open := NewShellPolicy(blocked, Config{Permissions: map[string][]Rule{"bash": {{Pattern: "make", Action: Allow}}}}, "", cataloguetest.Known())
	between := func(next executors.Executor) executors.Executor {
		return swap{next, func() { s.perm.Policy.Store(open) }}
	}
	g := &Guard{Policy: s.perm.Policy, Roots: roots(root)}
	s.chain = executors.Chain(s.end, g.Middleware, between, s.perm.Middleware)
	call := bash("make")
	if got := s.outcome(t, call); got != "ask" {
		t.Errorf("a call that was under way: %s", got)
	}
	if call.Rules != nil {
		t.Error("the call still has the policy after its end")
	}
	for what, next := range map[string]*executors.Call{"the same call again": call, "the next one": bash("make")} {
		if got := s.outcome(t, next); got != "block" {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// swap runs a function before a call continues.
type swap struct {
	executors.Executor
	do func()
}

func (s swap) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	s.do()
	again := *call // as a link that tries once more
	return s.Executor.Execute(ctx, &again)
}

func TestRenew(t *testing.T) {
	s := newSetup().build()
	looked := 0
	s.perm.Policy.Renew = func() {
		looked++
		rules := s.shell
		rules.BlockedCommands = []string{"ls"}
		s.perm.Policy.Store(NewShellPolicy(rules, Config{}, "", cataloguetest.Known()))
	}
	if got := s.outcome(t, bash("ls")); got != "block" || looked != 1 {
		t.Errorf("%s, looked %d times", got, looked)
	}
}

// Commands and file tools have separate workspaces. allowed_paths apply to
// commands.
func TestAllowedPaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"home/cache/sub", "real", "else"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "real", "real/out": "../else", "late": "nowhere"} {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	rules := setting.Default[ShellRules]()
	rules.AllowedPaths = []string{".", "~/cache", dir + "/link", dir + "/late", dir + "/unborn/"}
	policy := NewShellPolicyHandle(NewShellPolicy(rules, Config{}, dir+"/home", cataloguetest.Known()))
	g := (&Guard{Policy: policy, Roots: roots(root), Commands: roots("/other"), Home: dir + "/home"}).newCheck(policy.Load(), &executors.Call{})
	for place, want := range map[string]bool{
		"/other/x": true, root + "/x": false, dir + "/home/cache/x": true, dir + "/home/cache": true, dir + "/home/cached": false, dir + "/home": false,
		dir + "/real/x": true, dir + "/else/x": false,
		dir + "/unborn/x": true, dir + "/nowhere/x": true, "/tmp/x": false,
	} {
		if got := g.mayName(place, nil); got != want {
			t.Errorf("%s: %v", place, got)
		}
	}
	for script, want := range map[string]string{"rm -rf ~/cache": "block", "rm -rf ~/cache/*": "block", "rm -rf ~/cache/sub": "",
		"rm -rf " + dir + "/link/": "block"} {
		call := bashIn("/other", g.Home, script)
		call.Record = &executors.Record{}
		blocked, _ := g.checkCall(call, false)
		if (blocked != nil) != (want == "block") {
			t.Errorf("%s: %v", script, blocked)
		}
	}
	if blocked, _ := g.checkCall(&executors.Call{Card: executors.Card{Paths: []string{dir + "/home/cache/x"}}}, true); blocked == nil {
		t.Error("a tool for files gets at allowed_paths")
	}
}

func TestAllowedPathsAreAbsolute(t *testing.T) {
	for dir, ok := range map[string]bool{"/x": true, "~/x": true, "~": true, "~u/x": false, "x": false, "./x": false, "..": false, "": false, ".": true,
		"./": true, "/x\x00": false} {
		rules := setting.Default[ShellRules]()
		rules.AllowedPaths = []string{dir}
		if wrong := setting.Check(rules); (len(wrong) == 0) != ok {
			t.Errorf("%q: %v", dir, wrong)
		}
	}
	if got := (ShellRules{AllowedPaths: []string{"~/x"}}).Allowed(""); len(got) > 0 {
		t.Errorf("without a home directory: %q", got)
	}
	c, ignored := setting.Tighten(setting.Default[ShellRules](), ShellRules{AllowedPaths: []string{"/"}}, "allowed_paths")
	if len(c.AllowedPaths) > 0 || len(ignored) != 1 {
		t.Error("a repository opens directories")
	}
}
