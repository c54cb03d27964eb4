package agent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// A provider that refuses a request as too long, contrary to our count, gets a
// shorter one, once.
func TestRefusedAsTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		refusals int
		fails    bool
		begun    []llm.Event // events before the refusal
	}{
		"once": {1, false, nil}, "always": {100, true, nil},
		"after thoughts":      {1, false, []llm.Event{{Thought: "hm"}}},
		"after a call":        {1, false, []llm.Event{{Thought: "hm"}, {Call: &llm.ToolCall{ID: "lost", Name: "say", Input: []byte(`{}`)}}}},
		"always after a call": {100, true, []llm.Event{{Call: &llm.ToolCall{ID: "lost", Name: "say", Input: []byte(`{}`)}}}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			m := &fakeModel{window: 100_000, output: 3000}
			a, _ := compacting(t, m, c)
			history := c.turns(t, a, 5, "look")
			a.Model = func() llm.Model { return &refusing{m, &tt.refusals, tt.begun} }
			history, reason, err := c.turn(t.Context(), t, a, history, text("go on"))
			if _, ok := errors.AsType[*llm.Error](err); ok != tt.fails || !tt.fails && reason != acp.StopEndTurn {
				t.Errorf("%v, %v", reason, err)
			}
			if d, ok := transcript.ReadDigest(history); !ok || d.Summary != "S" {
				t.Errorf("no digest: %+v", history[0])
			}
			if m.summaries != 1 {
				t.Errorf("%d summaries", m.summaries)
			}
		})
	}
}

type refusing struct {
	*fakeModel
	times *int
	begun []llm.Event
}

func (r *refusing) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	if !strings.HasPrefix(req.System, "You summarize") && *r.times > 0 {
		*r.times--
		return func(yield func(llm.Event, error) bool) {
			for _, ev := range r.begun {
				if !yield(ev, nil) {
					return
				}
			}
			yield(llm.Event{}, &llm.Error{Provider: "fake", Status: 400, Message: "prompt is too long", TooLong: true})
		}
	}
	return r.fakeModel.Stream(ctx, req)
}

// A request to continue that is refused as too long is not repeated: the text
// before the cut is in the history, and no request may end with it.
func TestRefusedAfterACut(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 100_000, output: 3000}
	a, _ := compacting(t, m, c)
	history := c.turns(t, a, 5, "look")
	calls := 0
	a.Model = func() llm.Model { return &cutting{m, &calls} }
	history, _, err := c.turn(t.Context(), t, a, history, text("go on"))
	if e, ok := errors.AsType[*llm.Error](err); !ok || !e.TooLong || calls != 1 || m.summaries != 0 {
		t.Errorf("%v after %d calls and %d summaries", err, calls, m.summaries)
	}
	if last := history[len(history)-1]; last.Role != llm.Assistant || last.Blocks[0].Text != "One, " {
		t.Errorf("the history ends with %+v", last)
	}
}

// cutting breaks off in each answer, and then refuses a request as too long.
type cutting struct {
	*fakeModel
	calls *int
}

func (m *cutting) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	*m.calls++
	return func(yield func(llm.Event, error) bool) {
		_ = yield(llm.Event{Text: "One, "}, nil) && yield(llm.Event{Cut: true}, nil) &&
			yield(llm.Event{}, &llm.Error{Provider: "fake", Status: 400, Message: "prompt is too long", TooLong: true})
	}
}

// A call is not a repetition if a compaction removed its earlier result.
func TestCompactionCountsCallsAnew(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 100_000, output: 3000}
	a, _ := compacting(t, m, c)
	a.Config.ShrinkAfter = 0
	history := c.turns(t, a, 5, "look")
	u := &turn{Agent: a, model: m, history: history}
	again := outcome{call: "read a", text: "a"}
	u.loops.observe([]outcome{again})
	if u.loops.nudge(again) == "" {
		t.Error("a second call is not told of")
	}
	if err := u.compact(t.Context(), compactionRun{strategy: transcript.Triggered, room: u.roomOf(m.window), force: true}); err != nil || u.compactions != 1 {
		t.Fatalf("got %v, %v, want %v", err, u.compactions, 1)
	}
	if told := u.loops.nudge(again); told != "" {
		t.Errorf("u.loops.nudge(again): got %q, want %q", told, "")
	}
}

// If the ids of a provider's calls restart with each answer, its newest results
// are still truncated when older ones are already references.
func TestTruncatesResultsWithRepeatedIDs(t *testing.T) {
	m := &fakeModel{window: 16_000}
	a, _ := compacting(t, m, &client{})
	round := []llm.Message{
		{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "call_1", Name: "say", Input: []byte(`{}`)}}}},
		{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "call_1", Text: strings.Repeat("word ", 4000)}}}},
	}
	u := &turn{Agent: a, model: m, history: slices.Concat([]llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "look"}}}}, round, round)}
	w := compactionRun{turn: u, strategy: transcript.Triggered, room: room{messages: 3000}}
	got := w.shortenLatest(t.Context(), transcript.Compaction{Shortened: []transcript.Shortened{{Message: 2, ID: "call_1", Text: "word"}}})
	if len(got) != 1 || got[0].Message != 4 {
		t.Errorf("%d results are cut", len(got))
	}
}

