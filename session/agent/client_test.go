package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// client records the updates of a turn, each as a short line.
type client struct {
	mu    sync.Mutex
	lines []string
	log   []transcript.Event
}

// record stores events as a store does.
func (c *client) record(events ...transcript.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range events {
		data, err := plainjson.Marshal(e)
		if err == nil {
			e, err = transcript.Decode(e.Kind(), data)
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
		c.lines = append(c.lines, fmt.Sprintf("%s %s %q",
			map[string]string{acp.UpdateUserMessage: "message user", acp.UpdateAgentMessage: "message", acp.UpdateAgentThought: "thought"}[u.Update], u.MessageID,
			*u.Content.Text))
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
	both chan struct{} // "meet" returns once two of it run
}

func (tools) Tools() []executors.Tool {
	var all []executors.Tool
	for name, effect := range map[string]executors.Effect{"say": executors.Reads, "compress_context": executors.Internal, "meet": executors.Reads,
		"fail": executors.Mutates, "block": executors.Mutates} {
		all = append(all, executors.Tool{Name: name, Effect: effect, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return append(all, executors.Tool{Name: "update_plan", Effect: executors.Internal, Schema: json.RawMessage(`{"type":"object"}`), Traits: executors.ShowsPlan})
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
			Words int // appends this many words
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
		return executors.Result{Text: "so far\n"}, context.Cause(ctx)
	}
	return executors.Failf(executors.PermanentFailure, "no"), nil
}

func newAgent(t testing.TB, script string, c *client) *Agent {
	t.Helper()
	model, err := local.ParseScript("test", strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	n := 0
	return &Agent{
		Config: setting.Default[Config](), Session: "s1", Chain: tools{both: make(chan struct{})}, Client: Client{Send: c.send},
		State: State{
			Model: func() llm.Model { return model }, Thought: func() string { return "" },
			Record: c.record, Stored: func(context.Context) {}, Spend: func(llm.Model, llm.Usage) *acp.Cost { return nil },
		},
		Workspace: Workspace{Inside: func(path string) bool { return strings.HasPrefix(path, "/w/") }},
		NewID:     func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprint("#", n) }, Log: slog.New(slog.DiscardHandler),
	}
}

func text(s string) Input { return Input{Content: []acp.ContentBlock{acp.TextBlock(s)}} }

// sortUpdates sorts neighbouring updates of different calls by the id of the call. Calls that
// run at the same time may end in one order in the log, and in another before the client.
func sortUpdates(lines []string) []string {
	call := func(line string) string {
		if after, ok := strings.CutPrefix(line, "tool_call_update "); ok {
			id, _, _ := strings.Cut(after, " ")
			return id
		}
		return ""
	}
	for from := 0; from < len(lines); {
		to := from + 1
		for call(lines[from]) != "" && to < len(lines) && call(lines[to]) != "" {
			to++
		}
		slices.SortStableFunc(lines[from:to], func(a, b string) int { return strings.Compare(call(a), call(b)) })
		from = to
	}
	return lines
}

// turn runs a turn and records its end as a session does. It checks that the
// history and the client's view both follow from the log.
func (c *client) turn(ctx context.Context, t *testing.T, a *Agent, history []llm.Message, in Input) ([]llm.Message, acp.StopReason, error) {
	t.Helper()
	history, reason, err := a.Turn(ctx, history, in)
	c.record(transcript.TurnEnd{Reason: reason, Error: fmt.Sprint(err)})
	if again := transcript.History(c.log); !reflect.DeepEqual(history, again) { // faster for long histories
		if diff := cmp.Diff(history, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("history rebuilt (-want +got)\n%s", diff)
		}
	}
	again := &client{}
	if err := transcript.Replay(c.log, acp.ClientCapabilities{}, func(u acp.SessionUpdate) error { return again.send(ctx, u) }); err != nil {
		t.Error(err)
	}
	shown := sortUpdates(joinChunks(c.lines))
	replayed := sortUpdates(joinChunks(slices.DeleteFunc(again.lines, func(l string) bool { return strings.HasPrefix(l, "message user ") })))
	if slices.Equal(shown, replayed) {
		return history, reason, err
	}
	if diff := cmp.Diff(shown, replayed); diff != "" {
		t.Errorf("replay (-want +got)\n%s", diff)
	}
	return history, reason, err
}

// turns runs n turns with the same prompt, and returns the history.
func (c *client) turns(t *testing.T, a *Agent, n int, prompt string) (history []llm.Message) {
	t.Helper()
	for range n {
		var err error
		if history, _, err = c.turn(t.Context(), t, a, history, text(prompt)); err != nil {
			t.Fatal(err)
		}
	}
	return history
}

// joinChunks joins the chunks of a message and omits intermediate states.
func joinChunks(lines []string) []string {
	var out []string
	for _, l := range lines {
		f := strings.SplitN(l, " ", 3)
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1], f[0]+" "+f[1]+" \"") && f[0] != "tool_call" {
			l = strings.TrimSuffix(out[n-1], `"`) + strings.TrimPrefix(f[2], `"`)
			out = out[:n-1]
		}
		if steps := len(f) == 3 && f[0] == acp.UpdateToolCallPatch && strings.HasPrefix(f[2], " content"); !steps && !strings.HasSuffix(l,
			string(acp.ToolInProgress)) {
			out = append(out, l)
		}
	}
	return out
}
