package anthropic

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// form is an encoded message of the history.
type form struct {
	role        llm.Role
	blocks      []byte // with commas between them; empty means that the message is left out
	first, last blockType
}

// blockType is the type of a block of a message.
type blockType string

const (
	typeText     blockType = "text"
	typeImage    blockType = "image"
	typeCall     blockType = "tool_use"
	typeResult   blockType = "tool_result"
	typeThought  blockType = "thinking"
	typeRedacted blockType = "redacted_thinking"
)

func (t blockType) isThought() bool { return t == typeThought || t == typeRedacted }

// block is an encoded block.
type block struct {
	kind blockType
	data []byte
}

type textBlock struct {
	Type         blockType     `json:"type"`
	Text         string        `json:"text"`
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

type imageBlock struct {
	Type   blockType   `json:"type"`
	Source imageSource `json:"source"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // encoded as base64
}

func newImage(i llm.Image) imageBlock {
	return imageBlock{typeImage, imageSource{"base64", i.MIME, i.Data}}
}

type callBlock struct {
	Type  blockType       `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultBlock struct {
	Type      blockType `json:"type"`
	ToolUseID string    `json:"tool_use_id"`
	IsError   bool      `json:"is_error,omitempty"`
	Content   []any     `json:"content"` // textBlock or imageBlock
}

type sentThought struct {
	Signature string    `json:"signature"`
	Thinking  string    `json:"thinking"`
	Type      blockType `json:"type"`
}

type redactedThought struct {
	Type blockType `json:"type"`
	Data string    `json:"data"`
}

// encode encodes a message.
func (d dialect) encode(ids *wire.IDs, m llm.Message) form {
	blocks := userBlocks
	if m.Role == llm.Assistant {
		blocks = d.assistantBlocks
	}
	f := form{role: m.Role}
	var all [][]byte
	for _, b := range blocks(m.Blocks, ids) {
		if all == nil {
			f.first = b.kind
		}
		f.last = b.kind
		all = append(all, b.data)
	}
	f.blocks = bytes.Join(all, []byte(","))
	return f
}

// userBlocks encodes a message of the user: the results of tools come first, and
// nothing is empty.
func userBlocks(blocks []llm.Block, ids *wire.IDs) []block {
	var results, rest []block
	for _, b := range blocks {
		switch {
		case b.Result != nil:
			r := resultBlock{typeResult, ids.Result(b.Result.ID), b.Result.Failed, []any{textBlock{Type: typeText, Text: wire.NonEmptyResult(b.Result.Text)}}}
			for _, i := range b.Result.Images {
				r.Content = append(r.Content, newImage(i))
			}
			results = append(results, block{typeResult, plainjson.MustMarshal(r)})
		case b.Image != nil:
			rest = append(rest, block{typeImage, plainjson.MustMarshal(newImage(*b.Image))})
		case strings.TrimSpace(b.Text) != "":
			rest = append(rest, block{typeText, plainjson.MustMarshal(textBlock{Type: typeText, Text: b.Text})})
		}
	}
	return append(results, rest...)
}

// assistantBlocks encodes an answer. It sends thoughts only to the model that had them,
// and never at the end of a message, where the API refuses them.
func (d dialect) assistantBlocks(blocks []llm.Block, ids *wire.IDs) []block {
	var out []block
	end := 0 // after the last block other than a thought
	calls := false
	ids.StartAnswer()
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			if thought, ok := d.thought(*b.Opaque); ok {
				out = append(out, thought)
			}
			continue
		case b.Call != nil:
			call := callBlock{typeCall, ids.Call(b.Call.ID), llm.SafeName(b.Call.Name), llm.InputObject(b.Call.Input)}
			out = append(out, block{typeCall, plainjson.MustMarshal(call)})
			calls = true
		case strings.TrimSpace(b.Text) != "":
			out = append(out, block{typeText, plainjson.MustMarshal(textBlock{Type: typeText, Text: b.Text})})
		default:
			continue
		}
		end = len(out)
	}
	out = out[:end]
	thinks := slices.ContainsFunc(out, func(b block) bool { return b.kind.isThought() })
	if d.fillsThoughts && calls && !thinks {
		filler := sentThought{Type: typeThought, Thinking: " "} // an empty one does not count
		out = append([]block{{typeThought, plainjson.MustMarshal(filler)}}, out...)
	}
	return out
}

// thoughtBlock is the Data of an Opaque: the block as the API sent it. It includes the
// text of the thought, since the copy in the history may have changed, and the
// signature covers the original.
type thoughtBlock struct {
	Type      string `json:"type"` // thinking or redacted_thinking
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// thought encodes a thought; ok is false for one of another model.
func (d dialect) thought(o llm.Opaque) (b block, ok bool) {
	var t thoughtBlock
	if o.Provider != d.model.Name() || json.Unmarshal(o.Data, &t) != nil {
		return block{}, false
	}
	if t.Type == string(typeRedacted) {
		return block{typeRedacted, plainjson.MustMarshal(redactedThought{typeRedacted, t.Data})}, true
	}
	return block{typeThought, plainjson.MustMarshal(sentThought{t.Signature, t.Thinking, typeThought})}, true
}
