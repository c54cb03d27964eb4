package fakemodel

import (
	"encoding/json"
	"slices"
	"strings"
)

// Request is a request of the agent, with the members that tests look into.
type Request struct {
	Size     int `json:"-"` // bytes of the body
	Tools    []struct{ Name string }
	Messages []struct {
		Role    string
		Content []struct {
			Type, ID    string
			Text        string
			Tool_Use_ID string
			Is_Error    bool
			Content     json.RawMessage
			Source      struct{ Media_Type, Data string } // of an image
		}
	}
}

// Last returns the last text of the user.
func (r Request) Last() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		for _, b := range slices.Backward(r.Messages[i].Content) {
			if b.Type == "text" && r.Messages[i].Role == "user" {
				return b.Text
			}
		}
	}
	return ""
}

// History returns the conversation in a request, one line for each block.
func (r Request) History() []string {
	var lines []string
	for _, m := range r.Messages {
		for _, b := range m.Content {
			text := b.Text
			if b.Type != "text" {
				text = b.Type
			}
			lines = append(lines, m.Role+": "+text)
		}
	}
	return lines
}

// Thinking returns the settings of the nth request that say how much to think,
// in compact JSON.
func (p *Anthropic) Thinking(n int) string {
	p.t.Helper()
	var r struct {
		Thinking     json.RawMessage `json:"thinking"`
		OutputConfig json.RawMessage `json:"output_config"`
	}
	p.decode(n, &r)
	return string(r.Thinking) + string(r.OutputConfig)
}

// ToolBytes returns the tools of the nth request as they were sent, without the
// marks of the cached prefix.
func (p *Anthropic) ToolBytes(n int) []string {
	p.t.Helper()
	var r struct{ Tools []json.RawMessage }
	p.decode(n, &r)
	var out []string
	const mark = `"cache_control":{"type":"ephemeral"}`
	for _, tool := range r.Tools {
		out = append(out, strings.NewReplacer(mark+",", "", ","+mark, "").Replace(string(tool)))
	}
	return out
}

// DecodeLast decodes the last request into v.
func (p *Anthropic) DecodeLast(v any) {
	p.t.Helper()
	p.decode(len(p.Requests())-1, v)
}
