package agent

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// client notes the updates of a turn, each as a short line.
type client struct {
	mu    sync.Mutex
	lines []string
	log   []Event
}

// record keeps events as a store does.
func (c *client) record(events ...Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		data, err := EncodeEvent(e)
		if err == nil {
			e, err = DecodeEvent(e.Kind(), data)
		}
		if err != nil || e == nil {
			panic(fmt.Sprint(e, err))
		}
		c.log = append(c.log, e)
	}
}

func (c *client) send(_ context.Context, u acp.SessionUpdate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := u.(type) {
	case acp.MessageChunk:
		if u.Content.Text == nil {
			u.Content = acp.TextBlock(u.Content.Type)
		}
		c.lines = append(c.lines, fmt.Sprintf("%s %s %q", map[string]string{acp.UpdateUserMessage: "message user", acp.UpdateAgentMessage: "message", acp.UpdateAgentThought: "thought"}[u.Update], u.MessageID, *u.Content.Text))
	case acp.ToolCall:
		line := fmt.Sprintf("%s %s %s", u.Update, u.ToolCallID, u.Status)
		for _, p := range u.Content {
			line += " " + p.Type
			if p.Content != nil {
				line += fmt.Sprintf("=%q", *p.Content.Text)
			}
		}
		c.lines = append(c.lines, line)
	case acp.PlanUpdate:
		c.lines = append(c.lines, fmt.Sprint("plan ", u.Entries))
	case acp.UsageUpdate:
		c.lines = append(c.lines, fmt.Sprintf("usage %d/%d", u.Used, u.Size))
	}
	return nil
}

// tools answers "say" with its text, fails "fail", and blocks in "block" until
// the turn is cancelled. Only "say" reads.
type tools struct {
	both chan struct{} // "meet" returns when two of it run
}

func (tools) Tools() []executors.Tool {
	var all []executors.Tool
	for name, effect := range map[string]executors.Effect{"say": executors.Reads, "compress_context": executors.Internal, "meet": executors.Reads, "fail": executors.Mutates, "block": executors.Mutates} {
		all = append(all, executors.Tool{Name: name, Effect: effect, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return all
}

func (tools) Prepare(_ context.Context, call *executors.Call) (executors.Card, error) {
	return executors.Card{Title: call.Tool, Kind: executors.KindOther}, nil
}

func (e tools) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	call.Notify(executors.Event{Status: executors.InProgress})
	switch call.Tool {
	case "say":
		var in struct {
			Text  string
			Words int // more
		}
		_ = json.Unmarshal(call.Input, &in)
		return executors.Result{Text: in.Text + strings.Repeat("word ", in.Words)}, nil
	case "meet":
		select {
		case e.both <- struct{}{}:
		case <-e.both:
		}
		return executors.Result{Text: "met"}, nil
	case "compress_context":
		text, err := call.Compress(ctx, "the bug")
		if err != nil {
			return executors.Failf(executors.PermanentFailure, "%v", err), nil
		}
		return executors.Result{Text: text}, nil
	case "block":
		<-ctx.Done()
		return executors.Result{}, context.Cause(ctx)
	}
	return executors.Failf(executors.PermanentFailure, "no"), nil
}

func newAgent(t testing.TB, script string, c *client) *Agent {
	t.Helper()
	model, err := llm.ParseScript("test", strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	return &Agent{
		Config: Defaults(), Session: "s1", Chain: tools{both: make(chan struct{})}, Send: c.send,
		Model: func() llm.Model { return model }, Thought: func() string { return "" },
		Record: c.record, Spend: func(llm.Model, llm.Usage) *acp.Cost { return nil },
		Inside: func(path string) bool { return strings.HasPrefix(path, "/w/") },
		NewID:  func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprint("#", n) }, Log: slog.New(slog.DiscardHandler),
	}
}

func text(s string) Input { return Input{Content: []acp.ContentBlock{acp.TextBlock(s)}} }

// turn runs a turn and ends it in the log as a session does. Both the history
// and what the client saw must be what the log says.
func (c *client) turn(ctx context.Context, t *testing.T, a *Agent, history []llm.Message, in Input) ([]llm.Message, acp.StopReason, error) {
	t.Helper()
	history, reason, err := a.Turn(ctx, history, in)
	c.record(TurnEnd{Reason: reason, Error: fmt.Sprint(err)})
	if again := History(c.log); !reflect.DeepEqual(history, again) { // faster, where it is long
		if diff := cmp.Diff(history, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("history rebuilt (-want +got)\n%s", diff)
		}
	}
	again := &client{}
	if err := Replay(c.log, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error { return again.send(ctx, u) }); err != nil {
		t.Error(err)
	}
	shown, replayed := whole(c.lines), whole(slices.DeleteFunc(again.lines, func(l string) bool { return strings.HasPrefix(l, "message user ") }))
	if slices.Equal(shown, replayed) {
		return history, reason, err
	}
	if diff := cmp.Diff(shown, replayed); diff != "" {
		t.Errorf("replay (-want +got)\n%s", diff)
	}
	return history, reason, err
}

// whole joins the chunks of a message and leaves out the states in between.
func whole(lines []string) []string {
	var out []string
	for _, l := range lines {
		f := strings.SplitN(l, " ", 3)
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1], f[0]+" "+f[1]+" \"") && f[0] != "tool_call" {
			l = strings.TrimSuffix(out[n-1], `"`) + strings.TrimPrefix(f[2], `"`)
			out = out[:n-1]
		}
		if !strings.HasSuffix(l, string(acp.ToolInProgress)) {
			out = append(out, l)
		}
	}
	return out
}

