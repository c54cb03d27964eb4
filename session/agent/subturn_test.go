package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// delegator adds the tool "delegate" to others. It records the calls that run.
type delegator struct {
	executors.Executor
	task executors.Delegation

	mu     sync.Mutex
	ran    []string
	report executors.Report
	err    error
}

func (d *delegator) Tools() []executors.Tool {
	return append(d.Executor.Tools(), executors.Tool{
		Name: "delegate", Effect: executors.Internal, Concurrent: true, Schema: json.RawMessage(`{"type":"object"}`),
	})
}

func (d *delegator) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	d.mu.Lock()
	d.ran = append(d.ran, call.Caller+" "+call.Tool)
	d.mu.Unlock()
	if call.Tool != "delegate" {
		return d.Executor.Execute(ctx, call)
	}
	report, err := call.Delegate(ctx, d.task)
	d.mu.Lock()
	d.report, d.err = report, err
	d.mu.Unlock()
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return executors.Result{Text: report.Text, Failed: err != nil}, nil
}

// delegating returns an agent whose model follows the script, with the tool
// "delegate".
func delegating(t *testing.T, c *client, script string) (*Agent, *delegator) {
	a := newAgent(t, script, c)
	d := &delegator{Executor: a.Chain, task: executors.Delegation{Name: "scout", System: "You scout.", Task: "look", Rounds: 3}}
	a.Chain = executors.Chain(d, executors.DelegationGate)
	return a, d
}

const delegate = `{"tool":"delegate"}` + "\n\n"

// A task is done with a conversation of its own, and its calls are shown as lines of the
// call that delegated it.
func TestDelegate(t *testing.T) {
	c := &client{}
	a, d := delegating(t, c, delegate+`{"text":"First this."}`+"\n"+`{"tool":"say","input":{"text":"a.go"}}`+"\n"+`{"tool":"fail"}`+"\n\n"+
		`{"text":"It is in a.go."}`+"\n\n"+`{"text":"done"}`)
	history, reason, err := c.turn(t.Context(), t, a, nil, text("go"))
	if err != nil || reason != acp.StopEndTurn || d.err != nil {
		t.Fatalf("the turn: %v, %v; the task: %v", reason, err, d.err)
	}
	if diff := cmp.Diff([]string{"s1 delegate", "s1/scout-#3 say", "s1/scout-#3 fail"}, d.ran); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
	want := executors.Report{Caller: "s1/scout-#3", Text: "It is in a.go.", Model: "script:test", Calls: 2}
	if diff := cmp.Diff(want, d.report); diff != "" {
		t.Errorf("report (-want +got)\n%s", diff)
	}
	updates := []string{
		`tool_call_update #2  content="- say say\n"`,
		`tool_call_update #2  content="- say say\n- fail fail\n"`,
		`tool_call_update #2  content="- say say\n- fail fail (failed)\n"`,
		`tool_call_update #2 completed content="- say say\n- fail fail (failed)\n" content="It is in a.go."`,
		`message #10 "done"`,
	}
	if diff := cmp.Diff(updates, c.lines[1:]); diff != "" {
		t.Errorf("updates after the first (-want +got)\n%s", diff)
	}
	var steps []string // on record, for the child session
	for _, e := range c.log {
		if e, ok := e.(transcript.Step); ok {
			steps = append(steps, fmt.Sprintf("%s: %s %s", e.Caller, e.Shown.Name, e.Shown.Status))
		}
	}
	if diff := cmp.Diff([]string{"s1/scout-#3: say pending", "s1/scout-#3: fail pending", "s1/scout-#3:  failed"}, steps); diff != "" {
		t.Errorf("steps on record (-want +got)\n%s", diff)
	}
	if len(history) != 4 || history[2].Blocks[0].Result.Text != "It is in a.go." {
		t.Errorf("history %+v", history)
	}
}

