package failover

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

func TestFallback(t *testing.T) {
	some := backoff.Limits{MaxAttempts: 1, BaseMS: 1000, MaxMS: 1000, BudgetSecs: 9}
	good := `{"text": "hi"}`
	for name, tt := range map[string]struct {
		scripts []string
		want    string
	}{
		"not needed": {[]string{good, good}, "hi .end"},
		"after all tries": {
			[]string{strings.Repeat(overloaded, 2), good},
			"[a answered 529: Overloaded. Trying again in 1 s (2 of 2).] [a answered 529: Overloaded. b:] hi .end",
		},
		"key refused": {
			[]string{`{"error": "bad key", "status": 401}`, good}, "[a answered 401: bad key. b:] hi .end",
		},
		"no such model":       {[]string{`{"error": "no such model", "status": 404}`, good}, "[a answered 404: no such model. b:] hi .end"},
		"no credit":           {[]string{`{"error": "pay", "status": 402}`, good}, "[a answered 402: pay. b:] hi .end"},
		"the request's fault": {[]string{`{"error": "no", "status": 400}`, good}, "! a answered 400: no"},
		"too large":           {[]string{`{"error": "no", "status": 413}`, good}, "! a answered 413: no"},
		"too long":            {[]string{`{"error": "prompt is too long"}`, good}, "! a: prompt is too long"},
		"refusal":             {[]string{`{"stop": "refusal"}`, good}, ".refusal"},
		"shown":               {[]string{`{"text": "a"}` + "\n" + `{"error": "no", "status": 401}`, good}, "a ! a answered 401: no"},
		"key missing":         {[]string{"no key", good}, "! a: there is no API key (run zeph-acp login, or set KEY in the environment that starts the agent)"},
		"one without its key": {
			[]string{`{"error": "x"}`, "no key", good},
			"[a: x. b: there is no API key (run zeph-acp login, or set KEY in the environment that starts the agent). c:] hi .end",
		},
		"the next fails too": {
			[]string{`{"error": "x"}`, `{"error": "y", "status": 403}`, good}, "[a: x. b:] [b answered 403: y. c:] hi .end",
		},
		"all fail": {
			[]string{`{"error": "x"}`, `{"error": "y", "status": 403}`}, "[a: x. b:] ! a: x (b answered 403: y)",
		},
		"the next waits": {
			[]string{`{"error": "x"}`, overloaded + good}, "[a: x. b:] [b answered 529: Overloaded. Trying again in 1 s (2 of 2).] hi .end",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var c llmtest.IdleClock
			if diff := cmp.Diff(tt.want, describeAnswer(scripts(t, idleClock(&c), some, tt.scripts...), t.Context())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// After a failure, and a notice to the user, a model is not asked for a while.
// Then it is the first again.
func TestFallbackCooldown(t *testing.T) {
	c := llmtest.IdleClock{At: time.Unix(0, 0)}
	bad, good := `{"error": "x"}`+"\n\n", `{"text": "hi"}`+"\n\n"
	m := scripts(t, idleClock(&c), backoff.Limits{}, bad+good+bad+good, good+good+good+bad)
	for i, want := range []struct {
		after time.Duration
		next  string // is asked
		tale  string
	}{
		{0, "a", "[a: x. b:] hi .end"},
		{time.Minute, "b", "[ b:] hi .end"},
		{4 * time.Minute, "a", "hi .end"},
		{0, "a", "[a: x. b:] hi .end"},
		{0, "b", "[ b:] [b: x. a:] hi .end"},
	} {
		c.At = c.At.Add(want.after)
		if next, _, _ := strings.Cut(llm.Answering(m).Name(), ":"); next != want.next {
			t.Errorf("call %d: %s is asked, want %s", i, next, want.next)
		}
		if diff := cmp.Diff(want.tale, describeAnswer(m, t.Context())); diff != "" {
			t.Errorf("call %d (-want +got)\n%s", i, diff)
		}
	}
}

// During the cooldown of a model, models without a key do not replace it: no call reports
// them, and their window does not count.
func TestFallbackWithoutKey(t *testing.T) {
	c := llmtest.IdleClock{At: time.Unix(0, 0)}
	bad, good := `{"error": "x"}`+"\n\n", `{"text": "hi"}`+"\n\n"
	m := scripts(t, idleClock(&c), backoff.Limits{}, bad+good, "no key")
	noKey := "b: there is no API key (run zeph-acp login, or set KEY in the environment that starts the agent)"
	for i, want := range []string{"! a: x (" + noKey + ")", "hi .end"} {
		if got := describeAnswer(m, t.Context()); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
	if llm.Answering(m) != m || m.Window() != 0 {
		t.Errorf("%s is asked, with a window of %d", llm.Answering(m).Name(), m.Window())
	}
}

// A request that does not fit a model's window is not sent to it, and the answering
// model's window is reported.
func TestFallbackWindow(t *testing.T) {
	var c llmtest.IdleClock
	model := func(name, script string, window int) *retrier {
		s, err := local.ParseScript("m.jsonl", strings.NewReader(script))
		if err != nil {
			t.Fatal(err)
		}
		s.Provider, s.ContextWindow = name, window
		return &retrier{s, backoff.Limits{}, idleClock(&c)}
	}
	a, b := model("a", `{"error": "x"}`, 9000), model("b", `{"text": "hi"}`, 5)
	f := &fallback{Model: a, others: []llm.Model{b, model("c", `{"text": "hi"}`+"\n\n"+`{"text": "ho"}`, 8000)}, clock: idleClock(&c)}
	req := llmtest.Hello()
	req.System = strings.Repeat("x", 70)
	events, err := llmtest.Collect(f, t.Context(), req)
	if diff := cmp.Diff("[a: x. b:m.jsonl: the conversation takes about 24 tokens, and its window has 5. c:] hi .end", describeEvents(events, err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if f.Window() != 8000 { // no compaction and no stop because of a skipped model
		t.Errorf("window %d", f.Window())
	}
}
