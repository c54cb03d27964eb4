package permission_test

import (
	"context"
	"errors"
	"flag"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

var realEffects = flag.String("effects", "",
	"run the hostile scripts of the classes that match this expression as they are written, to see that they do harm; for a machine that may be lost")

var longRun = flag.Bool("long", false, "run every script whose effects are examined, and not a third of them; let TestBoxDifferential judge 100,000 scripts")

// runsToday reports whether the nth of some scripts runs: without -long one of three, others
// each day. Most of the time of these tests is spent on processes.
func runsToday(n int) bool {
	day := int(time.Now().Unix() / (24 * 60 * 60))
	return *longRun || (n+day)%3 == 0
}

// newPool creates test directories outside the directory for temporary files, in which
// commands may write freely.
func newPool(t testing.TB) *commands.Pool {
	t.Helper()
	pool, err := commands.NewPool("testdata", machine.Outside(t))
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// take returns a test directory. The scripts that create it need some programs too.
func take(t testing.TB, pool *commands.Pool, tree string) *commands.TestDir {
	t.Helper()
	td, err := pool.Take(tree)
	if err != nil {
		t.Fatal(err)
	}
	return td
}

func giveBack(t testing.TB, td *commands.TestDir) (changed []string) {
	t.Helper()
	changed, err := td.Return()
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// bashTool is the end of the chain. It records the script that would run.
type bashTool struct {
	ran    bool
	script string
}

func (*bashTool) Tools() []executors.Tool {
	return []executors.Tool{{Name: "bash", Effect: executors.Reads | executors.Mutates | executors.Network, Kind: executors.KindExecute}}
}

func (*bashTool) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{}, nil
}

func (b *bashTool) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	b.ran, b.script = true, call.Card.Command()
	if call.Plain != nil {
		b.script = call.Plain.Script
	}
	return executors.Result{}, nil
}

// refusing is a user who refuses every question and counts them.
type refusing struct{ asked int }

func (r *refusing) Approve(context.Context, *executors.Call, []permission.Option) (string, error) {
	r.asked++
	return "", errors.New("no answer")
}

// boxed is the state of the box.
func boxed() error { return nil }

// decideScript sends a script through the deciding links. It returns the script that
// would run without a question.
func decideScript(t testing.TB, td *commands.TestDir, mode, script string) (runs string, ok bool, asked bool) {
	t.Helper()
	return checkByRules(t, td, mode, script, nil)
}

// checkByRules is decideScript with rules of the user about commands.
func checkByRules(t testing.TB, td *commands.TestDir, mode, script string, rules []permission.Rule) (runs string, ok bool, asked bool) {
	t.Helper()
	roots, err := workspace.New(td.Dir)
	if err != nil {
		t.Fatal(err)
	}
	handle := permission.NewShellPolicyHandle(permission.NewShellPolicy(setting.Default[permission.ShellRules](),
		permission.Config{Permissions: map[string][]permission.Rule{"bash": rules}}, td.Home, cataloguetest.Known()))
	user, end := &refusing{}, &bashTool{}
	guard := &permission.Guard{Policy: handle, Roots: roots, Home: td.Home, Boxed: boxed}
	permission := &permission.Permission{
		Policy: handle, Roots: roots, Home: td.Home, Boxed: boxed, Mode: func() string { return mode }, Approver: user, Remembered: &answers.Project{},
	}
	call := &executors.Call{
		Tool: "bash", Card: executors.Card{Title: "script", Script: command.Parse(script, command.Shell{Dir: td.Dir, Home: td.Home}), Kind: executors.KindExecute},
		Record: &executors.Record{}, Notify: func(executors.Event) {},
	}
	if _, err := executors.Chain(end, guard.Middleware, permission.Middleware).Execute(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	return end.script, end.ran, user.asked > 0
}

// TestHostileEffects decides about the hostile scripts, and runs those in the box that need no
// question. None of them may have an effect.
func TestHostileEffects(t *testing.T) {
	needBox(t)
	pool, list := newPool(t), commands.Sample(hostile(t))
	grounds := map[string]*commands.TestDir{}
	allowed, ran := 0, map[[2]string]bool{} // trees with texts
	for _, mode := range []string{"ask", "code"} {
		for _, s := range list {
			if grounds[s.Tree] == nil {
				grounds[s.Tree] = take(t, pool, s.Tree)
			}
			td := grounds[s.Tree]
			script, ok, _ := decideScript(t, td, mode, s.Text)
			if !ok {
				continue
			}
			allowed++
			run := [2]string{s.Tree, script}
			if ran[run] { // as in another mode
				continue
			}
			ran[run] = true
			if !runsToday(len(ran)) {
				continue
			}
			out, _ := runInBox(t, td, script, time.Minute)
			grounds[s.Tree] = nil
			if effect := commands.Effect(giveBack(t, td), []byte(out)); effect != "" {
				t.Errorf("mode %s, %s, tree %s: %q runs as %q and %s:\n%.300s", mode, s.Class, s.Tree, s.Text, script, effect, out)
			}
		}
	}
	t.Logf("%d of %d scripts run without a question, as %d different ones", allowed, 2*len(list), len(ran))
}

// TestEffectsAreReal runs the hostile scripts that -effects selects as written.
// They must do the listed harm; otherwise they prove nothing.
func TestEffectsAreReal(t *testing.T) {
	list := hostile(t)
	classes := map[string]bool{}
	for _, s := range list {
		classes[s.Class] = true
	}
	if len(list) < 600 || len(classes) < 12 {
		t.Errorf("%d scripts in %d classes", len(list), len(classes))
	}
	if *realEffects == "" {
		t.Skip("no -effects")
	}
	chosen, err := regexp.Compile(*realEffects)
	if err != nil {
		t.Fatal(err)
	}
	pool, ran, missing := newPool(t), 0, 0
	for _, s := range list {
		if !chosen.MatchString(s.Class) {
			continue
		}
		td := take(t, pool, s.Tree)
		out := td.Run(s.Text)
		ran++
		switch effect := commands.Effect(giveBack(t, td), out); {
		case effect == s.Effect:
		case effect == "" && needsMore(string(out)):
			missing++
		default:
			t.Errorf("%s, tree %s: %q has the effect %q, not %q:\n%.300s", s.Class, s.Tree, s.Text, effect, s.Effect, out)
		}
	}
	t.Logf("%d scripts ran, %d need programs that are missing", ran, missing)
}

// needsMore reports whether an output says that a program is missing or lacks
// an option.
func needsMore(out string) bool {
	return regexp.MustCompile(`(?i)not found|no such file|not recognized|unrecognized|unknown|invalid|unsupported|illegal|expected|usage:`).MatchString(out)
}

// TestDaily sends everyday commands through the deciding links. None may need
// permission, and each that runs must print in the box the output of the script as written.
func TestDaily(t *testing.T) {
	pool := newPool(t)
	list, err := commands.Daily("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 500 {
		t.Errorf("only %d commands", len(list))
	}
	for i, s := range commands.Sample(list) {
		td := take(t, pool, s.Tree)
		var script string
		for _, mode := range []string{"ask", "code"} {
			runs, ok, asked := decideScript(t, td, mode, s.Text)
			if !ok || asked {
				t.Errorf("mode %s: %q asks", mode, s.Text)
			}
			script = runs
		}
		if script != "" && !missing(s.Needs) && runsToday(i) {
			const limit = time.Minute // apt reads all lists of packages
			want := td.RunWithin(limit, s.Text)
			got, ok := runInBox(t, td, script, limit)
			if !ok {
				got = string(td.RunWithin(limit, script, command.GitSafeEnv()...))
			}
			if !s.Varies && !sameLines(got, string(want)) {
				t.Errorf("%q runs as %q and prints\n%s\nwant\n%s", s.Text, script, got, want)
			}
		}
		if changed := giveBack(t, td); len(changed) > 0 {
			t.Errorf("%q, which runs as %q, changes %q", s.Text, script, changed)
		}
	}
}

func missing(programs []string) bool {
	return slices.ContainsFunc(programs, func(name string) bool { _, err := exec.LookPath(name); return err != nil })
}

// sameLines reports whether two outputs have the same lines; programs that
// search with several threads, and pipes of both outputs, change their order.
func sameLines(a, b string) bool {
	sorted := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "\n")) }
	return a == b || slices.Equal(sorted(a), sorted(b))
}

