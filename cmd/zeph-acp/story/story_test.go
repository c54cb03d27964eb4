package story_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/story"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

func mask(s string) string { return strings.ReplaceAll(s, "hunter2", "[REDACTED]") }

// tell returns the story of events, a second apart.
func tell(calls []audit.Entry, events ...transcript.Event) *story.Story {
	src := story.Source{Session: store.Session{ID: "s1", CWD: "/w", Title: "A title"}, Mask: mask, Calls: calls}
	for i, e := range events {
		src.Events = append(src.Events, session.Dated{Time: time.Unix(int64(i), 0).UTC(), Event: e})
	}
	return story.New(src)
}

func prompt(id, text string) transcript.Prompt {
	return transcript.Prompt{MessageID: id, Content: []acp.ContentBlock{acp.TextBlock(text)}}
}

func says(text string) transcript.Block {
	return transcript.Block{MessageID: "m", Block: llm.Block{Text: text}}
}

func announced(id, title string) transcript.Call {
	return transcript.Call{Shown: acp.ToolCall{Update: acp.UpdateToolCall, ToolCallID: id, Title: title, Kind: "execute", Status: acp.ToolPending}}
}

func ended(id string, status acp.ToolStatus, content ...acp.ToolContent) transcript.Result {
	return transcript.Result{Shown: acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: id, Status: status, Content: content}}
}

func text(s string) acp.ToolContent {
	b := acp.TextBlock(s)
	return acp.ToolContent{Type: "content", Content: &b}
}

func answer(input, cached, output int, cost float64) transcript.Answer {
	return transcript.Answer{Model: "m", Usage: &llm.Usage{Input: input, CacheRead: cached, Output: output},
		Shown: &acp.UsageUpdate{Update: acp.UpdateUsage, Cost: &acp.Cost{Amount: cost, Currency: "USD"}}}
}

var done = transcript.TurnEnd{Reason: acp.StopEndTurn}

// outline describes the turns, a line for each part.
func outline(s *story.Story) (lines []string) {
	for _, t := range s.Turns {
		lines = append(lines, fmt.Sprintf("turn %d rewound=%v %q", t.Number, t.Rewound, t.Ending))
		for _, i := range t.Items {
			switch {
			case i.Card != nil:
				lines = append(lines, fmt.Sprintf("card %s %s %q", i.Card.Title, i.Card.Status, i.Card.Outputs))
			case i.Plan != nil:
				lines = append(lines, fmt.Sprintf("plan %d", len(i.Plan)))
			default:
				lines = append(lines, fmt.Sprintf("%s %s", i.Speaker, i.Text))
			}
		}
	}
	return lines
}

