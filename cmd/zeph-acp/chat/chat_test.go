package chat

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/acp"
)

var long = flag.Bool("long", false, "press more keys")

// TestAnswers answers questions by single keys.
func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		keys []string
		want string
	}{
		"yes":                {[]string{"y"}, "once"},
		"always":             {[]string{"a"}, "always"},
		"a number":           {[]string{"4"}, "never"},
		"arrows":             {[]string{"down", "down", "enter"}, "no"},
		"arrows, around":     {[]string{"up", "enter"}, "never"},
		"Enter":              {[]string{"enter"}, "once"},
		"no":                 {[]string{"n", "enter"}, "no"},
		"no with a reason":   {[]string{"n", "t", "o", "o", "space", "b", "i", "g", "enter"}, "no too big"},
		"no, and back":       {[]string{"n", "x", "esc", "y"}, "once"},
		"no, by deleting":    {[]string{"n", "x", "backspace", "backspace", "y"}, "once"},
		"y in a reason":      {[]string{"n", "y", "enter"}, "no y"},
		"another key":        {[]string{"x"}, ""},
		"Esc":                {[]string{"esc", "y", "enter"}, ""},
		"a text":             {[]string{"t", "r", "y", "1", "enter"}, ""},
		"arrows after that":  {[]string{"x", "down", "enter"}, "always"},
		"too large a number": {[]string{"5"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := sit(t, nil)
			q := p.ask("rm x")
			p.wait(time.Second)
			p.press(tt.keys...)
			if got := q.given(); got != tt.want {
				t.Errorf("answered %q, want %q", got, tt.want)
			}
			if tt.want == "" && tt.keys[0] != "esc" && !strings.Contains(p.screen(), "Press y, a for always, n and a reason, 1 to 4") {
				t.Errorf("the screen does not say what is possible:\n%s", p.screen())
			}
		})
	}
}

// TestDraftIsKept has questions that appear while the person types.
func TestDraftIsKept(t *testing.T) {
	p := sit(t, nil)
	p.write("list y")
	q := p.ask("rm x")
	p.write("our files y")
	p.wait(readingTime)
	p.write("n")
	if got := q.given(); got != "" || p.m.editor.Text() != "list your files yn" {
		t.Fatalf("answered %q, and the draft is %q", got, p.m.editor.Text())
	}
	p.update(tea.PasteMsg{Content: "y\n1\n"})
	p.press("enter") // the person means the prompt, which waits
	p.wait(time.Second)
	if s := p.screen(); !strings.Contains(s, "y, a for always") || strings.Contains(s, "list your files") {
		t.Errorf("the draft is not put aside:\n%s", s)
	}
	p.press("y")
	if got := q.given(); got != "once" {
		t.Errorf("answered %q", got)
	}
	if got := p.m.editor.Text(); got != "list your files yny\n1\n" || p.sent() != "" {
		t.Errorf("the draft is %q", got)
	}
	next := p.ask("rm y")
	p.press("y") // of the question before
	p.wait(time.Second)
	p.press("2")
	if got := next.given(); got != "always" {
		t.Errorf("answered %q", got)
	}
}

// TestTwoQuestions asks two questions at once. A key that repeats answers one.
func TestTwoQuestions(t *testing.T) {
	p := sit(t, nil)
	first, second := p.ask("rm x"), p.ask("rm y")
	p.wait(time.Second)
	p.press("y", "y", "y")
	if a, b := first.given(), second.given(); a != "once" || b != "" || p.m.editor.Text() != "" {
		t.Errorf("answered %q and %q, with the draft %q", a, b, p.m.editor.Text())
	}
	p.wait(time.Second)
	p.press("y")
	if got := second.given(); got != "once" {
		t.Errorf("answered %q", got)
	}
}

// TestWithdrawn has a question that the agent withdraws, and one behind it.
func TestWithdrawn(t *testing.T) {
	p := sit(t, nil)
	first, second := p.ask("rm x"), p.ask("rm y")
	p.wait(time.Second)
	p.press("n", "b")
	p.event(withdrawn{first})
	p.press("y")
	p.wait(time.Second)
	p.press("y")
	if got := second.given(); got != "once" || p.m.question != nil {
		t.Errorf("answered %q", got)
	}
}

