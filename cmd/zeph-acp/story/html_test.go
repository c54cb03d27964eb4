package story_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/story"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// htmlOf returns the page of a story.
func htmlOf(t *testing.T, s *story.Story) string {
	t.Helper()
	var b strings.Builder
	if err := s.HTML(&b, "test"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// edit is a change of a file with so many new lines.
func edit(id, path string, lines int) []transcript.Event {
	before, after := "", strings.Repeat("x := \"a\"\n", lines)
	return []transcript.Event{announced(id, path), ended(id, acp.ToolCompleted, acp.ToolContent{Type: "diff", Path: path, OldText: &before, NewText: &after})}
}

// Small changes are open if they are few.
func TestOpenChanges(t *testing.T) {
	for name, tt := range map[string]struct{ changes, lines, want int }{"few": {2, 3, 2}, "many": {90, 3, 0}, "large": {1, 90, 0}} {
		events := []transcript.Event{prompt("p1", "hi")}
		for i := range tt.changes {
			events = append(events, edit(fmt.Sprint("c", i), "/w/a.go", tt.lines)...)
		}
		if got := strings.Count(htmlOf(t, tell(nil, append(events, done)...)), `<details class="card" open="">`); got != tt.want {
			t.Errorf("%s: %d changes are open, want %d", name, got, tt.want)
		}
	}
}

// Changes have the colours of their language.
func TestColours(t *testing.T) {
	for path, want := range map[string]string{
		"/w/a.go":  `<span class="add code"><span class="sign">+</span>x := <span class="hl-s">&#34;a&#34;</span>`,
		"/w/a.txt": `<span class="add">+x := &#34;a&#34;`,
	} {
		s := tell(nil, append(append([]transcript.Event{prompt("p1", "hi")}, edit("c1", path, 1)...), done)...)
		if got := htmlOf(t, s); !strings.Contains(got, want+"\n</span>") {
			t.Errorf("%s: the page has no %s", path, want)
		}
	}
}

// Words that differ in lines that replace each other are marked.
func TestChangedWords(t *testing.T) {
	before, after := "x := old(1)\n", "x := new(1)\n"
	for path, want := range map[string]string{"/w/a.go": `:= <span class="changed">new</span>(`, "/w/a.txt": `+x := <span class="changed">new</span>(1)`} {
		diff := acp.ToolContent{Type: "diff", Path: path, OldText: &before, NewText: &after}
		got := htmlOf(t, tell(nil, prompt("p1", "hi"), announced("c1", path), ended("c1", acp.ToolCompleted, diff), done))
		if !strings.Contains(got, want) {
			t.Errorf("%s: the page has no %s", path, want)
		}
	}
}

// A command that no model saw is folded, below its first line.
func TestFoldedCommand(t *testing.T) {
	command := transcript.Prompt{MessageID: "p1", NoModel: true, Content: []acp.ContentBlock{acp.TextBlock("/mode ask")}}
	s := tell(nil, command, transcript.Setting{ID: acp.CategoryMode, Value: "ask"}, transcript.Note{Text: "The mode is now ask."}, done)
	got := htmlOf(t, s)
	if !strings.Contains(got, `<details class="more"><summary><header><h2 id="`) || !strings.Contains(got, `>Command<code>/mode ask</code></h2>`) {
		t.Errorf("the command is not folded: %s", got)
	}
	if n := strings.Count(got, "The mode is now ask."); n != 1 {
		t.Errorf("the note is there %d times, want once", n)
	}
}

var h1 = regexp.MustCompile(`<h1>(.*)</h1>`)

func TestHeading(t *testing.T) {
	long := "please make the greeting polite in all languages, and keep the tests as they are, but add one for French"
	for name, tt := range map[string]struct {
		title, prompt, want string
	}{
		"a sentence": {"make it polite", "make it polite", "Make it polite"},
		"a name":     {"go.mod is old", "go.mod is old", "go.mod is old"},
		"cut off":    {long[:79] + "…", long + "\nthanks", "P" + long[1:]},
		"renamed":    {"the title", "hello", "The title"},
		"a command":  {"/mode ask", "fix, please", "Fix, please"},
		"nothing":    {"", "", "Session s1"},
	} {
		src := story.Source{Session: store.Session{ID: "s1", CWD: "/w", Title: tt.title}}
		for i, e := range []transcript.Event{prompt("p1", tt.prompt), done} {
			src.Events = append(src.Events, session.Dated{Time: time.Unix(int64(i), 0).UTC(), Event: e})
		}
		if got := h1.FindStringSubmatch(htmlOf(t, story.New(src)))[1]; got != tt.want {
			t.Errorf("%s: the heading is %q, want %q", name, got, tt.want)
		}
	}
}

// A few bytes that filters saved are not worth a word.
func TestSavings(t *testing.T) {
	for saved, want := range map[int]bool{200: false, 2000: true} {
		e := audit.Entry{ID: "c1", Tool: "bash", Result: audit.Success, BytesBefore: 5000, BytesAfter: 5000 - saved, Filters: []string{"go-test"}}
		got := htmlOf(t, tell([]audit.Entry{e}, prompt("p1", "hi"), announced("c1", "ls"), ended("c1", acp.ToolCompleted, text("a")), done))
		for _, word := range []string{" saved", "Saved by filters", "filtered by go-test"} {
			if strings.Contains(got, word) != want {
				t.Errorf("%d bytes saved: %q is shown: %v, want %v", saved, word, !want, want)
			}
		}
	}
}
