package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Whatever the length of a conversation and its outputs, no request is too
// long, and each has the user's words.
func TestLongConversation(t *testing.T) {
	for name, m := range map[string]*fakeModel{
		"short outputs":                  {window: 16_000, output: 500},
		"long outputs":                   {window: 16_000, output: 4_000},
		"many turns":                     {window: 16_000, output: 2_000},
		"many rounds":                    {window: 16_000, output: 4_000, rounds: 8},
		"outputs like a window":          {window: 16_000, output: 24_000, rounds: 2},
		"more than a window":             {window: 16_000, output: 24_000, parallel: 4},
		"IDs that come again":            {window: 16_000, output: 24_000, rounds: 3, parallel: 4, sameIDs: true},
		"a provider that counts nothing": {window: 16_000, output: 4_000, rounds: 4, silent: true},
	} {
		if testing.Short() && m.parallel == 0 { // one call after another: nothing for the race detector
			continue
		}
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a, _ := compacting(t, m, c)
			var history []llm.Message
			turns := 40
			if name == "many turns" {
				turns = 200
			}
			for i := range turns {
				prompt := fmt.Sprintf("prompt %d: look again", i)
				if i == 0 {
					prompt = "prompt 0: always answer in French"
				}
				m.each = func(req llm.Request, _ int) {
					text := requestText(req)
					for j := range i + 1 {
						if !strings.Contains(text, fmt.Sprintf("prompt %d:", j)) {
							t.Errorf("turn %d: prompt %d is gone from\n%.3000s", i, j, text)
						}
					}
					if !strings.Contains(text, "always answer in French") {
						t.Error("the instruction is gone")
					}
					if !reflect.DeepEqual(llm.Repair(req.Messages), req.Messages) {
						t.Error("the request needs repair")
					}
				}
				var reason acp.StopReason
				var err error
				if history, reason, err = a.Turn(t.Context(), history, text(prompt)); err != nil || reason != acp.StopEndTurn {
					t.Fatalf("turn %d: %v, %v, %s", i, reason, err, c.lines[len(c.lines)-1])
				}
				if c.record(transcript.TurnEnd{Reason: reason}); !reflect.DeepEqual(transcript.History(c.log), history) {
					t.Fatalf("turn %d: the log gives another history (-want +got)\n%s", i, cmp.Diff(history, transcript.History(c.log)))
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("largest request %d of %d, %d summaries, %d messages at the end", m.largest, m.window, m.summaries, len(history))
			if m.refused > 0 {
				t.Errorf("%d requests were too long", m.refused)
			}
		})
	}
}

// A refusal drops its turn, also if the turn was compacted meanwhile; only the
// summary remains.
func TestRefusalAfterCompaction(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 16_000, output: 12_000}
	a, _ := compacting(t, m, c)
	history, _, err := c.turn(t.Context(), t, a, nil, text("before"))
	if err != nil {
		t.Fatal(err)
	}
	a.Keep = nil // references alone would do
	m.rounds, m.refuses = 8, true
	history, reason, err := c.turn(t.Context(), t, a, history, text("do it"))
	if d, ok := transcript.ReadDigest(history); err != nil || reason != acp.StopRefusal || !ok || len(history) != 1 || d.Prompts[0] != "before" {
		t.Errorf("%v, %v: %+v", reason, err, history)
	}
	m.rounds, m.refuses = 1, false
	if _, reason, err = c.turn(t.Context(), t, a, history, text("something else")); err != nil || reason != acp.StopEndTurn {
		t.Errorf("%v, %v", reason, err)
	}
}

// A conversation that continues with a model of a smaller window is made to
// fit.
func TestSmallerModel(t *testing.T) {
	c := &client{}
	large := &fakeModel{name: "large", window: 200_000, output: 4_000, rounds: 3}
	a, _ := compacting(t, large, c)
	history := c.turns(t, a, 20, "look")
	less := &fakeModel{name: "small", window: 8_000, output: 2_000, rounds: 3}
	a.Model = func() llm.Model { return less }
	for range 3 {
		var reason acp.StopReason
		var err error
		if history, reason, err = c.turn(t.Context(), t, a, history, text("go on")); err != nil || reason != acp.StopEndTurn {
			t.Fatal(reason, err, c.lines[len(c.lines)-1])
		}
	}
	if large.summaries > 0 || less.refused > 0 || less.summaries == 0 {
		t.Errorf("%d summaries by the large model, %d by the small one, which refused %d", large.summaries, less.summaries, less.refused)
	}
}

