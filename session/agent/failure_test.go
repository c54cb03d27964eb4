package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// selected returns an agent with the model that provider.Select returns for
// scripts: the first is selected, the others are its fallbacks. It counts the
// cost of each model.
func selected(t testing.TB, c *client, retry backoff.Limits, scripts ...string) (a *Agent, spent map[string]int) {
	t.Helper()
	cfg := provider.Config{Retry: retry}
	for i, script := range scripts {
		p := provider.Provider{Name: string(rune('a' + i)), Type: provider.TypeScript, Model: filepath.Join(t.TempDir(), "m"), ContextWindow: 1000 * (i + 1)}
		if err := os.WriteFile(p.Model, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg.Providers = append(cfg.Providers, p)
		if i > 0 {
			cfg.Fallback = append(cfg.Fallback, p.Name)
		}
	}
	model, err := provider.Select(cfg, func(string) string { return "" }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	a, spent = newAgent(t, "", c), map[string]int{}
	a.Model = func() llm.Model { return model }
	a.Spend = func(m llm.Model, u llm.Usage) *acp.Cost {
		name, _, _ := strings.Cut(m.Name(), ":")
		spent[name] += u.Input + u.Output
		return nil
	}
	return a, spent
}

const (
	busy = `{"error": "busy", "status": 529, "again": true}` + "\n\n"
	cut  = `{"error": "cut", "again": true}` + "\n\n"
)

// For every failure, the history and the client's view agree with the log;
// client.turn compares them.
func TestFailures(t *testing.T) {
	user := func(s string) llm.Message { return llm.Message{Role: llm.User, Blocks: []llm.Block{{Text: s}}} }
	said := func(s string) llm.Message {
		return llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: s}}}
	}
	goOn := llm.AskToContinue(nil, said("x").Blocks)[1]
	for name, tt := range map[string]struct {
		scripts []string
		lines   []string
		history []llm.Message
		spent   map[string]int
		err     string
	}{
		"waited out": {
			[]string{busy + `{"text": "hi"}`},
			[]string{`message #2 "a answered 529: busy. Trying again (2 of 2).\n\n"`, `message #3 "hi"`},
			[]llm.Message{user("u"), said("hi")}, nil, "",
		},
		"goes on": {
			[]string{`{"thought": "hm"}` + "\n" + `{"text": "One, "}` + "\n" + `{"tool": "fail"}` + "\n" + `{"usage": {"input": 5}}` + "\n" + cut +
				`{"text": "two."}` + "\n" + `{"usage": {"input": 7}}`},
			[]string{`thought #2 "hm"`, `message #3 "One, "`, `message #3 "two."`, "usage 7/1000"},
			[]llm.Message{user("u"), said("One, "), goOn, said("two.")}, map[string]int{"a": 12}, "",
		},
		"goes on with a call": {
			[]string{`{"text": "One, "}` + "\n" + cut + `{"tool": "say", "input": {"text":"x"}}` + "\n\n" + `{"text": "done"}`},
			[]string{`message #2 "One, "`, "tool_call #3 pending", "tool_call_update #3 in_progress", `tool_call_update #3 completed content="x"`, `message #4 "done"`},
			nil, nil, "",
		},
		"thoughts alone": {
			[]string{`{"thought": "so"}` + "\n" + cut + `{"thought": "well"}` + "\n" + `{"text": "hi"}`},
			[]string{`thought #2 "so"`, `thought #2 "well"`, `message #3 "hi"`},
			nil, nil, "",
		},
		"cut twice": {
			[]string{`{"text": "One, "}` + "\n" + cut + `{"text": "two, "}` + "\n" + cut},
			[]string{`message #2 "One, "`, `message #2 "two, "`,
				`message #3 "\n\na: cut (the answer so far is kept: send another prompt to continue)"`},
			[]llm.Message{user("u"), said("One, "), goOn, said("two, ")}, nil,
			"a: cut (the answer so far is kept: send another prompt to continue)",
		},
		"cannot go on": { // the stored events do not ask the model to continue
			[]string{`{"text": "One, "}` + "\n" + cut + `{"error": "no", "status": 400}`},
			[]string{`message #2 "One, "`, `message #3 "\n\na answered 400: no (the answer so far is kept: send another prompt to continue)"`},
			[]llm.Message{user("u"), said("One, ")}, nil,
			"a answered 400: no (the answer so far is kept: send another prompt to continue)",
		},
		"refused when it goes on": {
			[]string{`{"text": "One, "}` + "\n" + cut + `{"stop": "refusal"}`},
			[]string{`message #2 "One, "`}, nil, nil, "",
		},
		"another answers": {
			[]string{busy + busy, `{"usage": {"input": 5}}` + "\n" + `{"text": "hi"}`},
			[]string{
				`message #2 "a answered 529: busy. Trying again (2 of 2).\n\n"`,
				`message #3 "a answered 529: busy. b:M answers instead.\n\n"`, `message #4 "hi"`, "usage 5/2000",
			},
			[]llm.Message{user("u"), said("hi")}, map[string]int{"b": 5}, "",
		},
		"another goes on": {
			[]string{`{"text": "One, "}` + "\n" + cut + `{"error": "gone", "status": 404}`, `{"text": "two."}`},
			[]string{`message #2 "One, "`, `message #3 "a answered 404: gone. b:M answers instead.\n\n"`, `message #4 "two."`},
			[]llm.Message{user("u"), said("One, "), goOn, said("two.")}, nil, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c client
			a, spent := selected(t, &c, backoff.Limits{MaxAttempts: 1}, tt.scripts...)
			history, reason, err := c.turn(t.Context(), t, a, nil, text("u"))
			for i, line := range c.lines {
				if before, after, ok := strings.Cut(line, "b:"+os.TempDir()); ok {
					_, after, _ = strings.Cut(after, " ")
					c.lines[i] = before + "b:M " + after
				}
			}
			if diff := cmp.Diff(tt.lines, c.lines); diff != "" {
				t.Errorf("client (-want +got)\n%s", diff)
			}
			for i := range history {
				history[i].Count = nil
			}
			if diff := cmp.Diff(tt.history, history); tt.history != nil && diff != "" {
				t.Errorf("history (-want +got)\n%s", diff)
			}
			if reason == acp.StopRefusal && len(history) > 0 {
				t.Errorf("after a refusal the history is %+v", history)
			}
			if diff := cmp.Diff(tt.spent, spent); tt.spent != nil && diff != "" {
				t.Errorf("spent (-want +got)\n%s", diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

// The record names the model that answered.
func TestFailureOnRecord(t *testing.T) {
	var c client
	a, _ := selected(t, &c, backoff.Limits{}, busy, `{"text": "hi"}`)
	c.turn(t.Context(), t, a, nil, text("u"))
	i := slices.IndexFunc(c.log, func(e transcript.Event) bool { _, ok := e.(transcript.Answer); return ok })
	if i < 0 || !strings.HasPrefix(c.log[i].(transcript.Answer).Model, "b:") {
		t.Errorf("log %+v", c.log)
	}
}

// Notices are not part of the conversation.
func TestFailureNotices(t *testing.T) {
	var c client
	a, _ := selected(t, &c, backoff.Limits{MaxAttempts: 1}, busy+`{"text": "hi"}`)
	a.Notices = true
	var notices []string
	a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
		if n, ok := u.(acp.Notice); ok {
			notices = append(notices, n.Title)
		}
		return c.send(ctx, u)
	}
	c.turn(t.Context(), t, a, nil, text("u"))
	if diff := cmp.Diff([]string{"a answered 529: busy. Trying again (2 of 2)."}, notices) + cmp.Diff([]string{`message #2 "hi"`}, c.lines); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A cancel ends each state of a failing provider at once.
func TestFailureCancel(t *testing.T) {
	patient := backoff.Limits{MaxAttempts: 3, BaseMS: 300_000, MaxMS: 300_000}
	wait := `{"wait": "cancel"}` + "\n\n"
	for name, tt := range map[string]struct {
		scripts []string
		after   string // the client's line after which the user cancels; empty means at once
	}{
		"before anything came":   {[]string{wait}, ""},
		"in the stream":          {[]string{`{"text": "One"}` + "\n" + wait}, `message #2 "One"`},
		"in a wait":              {[]string{busy}, `message #2 "a answered 529: busy.`},
		"when another is asked":  {[]string{`{"error": "x"}`, wait}, `message #2 "a: x. b`},
		"when another waits":     {[]string{`{"error": "x"}`, busy}, `message #3 "b answered 529: busy.`},
		"when it shall go on":    {[]string{`{"text": "One"}` + "\n" + cut + wait}, `message #2 "One"`},
		"when it goes on":        {[]string{`{"text": "One"}` + "\n" + cut + `{"text": "Two"}` + "\n" + wait}, `message #2 "Two"`},
		"when it waits to go on": {[]string{`{"text": "One"}` + "\n" + cut + busy}, `message #3 "a answered 529: busy.`},
	} {
		t.Run(name, func(t *testing.T) {
			var c client
			a, _ := selected(t, &c, patient, tt.scripts...)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if tt.after == "" {
				time.AfterFunc(time.Millisecond, func() { cancel(acp.ErrTurnCancelled) })
			}
			send := a.Send
			a.Send = func(ctx context.Context, u acp.SessionUpdate) error {
				err := send(ctx, u)
				if tt.after != "" && strings.HasPrefix(c.lines[len(c.lines)-1], tt.after) {
					cancel(acp.ErrTurnCancelled)
				}
				return err
			}
			if _, _, err := c.turn(ctx, t, a, nil, text("u")); !errors.Is(err, acp.ErrTurnCancelled) {
				t.Errorf("error %v, client %q", err, c.lines)
			}
		})
	}
}
