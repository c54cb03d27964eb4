package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// client notes the updates of a turn, each as a short line.
type client struct {
	mu    sync.Mutex
	lines []string
}

func (c *client) send(_ context.Context, u acp.SessionUpdate) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := u.(type) {
	case acp.MessageChunk:
		c.lines = append(c.lines, fmt.Sprintf("%s %s %q", strings.Split(u.Update, "_")[1], u.MessageID, *u.Content.Text))
	case acp.ToolCall:
		line := fmt.Sprintf("%s %s %s", u.Update, u.ToolCallID, u.Status)
		for _, p := range u.Content {
			line += " " + p.Type
			if p.Content != nil {
				line += fmt.Sprintf("=%q", *p.Content.Text)
			}
		}
		c.lines = append(c.lines, line)
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
	for name, effect := range map[string]executors.Effect{"say": executors.Reads, "meet": executors.Reads, "fail": executors.Mutates, "block": executors.Mutates} {
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
		var in struct{ Text string }
		_ = json.Unmarshal(call.Input, &in)
		return executors.Result{Text: in.Text}, nil
	case "meet":
		select {
		case e.both <- struct{}{}:
		case <-e.both:
		}
		return executors.Result{Text: "met"}, nil
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
		Config: Defaults(), Session: "s1", Model: model, Chain: tools{both: make(chan struct{})}, Send: c.send,
		NewID: func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprint("#", n) }, Log: slog.New(slog.DiscardHandler),
	}
}

func text(s string) []acp.ContentBlock { return []acp.ContentBlock{acp.TextBlock(s)} }