// A failed summary has ended for the client: the work without it has another
// id.
func TestFailedSummaryHasEnded(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 8_000, output: 3000, sum: func(context.Context, string) (string, error) { return "", errors.New("no luck") }}
	a, _ := compacting(t, m, c)
	a.ShowCompactions, a.Config.ShrinkAfter = true, 0
	ended := map[string]acp.CompactionStatus{}
	failed, completed := 0, 0
	a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
		if u, ok := u.(acp.CompactionUpdate); ok {
			if was := ended[u.CompactionID]; was != "" {
				t.Errorf("%s is %s after it was %s", u.CompactionID, u.Status, was)
			}
			switch u.Status {
			case acp.CompactionFailed:
				failed++
				ended[u.CompactionID] = u.Status
			case acp.CompactionCompleted:
				completed++
				ended[u.CompactionID] = u.Status
			}
		}
		return c.send(ctx, u)
	}
	c.turns(t, a, 12, "look "+strings.Repeat("and again ", 100))
	if failed == 0 || completed == 0 {
		t.Errorf("%d failed, %d completed", failed, completed)
	}
}

// standIn answers by another model, as a fallback does.
type standIn struct {
	*fakeModel
	other llm.Model
	asked *int
}

func (m standIn) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	*m.asked++
	return func(yield func(llm.Event, error) bool) {
		if !yield(llm.Event{Fallback: &llm.Fallback{Model: m.other}}, nil) {
			return
		}
		for ev, err := range m.other.Stream(ctx, req) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

// A request that a fallback refused is repeated with the selected model, which
// decides who answers.
func TestRefusedByFallback(t *testing.T) {
	c := &client{}
	m := &fakeModel{window: 100_000, output: 3000}
	a, _ := compacting(t, m, c)
	history := c.turns(t, a, 5, "look")
	asked, refusals := 0, 1
	a.Model = func() llm.Model { return standIn{m, &refusing{m, &refusals, nil}, &asked} }
	if _, reason, err := c.turn(t.Context(), t, a, history, text("go on")); err != nil || reason != acp.StopEndTurn || asked != 3 { // refused, a look, the end
		t.Errorf("%v, %v after %d requests of the one that was picked", reason, err, asked)
	}
}

// The usage of a helper model before its answer broke off is counted too.
func TestUsageBeforeACut(t *testing.T) {
	c := &client{}
	m := eventsModel{
		{Usage: &llm.Usage{Input: 100, CacheRead: 10}}, {Text: "a "}, {Cut: true}, {Text: "summary"}, {Usage: &llm.Usage{Input: 120, Output: 7}}, {Stop: llm.StopEnd},
	}
	a := newAgent(t, "", c)
	spent := llm.Usage{}
	a.Spend = func(_ llm.Model, u llm.Usage) *acp.Cost {
		spent.Input, spent.Output, spent.CacheRead = spent.Input+u.Input, spent.Output+u.Output, spent.CacheRead+u.CacheRead
		return nil
	}
	want := llm.Usage{Input: 220, Output: 7, CacheRead: 10}
	if got, err := (&turn{Agent: a, model: m}).askSummary(t.Context(), m, "", "x", ""); err != nil || got != "a summary" || spent != want {
		t.Errorf("summary %q, %v, spent %+v", got, err, spent)
	}
	if got, err := askAside(t.Context(), m, 0, "", "x"); err != nil || *got.usage != want {
		t.Errorf("aside %+v, %v", got.usage, err)
	}
}

// eventsModel answers with these events.
type eventsModel []llm.Event

func (eventsModel) Name() string { return "events" }

func (eventsModel) Window() int { return 0 }

func (m eventsModel) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for _, ev := range m {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// A refusal with the server's counts calibrates the estimate: the repeated request fits a window that
// was unknown before.
func TestRefusalCalibrates(t *testing.T) {
	m := &fakeModel{window: 100_000}
	u := &turn{Agent: newAgent(t, "", &client{}), model: m, history: []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: strings.Repeat("word ", 1000)}}}}}
	before := u.tokens()
	u.refusedCount = &llm.Count{Model: m.Name(), Tokens: 3 * before / 2, Estimate: u.meter.Sum(m.Name(), u.history)}
	if got := u.tokens(); got != 3*before/2 {
		t.Errorf("%d tokens, want %d", got, 3*before/2)
	}
}

// Where the system prompt and the tools alone do not fit, the message has the numbers and the way out.
func TestBaseDoesNotFit(t *testing.T) {
	c := &client{}
	a := newAgent(t, "", c)
	a.System = func() string { return strings.Repeat("word ", 8000) }
	a.Model = func() llm.Model {
		return failing{&llm.Error{Provider: "lab", Status: 400, Message: "too long", TooLong: true, Prompt: 8703, Window: 8192, Hint: "type /compact"}}
	}
	_, _, err := c.turn(t.Context(), t, a, nil, text("hi"))
	if err == nil || !strings.Contains(err.Error(), "alone take about 8") || !strings.Contains(err.Error(), "of 8192 tokens") ||
		!strings.Contains(err.Error(), "-c of llama.cpp") || strings.Contains(err.Error(), "/compact") {
		t.Errorf("%v", err)
	}
}

// failing is a model of unknown window that fails.
type failing struct{ err error }

func (failing) Name() string { return "lab:m" }

func (failing) Window() int { return 0 }

func (f failing) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) { yield(llm.Event{}, f.err) }
}
