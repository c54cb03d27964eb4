package app

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/leaks"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// hangs is when a game counts as hanging. Only a failing one takes so long.
const hangs = 100 * time.Second

// game is one play of the prompts of a fixture.
type game struct {
	t       *testing.T
	fixture *fixtures.Fixture
	choices choices
	dir     string
	work    fixtures.Workspace
	ide     *fakeide.IDE

	mu    sync.Mutex
	calls []seenCall
	ran   map[string]int // executions by the id of the call
}

// outcome is what a game is compared by.
type outcome struct {
	calls []seenCall
	files map[string]string
}

// seenCall is a call and what became of it.
type seenCall struct {
	key      string // tool and input
	decision executors.Decision
	refused  bool // it did not run
}

func newGame(t *testing.T, f *fixtures.Fixture, s choices) *game {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &game{t: t, fixture: f, choices: s, dir: dir, work: fixtures.Workspace(filepath.Join(dir, "w")), ran: map[string]int{}}
}

// play plays all prompts, and checks the invariants of a single play.
func (g *game) play() outcome {
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-done:
		case <-time.After(hangs):
			var b bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
			panic(fmt.Sprintf("%s hangs with %v\n%s", g.t.Name(), g.choices.flags(), b.Bytes()))
		}
	}()
	g.ide = &fakeide.IDE{Saves: true, Permit: func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind {
		return sdk.PermissionOptionKind(g.choices[answering])
	}}
	g.ide.Start(g.t)
	a := g.app(true)
	p := g.connect(a)
	var ids []string
	for _, open := range g.fixture.Sessions() {
		id := p.open(g.work.Real(string(open.Params)))
		if ids = append(ids, id); id == "" {
			continue
		}
		for _, prompt := range open.Prompts {
			p.prompt(id, json.RawMessage(g.work.Real(string(prompt))), g.fixture.Cancels())
		}
		p.prompt(id, raw([]any{map[string]string{"type": "text", "text": "/status"}}), false)
	}
	g.end(a, p)
	files := g.files()
	if way := g.choices[entry]; way != "new" {
		a = g.app(false)
		p = g.connect(a)
		for _, id := range ids {
			if id == "" {
				continue
			}
			p.call("session/"+way, map[string]any{"sessionId": id, "cwd": string(g.work), "mcpServers": []int{}})
			p.prompt(id, raw([]any{map[string]string{"type": "text", "text": "/status"}}), false)
		}
		g.end(a, p)
	}
	g.checkAudit()
	g.checkLeaks()
	return outcome{g.calls, files}
}

// app returns the app of the game's configuration. The first one unpacks the fixture.
func (g *game) app(first bool) *App {
	load := loadUnpacked
	if first {
		load = unpack
	}
	judged := strings.Repeat("{\"text\": \"ALLOW\"}\n\n", 300)
	if err := os.WriteFile(filepath.Join(g.dir, "judge-of-switches.jsonl"), []byte(judged), 0o600); err != nil {
		g.t.Fatal(err)
	}
	l, err := load(g.fixture, g.dir, g.work, g.choices.flags())
	if err != nil {
		g.t.Fatal(err)
	}
	l.Config.LLM.Providers = append(l.Config.LLM.Providers, provider.Provider{
		Name: "judge-of-switches", Type: provider.TypeScript, Model: filepath.Join(g.dir, "judge-of-switches.jsonl"),
	})
	// Gates without rules of their own get some that allow most calls, since a gate that denies
	// everything tests nothing behind it.
	if own := &l.Config.Tools.Policy.Rules; len(*own) == 0 {
		*own = []rules.Rule{{Effect: executors.Deny, Tool: "delete_path"}, {Effect: executors.Allow, Tool: "*"}}
	}
	if own := &l.Config.Tools.Authorization.Rules; len(*own) == 0 {
		*own = []rules.Rule{{Effect: executors.Allow, Tool: "*"}, {Effect: executors.Deny, Tool: "bash", ArgsMatch: "^rm "}}
	}
	a := newReplayed(l)
	a.Yes, a.NoUser = g.choices.on(appSwitch+"Yes"), g.choices.on(appSwitch+"NoUser")
	a.Watch = func(next executors.Executor) executors.Executor { return watcher{next, g} }
	return a
}

