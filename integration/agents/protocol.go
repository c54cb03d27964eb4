package agents

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An answer is what the model says: a text or a call.
type answer struct {
	id, tokens int
	text       string
	call       ToolCall
}

func (a answer) input() string {
	if text, ok := a.call.Input.(string); ok { // of a tool without a schema
		return text
	}
	text, _ := json.Marshal(a.call.Input) // maps of strings, numbers and lists
	return string(text)
}

// A protocol writes answers.
type protocol struct {
	suffix string // of the path of requests for answers
	stream func(answer) string
	whole  func(answer) string
}

var protocols = []*protocol{
	{"/messages", messagesStream, messagesWhole},
	{"/chat/completions", chatStream, chatWhole},
	{"/responses", responsesStream, responsesWhole},
	{":streamGenerateContent", func(a answer) string { return "data: " + geminiWhole(a) + "\n\n" }, geminiWhole},
	{":generateContent", geminiWhole, geminiWhole},
}

// protocolOf returns the protocol of a path, or nil, and whether the address asks for a
// stream.
func protocolOf(path, query string) (p *protocol, streams bool) {
	for _, p := range protocols {
		if strings.HasSuffix(path, p.suffix) {
			return p, strings.Contains(query, "alt=sse")
		}
	}
	return nil, false
}

// An Object is a JSON object.
type Object = map[string]any

func encode(v any) string {
	text, _ := json.Marshal(v) // objects of strings and numbers
	return string(text)
}

// event returns an event of a stream, whose name is its type.
func event(v Object) string { return fmt.Sprintf("event: %s\ndata: %s\n\n", v["type"], encode(v)) }

func (a answer) messagesBlock() Object {
	if a.text != "" {
		return Object{"type": "text", "text": a.text}
	}
	return Object{"type": "tool_use", "id": fmt.Sprint("toolu_", a.id), "name": a.call.Tool, "input": a.call.Input}
}

func (a answer) messages(content ...any) Object {
	stop := "tool_use"
	if a.text != "" {
		stop = "end_turn"
	}
	if content == nil {
		content = []any{}
	}
	return Object{
		"id": fmt.Sprint("msg_", a.id), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "stop_reason": stop,
		"usage": Object{"input_tokens": a.tokens, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
	}
}

func messagesWhole(a answer) string { return encode(a.messages(a.messagesBlock())) }

func messagesStream(a answer) string {
	start := a.messages()
	start["stop_reason"] = nil
	block, delta := a.messagesBlock(), Object{"type": "text_delta", "text": a.text}
	if a.text == "" {
		block["input"], delta = Object{}, Object{"type": "input_json_delta", "partial_json": a.input()}
	} else {
		block["text"] = ""
	}
	return event(Object{"type": "message_start", "message": start}) +
		event(Object{"type": "content_block_start", "index": 0, "content_block": block}) +
		event(Object{"type": "content_block_delta", "index": 0, "delta": delta}) +
		event(Object{"type": "content_block_stop", "index": 0}) +
		event(Object{"type": "message_delta", "delta": Object{"stop_reason": a.messages()["stop_reason"]}, "usage": Object{"output_tokens": 20}}) +
		event(Object{"type": "message_stop"})
}

// chat returns a completion whose message is in a member of that name.
func (a answer) chat(kind, member string) Object {
	said, reason := Object{"role": "assistant", "content": a.text}, "stop"
	if a.text == "" {
		said["content"], reason = nil, "tool_calls"
		said["tool_calls"] = []any{Object{
			"index": 0, "id": fmt.Sprint("call_", a.id), "type": "function", "function": Object{"name": a.call.Tool, "arguments": a.input()},
		}}
	}
	return Object{
		"id": fmt.Sprint("chatcmpl-", a.id), "Object": kind, "created": 1, "model": "m",
		"choices": []any{Object{"index": 0, member: said, "finish_reason": reason}},
		"usage":   Object{"prompt_tokens": a.tokens, "completion_tokens": 20, "total_tokens": a.tokens + 20},
	}
}

func chatWhole(a answer) string { return encode(a.chat("chat.completion", "message")) }

func chatStream(a answer) string {
	return "data: " + encode(a.chat("chat.completion.chunk", "delta")) + "\n\ndata: [DONE]\n\n"
}

func (a answer) responsesItem() Object {
	_, free := a.call.Input.(string)
	switch {
	case a.text != "":
		return Object{
			"type": "message", "id": fmt.Sprint("msg_", a.id), "role": "assistant", "status": "completed",
			"content": []any{Object{"type": "output_text", "text": a.text, "annotations": []any{}}},
		}
	case free:
		return Object{
			"type": "custom_tool_call", "id": fmt.Sprint("ctc_", a.id), "status": "completed",
			"call_id": fmt.Sprint("call_", a.id), "name": a.call.Tool, "input": a.input(),
		}
	}
	return Object{
		"type": "function_call", "id": fmt.Sprint("fc_", a.id), "status": "completed",
		"call_id": fmt.Sprint("call_", a.id), "name": a.call.Tool, "arguments": a.input(),
	}
}

func (a answer) responses(status string, output ...any) Object {
	if output == nil {
		output = []any{}
	}
	return Object{
		"id": fmt.Sprint("resp_", a.id), "Object": "response", "created_at": 1, "status": status, "model": "gpt-5.4", "output": output,
		"usage": Object{
			"input_tokens": a.tokens, "output_tokens": 20, "total_tokens": a.tokens + 20,
			"input_tokens_details": Object{"cached_tokens": 0}, "output_tokens_details": Object{"reasoning_tokens": 0},
		},
	}
}

func responsesWhole(a answer) string { return encode(a.responses("completed", a.responsesItem())) }

func responsesStream(a answer) string {
	it := a.responsesItem()
	out := event(Object{"type": "response.created", "response": a.responses("in_progress")})
	out += event(Object{"type": "response.output_item.added", "output_index": 0, "item": it})
	if a.text != "" {
		out += event(Object{"type": "response.output_text.delta", "item_id": it["id"], "output_index": 0, "content_index": 0, "delta": a.text})
	}
	return out + event(Object{"type": "response.output_item.done", "output_index": 0, "item": it}) +
		event(Object{"type": "response.completed", "response": a.responses("completed", it)})
}

func geminiWhole(a answer) string {
	said := Object{"text": a.text}
	if a.text == "" {
		said = Object{"functionCall": Object{"name": a.call.Tool, "args": a.call.Input}}
	}
	return encode(Object{
		"candidates":    []any{Object{"index": 0, "finishReason": "STOP", "content": Object{"role": "model", "parts": []any{said}}}},
		"usageMetadata": Object{"promptTokenCount": a.tokens, "candidatesTokenCount": 20, "totalTokenCount": a.tokens + 20},
	})
}