// A task has its own system prompt and tools, and nothing of the conversation.
func TestDelegateRequest(t *testing.T) {
	c := &client{}
	a, d := delegating(t, c, delegate+`{"text":"done"}`)
	d.task.Model, d.task.Tools = "small", func(t executors.Tool) bool { return t.Name != "fail" }
	var seen llm.Request
	spent := 0
	a.OpenModel = func(name string) (llm.Model, error) {
		return &fakeModel{name: name, rounds: 1, each: func(req llm.Request, _ int) { seen = req }}, nil
	}
	a.Mode = func() string { return "[mode: code]" }
	var learned []string
	a.Learn = func(_ context.Context, m llm.Model) { learned = append(learned, m.Name()) }
	a.Spend = func(m llm.Model, _ llm.Usage) *acp.Cost {
		if m.Name() == "fake:small" {
			spent++
		}
		return nil
	}
	if _, _, err := a.Turn(t.Context(), nil, text("go")); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(learned, "fake:small") {
		t.Errorf("the facts about %v were asked for, and not those about fake:small", learned)
	}
	var tools []string
	for _, tool := range seen.Tools {
		if tool.Name == "fail" || tool.Name == "delegate" || tool.Name == "compress_context" {
			tools = append(tools, tool.Name)
		}
	}
	if seen.System != "You scout.\n\n"+structuredCalls+"\n" || requestText(llm.Request{Messages: seen.Messages[:1]}) != "[mode: code]\nlook\n" || tools !=
		nil || len(seen.Tools) == 0 {
		t.Errorf("system %q, messages %q, tools %v of %d", seen.System, requestText(seen), tools, len(seen.Tools))
	}
	if d.report.Model != "fake:small" || spent != 2 {
		t.Errorf("%d answers of %s were counted, want 2", spent, d.report.Model)
	}
	costs := 0
	for _, e := range c.log {
		if a, ok := e.(transcript.Answer); ok && a.Model == "fake:small" && a.Usage != nil && a.Shown == nil {
			costs++
		}
	}
	if costs != 2 {
		t.Errorf("%d costs are on record, want 2", costs)
	}
}

// A task cannot call the session's tools unless it is offered them, or call a tool in a way
// that its bounds forbid. It cannot delegate any further.
func TestDelegateBounds(t *testing.T) {
	c := &client{}
	a, d := delegating(t, c, delegate+strings.Join([]string{`{"tool":"fail"}`, `{"tool":"delegate"}`, `{"tool":"compress_context"}`,
		`{"tool":"say","input":{"text":"secret"}}`, `{"tool":"say","input":{"text":"ok"}}`}, "\n")+"\n\n"+`{"text":"end"}`+"\n\n"+`{"text":"done"}`)
	d.task.Tools = func(t executors.Tool) bool { return t.Effect.ReadOnly() }
	d.task.Bounds = func(call *executors.Call) *executors.Failure {
		if strings.Contains(string(call.Input), "secret") {
			return executors.Failuref(executors.PolicyBlocked, "no secrets")
		}
		return nil
	}
	if _, _, err := c.turn(t.Context(), t, a, nil, text("go")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s1 delegate", "s1/scout-#3 say"}, d.ran); diff != "" {
		t.Errorf("calls that ran (-want +got)\n%s", diff)
	}
	if d.report.Text != "end" || d.report.Calls != 5 {
		t.Errorf("report %+v, want the text %q and 5 calls", d.report, "end")
	}
}

// A task ends with its rounds, and the report says so.
func TestDelegateRounds(t *testing.T) {
	c := &client{}
	script := delegate
	for i := range 3 {
		script += fmt.Sprintf(`{"text":"part %d"}`+"\n"+`{"tool":"say","input":{"text":"%d, a long enough output"}}`+"\n\n", i, i)
	}
	a, d := delegating(t, c, script+`{"text":"done"}`)
	if _, reason, err := c.turn(t.Context(), t, a, nil, text("go")); err != nil || reason != acp.StopEndTurn {
		t.Fatalf(`c.turn(t.Context(), t, a, nil, text("go")): got %v, %v, want %v`, reason, err, acp.StopEndTurn)
	}
	if d.report.Text != "part 2" || !strings.Contains(d.report.Ended, "3 rounds") || d.report.Calls != 3 {
		t.Errorf("report %+v, want the text %q, ended by 3 rounds, with 3 calls", d.report, "part 2")
	}
}

