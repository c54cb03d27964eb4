package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// An answer is what the model says: a text or a call.
type answer struct {
	id, tokens int
	text       string
	call       toolCall
}

func (a answer) input() string {
	if text, ok := a.call.input.(string); ok { // of a tool without a schema
		return text
	}
	text, _ := json.Marshal(a.call.input) // maps of strings, numbers and lists
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

type object = map[string]any

func encode(v any) string {
	text, _ := json.Marshal(v) // objects of strings and numbers
	return string(text)
}

// event returns an event of a stream, whose name is its type.
func event(v object) string { return fmt.Sprintf("event: %s\ndata: %s\n\n", v["type"], encode(v)) }

func (a answer) messagesBlock() object {
	if a.text != "" {
		return object{"type": "text", "text": a.text}
	}
	return object{"type": "tool_use", "id": fmt.Sprint("toolu_", a.id), "name": a.call.tool, "input": a.call.input}
}

func (a answer) messages(content ...any) object {
	stop := "tool_use"
	if a.text != "" {
		stop = "end_turn"
	}
	if content == nil {
		content = []any{}
	}
	return object{
		"id": fmt.Sprint("msg_", a.id), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "stop_reason": stop,
		"usage": object{"input_tokens": a.tokens, "output_tokens": 20, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
	}
}

func messagesWhole(a answer) string { return encode(a.messages(a.messagesBlock())) }

func messagesStream(a answer) string {
	start := a.messages()
	start["stop_reason"] = nil
	block, delta := a.messagesBlock(), object{"type": "text_delta", "text": a.text}
	if a.text == "" {
		block["input"], delta = object{}, object{"type": "input_json_delta", "partial_json": a.input()}
	} else {
		block["text"] = ""
	}
	return event(object{"type": "message_start", "message": start}) +
		event(object{"type": "content_block_start", "index": 0, "content_block": block}) +
		event(object{"type": "content_block_delta", "index": 0, "delta": delta}) +
		event(object{"type": "content_block_stop", "index": 0}) +
		event(object{"type": "message_delta", "delta": object{"stop_reason": a.messages()["stop_reason"]}, "usage": object{"output_tokens": 20}}) +
		event(object{"type": "message_stop"})
}

// chat returns a completion whose message is in a member of that name.
func (a answer) chat(kind, member string) object {
	said, reason := object{"role": "assistant", "content": a.text}, "stop"
	if a.text == "" {
		said["content"], reason = nil, "tool_calls"
		said["tool_calls"] = []any{object{
			"index": 0, "id": fmt.Sprint("call_", a.id), "type": "function", "function": object{"name": a.call.tool, "arguments": a.input()},
		}}
	}
	return object{
		"id": fmt.Sprint("chatcmpl-", a.id), "object": kind, "created": 1, "model": "m",
		"choices": []any{object{"index": 0, member: said, "finish_reason": reason}},
		"usage":   object{"prompt_tokens": a.tokens, "completion_tokens": 20, "total_tokens": a.tokens + 20},
	}
}

func chatWhole(a answer) string { return encode(a.chat("chat.completion", "message")) }

func chatStream(a answer) string {
	return "data: " + encode(a.chat("chat.completion.chunk", "delta")) + "\n\ndata: [DONE]\n\n"
}

func (a answer) responsesItem() object {
	_, free := a.call.input.(string)
	switch {
	case a.text != "":
		return object{
			"type": "message", "id": fmt.Sprint("msg_", a.id), "role": "assistant", "status": "completed",
			"content": []any{object{"type": "output_text", "text": a.text, "annotations": []any{}}},
		}
	case free:
		return object{
			"type": "custom_tool_call", "id": fmt.Sprint("ctc_", a.id), "status": "completed",
			"call_id": fmt.Sprint("call_", a.id), "name": a.call.tool, "input": a.input(),
		}
	}
	return object{
		"type": "function_call", "id": fmt.Sprint("fc_", a.id), "status": "completed",
		"call_id": fmt.Sprint("call_", a.id), "name": a.call.tool, "arguments": a.input(),
	}
}

func (a answer) responses(status string, output ...any) object {
	if output == nil {
		output = []any{}
	}
	return object{
		"id": fmt.Sprint("resp_", a.id), "object": "response", "created_at": 1, "status": status, "model": "gpt-5.4", "output": output,
		"usage": object{
			"input_tokens": a.tokens, "output_tokens": 20, "total_tokens": a.tokens + 20,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
}

func responsesWhole(a answer) string { return encode(a.responses("completed", a.responsesItem())) }

func responsesStream(a answer) string {
	it := a.responsesItem()
	out := event(object{"type": "response.created", "response": a.responses("in_progress")})
	out += event(object{"type": "response.output_item.added", "output_index": 0, "item": it})
	if a.text != "" {
		out += event(object{"type": "response.output_text.delta", "item_id": it["id"], "output_index": 0, "content_index": 0, "delta": a.text})
	}
	return out + event(object{"type": "response.output_item.done", "output_index": 0, "item": it}) +
		event(object{"type": "response.completed", "response": a.responses("completed", it)})
}

func geminiWhole(a answer) string {
	said := object{"text": a.text}
	if a.text == "" {
		said = object{"functionCall": object{"name": a.call.tool, "args": a.call.input}}
	}
	return encode(object{
		"candidates":    []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{said}}}},
		"usageMetadata": object{"promptTokenCount": a.tokens, "candidatesTokenCount": 20, "totalTokenCount": a.tokens + 20},
	})
}