func TestTurn(t *testing.T) {
	const say = `{"tool":"say","input":{"text":"abc, a longer answer"}}`
	for name, tt := range map[string]struct {
		script string
		reason acp.StopReason
		want   []string
	}{
		"answer": {`{"thought":"hm"}` + "\n" + `{"text":"he"}` + "\n" + `{"text":"llo"}`, acp.StopEndTurn,
			[]string{`thought #2 "hm"`, `message #3 "he"`, `message #3 "llo"`}},
		"tool, then a new message": {`{"text":"look"}` + "\n" + say + "\n\n" + `{"text":"done"}`, acp.StopEndTurn, []string{
			`message #2 "look"`, `tool_call #3 pending`, `tool_call_update #3 in_progress`,
			`tool_call_update #3 completed content="abc, a longer answer"`, `message #4 "done"`}},
		"a failing tool goes on": {`{"tool":"fail"}` + "\n\n" + `{"text":"sorry"}`, acp.StopEndTurn, []string{
			`tool_call #2 pending`, `tool_call_update #2 in_progress`,
			`tool_call_update #2 failed content="[tool_error]\ncategory: permanent_failure\nerror: no\nsuggestion: The same call will fail again; change it or choose another way.\nretryable: false"`,
			`message #3 "sorry"`}},
		"nothing said": {`{"thought":"hm"}`, acp.StopEndTurn, []string{`thought #2 "hm"`, `message #3 "The model ended its turn without an answer."`}},
		"max tokens":   {`{"text":"he"}` + "\n" + `{"stop":"max_tokens"}`, acp.StopMaxTokens, []string{`message #2 "he"`}},
		"refusal":      {`{"text":"no"}` + "\n" + `{"stop":"refusal"}`, acp.StopRefusal, []string{`message #2 "no"`}},
		"in circles": {say + "\n\n" + say + "\n\n" + say + "\n\n" + say, acp.StopMaxTurnRequests, []string{
			`tool_call #2 pending`, `tool_call_update #2 in_progress`, `tool_call_update #2 completed content="abc, a longer answer"`,
			`tool_call #3 pending`, `tool_call_update #3 in_progress`, `tool_call_update #3 completed content="abc, a longer answer\n\n[repeat] You made this call 2 times with the same outcome, and nothing new came in between. Do something else, or tell the user what is in the way."`,
			`tool_call #4 pending`, `tool_call_update #4 in_progress`, `tool_call_update #4 completed content="abc, a longer answer\n\n[repeat] You made this call 3 times with the same outcome, and nothing new came in between. Do something else, or tell the user what is in the way."`,
			`message #5 "Stopped: the last 3 rounds of tool calls had the same outcome, so the agent is going in circles. Tell it what to do differently."`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			history, reason, err := c.turn(t.Context(), t, newAgent(t, tt.script, c), nil, text("hi"))
			if err != nil || reason != tt.reason {
				t.Errorf("reason %q, err %v", reason, err)
			}
			if diff := cmp.Diff(tt.want, c.lines); diff != "" {
				t.Errorf("updates (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(llm.Repair(history), history); diff != "" {
				t.Errorf("history needs repair\n%s", diff)
			}
		})
	}
}

// What is in an attached file is never a call of the user's; a file that the
// client offers in the text of a /TOOL prompt is its operand.
// A title is required by the protocol, and a model may name no tool, or write
// without end.
func TestOddName(t *testing.T) {
	a := newAgent(t, "", &client{})
	var sent acp.SessionUpdate
	a.Send = func(_ context.Context, u acp.SessionUpdate) error { sent = u; return nil }
	for _, name := range []string{"", strings.Repeat("é", 1<<20)} {
		_, err := (&turn{Agent: a}).announce(t.Context(), llm.ToolCall{ID: "c1", Name: name, Input: json.RawMessage(`{}`)})
		if u, ok := sent.(acp.ToolCall); err != nil || !ok || u.Title == "" || len(u.Title)+len(u.Name) > 1<<18 {
			t.Errorf("%+v, %v", sent, err)
		}
	}
}

func TestSpoken(t *testing.T) {
	one, two := &llm.Opaque{Provider: "p", Data: []byte("1")}, &llm.Opaque{Provider: "p", Data: []byte("2")}
	call := &llm.ToolCall{ID: "c1"}
	var kept []llm.Block
	s := spoken{keep: func(b llm.Block) { kept = append(kept, b) }}
	for _, ev := range []llm.Event{
		{Thought: "a"}, {Thought: "b"}, {Opaque: one}, {Thought: "c"}, {Text: "d"}, {Usage: &llm.Usage{}}, {Text: "e"}, {Opaque: two}, {Call: call}, {Text: "f"},
	} {
		s.add(ev)
	}
	want := []llm.Block{{Thought: "ab", Opaque: one}, {Thought: "c"}, {Text: "de"}, {Opaque: two}, {Call: call}, {Text: "f"}}
	if diff := cmp.Diff(want, s.end(nil)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTypedTextIsACall(t *testing.T) {
	c := &client{}
	a := newAgent(t, "", c)
	a.Model = func() llm.Model { return llm.Direct{} }
	block := "```bash\nrm x\n```"
	prompt := Input{Content: append(text("look at this").Content, acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: "file:///x.md", Text: &block}})}
	if _, _, err := c.turn(t.Context(), t, a, nil, prompt); err != nil || strings.Contains(strings.Join(c.lines, "\n"), "tool_call") {
		t.Error(err, c.lines)
	}
	history, _, err := a.Turn(t.Context(), nil, Input{Content: append(text("/say ").Content, acp.ContentBlock{Type: "resource_link", URI: "file:///w/my%20file.go", Name: "my file.go"})})
	if err != nil || history[0].Blocks[0].Text != "/say /w/my file.go" {
		t.Error(err, history[0])
	}
}

// A /TOOL prompt is answered without the model, as the user's own call.
func TestUserCall(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"error":"nobody asks the model"}`, c)
	var origin executors.Origin
	a.Chain = executors.Chain(a.Chain, func(next executors.Executor) executors.Executor { return spy{next, &origin} })
	_, reason, err := c.turn(t.Context(), t, a, nil, text(`/say {"text":"hi there"}`))
	if err != nil || reason != acp.StopEndTurn || origin != executors.User || !strings.Contains(strings.Join(c.lines, "\n"), `content="hi there"`) {
		t.Errorf("%v %v %v\n%s", reason, err, origin, strings.Join(c.lines, "\n"))
	}
}

type spy struct {
	executors.Executor
	origin *executors.Origin
}

func (s spy) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	*s.origin = call.Origin
	return s.Executor.Execute(ctx, call)
}

func TestIterationCap(t *testing.T) {
	var script strings.Builder
	for i := range 20 {
		fmt.Fprintf(&script, "{\"tool\":\"say\",\"input\":{\"text\":\"answer number %c\"}}\n\n", 'a'+i)
	}
	c := &client{}
	a := newAgent(t, script.String(), c)
	a.Config.MaxToolIterations = 4
	history, reason, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if err != nil || reason != acp.StopMaxTurnRequests || len(history) != 1+2*4 {
		t.Errorf("%v %v, %d messages", reason, err, len(history))
	}
}

func TestContextBudget(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"x"}`+"\n"+`{"usage":{"input":70,"output":5}}`+"\n\n"+`{"text":"y"}`, c)
	a.Config.ContextBudgetTokens = 100
	history, reason, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if err != nil || reason != acp.StopEndTurn {
		t.Fatal(reason, err)
	}
	history, reason, err = c.turn(t.Context(), t, a, history, text(strings.Repeat("a longer prompt ", 100)))
	if err != nil || reason != acp.StopMaxTokens || !strings.Contains(c.lines[len(c.lines)-1], "100 tokens of context. Type /compact to make room, start a new session, or raise agent.context_budget_tokens.") {
		t.Errorf("%v %v %q", reason, err, c.lines)
	}
	// The user's own calls go on, however full the context is: no model reads it.
	_, reason, err = c.turn(t.Context(), t, a, history, text(`/say {"text":"mine"}`))
	if err != nil || reason != acp.StopEndTurn || !strings.Contains(strings.Join(c.lines, "\n"), `completed content="mine"`) {
		t.Errorf("%v %v %q", reason, err, c.lines)
	}
}

