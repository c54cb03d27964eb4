package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// A Part says what a piece of a request is for.
type Part string

const (
	PartTools   Part = "tools"
	PartSystem  Part = "system"
	PartResults Part = "results"
	PartCalls   Part = "calls"
	PartOther   Part = "other" // what user and model said
)

var Parts = []Part{PartTools, PartSystem, PartResults, PartCalls, PartOther}

// An Item is a piece of a request that a provider's cache holds or does not: a tool, or a
// block of a message. Its text is decoded.
type Item struct {
	Part Part
	Text string
	Mark bool // the provider is asked to cache up to here
}

// Same reports whether two items are equal to a cache.
func (i Item) Same(other Item) bool { return i.Part == other.Part && i.Text == other.Text }

// A request is what an agent sent to the model.
type Request struct {
	Bytes int
	Items []Item   // in the order in which providers read them: tools, system, messages
	Tools []string // their names
}

// Parse decodes a request of any protocol.
func Parse(body []byte) (*Request, error) {
	var in struct {
		Tools             []json.RawMessage
		System            json.RawMessage // Messages
		Instructions      string          // Responses
		SystemInstruction message         // Gemini
		Messages          []message       // Messages, Chat Completions
		Input             json.RawMessage // Responses
		Contents          []message       // Gemini
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &Request{Bytes: len(body)}
	for _, tool := range in.Tools {
		r.addTool(tool)
	}
	r.addMessage(message{Content: in.System}, PartSystem)
	r.add(PartSystem, in.Instructions)
	r.addMessage(in.SystemInstruction, PartSystem)
	messages := append(in.Messages, in.Contents...)
	if len(in.Input) > 0 && json.Unmarshal(in.Input, &messages) != nil {
		var text string
		if err := json.Unmarshal(in.Input, &text); err != nil {
			return nil, fmt.Errorf("input: %w", err)
		}
		r.add(PartOther, text)
	}
	for _, m := range messages {
		r.addMessage(m, PartOther)
	}
	return r, nil
}

// A message is one of any protocol, or a block of one.
type message struct {
	Role, Type string
	Content    json.RawMessage
	Text       string
	Thinking   string
	Parts      []message // Gemini

	Name      string          // of a called tool
	Input     json.RawMessage // Messages; Responses for custom tools
	Arguments string          // Responses
	Output    json.RawMessage // Responses
	ToolCalls []struct {      // Chat Completions
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	FunctionCall     json.RawMessage // Gemini
	FunctionResponse *struct{ Response json.RawMessage }

	CacheControl json.RawMessage `json:"cache_control"`
}

func (r *Request) add(p Part, texts ...string) {
	for _, text := range texts {
		if text != "" {
			r.Items = append(r.Items, Item{Part: p, Text: text})
		}
	}
}

// addTool adds a tool. Gemini puts all into one.
func (r *Request) addTool(raw json.RawMessage) {
	var tool struct {
		Name, Type           string
		Function             struct{ Name string }
		FunctionDeclarations []json.RawMessage
	}
	if json.Unmarshal(raw, &tool) != nil {
		return
	}
	if len(tool.FunctionDeclarations) > 0 {
		for _, one := range tool.FunctionDeclarations {
			r.addTool(one)
		}
		return
	}
	name := tool.Name + tool.Function.Name
	if name == "" {
		name = tool.Type
	}
	r.Tools = append(r.Tools, name)
	var members map[string]json.RawMessage
	_ = json.Unmarshal(raw, &members) // is an Object by the above
	marked := members["cache_control"]
	delete(members, "cache_control")
	text, _ := json.Marshal(members)
	r.add(PartTools, string(text))
	r.mark(marked)
}

// mark marks the last item if a block has such a mark.
func (r *Request) mark(cacheControl json.RawMessage) {
	if len(cacheControl) > 0 && len(r.Items) > 0 {
		r.Items[len(r.Items)-1].Mark = true
	}
}

// addMessage adds a message whose text is of a part.
func (r *Request) addMessage(m message, p Part) {
	defer func() { r.mark(m.CacheControl) }()
	switch m.Role {
	case "system", "developer":
		p = PartSystem
	case "tool":
		p = PartResults
	}
	switch m.Type {
	case "tool_use", "function_call", "custom_tool_call", "local_shell_call":
		r.add(PartCalls, m.Name+" "+m.Arguments+strings.Join(blocks(m.Input), "\n"))
		return
	case "tool_result":
		p = PartResults
	case "function_call_output", "custom_tool_call_output":
		p, m.Content = PartResults, m.Output
	}
	r.add(p, m.Text, m.Thinking)
	var inner []message
	if json.Unmarshal(m.Content, &inner) != nil {
		r.add(p, blocks(m.Content)...)
	}
	for _, one := range append(inner, m.Parts...) {
		r.addMessage(one, p)
	}
	for _, c := range m.ToolCalls {
		r.add(PartCalls, c.Function.Name+" "+c.Function.Arguments)
	}
	if len(m.FunctionCall) > 0 {
		r.add(PartCalls, string(m.FunctionCall))
	}
	if m.FunctionResponse != nil {
		r.add(PartResults, strings.Join(stringsOf(m.FunctionResponse.Response), "\n"))
	}
}

// blocks returns the texts of a content: a string, a list of blocks, or other JSON as it is.
func blocks(raw json.RawMessage) []string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var text string
	var list []message
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return []string{text}
	case json.Unmarshal(raw, &list) == nil:
		var all []string
		for _, b := range list {
			all = append(all, b.Text)
		}
		return all
	}
	return []string{string(raw)}
}

// stringsOf returns all strings in a JSON value.
func stringsOf(raw json.RawMessage) []string {
	var all []string
	dec := json.NewDecoder(bytes.NewReader(raw))
	for {
		token, err := dec.Token()
		if err != nil {
			return all
		}
		if text, ok := token.(string); ok {
			all = append(all, text)
		}
	}
}

// HasResult reports whether a tool's result in the request contains some text.
func (r *Request) HasResult(text string) bool {
	for _, it := range r.Items {
		if it.Part == PartResults && strings.Contains(it.Text, text) {
			return true
		}
	}
	return false
}
