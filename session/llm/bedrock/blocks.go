package bedrock

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// form is an encoded message of the history.
type form struct {
	role        llm.Role
	blocks      []byte // with commas between them; empty means that the message is left out
	first, last blockKind
}

// blockKind is what matters of a block besides its bytes.
type blockKind uint8

const (
	isText blockKind = iota
	isCall
	isResult
	isThought
)

// block is an encoded block.
type block struct {
	kind blockKind
	data []byte
}

type imageBlock struct {
	Image struct {
		Format string `json:"format"`
		Source struct {
			Bytes []byte `json:"bytes"` // encoded as base64
		} `json:"source"`
	} `json:"image"`
}

func newImage(i llm.Image) imageBlock {
	var b imageBlock
	b.Image.Format, b.Image.Source.Bytes = strings.TrimPrefix(i.MIME, "image/"), i.Data
	if b.Image.Format == "jpg" {
		b.Image.Format = "jpeg"
	}
	return b
}

type callBlock struct {
	ToolUse struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
}

type resultBlock struct {
	ToolResult struct {
		ID      string `json:"toolUseId"`
		Content []any  `json:"content"` // textBlock or imageBlock
		Status  string `json:"status,omitempty"`
	} `json:"toolResult"`
}

// thought is the Data of an Opaque: the thought as the model sent it. It includes the text, since the signature covers it.
type thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  []byte `json:"redacted,omitempty"`
}

type reasoningText struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
}

type reasoningBlock struct {
	ReasoningContent struct {
		ReasoningText   *reasoningText `json:"reasoningText,omitempty"`
		RedactedContent []byte         `json:"redactedContent,omitempty"`
	} `json:"reasoningContent"`
}

// encode encodes a message.
func (b *Model) encode(ids *wire.IDs, names wire.ToolNames, m llm.Message) form {
	var blocks []block
	if m.Role == llm.Assistant {
		blocks = b.assistantBlocks(ids, names, m.Blocks)
	} else {
		blocks = b.userBlocks(ids, m.Blocks)
	}
	f := form{role: m.Role}
	all := make([][]byte, len(blocks))
	for i, block := range blocks {
		if i == 0 {
			f.first = block.kind
		}
		f.last, all[i] = block.kind, block.data
	}
	f.blocks = bytes.Join(all, comma)
	return f
}

// userBlocks encodes a message of the user: the results of tools come first, and nothing is empty.
func (b *Model) userBlocks(ids *wire.IDs, blocks []llm.Block) []block {
	var results, rest []block
	for _, bl := range blocks {
		switch {
		case bl.Result != nil:
			var r resultBlock
			r.ToolResult.ID = ids.Result(bl.Result.ID)
			r.ToolResult.Content = []any{textBlock{wire.NonEmptyResult(bl.Result.Text)}}
			for _, i := range bl.Result.Images {
				r.ToolResult.Content = append(r.ToolResult.Content, newImage(i))
			}
			if bl.Result.Failed && b.knowsStatus() {
				r.ToolResult.Status = "error"
			}
			results = append(results, block{isResult, plainjson.MustMarshal(r)})
		case bl.Image != nil:
			rest = append(rest, block{isText, plainjson.MustMarshal(newImage(*bl.Image))})
		case strings.TrimSpace(bl.Text) != "":
			rest = append(rest, block{isText, plainjson.MustMarshal(textBlock{bl.Text})})
		}
	}
	return append(results, rest...)
}

// knowsStatus reports whether the model accepts the status of a result: Claude and Nova do.
func (b *Model) knowsStatus() bool {
	f := Family(b.cfg.Model)
	return strings.HasPrefix(f, "anthropic.") || strings.HasPrefix(f, "amazon.nova")
}

// assistantBlocks encodes an answer. It sends thoughts only to the model that had them, and never at the end of a message, where
// Claude refuses them.
func (b *Model) assistantBlocks(ids *wire.IDs, names wire.ToolNames, blocks []llm.Block) []block {
	var out []block
	end := 0 // after the last block other than a thought
	ids.StartAnswer()
	for _, bl := range blocks {
		switch {
		case bl.Opaque != nil:
			if data, ok := b.thought(*bl.Opaque); ok {
				out = append(out, block{isThought, data})
			}
			continue
		case bl.Call != nil:
			var c callBlock
			c.ToolUse.ID, c.ToolUse.Name, c.ToolUse.Input = ids.Call(bl.Call.ID), names.ToWire(bl.Call.Name), llm.InputObject(bl.Call.Input)
			out = append(out, block{isCall, plainjson.MustMarshal(c)})
		case strings.TrimSpace(bl.Text) != "":
			out = append(out, block{isText, plainjson.MustMarshal(textBlock{bl.Text})})
		default:
			continue
		}
		end = len(out)
	}
	return out[:end]
}

// thought encodes a thought; ok is false for one of another model.
func (b *Model) thought(o llm.Opaque) (data []byte, ok bool) {
	var t thought
	if o.Provider != b.Name() || json.Unmarshal(o.Data, &t) != nil {
		return nil, false
	}
	var r reasoningBlock
	switch {
	case len(t.Redacted) > 0:
		r.ReasoningContent.RedactedContent = t.Redacted
	case t.Signature != "":
		r.ReasoningContent.ReasoningText = &reasoningText{t.Text, t.Signature}
	default:
		return nil, false
	}
	return plainjson.MustMarshal(r), true
}