// TestInterrupt presses Esc and Ctrl-C in the states that they act on.
func TestInterrupt(t *testing.T) {
	for name, tt := range map[string]struct {
		keys        []string
		running     bool
		interrupted bool
		left        bool
		draft       string
	}{
		"Esc in a turn":                   {keys: []string{"esc"}, running: true, interrupted: true},
		"Esc, then a text":                {keys: []string{"esc", "o", "k"}, running: true, interrupted: true, draft: "ok"},
		"Esc and a key at once":           {keys: []string{"alt+x"}, running: true, interrupted: true, draft: "x"},
		"Esc without a turn":              {keys: []string{"a", "esc", "b"}, draft: "ab"},
		"Ctrl-C in a turn":                {keys: []string{"ctrl+c"}, running: true, interrupted: true},
		"Ctrl-C clears the prompt":        {keys: []string{"a", "ctrl+c"}, running: true},
		"Ctrl-C clears, and does not arm": {keys: []string{"a", "ctrl+c", "ctrl+c"}, running: true, interrupted: true},
		"Ctrl-C twice leaves":             {keys: []string{"ctrl+c", "ctrl+c"}, left: true},
		"twice in a turn leaves":          {keys: []string{"ctrl+c", "ctrl+c"}, running: true, interrupted: true, left: true},
		"another key disarms":             {keys: []string{"ctrl+c", "x", "backspace", "ctrl+c"}},
		"Ctrl-D leaves":                   {keys: []string{"ctrl+d"}, left: true},
		"Ctrl-D deletes in a text":        {keys: []string{"a", "b", "home", "ctrl+d"}, draft: "b"},
		"/exit leaves":                    {keys: []string{"/", "e", "x", "i", "t", "enter"}, left: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := sit(t, nil)
			if tt.running {
				p.write("go")
				p.press("enter")
			}
			p.press(tt.keys...)
			interrupted := len(p.m.chat.interrupt) > 0
			if interrupted != tt.interrupted || p.left != tt.left || p.m.editor.Text() != tt.draft {
				t.Errorf("interrupted %v, left %v, the draft is %q; want %v, %v, %q", interrupted, p.left, p.m.editor.Text(), tt.interrupted, tt.left, tt.draft)
			}
		})
	}
}

// TestPickFirst begins with the list of sessions. A first prompt waits for the session.
func TestPickFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		stored int
		keys   []string
		want   string // the session; empty for a new one
	}{
		"picks":           {2, []string{"2"}, "s2"},
		"picks none":      {2, []string{"esc"}, ""},
		"closes the list": {2, []string{"ctrl+c"}, ""},
		"none is stored":  {0, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{t: t}
			c := &Chat{Pick: true, First: "hi", Sessions: func() ([]Choice, error) {
				return []Choice{{ID: "s1", Title: "one"}, {ID: "s2", Title: "two"}}[:tt.stored], nil
			}}
			c.init()
			c.bridge.send = func(tea.Msg) {}
			p.m = newModel(c)
			p.run(p.m.Init())
			p.press(tt.keys...)
			select {
			case got := <-c.switched:
				if got != tt.want {
					t.Errorf("goes on with %q, want %q", got, tt.want)
				}
			default:
				t.Fatal("no session is opened")
			}
			if got := p.sent(); got != "" {
				t.Errorf("sent %q before a session is open", got)
			}
			p.m.event(opened{id: tt.want})
			if got := p.sent(); got != "hi" {
				t.Errorf("sent %q", got)
			}
		})
	}
}

