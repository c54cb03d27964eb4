package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

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
			`tool_call_update #2 failed content="No."`,
			`message #3 "sorry"`}},
		"nothing said": {`{"thought":"hm"}` + "\n\n" + `{"thought":"so"}`, acp.StopEndTurn, []string{
			`thought #2 "hm"`, `thought #3 "so"`, `message #4 "The model ended its turn without an answer."`}},
		"said when asked again": {`{"text":" "}` + "\n\n" + `{"text":"Yes."}`, acp.StopEndTurn, []string{`message #2 " "`, `message #3 "Yes."`}},
		"max tokens":            {`{"text":"he"}` + "\n" + `{"stop":"max_tokens"}`, acp.StopMaxTokens, []string{`message #2 "he"`}},
		"refusal":               {`{"text":"no"}` + "\n" + `{"stop":"refusal"}`, acp.StopRefusal, []string{`message #2 "no"`}},
		"thinks too long": {`{"thought":"hm"}` + "\n" + `{"stop":"max_tokens"}`, acp.StopMaxTokens, []string{
			`thought #2 "hm"`, `message #3 "script:test reached its limit of tokens before it answered (max_tokens of the provider)."`}},
		"refuses in silence": {`{"stop":"refusal"}`, acp.StopRefusal, []string{`message #2 "script:test refused to answer."`}},
		"in circles": {say + "\n\n" + say + "\n\n" + say + "\n\n" + say, acp.StopMaxTurnRequests, []string{
			`tool_call #2 pending`, `tool_call_update #2 in_progress`, `tool_call_update #2 completed content="abc, a longer answer"`,
			`tool_call #3 pending`, `tool_call_update #3 in_progress`, `tool_call_update #3 completed content="abc, a longer answer"`,
			`tool_call #4 pending`, `tool_call_update #4 in_progress`, `tool_call_update #4 completed content="abc, a longer answer"`,
			`message #5 "Stopped: the last 3 rounds of tool calls had the same outcome, so the agent is repeating itself. Tell it what to do differently."`}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			history, reason, err := c.turn(t.Context(), t, newAgent(t, tt.script, c), nil, text("hi"))
			if err != nil || reason != tt.reason {
				t.Errorf("Turn ends with %q, %v, want %q", reason, err, tt.reason)
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

// The protocol requires a title, even if a model names no tool or writes an
// endless name.
func TestTitleOfOddCalls(t *testing.T) {
	a := newAgent(t, "", &client{})
	var sent acp.SessionUpdate
	a.Send = func(_ context.Context, u acp.SessionUpdate) error { sent = u; return nil }
	for _, name := range []string{"", strings.Repeat("é", 1<<20)} {
		_, err := (&turn{Agent: a}).announce(t.Context(), llm.ToolCall{ID: "c1", Name: name, Input: json.RawMessage(`{}`)})
		if u, ok := sent.(acp.ToolCall); err != nil || !ok || u.Title == "" || len(u.Title)+len(u.Name) > 1<<18 {
			t.Errorf("announcing a tool with a name of %d bytes: sent %.300v, %v, want a title of bounded length", len(name), sent, err)
		}
	}
}

func TestAnswerBlocks(t *testing.T) {
	one, two := &llm.Opaque{Provider: "p", Data: []byte("1")}, &llm.Opaque{Provider: "p", Data: []byte("2")}
	call := &llm.ToolCall{ID: "c1"}
	var kept []llm.Block
	s := answerBlocks{record: func(b llm.Block) { kept = append(kept, b) }}
	for _, ev := range []llm.Event{
		{Thought: "a"}, {Thought: "b"}, {Opaque: one}, {Thought: "c"}, {Text: "d"}, {Usage: &llm.Usage{}}, {Text: "e"}, {Opaque: two}, {Call: call}, {Text: "f"},
	} {
		s.add(ev)
	}
	want := []llm.Block{{Thought: "ab", Opaque: one}, {Thought: "c"}, {Text: "de"}, {Opaque: two}, {Call: call}, {Text: "f"}}
	if diff := cmp.Diff(want, s.end(nil)); diff != "" {
		t.Errorf("blocks of the answer (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("recorded blocks (-want +got)\n%s", diff)
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
		t.Errorf("%v, %v, a call of origin %v; want one of the user in\n%s", reason, err, origin, strings.Join(c.lines, "\n"))
	}
}

// spy records the origin of the last call.
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
		t.Errorf("%v, %v, %d messages; want %v after 4 rounds, %d messages", reason, err, len(history), acp.StopMaxTurnRequests, 1+2*4)
	}
}

func TestContextBudget(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"x"}`+"\n"+`{"usage":{"input":70,"output":5}}`+"\n\n"+`{"text":"y"}`, c)
	a.Config.ContextBudgetTokens = 100
	history, reason, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if err != nil || reason != acp.StopEndTurn {
		t.Fatalf("got %v, %v, want %v", reason, err, acp.StopEndTurn)
	}
	history, reason, err = c.turn(t.Context(), t, a, history, text(strings.Repeat("a longer prompt ", 100)))
	if err != nil || reason != acp.StopMaxTokens || !strings.Contains(c.lines[len(c.lines)-1],
		"100 tokens of context. Type /compact to make room, start a new session, or raise agent.context_budget_tokens.") {
		t.Errorf("a prompt over the budget: %v, %v, want %v and advice in %q", reason, err, acp.StopMaxTokens, c.lines)
	}
	// The user's own calls continue when the context is full, since no model
	// reads it.
	_, reason, err = c.turn(t.Context(), t, a, history, text(`/say {"text":"mine"}`))
	if err != nil || reason != acp.StopEndTurn || !strings.Contains(strings.Join(c.lines, "\n"), `completed content="mine"`) {
		t.Errorf("a call of the user over the budget: %v, %v, want its output in %q", reason, err, c.lines)
	}
}

func TestPromptLargerThanTheWindow(t *testing.T) {
	a := newAgent(t, "", &client{})
	a.Model().(*local.Script).ContextWindow = 100
	_, _, err := a.Turn(t.Context(), nil, text(strings.Repeat("word ", 1000)))
	if wrong, ok := errors.AsType[*acp.ParamsError](err); !ok || wrong.Field != "prompt" || !strings.Contains(wrong.Reason, "100") {
		t.Errorf("a prompt of 1000 words: error %v, want one that names the prompt and the window of 100", err)
	}
}

// A provider's failure is an error that names the provider. The prompt stays in
// the history, and the next one works.
func TestProviderFailure(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"text":"half an"}`+"\n"+`{"error":"overloaded","status":529}`+"\n\n"+`{"text":"ok"}`, c)
	history, _, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if failed, ok := errors.AsType[*llm.Error](err); !ok || failed.Status != 529 {
		t.Fatalf("error %v, want the provider's with status 529", err)
	}
	want := []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "hi"}}}, {Role: llm.Assistant, Blocks: []llm.Block{{Text: "half an"}}}}
	if diff := cmp.Diff(want, history); diff != "" {
		t.Errorf("history (-want +got)\n%s", diff)
	}
	if _, reason, err := c.turn(t.Context(), t, a, history, text("again")); err != nil || reason != acp.StopEndTurn {
		t.Errorf(`c.turn(t.Context(), t, a, history, text("again")): got %v, %v, want %v`, reason, err, acp.StopEndTurn)
	}
}

