package ideproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// screenOf is an editor whose terminal shows the text of the test.
type screenOf struct {
	mu     sync.Mutex
	output string // JSON, the answer to terminal/output
	wait   string // the answer to terminal/wait_for_exit; none while it is empty
	ended  chan struct{}
}

func (s *screenOf) show(output string, truncated bool) {
	text, _ := json.Marshal(output)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.output = fmt.Sprintf(`{"output":%s,"truncated":%t}`, text, truncated)
}

func (s *screenOf) answer(method string, _ json.RawMessage) string {
	switch method {
	case "terminal/create":
		return `{"terminalId":"t1"}`
	case "terminal/wait_for_exit":
		if s.wait == "" {
			<-s.ended
			return `{"exitCode":4}`
		}
		return s.wait
	case "terminal/output":
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.output
	}
	return `{}`
}

// start connects tools whose commands run in this terminal.
func (s *screenOf) start(t *testing.T) (*shell.Executor, *editor) {
	t.Helper()
	e := &editor{answer: s.answer, parallel: true}
	s.ended = make(chan struct{})
	tools := shell.New(&Terminal{Client: connect(t, e)}, "/", setting.Default[shell.Config]())
	t.Cleanup(func() { tools.Close() })
	return tools, e
}

func do(t *testing.T, tools *shell.Executor, tool, input string) (executors.Result, []string) {
	t.Helper()
	var terminals []string
	got, err := tools.Execute(t.Context(), &executors.Call{
		Tool: tool, Input: json.RawMessage(input), Session: "s1", Record: &executors.Record{},
		Notify: func(ev executors.Event) { terminals = append(terminals, ev.Terminal) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, terminals
}

func TestBackgroundTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // bash_output waits 30 s
		s := &screenOf{}
		s.show("up\n", false)
		tools, e := s.start(t)
		got, terminals := do(t, tools, "bash", `{"command":"npm run dev","background":true}`)
		if !strings.HasPrefix(got.ForModel(), "up\n[bg1 runs in the background") || len(got.Content) != 1 || got.Content[0].Terminal != "t1" ||
			!slices.Equal(terminals, []string{"t1"}) || got.Done != nil {
			t.Fatalf("got %+v, terminals %q", got, terminals)
		}
		if got, _ := do(t, tools, "bash_output", `{"id":"bg1"}`); !strings.HasPrefix(got.ForModel(), "(no new output)\n[running for ") {
			t.Errorf("got %q", got.ForModel())
		}
		s.show("up\none\n\uFFFD", false) // an incomplete rune
		if got, _ := do(t, tools, "bash_output", `{"id":"bg1"}`); !strings.HasPrefix(got.ForModel(), "one\n[running for ") || len(got.Content) > 0 {
			t.Errorf("got %q", got.ForModel())
		}
		s.show("up\none\né\n", false)
		if got, _ := do(t, tools, "bash_output", `{"id":"bg1","wait":30}`); !strings.HasPrefix(got.ForModel(), "é\n[running for ") {
			t.Errorf("got %q", got.ForModel())
		}
		if slices.Contains(e.methods(), "terminal/release") {
			t.Error("it was released while it runs")
		}
		s.show("up\none\né\nbye", false)
		close(s.ended)
		got, _ = do(t, tools, "bash_output", `{"id":"bg1","wait":30}`)
		if strings.Contains(got.ForModel(), "[running") { // the output came before the end
			got, _ = do(t, tools, "bash_output", `{"id":"bg1","wait":30}`)
		}
		if !strings.HasSuffix(got.ForModel(), "[exit 4]") || !got.Failed || got.Done == nil || tools.Running() != 0 {
			t.Fatalf("got %+v", got)
		}
		got.Done()
		for m := range e.seen {
			if m == "terminal/release" {
				break
			}
		}
	})
}

// A command that takes longer than its call goes on in the same terminal.
func TestTerminalGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screenOf{}
		s.show("compiling\n", false)
		tools, e := s.start(t)
		got, terminals := do(t, tools, "bash", `{"command":"make"}`)
		if !strings.HasPrefix(got.ForModel(), "compiling\n[still running after 30 s; it goes on in the background as bg1") || got.Failed ||
			len(got.Content) != 1 || got.Content[0].Terminal != "t1" || !slices.Equal(terminals, []string{"t1"}) || got.Done != nil {
			t.Fatalf("got %+v, terminals %q", got, terminals)
		}
		if m := e.methods(); slices.Contains(m, "terminal/kill") || slices.Contains(m, "terminal/release") {
			t.Errorf("requests %q", m)
		}
		s.show("compiling\ndone\n", false)
		close(s.ended)
		got, _ = do(t, tools, "bash_output", `{"id":"bg1","wait":30}`)
		if got.ForModel() != "done\n[exit 4]" || got.Done == nil || tools.Running() != 0 {
			t.Fatalf("got %+v", got)
		}
		got.Done()
	})
}

func TestBackgroundTerminalIsStopped(t *testing.T) {
	s := &screenOf{}
	s.show("up\n", false)
	tools, e := s.start(t)
	do(t, tools, "bash", `{"command":"x","background":true}`)
	go func() {
		for m := range e.seen {
			if m == "terminal/kill" {
				s.show("up\nkilled\n", false)
				close(s.ended)
				return
			}
		}
	}()
	got, _ := do(t, tools, "bash_stop", `{"id":"bg1"}`)
	if got.ForModel() != "killed\n[exit 4]" || got.Failed || got.Done == nil {
		t.Errorf("got %+v", got)
	}
}