func TestPromptLargerThanTheWindow(t *testing.T) {
	a := newAgent(t, "", &client{})
	a.Model().(*llm.Script).ContextWindow = 100
	_, _, err := a.Turn(t.Context(), nil, text(strings.Repeat("word ", 1000)))
	if wrong, ok := errors.AsType[*acp.ParamsError](err); !ok || wrong.Field != "prompt" || !strings.Contains(wrong.Reason, "100") {
		t.Error(err)
	}
}

// A provider's failure is an error that names it; the prompt stays in the
// history and the next one works.
func TestProviderFailure(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"half an"}`+"\n"+`{"error":"overloaded","status":529}`+"\n\n"+`{"text":"ok"}`, c)
	history, _, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if failed, ok := errors.AsType[*llm.Error](err); !ok || failed.Status != 529 {
		t.Fatal(err)
	}
	want := []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "hi"}}}, {Role: llm.Assistant, Blocks: []llm.Block{{Text: "half an"}}}}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Error(diff)
	}
	if _, reason, err := c.turn(t.Context(), t, a, history, text("again")); err != nil || reason != acp.StopEndTurn {
		t.Error(reason, err)
	}
}

// Wherever a turn is cancelled, its calls are shown as failed, the history has a
// result for each, and the error is the cancel's cause.
func TestCancel(t *testing.T) {
	for name, script := range map[string]string{
		"while the model talks": `{"text":"he"}` + "\n" + `{"wait":"cancel"}`,
		"in a tool":             `{"tool":"say"}` + "\n" + `{"tool":"block"}` + "\n" + `{"tool":"say"}`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			c := &client{}
			a := newAgent(t, script, c)
			send := a.Send
			a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
				err := send(ctx, u)
				call, ok := u.(acp.ToolCall)
				if !ok && script[2:6] == "text" || ok && call.ToolCallID == "#3" && call.Status == acp.ToolInProgress {
					cancel(acp.ErrTurnCancelled)
				}
				return err
			}
			history, _, err := c.turn(ctx, t, a, nil, text("hi"))
			if !errors.Is(err, acp.ErrTurnCancelled) {
				t.Error(err)
			}
			if diff := cmp.Diff(llm.Repair(history), history); diff != "" {
				t.Error(diff)
			}
			open := map[string]bool{}
			for _, l := range c.lines {
				f := strings.Fields(l)
				switch {
				case f[0] == "tool_call":
					open[f[1]] = true
				case f[2] == "completed" || f[2] == "failed":
					delete(open, f[1])
				}
			}
			if len(open) > 0 {
				t.Errorf("calls without an end: %v\n%s", open, strings.Join(c.lines, "\n"))
			}
		})
	}
}

// Two neighbours that only read run side by side; each would wait for the other
// for ever otherwise.
func TestParallelReads(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"tool":"meet"}`+"\n"+`{"tool":"meet"}`+"\n\n"+`{"text":"ok"}`, c)
	a.Send = func(context.Context, acp.SessionUpdate) error { return nil } // either may end first
	if _, reason, err := a.Turn(t.Context(), nil, text("hi")); err != nil || reason != acp.StopEndTurn {
		t.Error(reason, err)
	}
}