// A cancel of the turn ends the tasks in it.
func TestDelegateCancel(t *testing.T) {
	c := &client{}
	a, d := delegating(t, c, delegate+`{"tool":"block"}`)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	send := a.Send
	a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
		if call, ok := u.(acp.ToolCall); ok && len(call.Content) > 0 && call.Status == "" {
			cancel(stopped)
		}
		return send(ctx, u)
	}
	if _, _, err := c.turn(ctx, t, a, nil, text("go")); !errors.Is(err, stopped) || !errors.Is(d.err, stopped) {
		t.Errorf("the turn: %v, the task: %v, want %v for both", err, d.err, stopped)
	}
}

// A cancel of a task leaves the turn and other tasks alone.
func TestCancelSubturn(t *testing.T) {
	c := &client{}
	a, d := delegating(t, c, delegate+`{"tool":"block"}`+"\n\n"+`{"text":"done"}`)
	send := a.Send
	a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
		if call, ok := u.(acp.ToolCall); ok && len(call.Content) > 0 && call.Status == "" {
			a.CancelSubturn("s1/other")
			a.CancelSubturn("s1/scout-#3")
		}
		return send(ctx, u)
	}
	if _, reason, err := c.turn(t.Context(), t, a, nil,
		text("go")); err != nil || reason != acp.StopEndTurn || d.err != nil || !strings.Contains(d.report.Ended, "cancelled") {
		t.Errorf("the turn: %v, %v; the task: %v, ended %q, want a cancelled task in a turn that ends", reason, err, d.err, d.report.Ended)
	}
	a.CancelSubturn("s1/scout-#3") // after its end
}