// A terminal that does not end is abandoned, so that it is released.
func TestBackgroundTerminalThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screenOf{}
		s.show("up\n", false)
		tools, e := s.start(t)
		do(t, tools, "bash", `{"command":"x","background":true}`)
		begin := time.Now()
		if err := tools.Close(); err != nil || time.Since(begin) > 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
		for m := range e.seen {
			if m == "terminal/release" {
				break
			}
		}
		close(s.ended)
	})
}

// A client that cannot wait for the end reports it with the output.
func TestBackgroundTerminalPolls(t *testing.T) {
	s := &screenOf{wait: refused, output: `{"output":"x\n","truncated":false,"exitStatus":{"signal":"SIGHUP"}}`}
	tools, _ := s.start(t)
	got, _ := do(t, tools, "bash", `{"command":"x","background":true}`)
	if got.ForModel() != "x\n[killed by SIGHUP]" || !got.Failed {
		t.Errorf("got %+v", got)
	}
}

func TestNoBackgroundTerminals(t *testing.T) {
	here := &local{}
	term := &Terminal{Client: connect(t, &editor{answer: always(unknownMethod)}), Local: here}
	if _, err := term.Background(t.Context(), shell.Command{Line: "x", Dir: "/", Session: "s1"}); err == nil || !slices.Equal(here.lines, []string{"x"}) {
		t.Errorf("%v, ran %q", err, here.lines)
	}
	stop := errors.New("the user stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	term = &Terminal{Client: connect(t, &editor{answer: always("")})}
	if _, err := term.Background(ctx, shell.Command{Line: "x", Dir: "/", Session: "s1"}); err != stop {
		t.Error(err)
	}
}

func TestScreen(t *testing.T) {
	line := func(i int) string { return fmt.Sprintf("line %d of many\n", i) }
	lines := func(from, to int) (s string) {
		for i := from; i < to; i++ {
			s += line(i)
		}
		return s
	}
	type show struct {
		output    string
		truncated bool
		want      string
		gap       bool
	}
	for name, shows := range map[string][]show{
		"grows":              {{"", false, "", false}, {"a\n", false, "a\n", false}, {"a\n", false, "", false}, {"a\nb", false, "b", false}},
		"cut from the start": {{"b\n", true, "b\n", true}},
		"cut while it grows": {{lines(0, 200), false, lines(0, 200), false}, {lines(100, 300), true, lines(200, 300), false},
			{lines(150, 350), true, lines(300, 350), false}},
		"cut too much":    {{lines(0, 200), false, lines(0, 200), false}, {lines(201, 300), true, lines(201, 300), true}},
		"short, then cut": {{"ok\n", false, "ok\n", false}, {"x\nok\ny\n", true, "x\nok\ny\n", true}},
		"drawn again":     {{"10 %", false, "10 %", false}, {"20 %", false, "20 %", false}},
		"cleared":         {{lines(0, 9), false, lines(0, 9), false}, {"", false, "", false}, {"a\n", false, "a\n", false}},
		"half a rune":     {{"a\uFFFD", false, "a", false}, {"aé", false, "é", false}},
		"same lines, not lost": {{strings.Repeat("y\n", 900), false, strings.Repeat("y\n", 900), false},
			{strings.Repeat("y\n", 901), true, strings.Repeat("y\n", 901-markBytes/2), false}},
	} {
		var s reportedOutput
		for i, sh := range shows {
			if text, gap := s.newOutput(acp.TerminalOutput{Output: sh.output, Truncated: sh.truncated}, false); text != sh.want || gap != sh.gap {
				t.Errorf("%s, %d: got %q, %t, want %q", name, i, text, gap, sh.want)
			}
		}
	}
}

// However a terminal drops output, no distinct line is lost without a note, and
// none is reported twice.
func FuzzScreen(f *testing.F) {
	f.Add(uint16(100), uint16(5000), uint16(30), uint8(3))
	f.Add(uint16(3000), uint16(1500), uint16(900), uint8(9))
	f.Fuzz(func(t *testing.T, first, limit, step uint16, looks uint8) {
		var s reportedOutput
		var all, told strings.Builder
		lost := false
		for i := range int(looks%16) + 1 {
			for range (int(first)*(1-min(i, 1)) + int(step)*min(i, 1)) % 4000 {
				fmt.Fprintf(&all, "%d é\n", all.Len())
			}
			shown := all.String()
			cut := len(shown) > int(limit)
			if cut {
				shown = strings.ToValidUTF8(shown[len(shown)-int(limit):], "")
			}
			text, gap := s.newOutput(acp.TerminalOutput{Output: shown, Truncated: cut}, true)
			told.WriteString(text)
			lost = lost || gap
			if !strings.HasSuffix(all.String(), text) {
				t.Fatalf("told %q", text)
			}
		}
		if !lost && told.String() != all.String() {
			t.Fatalf("told %d bytes of %d", told.Len(), all.Len())
		}
	})
}
