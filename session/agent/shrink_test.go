package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// watched is a model that shows each request.
type watched struct {
	llm.Model
	see func(llm.Request)
}

func (w watched) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	w.see(req)
	return w.Model.Stream(ctx, req)
}

func (w watched) Unwrap() llm.Model { return w.Model }

// An old result becomes its beginning and a reference, in batches. In between the history only grows, so the cache holds. The
// log leads to the same history.
func TestOldResultsShrink(t *testing.T) {
	var commands, out []string
	for i := range 24 {
		commands = append(commands, fmt.Sprint("command ", i))
		out = append(out, strings.ReplaceAll(manyLines(100, -1, ""), "output", fmt.Sprint("run ", i)))
	}
	for name, after := range map[string]int{"by default": 3, "off": 0} {
		t.Run(name, func(t *testing.T) {
			c := &client{}
			a := running(t, c, commands, out)
			a.Config.ShrinkAfter = after
			model := a.Model()
			var before []llm.Message
			batches, largest := 0, 0
			a.Model = func() llm.Model {
				return watched{model, func(req llm.Request) {
					for i, m := range before {
						if !m.Same(req.Messages[i]) {
							batches++
							break
						}
					}
					before = slices.Clone(req.Messages)
					size := 0
					results := resultTexts(req.Messages)
					for i, r := range results {
						size += len(r)
						if i >= len(results)-3 && r != out[i] {
							t.Errorf("request %d has result %d as\n%s", len(results), i, r)
						}
						if r != out[i] && (!strings.HasPrefix(r, out[i][:200]) || !strings.Contains(r, "read_overflow overflow:")) {
							t.Errorf("result %d became\n%s", i, r)
						}
					}
					largest = max(largest, size)
				}}
			}
			if _, _, err := c.turn(t.Context(), t, a, nil, text("go")); err != nil {
				t.Fatal(err)
			}
			whole := 0
			for _, o := range out {
				whole += len(o)
			}
			t.Logf("%d batches; the largest request has %d bytes of results, of %d", batches, largest, whole)
			if after == 0 && (batches > 0 || largest != whole) || after > 0 && (batches < 2 || batches > 12 || largest > whole*3/4) {
				t.Errorf("%d batches; the largest request has %d bytes of results, of %d", batches, largest, whole)
			}
		})
	}
}

// Which results are old, by what the history has.
func TestOldResults(t *testing.T) {
	long := manyLines(100, -1, "")
	call := func(tool, input string) llm.ToolCall { return llm.ToolCall{Name: tool, Input: []byte(input)} }
	tools := []executors.Tool{
		{Name: "run", Effect: executors.Mutates},
		{Name: "load", Effect: executors.Internal},
		{Name: "read", Effect: executors.Reads, Subject: executors.Path("path")},
		{Name: "edit", Effect: executors.Mutates, Subject: executors.Path("path")},
	}
	type round struct {
		call   llm.ToolCall
		result string
	}
	a, b := round{call("run", `{"c":"a"}`), long}, round{call("run", `{"c":"b"}`), "b"}
	c, d := round{call("run", `{"c":"c"}`), "c"}, round{call("run", `{"c":"d"}`), "d"}
	note := round{a.call, againMark + "2 rounds ago]"}
	for name, tt := range map[string]struct {
		rounds []round
		want   []int   // rounds whose results are old
		again  float64 // the chance of the first of them
	}{
		"new":                    {[]round{a, b, c}, nil, 0},
		"old":                    {[]round{a, b, c, d}, []int{0}, needsAgain(3)},
		"short":                  {[]round{b, b, b, b, b}, nil, 0},
		"made again":             {[]round{a, a}, []int{0}, 0},
		"referred to":            {[]round{a, b, c, note, b}, nil, 0},
		"referred to long ago":   {[]round{a, b, note, b, c, d}, []int{0}, needsAgain(3)},
		"shortened already":      {[]round{{a.call, long + "\n" + shortenedMark + "x"}, b, c, d}, nil, 0},
		"instructions":           {[]round{{call("load", `{}`), long}, b, c, d}, nil, 0},
		"a file":                 {[]round{{call("read", `{"path":"f"}`), long}, b, c, d}, []int{0}, 2 * needsAgain(3)},
		"a file that changed":    {[]round{{call("read", `{"path":"f"}`), long}, {call("edit", `{"path":"f"}`), "ok"}, c, d}, []int{0}, needsAgain(3)},
		"a tool that is missing": {[]round{{call("gone", `{}`), long}, b, c, d}, []int{0}, needsAgain(3)},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Config{ShrinkAfter: 3}
			history := []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "go"}}}}
			for i, r := range append(tt.rounds, round{call: call("run", `{"c":"last"}`)}) {
				r.call.ID = fmt.Sprint(i)
				history = append(history, llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: &r.call}}})
				if i < len(tt.rounds) {
					history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: r.call.ID, Text: r.result}}}})
				}
			}
			history = history[:len(history)-1] // the next request
			all := (&turn{Agent: &Agent{Config: cfg}, tools: tools, history: history}).longResults()
			old := slices.DeleteFunc(all, func(r longResult) bool { return !r.isOld() })
			var got []int
			for _, o := range old {
				got = append(got, (o.message-2)/2)
			}
			if !slices.Equal(got, tt.want) || len(old) > 0 && old[0].again != tt.again {
				t.Errorf("got %v, want %v with the chance %v: %+v", got, tt.want, tt.again, old)
			}
		})
	}
}