// The full text of a shortened result can be read again.
func TestNothingIsLost(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 16_000, output: 3_000, rounds: 9}
	a, kept := compacting(t, m, c)
	c.turns(t, a, 3, "look")
	for _, e := range c.log {
		comp, ok := e.(transcript.Compaction)
		if !ok {
			continue
		}
		for _, s := range comp.Shortened {
			id := strings.TrimSuffix(s.Text[strings.Index(s.Text, "overflow:"):], "]")
			if !strings.HasPrefix(kept[id], strings.Split(s.Text, "…")[0]) || len(kept[id]) < 2900 {
				t.Errorf("%q: %d bytes are kept", s.Text, len(kept[id]))
			}
		}
	}
	if len(kept) == 0 {
		t.Error("nothing was shortened")
	}
}

// A failed summary loses nothing and is reported once. The budget then stops a
// conversation that does not fit.
func TestSummaryFails(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 8_000, output: 600, sum: func(context.Context, string) (string, error) { return "", errors.New("no luck") }}
	a, _ := compacting(t, m, c)
	a.Keep = nil
	var history []llm.Message
	var reason acp.StopReason
	var err error
	turns := 0
	for reason != acp.StopMaxTokens && turns < 100 {
		turns++
		if history, reason, err = c.turn(t.Context(), t, a, history, text("a prompt")); err != nil {
			t.Fatal(err)
		}
	}
	told := strings.Join(c.lines, "\n")
	if turns == 100 || !strings.Contains(told, "could not be compacted (no luck). It continues unchanged.") || !strings.Contains(told,
		"or pick a model with a larger window.") {
		t.Errorf("%d turns\n%s", turns, told)
	}
	if len(history) < turns*3 {
		t.Errorf("%d messages of %d turns are left", len(history), turns)
	}
}

// If every summary fails, a reference replaces older messages in time, so that
// no turn has to stop. All messages can be looked up.
func TestEverySummaryFails(t *testing.T) {
	for name, failure := range map[string]error{
		"refused":     &llm.Error{Provider: "fake", Status: 400, Message: "no"},
		"too long":    &llm.Error{Provider: "fake", Status: 400, Message: "no", TooLong: true},
		"network":     errors.New("no luck"),
		"no provider": ErrNoModel,
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			m := &fakeModel{window: 8_000, output: 600, sum: func(context.Context, string) (string, error) { return "", failure }}
			a, kept := compacting(t, m, c)
			var history []llm.Message
			for turn := range 100 {
				var reason acp.StopReason
				var err error
				// Words of the user, without results that are long enough for a
				// reference.
				prompt := fmt.Sprintf("prompt %d %s", turn, strings.Repeat("and so on ", 40))
				if history, reason, err = c.turn(t.Context(), t, a, history, text(prompt)); err != nil || reason != acp.StopEndTurn {
					t.Fatalf("turn %d: %v, %v\n%s", turn, reason, err, c.lines[len(c.lines)-1])
				}
			}
			shown := strings.Join(c.lines, "\n")
			if !strings.Contains(shown, "could not be summarized") || !strings.Contains(shown, "older messages are a reference") {
				t.Errorf("the user was not told: %s", shown)
			}
			if n := len(kept); n == 0 || n > 50 {
				t.Errorf("%d references", n)
			}
			d, ok := transcript.ReadDigest(history)
			if !ok || !strings.Contains(d.Summary, "overflow:") || !strings.Contains(strings.Join(d.Prompts, "\n"), "prompt 0 ") {
				t.Errorf("digest: %+v", d)
			}
			all := ""
			for _, text := range kept {
				all += text
			}
			if !strings.Contains(all, "prompt 1 and so on") {
				t.Error("the first turns cannot be looked up")
			}
			if most := m.largest; most > 8_000 {
				t.Errorf("a request of %d tokens", most)
			}
		})
	}
}