// At each point where a turn is cancelled, its calls are shown as failed, the
// history has a result for each, and the error is the cancel's cause.
func TestCancel(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		at     func(acp.SessionUpdate) bool // whether the user cancels after this update
		shown  string                       // part of the updates
	}{
		"while the model talks": {`{"text":"he"}` + "\n" + `{"wait":"cancel"}`, func(u acp.SessionUpdate) bool {
			_, ok := u.(acp.MessageChunk)
			return ok
		}, `"he"`},
		"in a tool": {`{"tool":"say"}` + "\n" + `{"tool":"block"}` + "\n" + `{"tool":"say"}`, func(u acp.SessionUpdate) bool {
			call, ok := u.(acp.ToolCall)
			return ok && call.ToolCallID == "#3" && call.Status == acp.ToolInProgress
		}, `cancelled content="so far\n[cancelled]"`},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			c := &client{}
			a := newAgent(t, tt.script, c)
			send := a.Send
			a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
				err := send(ctx, u)
				if tt.at(u) {
					cancel(acp.ErrTurnCancelled)
				}
				return err
			}
			history, _, err := c.turn(ctx, t, a, nil, text("hi"))
			if !errors.Is(err, acp.ErrTurnCancelled) {
				t.Errorf("Turn ends with %v, want %v", err, acp.ErrTurnCancelled)
			}
			if diff := cmp.Diff(llm.Repair(history), history); diff != "" {
				t.Errorf("history needs repair\n%s", diff)
			}
			if shown := strings.Join(c.lines, "\n"); !strings.Contains(shown, tt.shown) {
				t.Errorf("the part before the cancel, %s, is not shown in\n%s", tt.shown, shown)
			}
			open := map[string]bool{}
			for _, l := range c.lines {
				f := strings.Fields(l)
				switch {
				case f[0] == "tool_call":
					open[f[1]] = true
				case acp.ToolStatus(f[2]).Final():
					delete(open, f[1])
				}
			}
			if len(open) > 0 {
				t.Errorf("calls without an end: %v\n%s", open, strings.Join(c.lines, "\n"))
			}
		})
	}
}