func hostile(t testing.TB) []commands.Script {
	t.Helper()
	list, err := commands.Hostile("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// A rule that allows one command of a script covers no files that the other commands read.
func TestFilesBesideAllowedCommands(t *testing.T) {
	pool := newPool(t)
	td := take(t, pool, "plain")
	rules := []permission.Rule{{Pattern: "make *", Action: permission.Allow}}
	for _, read := range []string{
		"tac link", "rev link", "mawk 1 link", "shasum link", "sum link", "md5 link", "zipinfo link", "df link", "pr link", "git blame link",
		"git diff a.txt link", "[ -f link ]", "gofmt -d linkdir",
		"git -C linkdir status", "rev < link", "find . -newer link", "f=link; rev $f", "for f in l*; do rev \"$f\"; done", "cd linkdir && rev secret.txt",
		"diff . linkdir", "diff .zeph src", "rev .git/config", "cat /dev/tty",
	} {
		for _, script := range []string{"make x; " + read, read + " && make x", "make x | " + read} {
			if runs, ok, _ := checkByRules(t, td, "code", script, rules); ok {
				t.Errorf("%q runs as %q", script, runs)
			}
		}
	}
	for _, script := range []string{"make x; rev a.txt", "make x < /dev/zero", "cd sub && make x | tac"} {
		if _, ok, asked := checkByRules(t, td, "code", script, rules); !ok || asked {
			t.Errorf("%q asks", script)
		}
	}
	giveBack(t, td)
}

// A rule that allows any command does not let it read outside by a word without a slash, which may
// be the name of a link, or by a file of arguments.
func TestNamesOfLinks(t *testing.T) {
	pool := newPool(t)
	td := take(t, pool, "plain")
	rules := []permission.Rule{{Pattern: "*", Action: permission.Allow}}
	for script, want := range map[string]bool{
		"node link": false, "mycat link": false, "mycat -f link": false, "mycat -flink": false, "mycat --file=link": false, "mycat a,link": false,
		"git hash-object link": false, "python3 -c 'open(\"link\")'": false, "openssl base64 -in link": false,
		"x=link; mycat $x": false, "mycat @/etc/passwd": false, "mycat @linkdir/x": false,
		"mycat a.txt": true, "mycat @src/list": true, "echo link | ./evil": true, "mycat unlinked": true, "cd src && mycat link": true,
	} {
		if _, ok, _ := checkByRules(t, td, "code", script, rules); ok != want {
			t.Errorf("%q runs without a question: %v", script, ok)
		}
	}
	giveBack(t, td)
}