func TestTurn(t *testing.T) {
	const say = `{"tool":"say","input":{"text":"abc, a longer answer"}}`
	for name, tt := range map[string]struct {
		script string
		reason acp.StopReason
		want   []string
	}{
		"answer": {`{"thought":"hm"}` + "\n" + `{"text":"he"}` + "\n" + `{"text":"llo"}`, acp.StopEndTurn,
			[]string{`thought #1 "hm"`, `message #2 "he"`, `message #2 "llo"`}},
		"tool, then a new message": {`{"text":"look"}` + "\n" + say + "\n\n" + `{"text":"done"}`, acp.StopEndTurn, []string{
			`message #1 "look"`, `tool_call #2 pending`, `tool_call_update #2 in_progress`,
			`tool_call_update #2 completed content="abc, a longer answer"`, `message #3 "done"`}},
		"a failing tool goes on": {`{"tool":"fail"}` + "\n\n" + `{"text":"sorry"}`, acp.StopEndTurn, []string{
			`tool_call #1 pending`, `tool_call_update #1 in_progress`,
			`tool_call_update #1 failed content="[tool_error]\ncategory: permanent_failure\nerror: no\nsuggestion: The same call will fail again; change it or choose another way.\nretryable: false"`,
			`message #2 "sorry"`}},
		"nothing said": {`{"thought":"hm"}`, acp.StopEndTurn, []string{`thought #1 "hm"`, `message #2 "The model ended its turn without an answer."`}},
		"max tokens":   {`{"text":"he"}` + "\n" + `{"stop":"max_tokens"}`, acp.StopMaxTokens, []string{`message #1 "he"`}},
		"refusal":      {`{"text":"no"}` + "\n" + `{"stop":"refusal"}`, acp.StopRefusal, []string{`message #1 "no"`}},
		"in circles": {say + "\n\n" + say + "\n\n" + say + "\n\n" + say, acp.StopMaxTurnRequests, []string{
			`tool_call #1 pending`, `tool_call_update #1 in_progress`, `tool_call_update #1 completed content="abc, a longer answer"`,
			`tool_call #2 pending`, `tool_call_update #2 in_progress`, `tool_call_update #2 completed content="abc, a longer answer"`,
			`tool_call #3 pending`, `tool_call_update #3 in_progress`, `tool_call_update #3 completed content="abc, a longer answer"`,
			`message #4 "Stopped: the last 3 rounds of tool calls had the same outcome, so the agent is going in circles. Tell it what to do differently."`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			history, reason, err := newAgent(t, tt.script, c).Turn(t.Context(), nil, text("hi"))
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
	var s spoken
	for _, ev := range []llm.Event{
		{Thought: "a"}, {Thought: "b"}, {Opaque: one}, {Thought: "c"}, {Text: "d"}, {Usage: &llm.Usage{}}, {Text: "e"}, {Opaque: two}, {Call: call}, {Text: "f"},
	} {
		s.add(ev)
	}
	want := []llm.Block{{Thought: "ab", Opaque: one}, {Thought: "c"}, {Text: "de"}, {Opaque: two}, {Call: call}, {Text: "f"}}
	if diff := cmp.Diff(want, s.end()); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyTypedTextIsACall(t *testing.T) {
	c := &client{}
	a := newAgent(t, "", c)
	a.Model = llm.Direct{}
	block := "```bash\nrm x\n```"
	prompt := append(text("look at this"), acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: "file:///x.md", Text: &block}})
	if _, _, err := a.Turn(t.Context(), nil, prompt); err != nil || strings.Contains(strings.Join(c.lines, "\n"), "tool_call") {
		t.Error(err, c.lines)
	}
	history, _, err := a.Turn(t.Context(), nil, append(text("/say "), acp.ContentBlock{Type: "resource_link", URI: "file:///w/my%20file.go", Name: "my file.go"}))
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
	_, reason, err := a.Turn(t.Context(), nil, text(`/say {"text":"hi there"}`))
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
	history, reason, err := a.Turn(t.Context(), nil, text("hi"))
	if err != nil || reason != acp.StopMaxTurnRequests || len(history) != 1+2*4 {
		t.Errorf("%v %v, %d messages", reason, err, len(history))
	}
}

func TestContextBudget(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"x"}`+"\n"+`{"usage":{"input":70,"output":5}}`+"\n\n"+`{"text":"y"}`, c)
	a.Config.ContextBudgetTokens = 100
	history, reason, err := a.Turn(t.Context(), nil, text("hi"))
	if err != nil || reason != acp.StopEndTurn {
		t.Fatal(reason, err)
	}
	_, reason, err = a.Turn(t.Context(), history, text(strings.Repeat("a longer prompt ", 100)))
	if err != nil || reason != acp.StopMaxTokens || !strings.Contains(c.lines[len(c.lines)-1], "100 tokens") {
		t.Errorf("%v %v %q", reason, err, c.lines)
	}
}

func TestPromptLargerThanTheWindow(t *testing.T) {
	a := newAgent(t, "", &client{})
	a.Model.(*llm.Script).ContextWindow = 100
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
	history, _, err := a.Turn(t.Context(), nil, text("hi"))
	if failed, ok := errors.AsType[*llm.Error](err); !ok || failed.Status != 529 {
		t.Fatal(err)
	}
	want := []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "hi"}}}, {Role: llm.Assistant, Blocks: []llm.Block{{Text: "half an"}}}}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Error(diff)
	}
	if _, reason, err := a.Turn(t.Context(), history, text("again")); err != nil || reason != acp.StopEndTurn {
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
				if !ok && script[2:6] == "text" || ok && call.ToolCallID == "#2" && call.Status == acp.ToolInProgress {
					cancel(acp.ErrTurnCancelled)
				}
				return err
			}
			history, _, err := a.Turn(ctx, nil, text("hi"))
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
	a := newAgent(t, `{"tool":"meet"}`+"\n"+`{"tool":"meet"}`+"\n\n"+`{"text":"ok"}`, &client{})
	if _, reason, err := a.Turn(t.Context(), nil, text("hi")); err != nil || reason != acp.StopEndTurn {
		t.Error(reason, err)
	}
}

func TestDoom(t *testing.T) {
	call := llm.ToolCall{Name: "bash", Input: json.RawMessage(`{"command":"make"}`)}
	other := llm.ToolCall{Name: "bash", Input: json.RawMessage(`{"command":"make test"}`)}
	for name, tt := range map[string]struct {
		outcomes []string
		want     bool
	}{
		"same":              {[]string{outcomeOf(call, "error: no rule to make"), outcomeOf(call, "error: no rule to make"), outcomeOf(other, "error: no rule to make")}, true},
		"only times differ": {[]string{outcomeOf(call, "FAIL pkg 0.31s at 12:00:01"), outcomeOf(call, "FAIL pkg 0.4s at 12:00:09"), outcomeOf(call, "FAIL pkg 12s at 12:00:17")}, true},
		"progress between":  {[]string{outcomeOf(call, "error: no rule to make"), outcomeOf(call, "error: no rule to make"), outcomeOf(call, "error: another one here"), outcomeOf(call, "error: no rule to make")}, false},
		"quiet, different":  {[]string{outcomeOf(call, "(no output)"), outcomeOf(other, "(no output)"), outcomeOf(call, "(no output)")}, false},
		"quiet, same":       {[]string{outcomeOf(call, "(no output)"), outcomeOf(call, "(no output)"), outcomeOf(call, "(no output)")}, true},
	} {
		var d doom
		got := false
		for _, o := range tt.outcomes {
			got = d.repeats(o)
		}
		if got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func BenchmarkTurn(b *testing.B) {
	c := &client{}
	a := newAgent(b, "", c)
	script := `{"tool":"say","input":{"text":"abc"}}` + "\n\n" + `{"text":"done"}`
	b.ReportAllocs()
	for b.Loop() {
		a.Model, _ = llm.ParseScript("bench", strings.NewReader(script))
		if _, _, err := a.Turn(b.Context(), nil, text("hi")); err != nil {
			b.Fatal(err)
		}
		c.lines = c.lines[:0]
	}
}