// TestCommands types commands that exist, and one that does not.
func TestCommands(t *testing.T) {
	for text, tt := range map[string]struct{ sent, screen string }{
		"/status":              {sent: "/status"},
		"/mode ask":            {sent: "/mode ask"},
		"/mdoel":               {screen: "There is no command /mdoel: did you mean /model?"},
		"/xyzzy now":           {screen: "There is no command /xyzzy: /help lists them."},
		"/usr/bin/go is old":   {sent: "/usr/bin/go is old"},
		"!ls -l":               {sent: "/bash ls -l"},
		"/bash ls":             {sent: "/bash ls"},
		"/help":                {screen: "edit the prompt in $VISUAL or $EDITOR"},
		"/model":               {screen: "❯ 2 ✓ B"},
		"/mode":                {screen: "❯ 2 ✓ Code"},
		"what is 1/2 + 1/4 ? ": {sent: "what is 1/2 + 1/4 ?"},
	} {
		t.Run(text, func(t *testing.T) {
			p := sit(t, func(c *Chat) { c.IsTool = func(_, name string) bool { return name == "bash" } })
			p.update(tea.PasteMsg{Content: text})
			p.press("esc", "enter")
			if got := p.sent(); got != tt.sent {
				t.Errorf("sent %q, want %q", got, tt.sent)
			}
			if s := p.screen(); !strings.Contains(s, tt.screen) {
				t.Errorf("the screen lacks %q:\n%s", tt.screen, s)
			}
			if tt.sent == "" && strings.HasPrefix(tt.screen, "There") && p.m.editor.Text() != text {
				t.Errorf("the text is lost: %q", p.m.editor.Text())
			}
		})
	}
}

// TestLeavesList has an Esc and a key that arrive together while a list is shown: the key goes into the prompt.
func TestLeavesList(t *testing.T) {
	p := sit(t, nil)
	p.enter("/mode")
	p.press("alt+x", "y")
	if p.m.picker != nil || p.m.editor.Text() != "xy" {
		t.Errorf("the prompt is %q:\n%s", p.m.editor.Text(), p.screen())
	}
}

// TestWhileItWorks types while a turn runs: a text is added, a command waits, and an interrupted turn gives it back.
func TestWhileItWorks(t *testing.T) {
	p := sit(t, nil)
	p.write("go")
	p.press("enter")
	if p.sent() != "go" {
		t.Fatal("the first prompt is not sent")
	}
	p.write("be quick")
	p.press("enter")
	p.m.chat.work.Wait()
	p.update(eventsPending{})
	p.wait(frameTime)
	if s := p.screen(); !strings.Contains(s, "Added to the turn: be quick") {
		t.Errorf("not added:\n%s", s)
	}
	p.write("/status")
	p.press("enter")
	if s := p.screen(); !strings.Contains(s, "Next: /status") || p.sent() != "" {
		t.Errorf("the command does not wait:\n%s", s)
	}
	p.press("esc")
	p.event(steered{text: "and careful", outcome: "Not added (cancelled)"})
	if got := p.m.editor.Text(); got != "and careful\n/status" {
		t.Errorf("what waited is lost: %q", got)
	}
	p.m.editor.SetText("/status")
	p.press("enter")
	p.event(turnEnded{stop: acp.StopCancelled})
	if got := p.sent(); got != "/status" {
		t.Errorf("sent %q", got)
	}
}