func TestStory(t *testing.T) {
	for name, tt := range map[string]struct {
		events []transcript.Event
		want   []string
	}{
		"no events": {nil, nil},
		"a turn": {[]transcript.Event{prompt("p1", "hi hunter2"), says("hello\x1b[0m"), transcript.Note{Text: "a note"}, done},
			[]string{`turn 1 rewound=false ""`, "user hi [REDACTED]", "agent hello", "notice a note"}},
		"a note before the first prompt": {[]transcript.Event{transcript.Note{Text: "early"}, prompt("p1", "hi"), done},
			[]string{`turn 1 rewound=false ""`, "user hi", "notice early"}},
		"a note after the last turn": {[]transcript.Event{prompt("p1", "hi"), done, transcript.Note{Text: "late"}},
			[]string{`turn 1 rewound=false ""`, "user hi", "notice late"}},
		"a card": {[]transcript.Event{prompt("p1", "hi"), announced("c1", "`ls`"), ended("c1", acp.ToolCompleted, text("a\nb\n")), done},
			[]string{`turn 1 rewound=false ""`, "user hi", `card ls completed ["a\nb\n"]`}},
		"a killed agent": {[]transcript.Event{prompt("p1", "hi"), announced("c1", "`ls`"), transcript.Step{ToolCallID: "c1", Text: "half"}, prompt("p2", "again")},
			[]string{`turn 1 rewound=false "Not ended: its agent was killed."`, "user hi", `card ls failed ["- half\n[not ended]"]`,
				`turn 2 rewound=false "Not ended: the turn still runs, or its agent was killed."`, "user again"}},
		"a result without its announcement": {[]transcript.Event{prompt("p1", "hi"), ended("c9", acp.ToolFailed, text("no")), done},
			[]string{`turn 1 rewound=false ""`, "user hi", `card  failed ["no"]`}},
		"a call that the client did not see": {[]transcript.Event{prompt("p1", "hi"), ended("", acp.ToolCompleted, text("secret")), done},
			[]string{`turn 1 rewound=false ""`, "user hi"}},
		"plans": {[]transcript.Event{prompt("p1", "hi"), transcript.Plan{Entries: []acp.PlanEntry{{}}}, transcript.Plan{Entries: []acp.PlanEntry{{}, {}}}, done},
			[]string{`turn 1 rewound=false ""`, "user hi", "plan 2"}},
		"a command": {[]transcript.Event{transcript.Prompt{MessageID: "p1", NoModel: true, Content: []acp.ContentBlock{acp.TextBlock("/status")}}, done,
			prompt("p2", "hi"), done},
			[]string{`turn 0 rewound=false ""`, "user /status", `turn 1 rewound=false ""`, "user hi"}},
		"a rewind": {[]transcript.Event{prompt("p1", "one"), done, prompt("p2", "two"), done,
			transcript.Prompt{MessageID: "p3", NoModel: true, Content: []acp.ContentBlock{acp.TextBlock("/rewind")}},
			transcript.Rewound{ID: "r", MessageID: "p2", Turn: 2, Mode: transcript.RewindBoth}, done},
			[]string{`turn 1 rewound=false ""`, "user one", `turn 2 rewound=true ""`, "user two", `turn 0 rewound=false ""`, "user /rewind",
				"notice Rewound: files and conversation went back to before turn 2."}},
		"an attachment": {[]transcript.Event{transcript.Prompt{MessageID: "p1", Content: []acp.ContentBlock{{Type: "image", Data: strings.Repeat("A", 4000)}}},
			transcript.TurnEnd{Error: "lost hunter2"}},
			[]string{`turn 1 rewound=false "Ended by an error: lost [REDACTED]"`, "user "}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, outline(tell(nil, tt.events...))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestStoryNumbers checks the sums, and that each turn has its own cost.
func TestStoryNumbers(t *testing.T) {
	before, after := "a\n", "b\n"
	s := tell([]audit.Entry{
		{ID: "c1", Tool: "bash", Result: audit.Success, BytesBefore: 1000, BytesAfter: 100, Rule: "rule hunter2"},
		{ID: "c2", Tool: "bash", Result: audit.Denied}, {ID: "c9", Tool: "read", Result: audit.Success}, {ID: "c1", Tool: "hook"},
	},
		prompt("p1", "hi"), answer(100, 40, 10, 0.5), announced("c1", "x"),
		ended("c1", acp.ToolCompleted, acp.ToolContent{Type: "diff", Path: "/w/a.txt", OldText: &before, NewText: &after}),
		announced("c2", "y"),
		ended("c2", acp.ToolFailed),
		done,
		prompt("p2", "hi"), answer(200, 0, 20, 0.75), done)
	want := story.Numbers{Usage: llm.Usage{Input: 300, CacheRead: 40, Output: 30}, Cost: 0.75, Currency: "USD", Calls: 2, Denied: 1, Before: 1000, After: 100}
	if diff := cmp.Diff(want, s.Total); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if s.Turns[1].Cost != 0.25 || !slices.Equal(s.Files, []string{"a.txt"}) || len(s.Others) != 1 || s.Turns[0].Items[1].Card.Record.Rule != "rule [REDACTED]" {
		t.Errorf("the second turn %+v, files %q, other calls %+v, rule %q; want a cost of 0.25, a.txt, one other call and a masked rule",
			s.Turns[1].Numbers, s.Files, s.Others, s.Turns[0].Items[1].Card.Record.Rule)
	}
	if got := s.Turns[0].Items[1].Card.Diffs[0].Lines; !slices.Equal(got, []string{"@@ -1,1 +1,1 @@", "-a", "+b"}) {
		t.Errorf("the lines of the diff are %q", got)
	}
}

// TestCardVerb checks that calls about the same file differ in both documents.
func TestCardVerb(t *testing.T) {
	for kind, want := range map[string][2]string{
		"read":    {`<span class="verb">read</span> a.go`, "<summary>read: a.go · success<"},
		"delete":  {`<span class="verb">delete</span> a.go`, "<summary>delete: a.go · success<"},
		"execute": {`<span class="what"><code>a.go</code>`, "<summary>a.go · success<"},
		"other":   {`<span class="what">a.go<`, "<summary>a.go · success<"},
	} {
		call := announced("c1", "a.go")
		call.Shown.Kind = kind
		s := tell([]audit.Entry{{ID: "c1", Tool: "x", Result: audit.Success}}, prompt("p1", "hi"), call, ended("c1", acp.ToolCompleted), done)
		var page, markdown strings.Builder
		if err := errors.Join(s.HTML(&page, "test"), s.Markdown(&markdown)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), want[0]) || !strings.Contains(markdown.String(), want[1]) {
			t.Errorf("%s: want %q, got %s\n%s", kind, want, page.String(), markdown.String())
		}
	}
}

// TestStoryShortens checks that huge texts do not make a huge page.
func TestStoryShortens(t *testing.T) {
	none, lines := "", strings.Repeat("line\n", 100_000)
	s := tell(nil, prompt("p1", strings.Repeat("é", 1<<20)), announced("c1", "x"), ended("c1", acp.ToolCompleted, text(lines),
		acp.ToolContent{Type: "diff", Path: "/w/a", OldText: &none, NewText: &lines}), done)
	card := s.Turns[0].Items[1].Card
	if len(s.Turns[0].Items[0].Text) > 70_000 || strings.Count(card.Outputs[0], "\n") > 402 || len(card.Diffs[0].Lines) > 402 {
		t.Errorf("the prompt has %d bytes, the output %d lines, the diff %d lines; want at most 70,000, 402 and 402",
			len(s.Turns[0].Items[0].Text), strings.Count(card.Outputs[0], "\n"), len(card.Diffs[0].Lines))
	}
	if !strings.Contains(card.Outputs[0], "left out …") {
		t.Error("the output does not say that lines are left out")
	}
	if strings.Contains(s.Turns[0].Items[0].Text, "\uFFFD") {
		t.Error("the prompt is cut within a character")
	}
	var b strings.Builder
	if err := s.HTML(&b, "test"); err != nil || b.Len() > 1<<20 {
		t.Errorf("HTML: %v, %d bytes, want at most 1 MiB", err, b.Len())
	}
}

// TestStoryBounds checks that many long texts do not make a huge page either.
func TestStoryBounds(t *testing.T) {
	events := []transcript.Event{prompt("p1", "hi")}
	for i := range 200 {
		id := fmt.Sprint("c", i)
		events = append(events, announced(id, "x"), ended(id, acp.ToolCompleted, text(strings.Repeat(strings.Repeat("x", 150)+"\n", 399))))
	}
	s := tell(nil, append(events, done)...)
	first, last := s.Turns[0].Items[1].Card.Outputs[0], s.Turns[0].Items[200].Card.Outputs[0]
	if len(first) != 151*399 || len(last) > 3<<10 || !strings.Contains(last, "left out …") {
		t.Errorf("the first output has %d bytes and the last %d, want %d and at most 3 KiB", len(first), len(last), 151*399)
	}
	var b strings.Builder
	if err := s.HTML(&b, "test"); err != nil || b.Len() > 6<<20 {
		t.Errorf("HTML: %v, %d bytes, want at most 6 MiB", err, b.Len())
	}
}

// elements are the HTML elements that a page may have.
var elements = strings.Fields("html head meta title style body a header p h1 h2 dl div dt dd time nav ul li main section article details summary " +
	"span code pre " +
	"figure figcaption svg rect table caption thead tbody tr th td footer blockquote strong em s u")

// FuzzStory checks that no text becomes an element of the page, or of the Markdown.
func FuzzStory(f *testing.F) {
	f.Add("</pre><script>alert(1)</script>", "`<img src=x>`", "```\n<b>\n```\n")
	f.Add("- a\n  - b\n> c\n# d", "| a |\n|---|\n| b | c |", "1. **x** *y* ~~z~~ [a](javascript:x)")
	f.Add("|`a|<i>`|", "~~~\n```\n~~~", "![x](y)")
	f.Fuzz(func(t *testing.T, title, output, words string) {
		input, _ := json.Marshal(map[string]string{"command": title})
		call := announced("c1", title)
		call.Shown.RawInput = input
		s := tell([]audit.Entry{{ID: "c1", Tool: title, Rule: output, Answer: words, Result: audit.Denied}, {ID: "c2", Tool: title, Command: words}},
			prompt("p1", words), says(words), transcript.Note{Text: output}, call,
			ended("c1", acp.ToolCompleted, text(output), acp.ToolContent{Type: "diff", Path: title, NewText: &output}),
			transcript.Plan{Entries: []acp.PlanEntry{{Content: words}}}, done,
			prompt("p2", title), transcript.TurnEnd{Error: output},
			transcript.Prompt{MessageID: "p3", NoModel: true, Content: []acp.ContentBlock{acp.TextBlock(title)}}, says("```html\n"+words), done)
		var page, markdown strings.Builder
		if err := s.HTML(&page, "test"); err != nil {
			t.Fatal(err)
		}
		root, err := html.Parse(strings.NewReader(page.String()))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && !slices.Contains(elements, n.Data) || n.Type == html.CommentNode {
				t.Errorf("the page has <%s>", n.Data)
			}
		}
		if err := s.Markdown(&markdown); err != nil {
			t.Fatal(err)
		}
	})
}

// A turn that the session has begun itself, to follow a goal, has a notice in place of a prompt.
func TestGoalGoesOn(t *testing.T) {
	s := tell(nil, prompt("p1", "/goal tidy up"), says("One."), transcript.TurnEnd{Reason: acp.StopEndTurn},
		transcript.Prompt{MessageID: "p2", ModelText: "[goal] Check 1: not met: two."}, says("Two."), transcript.TurnEnd{Reason: acp.StopEndTurn})
	if len(s.Turns) != 2 || s.Turns[1].Number != 2 || s.Turns[1].Items[0].Speaker != story.Notice || s.Turns[1].Items[0].Text != "The work on the goal goes on." {
		t.Errorf("the turns are %+v", s.Turns)
	}
}