// If the provider refuses the same conversation a second time, it is compacted,
// unless the provider refuses every request.
func TestRefusedAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		sum    error
		ends   bool // the second prompt is answered
	}{
		"for the conversation": {400, nil, true},
		"whatever it is":       {400, &llm.Error{Provider: "fake", Status: 400, Message: "no such parameter"}, false},
		"for the key":          {401, nil, false},
		"for the moment":       {503, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			m := &fakeModel{window: 100_000, output: 3000}
			a, _ := compacting(t, m, c)
			history := c.turns(t, a, 5, "look")
			bad := &dislikes{fakeModel: m, status: tt.status}
			m.sum = func(context.Context, string) (string, error) { return "S", tt.sum }
			a.Model = func() llm.Model { return bad }
			history, _, err := c.turn(t.Context(), t, a, history, text("go on"))
			if err == nil || m.summaries != 0 {
				t.Fatalf("%v, %d summaries", err, m.summaries)
			}
			before := len(history)
			history, reason, err := c.turn(t.Context(), t, a, history, text("again"))
			if ended := err == nil && reason == acp.StopEndTurn; ended != tt.ends {
				t.Errorf("%v, %v", reason, err)
			}
			if !tt.ends && len(history) != before+1 {
				t.Errorf("%d messages of %d are left", len(history), before+1)
			}
		})
	}
}

// dislikes refuses conversations that contain results.
type dislikes struct {
	*fakeModel
	status int
}

func (m *dislikes) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	for _, message := range req.Messages {
		for _, b := range message.Blocks {
			if b.Result != nil && strings.Contains(b.Result.Text, "output 1 ") {
				return func(yield func(llm.Event, error) bool) {
					yield(llm.Event{}, &llm.Error{Provider: "fake", Status: m.status, Message: "no"})
				}
			}
		}
	}
	return m.fakeModel.Stream(ctx, req)
}

// A cancel during a summary leaves the history unchanged.
func TestCompactionCancelled(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 100_000, output: 2000}
	a, _ := compacting(t, m, c)
	a.ShowCompactions = true
	var history []llm.Message
	for range 3 {
		history, _, _ = a.Turn(t.Context(), history, text("look"))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	m.sum = func(ctx context.Context, _ string) (string, error) {
		cancel(acp.ErrTurnCancelled)
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	before := len(c.log)
	got, err := a.Compact(ctx, history, "")
	if !errors.Is(err, acp.ErrTurnCancelled) {
		t.Error(err)
	}
	if diff := cmp.Diff(history, got); diff != "" || len(c.log) != before {
		t.Errorf("%d events more; history (-want +got)\n%s", len(c.log)-before, diff)
	}
}

// compress_context adds to the knowledge and never replaces it. Its call and
// the others of the same answer keep their results.
func TestCompressContext(t *testing.T) {
	c := &client{}
	n := 0
	m := &fakeModel{window: 100_000, output: 2000, compress: "compress now"}
	m.sum = func(_ context.Context, text string) (string, error) {
		n++
		if !strings.HasSuffix(text, "Above all keep: the bug") {
			t.Errorf("%.200s", text)
		}
		return fmt.Sprint("knowledge ", n), nil
	}
	a, _ := compacting(t, m, c)
	var history []llm.Message
	for i, prompt := range []string{"one", "two", "compress now", "three", "compress now", "four"} {
		var reason acp.StopReason
		var err error
		if history, reason, err = c.turn(t.Context(), t, a, history, text(prompt)); err != nil || reason != acp.StopEndTurn {
			t.Fatal(i, reason, err)
		}
	}
	d, _ := transcript.ReadDigest(history)
	if diff := cmp.Diff(transcript.Digest{Knowledge: []string{"knowledge 1", "knowledge 2"}, Prompts: []string{"one", "two", "compress now", "three"}}, d,
		cmp.AllowUnexported(transcript.Digest{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(llm.Repair(history), history); diff != "" {
		t.Error(diff)
	}
	m.sum = nil
	compacted, err := a.Compact(t.Context(), history, "")
	if d, _ := transcript.ReadDigest(compacted); err != nil || len(d.Knowledge) != 2 || d.Summary != "S" {
		t.Errorf("%+v, %v", d, err)
	}
	strategies := ""
	for _, e := range c.log {
		if e, ok := e.(transcript.Compaction); ok {
			strategies += string(e.Strategy) + " "
		}
	}
	if strategies != "autonomous autonomous manual " {
		t.Errorf("got %q, want %q", strategies, "autonomous autonomous manual ")
	}
}

func TestPlanStays(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 100_000, output: 100}
	a, _ := compacting(t, m, c)
	plan := llm.ToolCall{ID: "p", Name: "update_plan", Input: json.RawMessage(`{"entries":[{"content":"look","status":"completed"},{"content":"mend\nit"}]}`)}
	history := []llm.Message{
		{Role: llm.User, Blocks: []llm.Block{{Text: "mend it"}, {Text: "[The user attached a.go]\npackage a"}}},
		{Role: llm.Assistant, Blocks: []llm.Block{{Call: &plan}}},
		{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "p", Text: "ok"}}}},
		{Role: llm.Assistant, Blocks: []llm.Block{{Text: "I will"}}},
	}
	for range 2 { // it also stays across digests
		var err error
		if history, err = a.Compact(t.Context(), history, ""); err != nil {
			t.Fatal(err)
		}
		d, _ := transcript.ReadDigest(history)
		want := transcript.Digest{Summary: "S", Prompts: []string{"mend it\n[The user attached a.go]"}, Plan: "- [completed] look\n- [pending] mend it"}
		if diff := cmp.Diff(want, transcript.Digest{Summary: d.Summary, Prompts: d.Prompts[:1], Plan: d.Plan}, cmp.AllowUnexported(transcript.Digest{})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: "on"}}})
	}
}

