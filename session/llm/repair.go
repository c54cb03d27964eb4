package llm

import (
	"slices"
	"strings"
)

// WithoutOpaque removes all opaque blocks and reports whether there were any.
func WithoutOpaque(messages []Message) (bare []Message, had bool) {
	for _, m := range messages {
		blocks := filterBlocks(m.Blocks, func(b Block) bool { return b.Opaque == nil })
		had = had || len(blocks) < len(m.Blocks)
		bare = append(bare, Message{Role: m.Role, Blocks: blocks})
	}
	return bare, had
}

// Tombstone is the text that replaces a missing result.
const Tombstone = "[cancelled]"

// Repair returns the history in the form that providers require: the message after one
// with tool calls begins with exactly one result for each call, in order, and no other
// message has results. A missing result becomes a Tombstone; surplus results and empty
// messages are dropped. A call is paired only with results before the next answer,
// since some providers reuse an ID in a later answer. Repairing twice changes nothing.
// The argument is not changed. It is returned itself if it needs no repair.
func Repair(history []Message) []Message {
	n := soundPrefixLen(history)
	if n > 0 && n == len(history) {
		return history
	}
	out := append(make([]Message, 0, len(history)+1), history[:n]...)
	history = history[n:]
	for len(history) > 0 {
		m := history[0]
		history = history[1:]
		if m.Role != Assistant {
			m.Blocks = filterBlocks(m.Blocks, func(b Block) bool { return b.Result == nil && b.Call == nil })
			if len(m.Blocks) > 0 {
				out = append(out, m)
			}
			continue
		}
		blocks := filterBlocks(m.Blocks, func(b Block) bool { return b.Result == nil })
		if len(blocks) > 0 {
			out = append(out, Message{Role: Assistant, Blocks: blocks, Count: m.Count})
		}
		replies := history[:nextAnswer(history)]
		if results := resultsOf(blocks, replies); len(results) > 0 {
			// They belong to the next message, if there is one.
			if len(replies) > 0 {
				rest := filterBlocks(replies[0].Blocks, func(b Block) bool { return b.Result == nil && b.Call == nil })
				results = append(results, rest...)
				history = history[1:]
			}
			out = append(out, Message{Role: User, Blocks: results})
		}
	}
	return out
}

// nextAnswer returns the index of the next message of the assistant.
func nextAnswer(history []Message) int {
	if i := slices.IndexFunc(history, func(m Message) bool { return m.Role == Assistant }); i >= 0 {
		return i
	}
	return len(history)
}

// soundPrefixLen returns the number of messages before the first one that needs repair.
func soundPrefixLen(history []Message) int {
	for i := 0; i < len(history); i++ {
		blocks := history[i].Blocks
		calls, results := count(blocks)
		if len(blocks) == 0 || results > 0 || history[i].Role != Assistant && calls > 0 {
			return i
		}
		if calls == 0 {
			continue
		}
		if i+1 == len(history) || history[i+1].Role == Assistant || !isAnswered(history[i+1].Blocks, blocks) {
			return i
		}
		i++ // the results
	}
	return len(history)
}

// count returns the number of calls and of results in blocks.
func count(blocks []Block) (calls, results int) {
	for i := range blocks {
		if blocks[i].Call != nil {
			calls++
		}
		if blocks[i].Result != nil {
			results++
		}
	}
	return calls, results
}

// isAnswered reports whether a reply begins with one result for each call in blocks, in
// order, and has neither others nor calls.
func isAnswered(reply, blocks []Block) bool {
	for i := range blocks {
		call := blocks[i].Call
		if call == nil {
			continue
		}
		if len(reply) == 0 || reply[0].Result == nil || reply[0].Result.ID != call.ID {
			return false
		}
		reply = reply[1:]
	}
	calls, results := count(reply)
	return calls == 0 && results == 0
}

// resultsOf returns one result for each call in blocks. Calls with the same ID are
// paired with the results of that ID in order.
func resultsOf(blocks []Block, replies []Message) []Block {
	found := map[string][]*ToolResult{}
	for _, m := range replies {
		for _, b := range m.Blocks {
			if b.Result != nil {
				found[b.Result.ID] = append(found[b.Result.ID], b.Result)
			}
		}
	}
	var results []Block
	for _, b := range blocks {
		if b.Call == nil {
			continue
		}
		r := &ToolResult{ID: b.Call.ID, Text: Tombstone, Failed: true}
		if have := found[b.Call.ID]; len(have) > 0 {
			r, found[b.Call.ID] = have[0], have[1:]
		}
		results = append(results, Block{Result: r})
	}
	return results
}

// filterBlocks returns the blocks that keep accepts; it copies only if some are dropped.
func filterBlocks(blocks []Block, keep func(Block) bool) []Block {
	if !slices.ContainsFunc(blocks, func(b Block) bool { return !keep(b) }) {
		return blocks
	}
	var kept []Block
	for _, b := range blocks {
		if keep(b) {
			kept = append(kept, b)
		}
	}
	return kept
}

// Merge joins adjacent messages of the same role, which the templates of some models
// refuse. The argument is not changed.
func Merge(history []Message) []Message {
	if alternates(history) {
		return history
	}
	out := make([]Message, 0, len(history))
	for _, m := range history {
		if n := len(out); n > 0 && out[n-1].Role == m.Role {
			out[n-1].Blocks = append(slices.Clip(out[n-1].Blocks), m.Blocks...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// WithProject returns a history that begins with a text, for providers whose system prompt comes
// before the tools.
func WithProject(history []Message, text string) []Message {
	if strings.TrimSpace(text) == "" {
		return history
	}
	first := Message{Role: User, Blocks: []Block{{Text: text}}}
	if len(history) == 0 || history[0].Role != User {
		return slices.Concat([]Message{first}, history)
	}
	history = slices.Clone(history)
	history[0].Blocks = slices.Concat(first.Blocks, history[0].Blocks)
	return history
}

// alternates reports whether no two adjacent messages have the same role.
func alternates(history []Message) bool {
	for i := 1; i < len(history); i++ {
		if history[i].Role == history[i-1].Role {
			return false
		}
	}
	return true
}