// TestRandomKeys presses random keys while questions pop up at random. No key answers a question that the person could
// not read, and no text is lost.
func TestRandomKeys(t *testing.T) {
	names := []string{"y", "n", "a", "1", "2", "x", "é", "世", "/", "@", "!", "space", "\\"}
	for name := range keys {
		if name != "ctrl+d" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	n := rounds(500)
	if *long {
		n = 10_000
	}
	for seed := range n {
		if err := pressAtRandom(t, rand.New(rand.NewPCG(seed, 1)), names); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// pressAtRandom presses random keys in a new conversation.
func pressAtRandom(t *testing.T, random *rand.Rand, names []string) error {
	p := sit(t, func(c *Chat) { c.Vi = random.IntN(4) == 0 })
	var open []*question
	readable := map[*question]time.Time{}
	var lastDraft time.Time
	for range 40 {
		switch n := random.IntN(20); {
		case n == 0:
			q := p.ask(fmt.Sprint("rm ", len(readable)))
			open = append(open, q)
		case n == 1 && len(open) > 0:
			p.event(withdrawn{open[random.IntN(len(open))]})
		case n == 2:
			p.event(turnEnded{stop: acp.StopEndTurn})
			p.sent()
		case n == 3:
			p.update(tea.WindowSizeMsg{Width: 1 + random.IntN(200), Height: 1 + random.IntN(60)})
		case n == 4:
			p.update(tea.PasteMsg{Content: "y\n1\x1b[201~y\n"})
			if q := p.m.question; q == nil || !q.ready {
				lastDraft = p.now
			}
		case n < 9:
			p.wait(time.Duration(random.IntN(900)) * time.Millisecond)
		default:
			shown, draft := p.m.question, p.m.editor.Text()
			if shown != nil && readable[shown].IsZero() {
				readable[shown] = p.now
			}
			name := names[random.IntN(len(names))]
			p.press(name)
			if p.left {
				if name != "ctrl+c" && name != "enter" {
					return fmt.Errorf("%s has left", name)
				}
				return nil
			}
			if p.m.editor.Text() != draft {
				if shown != nil && shown.ready && name != "ctrl+c" && name != "esc" {
					return fmt.Errorf("%s at a question changes the draft %q to %q", name, draft, p.m.editor.Text())
				}
				lastDraft = p.now
			}
			p.sent()
		}
		if shown := p.m.question; shown != nil && readable[shown].IsZero() {
			readable[shown] = p.now
		}
		open = slices.DeleteFunc(open, func(q *question) bool {
			given := q.given()
			if given != "" && (readable[q].IsZero() || p.now.Sub(readable[q]) < readingTime-frameTime) {
				t.Fatalf("%q answers a question that was shown %s before", given, p.now.Sub(readable[q]))
			}
			if given != "" && p.now.Sub(lastDraft) < silence-frameTime && !lastDraft.Before(readable[q]) {
				t.Fatalf("%q answers a question while the person types", given)
			}
			return given != ""
		})
		if rows := strings.Split(p.m.View().Content, "\n"); len(rows) > p.m.height {
			return fmt.Errorf("%d rows in a terminal of %d", len(rows), p.m.height)
		}
	}
	return nil
}

// TestQuestionAtList asks while the person picks from a list. The question waits until the list is closed.
func TestQuestionAtList(t *testing.T) {
	for _, end := range []string{"enter", "esc", "1", "ctrl+c"} {
		p := sit(t, nil)
		p.write("/mode")
		p.press("enter")
		q := p.ask("rm x")
		p.wait(time.Second)
		if s := p.screen(); !strings.Contains(s, "Code") || p.m.question != nil {
			t.Errorf("the list is not shown:\n%s", s)
		}
		p.press(end)
		p.m.chat.work.Wait()
		if got := q.given(); got != "" || p.m.question != q {
			t.Errorf("after %s the question is answered %q, or not shown", end, got)
		}
		p.press("enter") // a moment too late for the list
		p.wait(time.Second)
		p.press("y")
		if got := q.given(); got != "once" {
			t.Errorf("after %s answered %q", end, got)
		}
	}
}

// TestSubagent sends updates of a sub-agent. Its calls appear, but the session keeps its own mode and usage.
func TestSubagent(t *testing.T) {
	p := sit(t, nil)
	for _, update := range []string{
		`{"sessionUpdate":"current_mode_update","currentModeId":"ask"}`, `{"sessionUpdate":"usage_update","used":5,"size":10}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"x.go","kind":"read","status":"in_progress"}`,
	} {
		p.event(updated{json.RawMessage(`{"sessionId":"child","update":` + update + `}`)})
	}
	if s := p.screen(); !strings.Contains(s, "read  x.go") || strings.Contains(s, "50 %") || !strings.Contains(s, "code · ") {
		t.Errorf("the screen has\n%s", s)
	}
}

// TestApprove withdraws a question whose turn was cancelled.
func TestApprove(t *testing.T) {
	p := sit(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := p.m.chat.bridge.Approve(ctx, acp.RequestPermissionRequest{ToolCall: acp.ToolCall{Title: "rm x"}})
		done <- err
	}()
	cancel()
	if err := <-done; err == nil {
		t.Error("a withdrawn question has an answer")
	}
	p.update(eventsPending{})
	p.wait(frameTime)
	if p.m.question != nil {
		t.Error("the question is still shown")
	}
}

// TestASCII draws for a locale that is not UTF-8.
func TestASCII(t *testing.T) {
	p := sit(t, func(c *Chat) { c.ASCII = true })
	if len(drawn) != len(drawnASCII) {
		t.Fatalf("%d characters have %d in their place", len(drawn), len(drawnASCII))
	}
	for text, want := range map[string]string{"“a” – it’s −1 • b → c…": `"a" - it's -1 * b > c.`, "é 世界 🎉": "? ???? ??"} {
		if got := p.m.printable(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
