package agent

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// listener records its requests and answers "ok".
type listener struct{ asked []llm.Request }

func (*listener) Name() string { return "test:listener" }

func (*listener) Window() int { return 100_000 }

func (l *listener) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	l.asked = append(l.asked, req)
	return func(yield func(llm.Event, error) bool) {
		_ = yield(llm.Event{Text: "ok"}, nil) && yield(llm.Event{Stop: llm.StopEnd}, nil)
	}
}

// The first prompt states the mode, and so does each prompt after a change. The
// system prompt and earlier messages stay unchanged.
func TestModeIsStated(t *testing.T) {
	c, m, mode := &client{}, &listener{}, "code"
	a := newAgent(t, "", c)
	a.Model = func() llm.Model { return m }
	a.System = func() string { return "system" }
	a.Mode = func() string { return "[mode: " + mode + "]" }
	var history []llm.Message
	ask := func(in Input) {
		t.Helper()
		var err error
		if history, _, err = c.turn(t.Context(), t, a, history, in); err != nil {
			t.Fatal(err)
		}
	}
	ask(text("one"))
	ask(text("two"))
	mode = "ask"
	ask(text("/say {\"text\":\"no model sees this\"}"))
	ask(text("three"))
	mode = "code"
	ask(Input{Content: []acp.ContentBlock{acp.TextBlock("/review")}, ModelText: "four"})
	ask(text("[mode: five] is what the user says"))
	ask(text("six"))

	want := []string{"[mode: code] one", "two", "[mode: ask] three", "[mode: code] four", "[mode: five] is what the user says", "six"}
	if len(m.asked) != len(want) {
		t.Fatalf("%d requests, want %d", len(m.asked), len(want))
	}
	for i, req := range m.asked {
		var texts []string
		for _, b := range req.Messages[len(req.Messages)-1].Blocks {
			texts = append(texts, b.Text)
		}
		if got := strings.Join(texts, " "); got != want[i] || req.System != "system\n\n"+structuredCalls+"\n" {
			t.Errorf("request %d: %q, want %q; system %q", i, got, want[i], req.System)
		}
		if i > 0 {
			before := m.asked[i-1].Messages
			for j := range before {
				if req.Messages[j].Blocks[0].Text != before[j].Blocks[0].Text {
					t.Errorf("request %d changed message %d", i, j)
				}
			}
		}
	}
}

// The first prompt states the saved memories after the mode, and later prompts do not.
func TestMemoryIsStatedOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		mode func() string
		want []string
	}{
		"with a mode":    {func() string { return "[mode: code]" }, []string{"[mode: code]\n[memory: 2 entries]\none\n", "two\n"}},
		"without a mode": {nil, []string{"[memory: 2 entries]\none\n", "two\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &listener{}
			a := newAgent(t, "", &client{})
			a.Model = func() llm.Model { return m }
			a.Mode = tt.mode
			a.Memory = func() string { return "[memory: 2 entries]" }
			var history []llm.Message
			for _, prompt := range []string{`/say {"text":"no model sees this"}`, "one", "two"} {
				var err error
				if history, _, err = a.Turn(t.Context(), history, text(prompt)); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, req := range m.asked {
				got = append(got, requestText(llm.Request{Messages: req.Messages[len(req.Messages)-1:]}))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("prompts (-want +got)\n%s", diff)
			}
		})
	}
}
