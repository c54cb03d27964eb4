package transcript

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Strategy names the initiator of a compaction.
type Strategy string

// The strategies.
const (
	Triggered  Strategy = "triggered"  // the agent, since the window was nearly full
	Manual     Strategy = "manual"     // the user, by /compact
	Autonomous Strategy = "autonomous" // the model, by compress_context
	Aged       Strategy = "aged"       // the agent, since old results cost more than they are worth; it is not shown
)

// Compaction changes the model's view of the messages before it. The log keeps them.
type Compaction struct {
	ID       string   `json:"id,omitempty"` // of the client's compaction_update; a UUID
	Strategy Strategy `json:"strategy,omitempty"`
	// Shortened are results that become references.
	Shortened []Shortened `json:"shortened,omitempty"`
	// Head replaces the first Replaced messages; a nil Head replaces nothing. If the
	// prompt that is being answered is among them, it stays, after Head: Prompt is its
	// 1-based index, otherwise 0.
	Head     *llm.Message `json:"head,omitempty"`
	Replaced int          `json:"replaced,omitempty"`
	Prompt   int          `json:"prompt,omitempty"`
	// Summary is the model's text. In logs of earlier versions, without Head and
	// Shortened, it replaces all messages.
	Summary string `json:"summary" texts:"-"`
	// Referred says that Summary is not a model's, but an outline with a reference.
	Referred bool `json:"referred,omitempty"`
	// Before and After are the estimated tokens of the context.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
	// MessageID is the id of the note to a client without compaction_update; it is
	// empty if the client got an update instead.
	MessageID string `json:"messageId,omitempty"`
}

// Shortened is a result with a new text.
type Shortened struct {
	Message int    `json:"message"` // index from 0
	ID      string `json:"id"`      // of the call
	Text    string `json:"text"`
}

// Apply returns the history after the compaction, and the new index of the message at
// begin.
func (c Compaction) Apply(history []llm.Message, begin int) ([]llm.Message, int) {
	if c.Head == nil && len(c.Shortened) == 0 {
		history = []llm.Message{Digest{Summary: c.Summary}.Message()}
		return history, len(history)
	}
	out := slices.Clone(history)
	for _, s := range c.Shortened {
		if s.Message < len(out) { // otherwise the log is from elsewhere
			out[s.Message].Blocks = withText(out[s.Message].Blocks, s.ID, s.Text)
		}
	}
	if c.Head == nil {
		return out, begin
	}
	head, replaced, kept := []llm.Message{*c.Head}, min(c.Replaced, len(out)), c.Prompt-1
	if kept >= 0 && kept < replaced {
		head = append(head, out[kept])
	}
	history = append(head, out[replaced:]...)
	switch {
	case begin >= replaced:
		begin += len(head) - replaced
	case begin == kept:
		begin = 1
	default:
		begin = len(history)
	}
	return history, begin
}

// withText returns the blocks with the text of one result replaced, and without its
// images.
func withText(blocks []llm.Block, id, text string) []llm.Block {
	blocks = slices.Clone(blocks)
	for i, b := range blocks {
		if b.Result != nil && b.Result.ID == id {
			r := *b.Result
			r.Text, r.Images = text, nil
			blocks[i].Result = &r
		}
	}
	return blocks
}

// Update returns the final message to a client that has compaction_update.
func (c Compaction) Update() acp.CompactionUpdate {
	u := acp.CompactionUpdate{Update: acp.UpdateCompaction, CompactionID: c.ID, Status: acp.CompactionCompleted}
	u.Summary = []acp.ContentBlock{acp.TextBlock(c.Note())}
	if c.Summary != "" {
		u.Summary = append(u.Summary, acp.TextBlock(c.Summary))
	}
	return u
}

// Note returns the message to any other client.
func (c Compaction) Note() string {
	what := "older messages are a summary"
	switch {
	case c.Head == nil:
		what = "older outputs are references"
	case c.Referred:
		what = "older messages are a reference"
	}
	return fmt.Sprintf("Compacted the conversation (%s): %s, and about %s are now %d.", c.Strategy, what, quantity.Count(c.Before, "token"), c.After)
}

// check checks a compaction that may come from elsewhere.
func (c Compaction) check() error {
	if !slices.Contains([]Strategy{"", Triggered, Manual, Autonomous, Aged}, c.Strategy) {
		return fmt.Errorf("unknown strategy %q", c.Strategy)
	}
	if c.Replaced < 0 || c.Prompt < 0 || c.Prompt > c.Replaced {
		return errors.New("replaced and prompt must not be negative, and prompt is one of those replaced")
	}
	for i, s := range c.Shortened {
		if s.Message < 0 {
			return fmt.Errorf("shortened[%d]: message must not be negative", i)
		}
	}
	if c.Head == nil {
		return nil
	}
	if _, ok := ReadDigest([]llm.Message{*c.Head}); !ok {
		return errors.New("head is not a digest")
	}
	return nil
}

func (Compaction) Kind() string { return "compaction" }

// Shortens reports whether a result is a reference already. The ID of its call is not
// enough: some providers restart their IDs with each answer.
func (c Compaction) Shortens(message int, id string) bool {
	return slices.ContainsFunc(c.Shortened, func(s Shortened) bool { return s.Message == message && s.ID == id })
}