// A client that shows child sessions sees the beginning and the end of one, also after a
// cancel, and the updates between them.
func TestChildSession(t *testing.T) {
	for name, tt := range map[string]struct {
		script string
		cancel bool
		want   []string // states of the child session in the turn, and updates of the child session
	}{
		"ends": {delegate + `{"text":"It is in a.go."}` + "\n\n" + `{"text":"done"}`, false,
			[]string{"running ", `parent: "look"`, `child: "look"`, `child: "It is in a.go."`, `child: "It is in a.go."`, `parent: "It is in a.go."`, "idle end_turn"}},
		"cancelled": {delegate + `{"text":"hm"}` + "\n" + `{"wait":"cancel"}`, true,
			[]string{"running ", `parent: "look"`, `child: "look"`, `child: "hm"`, "idle cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c := &client{}
			a, _ := delegating(t, c, tt.script)
			var got []string
			a.Send = func(_ context.Context, u acp.SessionUpdate) error {
				switch u := u.(type) {
				case acp.SubagentUpdate:
					got = append(got, fmt.Sprintf("%s %s", u.State.State, u.State.StopReason))
				case acp.SessionMessage:
					got = append(got, fmt.Sprintf("parent: %q", *u.Content[0].Text))
				}
				return nil
			}
			a.SendAs = func(_ context.Context, _ string, u acp.SessionUpdate) error {
				switch u := u.(type) {
				case acp.SessionMessage:
					got = append(got, fmt.Sprintf("child: %q", *u.Content[0].Text))
				case acp.MessageChunk:
					got = append(got, fmt.Sprintf("child: %q", *u.Content.Text))
					if tt.cancel {
						cancel(acp.ErrTurnCancelled)
					}
				}
				return nil
			}
			if _, _, err := a.Turn(ctx, nil, text("go")); errors.Is(err, acp.ErrTurnCancelled) != tt.cancel {
				t.Errorf("the turn ends with %v, want cancelled %t", err, tt.cancel)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A model that fails in a task does not end the turn.
func TestDelegateFails(t *testing.T) {
	c := &client{}
	a, d := delegating(t, c, delegate+`{"error":"overloaded"}`+"\n\n"+`{"text":"done"}`)
	if _, reason, err := c.turn(t.Context(), t, a, nil, text("go")); err != nil || reason != acp.StopEndTurn || d.err == nil {
		t.Errorf("the turn: %v, %v; the task: %v, want a failure of the task alone", reason, err, d.err)
	}
}

// A model that cannot be opened fails the task.
func TestDelegateWithoutModel(t *testing.T) {
	for name, want := range map[string]string{"gone": "no such model", "direct": errAlone.Error()} {
		c := &client{}
		a, d := delegating(t, c, delegate+`{"text":"done"}`)
		d.task.Model = name
		a.OpenModel = func(name string) (llm.Model, error) {
			if name == "direct" {
				return local.Direct{}, nil
			}
			return nil, errors.New("no such model")
		}
		if _, _, err := c.turn(t.Context(), t, a, nil, text("go")); err != nil || d.err == nil || d.err.Error() != want {
			t.Errorf("model %s: the turn: %v, the task: %v, want the error %q", name, err, d.err, want)
		}
	}
}

// Neighbouring tasks run at the same time: "meet" waits for another one.
func TestDelegateConcurrently(t *testing.T) {
	c := &client{}
	const meet, end = `{"tool":"meet"}` + "\n\n", `{"text":"end"}` + "\n\n"
	a, d := delegating(t, c, `{"tool":"delegate"}`+"\n"+delegate+meet+meet+end+end+`{"text":"done"}`)
	if _, reason, err := c.turn(t.Context(), t, a, nil, text("go")); err != nil || reason != acp.StopEndTurn || d.err != nil {
		t.Errorf("the turn: %v, %v; the task: %v", reason, err, d.err)
	}
	if len(d.ran) != 4 {
		t.Errorf("calls: %q", d.ran)
	}
}

// The steps of a call that never ended stay visible to the model and to the client.
func TestStepsOfAKilledProcess(t *testing.T) {
	log := []transcript.Event{
		transcript.Prompt{MessageID: "m", Content: []acp.ContentBlock{acp.TextBlock("go")}},
		transcript.Block{Block: llm.Block{Call: &llm.ToolCall{ID: "c1", Name: "sub_agent", Input: json.RawMessage(`{}`)}}},
		transcript.Answer{},
		transcript.Call{Shown: acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: "t1", Title: "x"}},
		transcript.Step{ToolCallID: "t1", ID: "c1", Text: "wrote a.go"},
		transcript.Step{ToolCallID: "t1", ID: "c1", Text: "ran tests"},
	}
	const want = "- wrote a.go\n- ran tests\n[not ended"
	history := transcript.History(log)
	if got := history[2].Blocks[0].Result.Text; !strings.HasPrefix(got, want) {
		t.Errorf("the model sees %q", got)
	}
	c := &client{}
	if err := transcript.Replay(log, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error { return c.send(t.Context(), u) }); err != nil {
		t.Fatal(err)
	}
	if got := c.lines[len(c.lines)-1]; !strings.Contains(got, `- wrote a.go\n- ran tests\n[not ended`) {
		t.Errorf("the client sees %s", got)
	}
}

// A child session requires action as long as any of its questions is open.
func TestChildRequiresAction(t *testing.T) {
	var got []string
	a := &Agent{Session: "s1", Client: Client{
		Send: func(_ context.Context, u acp.SessionUpdate) error {
			got = append(got, u.(acp.SubagentUpdate).State.State)
			return nil
		},
		SendAs: func(context.Context, string, acp.SessionUpdate) error { return nil },
	}}
	child := &turn{Agent: a, sub: &subturn{parent: &runningCall{turn: &turn{Agent: a}}, caller: "s1/scout-1"}}
	for _, change := range []int{1, 1, -1, 1, -1, -1, 1, -1} {
		child.ask(change)
	}
	want := []string{acp.SubagentRequiresAction, acp.SubagentRunning, acp.SubagentRequiresAction, acp.SubagentRunning}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