// watcher sees every call.
type watcher struct {
	executors.Executor
	game *game
}

func (w watcher) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	res, err := w.Executor.Execute(ctx, call)
	w.game.mu.Lock()
	defer w.game.mu.Unlock()
	w.game.ran[call.ID]++
	decision := call.Record.Decision()
	if decision == "" && res.Failed { // it reached no gate
		decision = Invalid
	}
	w.game.calls = append(w.game.calls, seenCall{
		key: call.Tool + " " + w.game.work.Written(string(call.Input)), decision: cmp.Or(decision, executors.Allow),
		refused: err != nil || res.Denied(),
	})
	return res, err
}

// peer is a connection to a server.
type peer struct {
	*game
	in       io.WriteCloser
	served   chan error
	reading  sync.WaitGroup
	valid    *schema.Validator
	next     int
	writing  sync.Mutex
	answers  sync.Map // of chan json.RawMessage, by id
	handling sync.WaitGroup
}

// connect starts a server, and initializes it with the client's capabilities.
func (g *game) connect(a *App) *peer {
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	p := &peer{game: g, in: clientOut, served: make(chan error, 1), valid: schema.Load(g.t)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		err := a.Server().Serve(ctx, in, out)
		_ = out.CloseWithError(err)
		p.served <- err
	}()
	p.reading.Go(func() { p.read(ctx, clientIn) })
	var caps acp.ClientCapabilities
	v := reflect.ValueOf(&caps).Elem()
	for i := range v.NumField() {
		v.Field(i).SetBool(g.choices.on(capability + v.Type().Field(i).Name))
	}
	p.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": caps})
	return p
}

// read reads the agent's frames: it checks them, and answers the agent's requests.
func (p *peer) read(ctx context.Context, from io.Reader) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			p.frame(ctx, bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			break
		}
	}
	p.handling.Wait()
}

func (p *peer) frame(ctx context.Context, line []byte) {
	if err := p.valid.Frame("agent", line); err != nil {
		p.t.Errorf("%v: %.2000s", err, line)
	}
	if p.choices.on("tools.filters.security.enabled") {
		for _, leak := range leaks.In("a frame", line) {
			p.t.Errorf("%v", leak)
		}
	}
	var f struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(line, &f); err != nil {
		p.t.Errorf("not a frame: %v: %.2000s", err, line)
		return
	}
	switch {
	case f.Method == "":
		if answer, ok := p.answers.LoadAndDelete(string(f.ID)); ok {
			answer.(chan json.RawMessage) <- line
		} else {
			p.t.Errorf("a second answer, or one to nothing: %.2000s", line)
		}
	case f.ID != nil:
		p.handling.Go(func() { p.answer(ctx, f.ID, f.Method, f.Params) })
	}
}

// answer answers a request of the agent.
func (p *peer) answer(ctx context.Context, id json.RawMessage, method string, params json.RawMessage) {
	frame := map[string]any{"jsonrpc": "2.0", "id": id}
	switch {
	case method == "elicitation/create":
		frame["result"] = map[string]string{"action": "cancel"}
	default:
		result, err := p.ide.Answer(ctx, method, params)
		if frame["result"] = result; err != nil {
			delete(frame, "result")
			frame["error"] = fakeide.RefusalOf(err)
		}
	}
	p.send(frame)
}

func (p *peer) send(frame any) {
	line := raw(frame)
	_ = p.valid.Frame("client", line)
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = p.in.Write(append(line, '\n')) // a server that ended is reported by its missing answer
}

// start sends a request, and returns the channel of its answer.
func (p *peer) start(method string, params any) (id int, answer chan json.RawMessage) {
	p.next++
	answer = make(chan json.RawMessage, 1)
	p.answers.Store(fmt.Sprint(p.next), answer)
	p.send(map[string]any{"jsonrpc": "2.0", "id": p.next, "method": method, "params": params})
	return p.next, answer
}

// call sends a request and waits for its answer.
func (p *peer) call(method string, params any) json.RawMessage {
	_, answer := p.start(method, params)
	return <-answer
}