// Of thousands of calls in one answer only some run at a time, and each has its
// result.
func TestCrowdOfReads(t *testing.T) {
	const calls = 3*maxParallel + 1
	c := &client{}
	a := newAgent(t, strings.Repeat(`{"tool":"say","input":{"text":"a"}}`+"\n", calls)+"\n"+`{"text":"ok"}`, c)
	var running, most atomic.Int32
	next := a.Chain
	a.Chain = crowd{next, &running, &most}
	history, _, err := a.Turn(t.Context(), nil, text("hi"))
	if err != nil || len(history) != 4 || len(history[2].Blocks) != calls {
		t.Fatalf("%v: %d messages", err, len(history))
	}
	if n := most.Load(); n > maxParallel {
		t.Errorf("%d ran at a time", n)
	}
}

// crowd tells how many calls run at a time.
type crowd struct {
	executors.Executor
	running, most *atomic.Int32
}

func (c crowd) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	n := c.running.Add(1)
	defer c.running.Add(-1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	runtime.Gosched()
	return c.Executor.Execute(ctx, call)
}

// An answer that comes as one piece is many frames of one message.
func TestLongPiece(t *testing.T) {
	c := &client{}
	long := strings.Repeat("ä\x01", maxReplayed/2)
	script, _ := json.Marshal(map[string]string{"text": long})
	a := newAgent(t, string(script), c)
	var got strings.Builder
	ids := map[string]bool{}
	a.Send = func(_ context.Context, u acp.SessionUpdate) error {
		if m, ok := u.(acp.MessageChunk); ok {
			frame, _ := json.Marshal(m)
			if len(frame) > maxReplayed+1000 {
				t.Errorf("a frame of %d bytes", len(frame))
			}
			got.WriteString(*m.Content.Text)
			ids[m.MessageID] = true
		}
		return nil
	}
	if _, _, err := a.Turn(t.Context(), nil, text("hi")); err != nil || got.String() != long || len(ids) != 1 {
		t.Errorf("%v: %d bytes of %d, %d messages", err, got.Len(), len(long), len(ids))
	}
}

