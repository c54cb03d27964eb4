// Package story presents a stored session to people, as an HTML page ([Story.HTML]) or
// as Markdown ([Story.Markdown]).
//
// [New] derives a Story from the events of the session, and joins its tool calls with
// their lines of the audit log: who allowed a call, by which rule, and how many bytes
// the filters saved.
//
// It promises that no text of a session has an effect in the page or in the Markdown
// document: texts are redacted, cleared of terminal control and escaped. A long text is
// shortened in the middle. Images are left out, since they cannot be redacted.
package story

import (
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/page"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// Story is a session for people. Its texts are redacted and hold no terminal control.
type Story struct {
	Session store.Session
	Title   string
	Dir     string
	Models  []string // in the order of their first answer
	Turns   []*Turn
	Others  []audit.Entry // on record without a card: of sub-agents, hooks and links
	Total   Numbers
	Files   []string // that tools changed; relative to Dir if they are in it
	Audited bool     // the log has a line of the session
}

// Turn is a prompt with everything up to the next one.
type Turn struct {
	Number     int // from 1; 0 for a command that no model saw
	ID         string
	Begun, End time.Time
	Items      []Item
	Rewound    bool   // a rewind has undone it
	Ending     string // a sentence about an unusual end; empty for the usual one
	anchor     string // its id in the page
	Numbers
}

// Numbers are the totals of one turn or of all turns.
type Numbers struct {
	llm.Usage
	Cost                  float64
	Currency              string
	Calls, Failed, Denied int
	Before, After         int64 // bytes of output, before and after the filters
}

// Saved returns the bytes that no model had to read.
func (n Numbers) Saved() int64 { return max(n.Before-n.After, 0) }

// cost returns the cost for people: "unknown" if models were asked whose price is unknown, and "" if none were.
func (n Numbers) cost() string {
	switch {
	case n.Currency != "":
		return page.Money(n.Cost, n.Currency)
	case n.Input+n.Output > 0:
		return "unknown"
	}
	return ""
}

func (n *Numbers) add(more Numbers) {
	n.Input, n.Output = n.Input+more.Input, n.Output+more.Output
	n.CacheRead, n.CacheWrite = n.CacheRead+more.CacheRead, n.CacheWrite+more.CacheWrite
	n.Cost += more.Cost
	if more.Currency != "" {
		n.Currency = more.Currency
	}
	n.Calls, n.Failed, n.Denied = n.Calls+more.Calls, n.Failed+more.Failed, n.Denied+more.Denied
	n.Before, n.After = n.Before+more.Before, n.After+more.After
}

// Speaker is the author of an item's text.
type Speaker string

// The speakers.
const (
	User    Speaker = "user"
	Agent   Speaker = "agent"
	Thought Speaker = "thought"
	Notice  Speaker = "notice" // zeph-acp itself
)

// Item is a part of a turn: a card, a plan, or a text.
type Item struct {
	Card *Card
	Plan []acp.PlanEntry

	Speaker     Speaker
	Text        string
	Attachments []Attachment
}

// Attachment is a part of a prompt other than typed text: a file, a link or an image.
type Attachment struct {
	Name string
	Text string // empty for a link or an image
}

// Card is a tool call.
type Card struct {
	ID      string
	Title   string
	Kind    string
	Status  acp.ToolStatus
	Command string // a script that the title may hold only in part
	Diffs   []Diff
	Outputs []string
	Record  *audit.Entry // nil if the log has no line of it
}

// Failed reports whether the call failed, was denied or was cancelled.
func (c *Card) Failed() bool { return c.Status == acp.ToolFailed || c.Status == acp.ToolCancelled }

// Diff is a change of a file, as lines of the unified format.
type Diff struct {
	Path  string // relative to the session's directory if it is there
	Lines []string
}
