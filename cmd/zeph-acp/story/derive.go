package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Source is a stored session.
type Source struct {
	Session store.Session
	Events  []session.Dated
	Calls   []audit.Entry       // the session's lines of the audit log
	Mask    func(string) string // redacts credentials; nil redacts nothing
}

// New returns the story of a session.
func New(src Source) *Story {
	t := builder{mask: src.Mask, records: map[string]*audit.Entry{}, cards: map[string]*Card{}, steps: map[string]string{}}
	t.story = &Story{Session: src.Session, Audited: len(src.Calls) > 0}
	t.story.Title, t.story.Dir = t.clean(src.Session.Title), t.clean(src.Session.CWD)
	for i, e := range src.Calls {
		if e.Tool != "hook" && t.records[e.ID] == nil {
			t.records[e.ID] = &src.Calls[i]
		}
	}
	t.findCounted(src.Events)
	for _, e := range src.Events {
		t.event(e)
	}
	t.endTurn("Not ended: the turn still runs, or its agent was killed.")
	if t.turn != nil {
		t.turn.Items = append(t.turn.Items, t.pendingItems...)
	}
	t.sumUp(src.Calls)
	return t.story
}

// builder derives a story from events.
type builder struct {
	mask         func(string) string
	story        *Story
	records      map[string]*audit.Entry // by the id of the call
	countedTurns map[string]bool         // turns that a rewind did not undo
	turn         *Turn                   // nil before the first prompt
	turnOpen     bool                    // the turn has not ended
	pendingItems []Item                  // notices before the prompt of their turn
	cards        map[string]*Card        // by id
	openCards    []*Card                 // that have not ended
	steps        map[string]string       // of those cards
	costSoFar    float64                 // of the session so far
	turnNumber   int
	textBytes    int // bytes of texts so far
}

// findCounted finds the turns that no rewind has undone.
func (t *builder) findCounted(dated []session.Dated) {
	events := make([]transcript.Event, len(dated))
	for i, e := range dated {
		events[i] = e.Event
	}
	t.countedTurns = map[string]bool{}
	for _, turn := range transcript.Turns(events) {
		t.countedTurns[turn.MessageID] = true
	}
}

// event adds an event to the story.
func (t *builder) event(d session.Dated) {
	switch e := d.Event.(type) {
	case transcript.Prompt:
		t.prompt(d, e)
	case transcript.Steer:
		t.add(t.message(e.Content))
	case transcript.Block:
		t.say(Agent, e.Block.Text)
		t.say(Thought, e.Block.Thought)
	case transcript.Note:
		t.say(Notice, e.Text)
	case transcript.Answer:
		t.answer(e)
	case transcript.Call:
		t.announce(e.Shown)
	case transcript.Question:
		if e.Shown.Update == acp.UpdateToolCall {
			t.announce(e.Shown)
		} else {
			t.end(e.Shown)
		}
	case transcript.Correction:
		t.update(e.Shown)
	case transcript.Step:
		if e.Text != "" { // else it is the end of a step that failed
			t.steps[e.ToolCallID] += "- " + e.Text + "\n"
		}
	case transcript.Result:
		t.end(e.Shown)
	case transcript.Plan:
		t.plan(e.Entries)
	case transcript.TurnEnd:
		if t.turn != nil {
			t.turn.End = d.Time
		}
		t.endTurn(ending(e))
	default:
		t.change(e)
	}
}

// change adds a notice about an event between or within turns.
func (t *builder) change(e transcript.Event) {
	switch e := e.(type) {
	case transcript.Setting:
		if t.turn != nil && (e.ID == acp.CategoryMode || e.ID == acp.CategoryModel) && e.Value != "" {
			t.say(Notice, fmt.Sprintf("The %s is now %s.", e.ID, e.Value))
		}
	case transcript.Compaction:
		if e.Strategy != transcript.Aged {
			t.say(Notice, e.Note())
		}
	case transcript.Cleared:
		t.say(Notice, "Cleared: the model sees nothing from before.")
	case transcript.Rewound:
		what := map[string]string{transcript.RewindFiles: "the files", transcript.RewindConversation: "the conversation"}[e.Mode]
		verb := "Rewound: %s went back to before turn %d."
		if e.Redo {
			verb = "Undone: the rewind of %s to before turn %d."
		}
		t.say(Notice, fmt.Sprintf(verb, cmp.Or(what, "files and conversation"), e.Turn))
	}
}

// ending returns a sentence about an unusual end of a turn; "" for the usual one.
func ending(e transcript.TurnEnd) string {
	if e.Error != "" {
		return "Ended by an error: " + e.Error
	}
	return e.Reason.Sentence()
}

// prompt begins a turn.
func (t *builder) prompt(d session.Dated, p transcript.Prompt) {
	t.endTurn("Not ended: its agent was killed.")
	t.turn, t.turnOpen = &Turn{ID: p.MessageID, Begun: d.Time}, true
	if !p.NoModel {
		t.turnNumber++
		t.turn.Number = t.turnNumber
		t.turn.Rewound = !t.countedTurns[p.MessageID]
	}
	t.story.Turns = append(t.story.Turns, t.turn)
	t.turn.anchor = fmt.Sprintf("turn-%d", len(t.story.Turns))
	first := t.message(p.Content)
	if len(p.Content) == 0 { // the session has begun the turn itself
		first = Item{Speaker: Notice, Text: "The work on the goal goes on."}
	}
	t.turn.Items = append([]Item{first}, t.pendingItems...)
	t.pendingItems = nil
}