// The input of a summary is cut to the window of the model that writes it.
func TestSummaryInPieces(t *testing.T) {
	c := &client{}
	m := &fakeModel{name: "large", window: 200_000, output: 2000}
	small := &fakeModel{name: "small", window: 8_000}
	small.sum = func(_ context.Context, text string) (string, error) {
		if small.summaries > 1 && !strings.Contains(text, fmt.Sprintf("<earlier_summary>\nS%d\n", small.summaries-1)) {
			t.Errorf("the earlier summary is not in %.200s", text)
		}
		return fmt.Sprint("S", small.summaries), nil
	}
	a, _ := compacting(t, m, c)
	a.Compactor = small
	var history []llm.Message
	for range 30 {
		history, _, _ = a.Turn(t.Context(), history, text("look"))
	}
	history, err := a.Compact(t.Context(), history, "")
	if err != nil || small.summaries < 3 || small.refused > 0 || transcript.SummaryOf(history) != fmt.Sprint("S", small.summaries) {
		t.Errorf("%v, %d summaries, %d refused: %q", err, small.summaries, small.refused, transcript.SummaryOf(history))
	}
}

// A summary that is too long for its own model leaves room for the next piece.
func TestEndlessSummary(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 16_000, output: 200}
	small := &fakeModel{window: 8_000, sum: func(context.Context, string) (string, error) { return strings.Repeat("endless ", 100_000), nil }}
	a, _ := compacting(t, m, c)
	a.Compactor = small
	var history []llm.Message
	for range 40 {
		history, _, _ = a.Turn(t.Context(), history, text(strings.Repeat("look ", 200)))
	}
	if history, err := a.Compact(t.Context(), history, ""); err != nil || small.summaries < 2 || small.refused > 0 || len(transcript.SummaryOf(history)) > 8_000 {
		t.Errorf("%v, %d summaries, %d refused: %d bytes", err, small.summaries, small.refused, len(transcript.SummaryOf(history)))
	}
}

// A foreign log cannot change messages that do not exist.
func FuzzCompaction(f *testing.F) {
	f.Add(`{"summary":"s"}`, 4)
	f.Add(`{"shortened":[{"message":1,"id":"c","text":"t"}]}`, 2)
	f.Add(`{"head":{"role":"user","blocks":[{"text":"[The plan, as it is now]\nx"}]},"replaced":9,"prompt":3}`, 4)
	f.Fuzz(func(t *testing.T, data string, begin int) {
		e, err := transcript.Decode(transcript.Compaction{}.Kind(), []byte(data))
		if err != nil {
			return
		}
		history := []llm.Message{
			{Role: llm.User, Blocks: []llm.Block{{Text: "a"}}}, {Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "c"}}}},
			{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "c"}}}},
		}
		out, begin := e.(transcript.Compaction).Apply(history, min(max(begin, 0), len(history)))
		if begin < 0 || begin > len(out) {
			t.Errorf("the turn begins at %d of %d", begin, len(out))
		}
		_ = llm.Repair(out)
	})
}
