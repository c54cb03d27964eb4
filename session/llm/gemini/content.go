package gemini

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/picture"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// content is a message.
type content struct {
	Role  string `json:"role,omitempty"` // user or model
	Parts []part `json:"parts"`
}

// part is a piece of a message. Exactly one of Text, InlineData, FunctionCall and FunctionResponse is set.
type part struct {
	Thought          bool              `json:"thought,omitempty"`
	Text             *string           `json:"text,omitempty"` // may be empty, beside a signature
	InlineData       *blob             `json:"inlineData,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

type blob struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"` // encoded as base64
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type functionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response output         `json:"response"`
	Parts    []responsePart `json:"parts,omitempty"`
}

// output is the text of a result, under one of the names that the API documents.
type output struct {
	Output string `json:"output,omitempty"`
	Error  string `json:"error,omitempty"`
}

// responsePart is an image of a result.
type responsePart struct {
	InlineData blob `json:"inlineData"`
}

// state is the adapter's state from one message to the next.
type state struct {
	wire.IDs
	names map[string]string // of the calls of the last answer, by ID as the API gets it
}

// opaque is the Data of an Opaque: the signature of a part of an answer. The part is the call of that ID, or a thought with this
// text, or the last bytes of the text before it. Without any of them it is an empty text.
// https://ai.google.dev/gemini-api/docs/thought-signatures
type opaque struct {
	Call      string `json:"call,omitempty"`
	Thought   string `json:"thought,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
	Signature string `json:"signature"`
}

// encode encodes a message; it returns nil for an empty one.
func (d dialect) encode(s *state, m llm.Message) []byte {
	c := content{"user", nil}
	if m.Role == llm.Assistant {
		c = content{"model", d.answerParts(s, m.Blocks)}
	} else {
		c.Parts = d.userParts(s, m.Blocks)
	}
	if len(c.Parts) == 0 {
		return nil
	}
	return plainjson.MustMarshal(c)
}

// userParts encodes a message of the user: the results of tools come first, and nothing is empty.
func (d dialect) userParts(s *state, blocks []llm.Block) []part {
	nested := d.facts.RequiresSignature() // the same generation that sees images in results
	if !nested {
		blocks = llm.ImagesAfterResults(blocks)
	}
	var results, rest []part
	for _, b := range blocks {
		switch {
		case b.Result != nil:
			r := functionResponse{ID: s.Result(b.Result.ID), Response: outputOf(*b.Result)}
			r.Name = s.names[r.ID]
			if nested {
				for _, i := range b.Result.Images {
					r.Parts = append(r.Parts, responsePart{*newBlob(i)})
				}
			}
			results = append(results, part{FunctionResponse: &r})
		case b.Image != nil:
			rest = append(rest, part{InlineData: newBlob(*b.Image)})
		case strings.TrimSpace(b.Text) != "":
			rest = append(rest, part{Text: &b.Text})
		}
	}
	return append(results, rest...)
}

// outputOf returns a result in the form of the API.
func outputOf(r llm.ToolResult) output {
	text := wire.NonEmptyResult(r.Text)
	if r.Failed {
		return output{Error: text}
	}
	return output{Output: text}
}

// newBlob returns an image in a format that the API accepts: it does not read GIF.
// https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats
func newBlob(i llm.Image) *blob {
	if i.MIME == "image/gif" {
		if png, err := picture.PNG(i); err == nil {
			i = png
		}
	}
	return &blob{i.MIME, i.Data}
}

// answerParts encodes an answer. It sends signatures only to the model that made them. The first call always has one where
// the API requires it.
func (d dialect) answerParts(s *state, blocks []llm.Block) []part {
	var parts []part
	signatures := map[string]string{} // of calls, by ID
	first := -1                       // index of the first call
	said := false
	s.StartAnswer()
	s.names = map[string]string{}
	for _, b := range blocks {
		switch {
		case b.Opaque != nil:
			var o opaque
			if b.Opaque.Provider != d.Name() || json.Unmarshal(b.Opaque.Data, &o) != nil || o.Signature == "" {
				continue
			}
			if o.Call != "" {
				signatures[o.Call] = o.Signature
				continue
			}
			parts = o.appendTo(parts)
		case b.Call != nil:
			c := functionCall{s.Call(b.Call.ID), d.names.ToWire(b.Call.Name), llm.InputObject(b.Call.Input)}
			s.names[c.ID] = c.Name
			if first < 0 {
				first = len(parts)
			}
			parts = append(parts, part{FunctionCall: &c, ThoughtSignature: signatures[b.Call.ID]})
			said = true
		case strings.TrimSpace(b.Text) != "":
			parts = append(parts, part{Text: &b.Text})
			said = true
		}
	}
	if !said { // a signature alone is no answer
		return nil
	}
	if first >= 0 && parts[first].ThoughtSignature == "" && d.facts.RequiresSignature() {
		parts[first].ThoughtSignature = models.SkipSignature
	}
	return parts
}

// appendTo appends the signed part. If it is the end of the text before it, the text is cut there.
func (o opaque) appendTo(parts []part) []part {
	if o.Thought != "" {
		return append(parts, part{Thought: true, Text: &o.Thought, ThoughtSignature: o.Signature})
	}
	signed := part{Text: new(string), ThoughtSignature: o.Signature}
	n := len(parts)
	if n == 0 || o.Bytes <= 0 {
		return append(parts, signed)
	}
	last := parts[n-1]
	if last.Text == nil || last.ThoughtSignature != "" || len(*last.Text) < o.Bytes {
		return append(parts, signed)
	}
	at := len(*last.Text) - o.Bytes
	if !utf8.RuneStart((*last.Text)[at]) { // the text was changed since
		at = 0
	}
	rest, end := (*last.Text)[:at], (*last.Text)[at:]
	signed.Text, parts = &end, parts[:n-1]
	if rest != "" {
		parts = append(parts, part{Text: &rest})
	}
	return append(parts, signed)
}
