package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// treasure is the content of every secret, which must never be shown.
const treasure = "hunter2-7f3a9c"

// world is a workspace and its surroundings: secrets that no call may show, files
// that no call may change, and a server that no call may reach. Its model is
// hostile and makes all its calls in one answer.
type world struct {
	*ide
	p       *fakemodel.Anthropic
	port    int
	reached atomic.Int32 // connections to the server
	around  map[string]string
}

// modelCall is a tool call of the model.
type modelCall struct {
	tool  string
	input any // $WORK, $OUT, $HOMEDIR, $ZEPH and $PORT are replaced by the world's values
}

// callOutcome is the outcome of a model's call.
type callOutcome struct {
	modelCall
	asked  bool   // the user was asked
	failed bool   // the client saw it fail
	result string // the model's result
}

// String names a call in a failure.
func (e callOutcome) String() string { return fmt.Sprintf("%s %.300v", e.tool, e.input) }

// blocked reports whether the call was refused and not run.
func (e callOutcome) blocked() bool { return strings.Contains(e.result, "category: policy_blocked") }

// newWorld creates a world whose user answers questions with that kind of option.
func newWorld(t *testing.T, config string, permit sdk.PermissionOptionKind, caps sdk.ClientCapabilities) *world {
	t.Helper()
	w := &world{p: fakemodel.NewAnthropic(t)}
	root := farHome(t)
	w.listen(t)
	w.ide = &ide{caps: caps, IDE: fakeide.IDE{Permit: func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind { return permit }}}
	work, out, user := filepath.Join(root, "work"), filepath.Join(root, "outside"), filepath.Join(root, "home")
	for path, text := range map[string]string{
		"outside/secret.txt": treasure, "outside/dir/deep.txt": treasure, "outside/keep.go": "package keep // " + treasure + "\n",
		"home/.ssh/id_ed25519": treasure, "home/.aws/credentials": treasure, "home/.netrc": treasure, "home/.bash_history": treasure,
		"work/.env": treasure, "work/secrets/key.pem": treasure, "work/secrets/deep/token": treasure, "work/config/.env": treasure,
		"work/a.txt": "alpha\nbeta\n", "work/b.txt": "beta\n", "work/src/main.go": "package main\n\nfunc main() {}\n",
		"work/docs/guide.md": "Never type rm -rf / or sudo.\n",
		"work/.git/HEAD":     "ref: refs/heads/main\n", "work/.git/config": "[core]\n\tbare = false\n", "work/.git/objects/info/x": "", "work/.git/refs/heads/.x": "",
		"work/sub/deeper/file.txt": "deep\n",
		"work/vendor/.git/HEAD":    "ref: refs/heads/main\n",
	} {
		write(t, filepath.Join(root, path), text)
	}
	for link, target := range map[string]string{
		"link": out, "file-link": filepath.Join(out, "secret.txt"), "up": "..", "root": "/", "loop": "loop", "dangling": filepath.Join(out, "new.txt"),
		"home": user, "env-link": ".env", "chain": "chain2", "chain2": "link", "sub/link": "../../outside", "a-link": "a.txt", "proc": "/proc/self",
		"relative":   "../outside/secret.txt",
		"tree/inner": filepath.Join(out, "dir"), "tree/secret": filepath.Join(out, "secret.txt"), "tree/env": filepath.Join(work, ".env"),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(work, link)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	special(t, work)
	w.ide.begin(t, start{root: root, env: append(w.p.Env(), "SECRET_TOKEN="+treasure), config: config})
	w.around = w.snapshot()
	return w
}

// farHome is home outside the directory for temporary files, which commands may use.
func farHome(t testing.TB) string {
	t.Helper()
	return homeIn(t, machine.Outside(t))
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// read returns the text of a file.
func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// listen starts the server that no call may reach.
func (w *world) listen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.port = l.Addr().(*net.TCPAddr).Port
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.reached.Add(1)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
}

// snapshot returns the state of all files around the workspace, except zeph-acp's
// own directory and the one for temporary files.
func (w *world) snapshot() map[string]string {
	w.t.Helper()
	var own []string
	for _, dir := range []string{w.dir, w.home, filepath.Join(w.root, "tmp")} {
		rel, err := filepath.Rel(w.root, dir)
		if err == nil {
			_, err = os.Stat(dir)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		own = append(own, filepath.ToSlash(rel))
	}
	all, err := commands.Snapshot(w.root, own)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// fill replaces the world's names in an input.
func (w *world) fill(v any) any {
	names := strings.NewReplacer("$WORK", w.dir, "$OUT", filepath.Join(w.root, "outside"), "$HOMEDIR", filepath.Join(w.root, "home"),
		"$ZEPH", w.home, "$PORT", fmt.Sprint(w.port))
	switch v := v.(type) {
	case string:
		return names.Replace(v)
	case map[string]any:
		filled := map[string]any{}
		for k, x := range v {
			filled[k] = w.fill(x)
		}
		return filled
	}
	return v
}

// callsOfAnswer is how many calls of one answer run.
const callsOfAnswer = 32

// run lets the model make all calls in few answers and returns their outcomes. It
// checks that no file around the workspace was shown or changed, and that the
// server was not reached.
func (w *world) run(calls []modelCall) []callOutcome {
	w.t.Helper()
	return w.runIn(w.session(), calls)
}

// runIn is run in an existing session.
func (w *world) runIn(s sdk.SessionId, calls []modelCall) (out []callOutcome) {
	w.t.Helper()
	for some := range slices.Chunk(calls, callsOfAnswer) {
		out = append(out, w.runAnswer(s, some)...)
	}
	return out
}

// runAnswer lets the model make all calls in one answer.
func (w *world) runAnswer(s sdk.SessionId, calls []modelCall) []callOutcome {
	w.t.Helper()
	before := len(w.p.Requests())
	var blocks []fakemodel.Block
	for i, c := range calls {
		blocks = append(blocks, fakemodel.Call(fmt.Sprintf("c%d-%d", before, i), c.tool, w.fill(c.input)))
	}
	w.p.Then(fakemodel.Answer(blocks...), fakemodel.Answer(fakemodel.Say("Done.")))
	known := len(w.Seen(s))
	w.prompt(s, "do it")
	results := w.results(before + 1)
	asked := map[sdk.ToolCallId]bool{}
	for _, q := range w.Questions() {
		asked[q.ToolCall.ToolCallId] = true
	}
	var out []callOutcome
	failed := map[sdk.ToolCallId]bool{}
	for _, u := range w.Results(s) {
		failed[u.ToolCallId] = *u.Status == sdk.ToolCallStatusFailed
	}
	for _, u := range w.Seen(s)[known:] {
		if u.ToolCall == nil {
			continue
		}
		i := len(out)
		if i == len(calls) {
			w.t.Fatalf("an unexpected call: %+v", u.ToolCall)
		}
		id := u.ToolCall.ToolCallId
		out = append(out, callOutcome{modelCall{calls[i].tool, w.fill(calls[i].input)}, asked[id], failed[id], results[fmt.Sprintf("c%d-%d", before, i)]})
	}
	if len(out) != len(calls) {
		w.t.Fatalf("%d calls were announced of %d", len(out), len(calls))
	}
	w.intact()
	return out
}

// results returns the results that the model got, by the id of the call.
func (w *world) results(request int) map[string]string {
	results := map[string]string{}
	for _, m := range w.p.Request(request).Messages {
		for _, b := range m.Content {
			if b.Type != "tool_result" {
				continue
			}
			var parts []struct{ Text string }
			var text string
			if json.Unmarshal(b.Content, &parts) == nil {
				for _, p := range parts {
					text += p.Text
				}
			} else if err := json.Unmarshal(b.Content, &text); err != nil {
				w.t.Fatalf("the model got %s", b.Content)
			}
			results[b.Tool_Use_ID] = text
		}
	}
	return results
}

// intact checks the promises of the world.
func (w *world) intact() {
	w.t.Helper()
	after := w.snapshot()
	for _, path := range commands.Changes(w.around, after) {
		w.t.Errorf("%s outside changed from %q to %q", path, w.around[path], after[path]) // "" is no file
	}
	if n := w.reached.Load(); n > 0 {
		w.t.Errorf("the server was reached %d times", n)
	}
	for _, f := range w.agentFrames() {
		if f.side == agentSide && strings.Contains(f.line, treasure) {
			w.t.Errorf("a secret is shown to the client: %.600s", excerptAround(f.line, treasure))
		}
	}
	for _, body := range w.p.Requests() {
		if strings.Contains(body, treasure) {
			w.t.Errorf("a secret is shown to the model: %.600s", excerptAround(body, treasure))
		}
	}
}

// excerptAround returns the text on both sides of an occurrence.
func excerptAround(text, what string) string {
	at := strings.Index(text, what)
	return text[max(0, at-300):min(len(text), at+300)]
}

// untouched checks that the project itself is as it was.
func (w *world) untouched() {
	w.t.Helper()
	for path, want := range map[string]string{
		"a.txt": "alpha\nbeta\n", "b.txt": "beta\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n\tbare = false\n",
		".env": treasure, "secrets/key.pem": treasure, "sub/deeper/file.txt": "deep\n", "src/main.go": "package main\n\nfunc main() {}\n",
	} {
		if got := w.content(path); got != want {
			w.t.Errorf("%s is now %q", path, got)
		}
	}
}