// Adjacent calls that only read run concurrently: in this test each waits for
// the other.
func TestParallelReads(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"tool":"meet"}`+"\n"+`{"tool":"meet"}`+"\n\n"+`{"text":"ok"}`, c)
	a.Send = func(context.Context, acp.SessionUpdate) error { return nil } // either may end first
	if _, reason, err := a.Turn(t.Context(), nil, text("hi")); err != nil || reason != acp.StopEndTurn {
		t.Errorf(`a.Turn(t.Context(), nil, text("hi")): got %v, %v, want %v`, reason, err, acp.StopEndTurn)
	}
}

// Of thousands of calls in one answer only the first run, and the last of them gets a note.
func TestThousandsOfReads(t *testing.T) {
	const calls = 3 * maxCalls
	c := &client{}
	a := newAgent(t, strings.Repeat(`{"tool":"say","input":{"text":"a"}}`+"\n", calls)+"\n"+`{"text":"ok"}`, c)
	var running, most atomic.Int32
	next := a.Chain
	a.Chain = crowd{next, &running, &most}
	history, _, err := a.Turn(t.Context(), nil, text("hi"))
	if err != nil || len(history) != 4 || len(history[2].Blocks) != maxCalls {
		t.Fatalf("%v, %d messages, want 4 with %d results in the third", err, len(history), maxCalls)
	}
	if n := most.Load(); n > maxCalls {
		t.Errorf("%d calls ran at a time, want at most %d", n, maxCalls)
	}
	if last := history[2].Blocks[maxCalls-1].Result.Text; !strings.Contains(last, "Only the first 32 calls of an answer run.") {
		t.Errorf("the last result %q, want a note about the other calls", last)
	}
}

// crowd counts how many calls run at a time.
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

// An answer that arrives as one piece is sent as many frames of one message.
func TestLongPiece(t *testing.T) {
	c := &client{}
	var words strings.Builder
	for i := range 64 << 10 {
		fmt.Fprintf(&words, "ä\x01%d ", i)
	}
	long := words.String()
	script, _ := json.Marshal(map[string]string{"text": long})
	a := newAgent(t, string(script), c)
	var got strings.Builder
	ids := map[string]bool{}
	a.Send = func(_ context.Context, u acp.SessionUpdate) error {
		if m, ok := u.(acp.MessageChunk); ok {
			frame, _ := json.Marshal(m)
			if len(frame) > 512<<10+1000 {
				t.Errorf("a frame of %d bytes", len(frame))
			}
			got.WriteString(*m.Content.Text)
			ids[m.MessageID] = true
		}
		return nil
	}
	if _, _, err := a.Turn(t.Context(), nil, text("hi")); err != nil || got.String() != long || len(ids) != 1 {
		t.Errorf("%v, %d bytes in %d messages, want all %d in one", err, got.Len(), len(ids), len(long))
	}
}

func BenchmarkTurn(b *testing.B) {
	c := &client{}
	a := newAgent(b, "", c)
	script := `{"tool":"say","input":{"text":"abc"}}` + "\n\n" + `{"text":"done"}`
	b.ReportAllocs()
	for b.Loop() {
		model, _ := local.ParseScript("bench", strings.NewReader(script))
		a.Model = func() llm.Model { return model }
		if _, _, err := a.Turn(b.Context(), nil, text("hi")); err != nil {
			b.Fatal(err)
		}
		c.lines, c.log = c.lines[:0], c.log[:0]
	}
}

// A plan is shown as a plan, without a tool call.
func TestPlanIsNoCall(t *testing.T) {
	c := &client{}
	a := newAgent(t, `{"tool":"update_plan","input":{"entries":[{"content":"look"}]}}`+"\n\n"+`{"text":"done"}`, c)
	a.Chain = executors.Chain(native.New())
	history, _, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if err != nil || len(history) != 4 {
		t.Fatalf("got %v, %v, want 4 of them", history, err)
	}
	if diff := cmp.Diff([]string{"plan [{look medium pending}]", `message #3 "done"`}, c.lines); diff != "" {
		t.Errorf("updates (-want +got)\n%s", diff)
	}
}
