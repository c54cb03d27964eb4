package integration

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

var allEffects = flag.Bool("effects", false, "type every script with every runner, not only a sample")

const policyData = "../executors/permission/testdata"

// scriptRunner is a running binary for scripts, with one session for each tree.
type scriptRunner struct {
	*ide
	pool     *commands.Pool
	mode     sdk.SessionModeId
	dirs     map[string]*commands.TestDir
	sessions map[string]sdk.SessionId
}

// newPool returns a pool for the runners of a test, which use it one after another:
// making its trees takes most of their time.
func newPool(t *testing.T) *commands.Pool {
	t.Helper()
	pool, err := commands.NewPool(policyData, filepath.Join(farHome(t), "pool"))
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return pool
}

// newScriptRunner starts the binary with a client that rejects every question.
func newScriptRunner(t *testing.T, pool *commands.Pool, caps sdk.ClientCapabilities, mode sdk.SessionModeId, config string) *scriptRunner {
	t.Helper()
	root := farHome(t)
	f := &scriptRunner{
		ide: &ide{caps: caps, IDE: fakeide.IDE{Permit: func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind {
			return sdk.PermissionOptionKindRejectOnce
		}}},
		pool: pool, mode: mode, dirs: map[string]*commands.TestDir{}, sessions: map[string]sdk.SessionId{},
	}
	for _, path := range []string{".netrc", ".ssh/id_ed25519"} {
		write(t, filepath.Join(root, "home", path), commands.Secret+"\n")
	}
	if err := os.MkdirAll(filepath.Join(root, "home/.cache/go-build"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.ide.begin(t, start{root: root, env: []string{"SECRET_TOKEN=" + commands.Secret, "LANG=C.UTF-8"}, config: config, unchecked: true})
	t.Setenv("LANG", "C.UTF-8") // for the client's terminals
	t.Setenv("HOME", filepath.Join(root, "home"))
	return f
}

// enter returns a directory with that tree, and a session in it.
func (f *scriptRunner) enter(tree string) (*commands.TestDir, sdk.SessionId) {
	f.t.Helper()
	if td := f.dirs[tree]; td != nil {
		return td, f.sessions[tree]
	}
	td, err := f.pool.Take(tree)
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := f.conn.NewSession(f.t.Context(), sdk.NewSessionRequest{Cwd: td.Dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.conn.SetSessionMode(f.t.Context(), sdk.SetSessionModeRequest{SessionId: r.SessionId, ModeId: f.mode}); err != nil {
		f.t.Fatal(err)
	}
	f.dirs[tree], f.sessions[tree] = td, r.SessionId
	return td, r.SessionId
}

// leave ends the use of a directory and returns its changes.
func (f *scriptRunner) leave(tree string) []string {
	f.t.Helper()
	td := f.dirs[tree]
	delete(f.dirs, tree)
	changed, err := td.Return()
	if err != nil {
		f.t.Fatal(err)
	}
	return changed
}

// scriptOutcome is the outcome of a script that was typed as "/bash SCRIPT".
type scriptOutcome struct {
	asked, failed bool
	text          string // the output in the client's view
}

func (f *scriptRunner) bash(s sdk.SessionId, script string) scriptOutcome {
	f.t.Helper()
	asked, before := len(f.Questions()), len(f.Results(s))
	f.prompt(s, "/bash "+script)
	out := scriptOutcome{asked: len(f.Questions()) > asked}
	for _, u := range f.Results(s)[before:] {
		raw, err := json.Marshal(u.RawOutput)
		if err != nil {
			f.t.Fatal(err)
		}
		out.failed = *u.Status == sdk.ToolCallStatusFailed
		out.text += fakeide.ShownText(u.Content) + string(raw)
	}
	return out
}

// runnerVariants runs a test for each way to run commands: on this machine or in the
// client's terminals, in a read-only mode or in the default one.
func runnerVariants(t *testing.T, pool *commands.Pool, run func(t *testing.T, f *scriptRunner, n int)) {
	n := 0
	for _, where := range []string{"here", "terminal"} {
		caps := sdk.ClientCapabilities{}
		if where == "terminal" {
			caps = fakeide.CanAll()
		}
		for _, mode := range []sdk.SessionModeId{"ask", "code"} {
			t.Run(where+" "+string(mode), func(t *testing.T) { run(t, newScriptRunner(t, pool, caps, mode, ""), n) })
			n++
		}
	}
}

// TestHostileEffects types the hostile scripts for a user who rejects every
// question. None may have an effect, also with all gates on.
func TestHostileEffects(t *testing.T) {
	list, err := commands.Hostile(policyData)
	if err != nil {
		t.Fatal(err)
	}
	pool := newPool(t)
	runnerVariants(t, pool, func(t *testing.T, f *scriptRunner, n int) { f.harmless(list, extent(120, 60), 15*n) })
	t.Run("gates", func(t *testing.T) {
		f := newScriptRunner(t, pool, sdk.ClientCapabilities{}, "code", allowingGates(t, "direct"))
		write(t, filepath.Join(f.home, "hooks.json"), allowingHook)
		f.harmless(list, 180, 7)
		wantAllGates(t, f.home)
	})
}

// harmless types every nth of the scripts, beginning with the one at from.
func (f *scriptRunner) harmless(list []commands.Script, n, from int) {
	f.t.Helper()
	quiet, typed := 0, 0
	for i, s := range list {
		if !*allEffects && i%n != from {
			continue
		}
		typed++
		_, session := f.enter(s.Tree)
		got := f.bash(session, s.Text)
		if got.asked || got.failed && strings.Contains(got.text, "policy_blocked") {
			continue // blocked by the policy
		}
		quiet++
		if effect := commands.Effect(f.leave(s.Tree), []byte(got.text)); effect != "" {
			f.t.Errorf("%s, tree %s: %q %s: %.400s", s.Class, s.Tree, s.Text, effect, got.text)
		}
	}
	attacks(f.t, typed)
	f.t.Logf("%d scripts ran without a question", quiet)
	for tree := range f.dirs {
		if changed := f.leave(tree); len(changed) > 0 {
			f.t.Errorf("tree %s: a refused script changed %q", tree, changed)
		}
	}
}

// TestDaily types everyday commands, half of them in one of the fields each. None may ask,
// and the client sees the output of a plain bash. The test of package permission checks all
// in both modes.
func TestDaily(t *testing.T) {
	list, err := commands.Daily(policyData)
	if err != nil {
		t.Fatal(err)
	}
	runnerVariants(t, newPool(t), func(t *testing.T, f *scriptRunner, n int) {
		for i, s := range list {
			if !*allEffects && i%extent(8, 4) != n {
				continue
			}
			if slices.ContainsFunc(s.Needs, func(name string) bool { _, err := exec.LookPath(name); return err != nil }) {
				continue
			}
			td, session := f.enter(s.Tree)
			// First, so that go has a cache, which a read-only command cannot create.
			want := td.Run(s.Text, "PAGER=cat", "GIT_PAGER=cat", "HOME="+filepath.Join(f.root, "home"))
			got := f.bash(session, s.Text)
			if got.asked || strings.Contains(got.text, "policy_blocked") {
				t.Errorf("%q asks", s.Text)
				continue
			}
			if !s.Varies && !shows(got.text, string(want)) {
				t.Errorf("%q shows %.600s\nwant\n%s", s.Text, got.text, want)
			}
		}
		for tree := range f.dirs {
			if changed := f.leave(tree); len(changed) > 0 {
				t.Errorf("%q changed", changed)
			}
		}
	})
}

// shows reports whether an output is shown, line by line: it may be truncated, and
// the order of lines can differ.
func shows(shown, output string) bool {
	for line := range strings.SplitSeq(output, "\n") {
		quoted, err := json.Marshal(line)
		if err != nil || !strings.Contains(shown, line) && !strings.Contains(shown, strings.Trim(string(quoted), `"`)) {
			return false
		}
	}
	return true
}