// open opens a session; its id is empty if the agent refuses.
func (p *peer) open(params string) (id string) {
	var answer struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal(p.call("session/new", json.RawMessage(params)), &answer); err != nil {
		p.t.Error(err)
	}
	return answer.Result.SessionID
}

// prompt sends a prompt and waits for its answer.
func (p *peer) prompt(id string, blocks json.RawMessage, cancel bool) {
	_, answer := p.start("session/prompt", map[string]any{"sessionId": id, "prompt": blocks})
	if cancel {
		p.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]string{"sessionId": id}})
	}
	<-answer
}

// end closes the input. The server and the app must end then.
func (g *game) end(a *App, p *peer) {
	_ = p.in.Close()
	if err := <-p.served; err != nil {
		g.t.Errorf("the server ended with %v", err)
	}
	p.reading.Wait()
	a.CloseTools()
	if err := a.Close(); err != nil {
		g.t.Errorf("the app ended with %v", err)
	}
}

// files returns the contents of the workspace's files by path.
func (g *game) files() map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(string(g.work), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if d.Name() == ".git" || strings.Contains(path, "/.git/") { // has times and hashes
			return nil
		}
		data, err := os.ReadFile(path)
		all[g.work.Written(path)] = g.work.Written(string(data))
		return err
	})
	if err != nil {
		g.t.Error(err)
	}
	return all
}

// checkAudit checks that each call that ran is recorded once, with its end.
func (g *game) checkAudit() {
	if !g.choices.on("audit.enabled") {
		return
	}
	data, err := os.ReadFile(filepath.Join(g.dir, "audit.jsonl"))
	if err != nil && len(g.ran) > 0 {
		g.t.Errorf("%d calls, and no audit log: %v", len(g.ran), err)
	}
	recorded := map[string]int{}
	for line := range bytes.Lines(data) {
		var e struct {
			ID     string `json:"tool_call_id"`
			Result string `json:"result"`
		}
		if err := json.Unmarshal(line, &e); err != nil || e.Result == "" || e.Result == "interrupted" {
			g.t.Errorf("an audit line without an end: %v: %s", err, line)
		}
		recorded[e.ID]++
	}
	for id, n := range g.ran {
		if recorded[id] != n {
			g.t.Errorf("call %s was executed %d times, and is recorded %d times", id, n, recorded[id])
		}
	}
}

// checkLeaks looks for credentials in all files but those that had them before.
func (g *game) checkLeaks() {
	if !g.choices.on("tools.filters.security.enabled") {
		return
	}
	found, err := leaks.InDir(g.dir, "w", "config.toml", "model.jsonl", "zeph-rewind")
	if err != nil {
		g.t.Error(err)
	}
	for _, leak := range found {
		g.t.Errorf("%v", leak)
	}
}

// credentialFixture is a fixture whose model reads a file with credentials in all ways.
func credentialFixture(t *testing.T) *fixtures.Fixture {
	var model strings.Builder
	for _, call := range []struct {
		tool  string
		input map[string]any
	}{
		{"read", map[string]any{"path": "creds.txt"}},
		{"grep", map[string]any{"pattern": "."}},
		{"search_code", map[string]any{"query": "password token"}},
		{"bash", map[string]any{"command": "cat creds.txt"}},
		{"bash", map[string]any{"command": "cp creds.txt copy.txt; cat copy.txt; false"}},
		{"edit", map[string]any{"path": "creds.txt", "old_string": "DB_PASSWORD=wrong", "new_string": "x"}},
		{"copy_path", map[string]any{"source": "creds.txt", "destination": "b.txt"}},
		{"read", map[string]any{"path": "b.txt"}},
		{"list_directory", map[string]any{}},
	} {
		fmt.Fprintf(&model, "{\"tool\": %q, \"input\": %s}\n\n", call.tool, raw(call.input))
	}
	model.WriteString("{\"text\": \"done\"}\n")
	text := "Reads credentials.\n\n-- w/creds.txt --\n" + leaks.All() + "\n-- model.jsonl --\n" + model.String() + "-- frames.jsonl --\n" +
		`{"client": {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}` + "\n" +
		`{"client": {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"$S","prompt":[{"type":"text","text":"look"}]}}}` + "\n"
	f, err := fixtures.Parse("credentials.txtar", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