func BenchmarkTurn(b *testing.B) {
	c := &client{}
	a := newAgent(b, "", c)
	script := `{"tool":"say","input":{"text":"abc"}}` + "\n\n" + `{"text":"done"}`
	b.ReportAllocs()
	for b.Loop() {
		model, _ := llm.ParseScript("bench", strings.NewReader(script))
		a.Model = func() llm.Model { return model }
		if _, _, err := a.Turn(b.Context(), nil, text("hi")); err != nil {
			b.Fatal(err)
		}
		c.lines, c.log = c.lines[:0], c.log[:0]
	}
}

// Of an embedded text that is too long the model gets what Shorten gives, also
// when the session is opened again; what is short stays.
func TestLongAttachment(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"ok"}`, c)
	a.Shorten = func(_ context.Context, text string) string {
		if len(text) > 10 {
			return text[:4] + "\n[the rest: overflow:1]"
		}
		return text
	}
	long, short := strings.Repeat("long", 10), "short"
	history, _, err := c.turn(t.Context(), t, a, nil, Input{Content: []acp.ContentBlock{
		acp.TextBlock("look"),
		{Type: "resource", Resource: &acp.Resource{URI: "file:///w/a.txt", Text: &long}},
		{Type: "resource", Resource: &acp.Resource{URI: "file:///w/b.txt", Text: &short}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range history[0].Blocks {
		got = append(got, b.Text)
	}
	want := []string{"look", "[The user attached /w/a.txt, 40 bytes]\nlong\n[the rest: overflow:1]", "[The user attached /w/b.txt]\nshort"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What links, images and audio become for the model, and what the user is told.
func TestPromptContent(t *testing.T) {
	png := []byte("\x89PNG\r\n\x1a\nrest")
	picture := base64.StdEncoding.EncodeToString(png)
	big := strings.Repeat("é", maxEmbedded)
	c := &client{}
	a := newAgent(t, `{"text":"ok"}`, c)
	a.Chain = reads{a.Chain}
	in := Input{Content: []acp.ContentBlock{
		acp.TextBlock("look"),
		{Type: "resource_link", URI: "file:///w/a%20b.go", Name: "a b.go"},
		{Type: "resource_link", URI: "file:///w/missing.go"},
		{Type: "resource_link", URI: "file:///etc/passwd", Name: "passwd"},
		{Type: "resource_link", URI: "zed:///thread/1", Name: "a thread"},
		{Type: "resource_link", URI: "https://example.com/a", Name: "a page"},
		{Type: "image", MIMEType: "image/png", Data: picture},
		{Type: "audio", MIMEType: "audio/wav", Data: "AAAA"},
		{Type: "resource", Resource: &acp.Resource{URI: "file:///w/b.txt", Text: &big}},
	}}
	history, _, err := c.turn(t.Context(), t, a, nil, in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range history[0].Blocks {
		if b.Image != nil {
			b.Text = b.Image.MIME + " " + string(b.Image.Data)
		}
		got = append(got, b.Text)
	}
	cut := fmt.Sprintf("[The user attached /w/b.txt, %d bytes; this is its beginning]\n%s\n[%d more bytes are left out]", len(big), big[:maxEmbedded], len(big)-maxEmbedded)
	if diff := cmp.Diff([]string{
		"look", "[The user refers to \"a b.go\": /w/a b.go]\npackage main", "[The user refers to \"file:///w/missing.go\": /w/missing.go]",
		"[The user refers to \"passwd\": /etc/passwd]", "[The user refers to \"a thread\": zed:///thread/1]",
		"[The user refers to \"a page\": https://example.com/a]\na page",
		"image/png " + string(png), "[The user attached audio, which cannot be heard here]", cut,
	}, got); diff != "" {
		t.Error(diff)
	}
	text := strings.Join(c.lines, "\n")
	if !strings.Contains(text, "The audio was left out") || strings.Contains(text, "The image was left out") || strings.Count(text, "tool_call ") != 3 {
		t.Error(text)
	}
	blind, err := llm.ParseScript("blind", strings.NewReader(`{"text":"ok"}`))
	if err != nil {
		t.Fatal(err)
	}
	blind.Blind = true
	a.Model = func() llm.Model { return blind }
	c.lines = nil
	if _, _, err := a.Turn(t.Context(), nil, Input{Content: in.Content[5:7]}); err != nil || !strings.Contains(c.lines[0], "The image was left out: script:blind takes no images") {
		t.Error(err, c.lines)
	}
}

// reads adds tools that read one file and one page.
type reads struct{ executors.Executor }

func (reads) Tools() []executors.Tool {
	schema := json.RawMessage(`{"type":"object"}`)
	return []executors.Tool{{Name: "read", Effect: executors.Reads, Schema: schema}, {Name: "fetch", Effect: executors.Network, Schema: schema}}
}

func (reads) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	text, ok := map[string]string{
		`read {"path":"/w/a b.go"}`:             "package main",
		`fetch {"url":"https://example.com/a"}`: "a page",
	}[call.Tool+" "+string(call.Input)]
	if !ok || call.Origin != executors.User {
		return executors.Failf(executors.PermanentFailure, "no such file"), nil
	}
	return executors.Result{Text: text}, nil
}