// message returns the text and the attachments of a prompt.
func (t *builder) message(content []acp.ContentBlock) Item {
	item := Item{Speaker: User}
	var texts []string
	for _, b := range content {
		switch {
		case b.Type == "text" && b.Text != nil:
			texts = append(texts, *b.Text)
		case b.Resource != nil && b.Resource.Text != nil:
			item.Attachments = append(item.Attachments, Attachment{t.clean(b.Resource.URI), t.output(*b.Resource.Text)})
		case b.Resource != nil:
			item.Attachments = append(item.Attachments, Attachment{Name: t.clean(b.Resource.URI)})
		case b.Type == "resource_link":
			item.Attachments = append(item.Attachments, Attachment{Name: t.clean(cmp.Or(b.URI, b.Name))})
		default:
			item.Attachments = append(item.Attachments, Attachment{Name: fmt.Sprintf("%s, %d kB", t.clean(b.Type), len(b.Data)*3/4/1000)})
		}
	}
	item.Text = t.output(strings.Join(texts, "\n\n"))
	return item
}

// say adds a text, unless it is empty.
func (t *builder) say(by Speaker, words string) {
	if words = t.output(words); strings.TrimSpace(words) != "" {
		t.add(Item{Speaker: by, Text: words})
	}
}

// add adds an item to the turn. Before the first prompt and between turns it waits for
// the next one.
func (t *builder) add(i Item) {
	if t.turn == nil || !t.turnOpen {
		t.pendingItems = append(t.pendingItems, i)
		return
	}
	if n := len(t.turn.Items); i.Speaker == Notice && n > 0 && t.turn.Items[n-1].Speaker == Notice && t.turn.Items[n-1].Text == i.Text {
		return // a setting and its note say the same
	}
	t.turn.Items = append(t.turn.Items, i)
}

// plan adds a plan in place of the earlier ones of the turn.
func (t *builder) plan(entries []acp.PlanEntry) {
	item := Item{Plan: []acp.PlanEntry{}}
	for _, e := range entries {
		e.Content = t.clean(e.Content)
		item.Plan = append(item.Plan, e)
	}
	if t.turn != nil { // only the last plan of a turn is shown
		t.turn.Items = slices.DeleteFunc(t.turn.Items, func(i Item) bool { return i.Plan != nil })
	}
	t.add(item)
}

// answer adds the model, the tokens and the cost of an answer.
func (t *builder) answer(a transcript.Answer) {
	if name := t.clean(a.Model); name != "" && !slices.Contains(t.story.Models, name) {
		t.story.Models = append(t.story.Models, name)
	}
	if t.turn == nil {
		return
	}
	if a.Usage != nil {
		t.turn.add(Numbers{Usage: *a.Usage})
	}
	if a.Shown != nil && a.Shown.Cost != nil {
		t.turn.add(Numbers{Cost: max(a.Shown.Cost.Amount-t.costSoFar, 0), Currency: t.clean(a.Shown.Cost.Currency)})
		t.costSoFar = a.Shown.Cost.Amount
	}
}

// endTurn closes the open turn and its cards.
func (t *builder) endTurn(how string) {
	if !t.turnOpen {
		return
	}
	for _, c := range t.openCards {
		c.Status = acp.ToolFailed
		c.Outputs = append(c.Outputs, t.output(t.steps[c.ID]+"[not ended]"))
	}
	t.openCards, t.turnOpen = nil, false
	t.turn.Ending = t.clean(how)
}

// clean returns a text with credentials redacted and without terminal control.
func (t *builder) clean(s string) string {
	s = text.WithoutControls(s)
	if t.mask == nil {
		return s
	}
	return t.mask(s)
}

// limit bounds a text.
type limit struct{ lines, bytes int }

// The limit of a text is whole until the story has maxTotal bytes, and then brief, so that a
// browser can still open the page.
var (
	whole = limit{400, 64 << 10}
	brief = limit{20, 2 << 10}
)

const maxTotal = 4 << 20

// limit returns the limit of the next text.
func (t *builder) limit() limit {
	if t.textBytes > maxTotal {
		return brief
	}
	return whole
}

// output returns a text of limited length.
func (t *builder) output(s string) string {
	s = t.limit().shortened(t.clean(s))
	t.textBytes += len(s)
	return s
}

// shortened leaves out the middle of a long text.
func (l limit) shortened(s string) string {
	if len(s) > l.bytes {
		head, tail := strings.ToValidUTF8(s[:l.bytes/2], ""), strings.ToValidUTF8(s[len(s)-l.bytes/2:], "")
		s = fmt.Sprintf("%s\n… %s left out …\n%s", head, quantity.Count(len(s)-len(head)-len(tail), "byte"), tail)
	}
	if lines := strings.Split(s, "\n"); len(lines) > l.lines {
		return strings.Join(l.middleOut(lines), "\n")
	}
	return s
}

// middleOut returns at most l.lines lines and a line about the others.
func (l limit) middleOut(lines []string) []string {
	if len(lines) <= l.lines {
		return lines
	}
	mark := fmt.Sprintf("… %s left out …", quantity.Count(len(lines)-l.lines, "line"))
	return append(append(slices.Clone(lines[:l.lines/2]), mark), lines[len(lines)-l.lines/2:]...)
}

// commandOf returns the script of a call from its input.
func commandOf(input json.RawMessage) string {
	var in struct{ Command string }
	_ = json.Unmarshal(input, &in) // another tool's input has none
	return in.Command
}