// A part of a file becomes advice to read it again: a stored copy could be old.
func TestOldFileIsReadAgain(t *testing.T) {
	long := manyLines(100, -1, "")
	a := running(t, &client{}, nil, nil)
	a.Record = func(...transcript.Event) {}
	u := &turn{Agent: a, model: a.Model(), tools: []executors.Tool{{Name: "read", Effect: executors.Reads, Subject: executors.Path("path")}}}
	u.history = []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "go"}}}}
	for i := range 5 {
		id, text := fmt.Sprint(i), "ok"
		if i == 0 {
			text = long
		}
		u.history = append(u.history,
			llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: id, Name: "read", Input: fmt.Appendf(nil, `{"path":"%d"}`, i)}}}},
			llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: id, Text: text}}}},
		)
	}
	u.shrinkOld(t.Context())
	got := resultTexts(u.history)[0]
	if want := "\n" + shortenedMark + readAgain; !strings.HasPrefix(got, long[:200]) || !strings.HasSuffix(got, want) || len(got) > 400 {
		t.Errorf("got\n%s\nwant its beginning and %q", got, want)
	}
}

// A rewind brings the whole results back, and a compaction replaces what is left of them.
func TestShrinkingWithRewind(t *testing.T) {
	var commands, out []string
	for i := range 8 {
		commands = append(commands, fmt.Sprint("command ", i))
		out = append(out, strings.ReplaceAll(manyLines(100, -1, ""), "output", fmt.Sprint("run ", i)))
	}
	c := &client{}
	a := running(t, c, commands, out)
	history, _, err := c.turn(t.Context(), t, a, nil, text("go"))
	if err != nil {
		t.Fatal(err)
	}
	shrunk := func(events []transcript.Event) (n int) {
		for _, text := range resultTexts(transcript.History(events)) {
			if isShortened(text) {
				n++
			}
		}
		return n
	}
	if shrunk(c.log) == 0 {
		t.Fatal("no result shrank")
	}
	again := running(t, c, commands, out)
	again.NewID = a.NewID
	second := len(c.log)
	if _, _, err := c.turn(t.Context(), t, again, history, text("once more")); err != nil {
		t.Fatal(err)
	}
	prompt := c.log[second].(transcript.Prompt)
	before := shrunk(c.log[:second])
	rewound := append(slices.Clone(c.log), transcript.Rewound{ID: "r", MessageID: prompt.MessageID, Turn: 2})
	if got := shrunk(rewound); got != before || shrunk(c.log) <= before {
		t.Errorf("%d results are references after the first turn, %d after the second, and %d after the rewind of that", before, shrunk(c.log), got)
	}
}
