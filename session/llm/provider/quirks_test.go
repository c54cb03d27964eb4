package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// quirk is a stream of some server, which may violate its dialect.
type quirk struct {
	stream string // the body; lines that begin with { become events
	kind   string // Content-Type; empty means text/event-stream
	want   []llm.Event
	fails  *llm.Error
}

var quirks = map[string]quirk{
	// The stream itself.
	"chat/a byte order mark":    {stream: "\ufeffdata: " + saysText("Hi") + "\n\n" + chatEnd, want: helloEvents},
	"chat/carriage returns":     {stream: ":x\r\rdata:" + saysText("Hi") + "\r\rdata:[DONE]\r\r", want: helloEvents},
	"chat/both line ends":       {stream: ": x\r\n\r\ndata: " + saysText("Hi") + "\r\n\r\ndata: [DONE]\r\n\r\n", want: helloEvents},
	"chat/no blank lines":       {stream: "data: " + saysText("H") + "\ndata: " + saysText("i") + "\ndata: [DONE]", want: helloEvents},
	"chat/no last line end":     {stream: saysText("Hi") + "\ndata: " + stopsFor("stop"), want: helloEvents},
	"chat/an event of two rows": {stream: "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n", want: helloEvents},
	"chat/named as JSON":        {kind: "application/json", stream: saysText("Hi") + "\n" + chatEnd, want: helloEvents},
	"chat/JSON named as stream": {stream: "\n" + ` {"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`, want: helloEvents},
	"chat/a page named as stream": {stream: "\n<html><body>Log in</body></html>",
		fails: &llm.Error{Status: 200, Message: `it sent "text/event-stream" instead of a stream of events`, Hint: "check base_url"}},

	// Chat Completions.
	"chat/nulls": {stream: `{"choices":null,"usage":null,"error":null}
{"choices":[{"index":0,"delta":null,"finish_reason":null}]}
{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"refusal":null,"tool_calls":null,"reasoning_content":null},"finish_reason":""}]}
` + saysText("Hi") + "\n" + chatEnd, want: helloEvents},
	"chat/other types": {stream: `{"id":7,"choices":[{"index":"0","delta":{"content":"Hi","refusal":false,"reasoning_details":{}},"finish_reason":{"x":1}}],"usage":[]}` + "\n" + chatEnd, want: helloEvents},
	"chat/an ID that is a number": {stream: saysDelta(`{"tool_calls":[{"index":0,"id":7,"function":{"name":"list","arguments":{}}}]}`) + "\n" + chatEnd,
		want: []llm.Event{wireCall("list", `{}`), {Stop: llm.StopTools}}},
	"chat/thinking parts": {stream: saysDelta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"H"},{"type":"reference","reference_ids":[1]}],"closed":true}]}`) + "\n" +
		saysDelta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"m"}]},{"type":"text","text":"H"}]}`) + "\n" + saysText("i") + "\n" + chatEnd,
		want: []llm.Event{{Thought: "Hm"}, {Text: "Hi"}, {Stop: llm.StopEnd}}},
	"chat/out of room": {stream: saysText("H") + "\n" + stopsFor("model_length"), want: []llm.Event{{Text: "H"}, {Stop: llm.StopMaxTokens}}},
	"chat/out of window": {stream: saysText("H") + "\n" + stopsFor("model_context_window_exceeded"),
		want: []llm.Event{{Text: "H"}, {Stop: llm.StopMaxTokens}}},
	"chat/no more resources":     {stream: saysText("H") + "\n" + stopsFor("insufficient_system_resource"), want: []llm.Event{{Text: "H"}}, fails: brokeOff()},
	"chat/the network behind it": {stream: saysText("H") + "\n" + stopsFor("network_error"), want: []llm.Event{{Text: "H"}}, fails: brokeOff()},
	"chat/an error of vLLM": {stream: saysText("H") + "\n" +
		`{"object":"error","message":"EngineCore died","type":"InternalServerError","param":null,"code":500}` + "\ndata: [DONE]\n\n",
		want: []llm.Event{{Text: "H"}}, fails: &llm.Error{Status: 500, Message: "EngineCore died", Hint: "try again later", Retryable: true}},
	"chat/an error of LiteLLM": {stream: saysText("H") + "\n" + `{"error":{"message":"litellm.APIError: gone","type":null,"param":null,"code":"503"}}`,
		want: []llm.Event{{Text: "H"}}, fails: &llm.Error{Status: 503, Message: "litellm.APIError: gone", Hint: "try again later", Retryable: true}},
	"chat/an error that names the wait": {stream: `{"error":{"message":"Rate limit reached. Please try again in 2.5s.","code":"rate_limit_exceeded"}}`,
		fails: &llm.Error{Status: 429, Message: "Rate limit reached. Please try again in 2.5s.", Hint: "wait 3 s, then try again", Retryable: true,
			RetryAfter: 2500 * time.Millisecond}},
	"chat/an error that is a text": {stream: "event: error\n" + `data: {"error":"The model has crashed"}` + "\n\n",
		fails: &llm.Error{Message: "The model has crashed", Hint: "try again later", Retryable: true}},
	"chat/errors that are none": {stream: `{"error":{},"choices":[]}` + "\n" + `{"error":"","choices":[]}` + "\n" + saysText("Hi") + "\n" + chatEnd,
		want: helloEvents},
	"chat/a list with an error": {kind: "application/json", stream: `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`,
		fails: &llm.Error{Status: 503, Message: "overloaded", Hint: "try again later", Retryable: true}},

	// Gemini's thoughts, as of
	// https://discuss.ai.google.dev/t/openai-compatibility-bug-in-response-object/58484
	"gemini-chat/thoughts in one piece": {kind: "application/json",
		stream: `{"choices":[{"message":{"content":"<thought>Hm.</thought>Hi","extra_content":{"google":{"thought":true}}},"finish_reason":"stop"}]}`,
		want:   []llm.Event{{Thought: "Hm."}, {Text: "Hi"}, {Stop: llm.StopEnd}}},
	"gemini-chat/thoughts after text": {stream: saysText("I look.") + "\n" + geminiThought("<thought>H") + "\n" + geminiThought("m.") + "\n" +
		saysText("</thought>Hi") + "\n" + chatEnd,
		want: []llm.Event{{Text: "I look."}, {Thought: "Hm."}, {Text: "Hi"}, {Stop: llm.StopEnd}}},
	"gemini-chat/thoughts without tags": {stream: geminiThought("Hm.") + "\n" + saysText("Hi </thought>") + "\n" + chatEnd,
		want: []llm.Event{{Thought: "Hm."}, {Text: "Hi </thought>"}, {Stop: llm.StopEnd}}},
	"gemini-chat/the last tag before a call": {stream: geminiThought("<thought>Hm.") + "\n" +
		saysDelta(`{"content":"</thought>","tool_calls":[{"extra_content":{"google":{"thought_signature":"s"}},"function":{"arguments":"{}","name":"list"},"id":"6eic0cwq","type":"function"}]}`) + "\n" + stopsFor("stop"),
		want: []llm.Event{{Thought: "Hm."}, wireCall("list", `{}`), {Stop: llm.StopTools}}},

	// The Responses API.
	"responses/items without deltas": {stream: itemDone(0, `{"type":"reasoning","id":"r","summary":[{"type":"summary_text","text":"Hm."}]}`) + "\n" +
		itemDone(1, `{"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]}`) + "\n" + completed(``),
		want: []llm.Event{{Thought: "Hm."}, {Text: "Hi"}, {Stop: llm.StopEnd}}},
	"responses/texts without deltas": {stream: `{"type":"response.output_text.done","text":"Hi","output_index":0}` + "\n" +
		itemDone(0, `{"type":"message","content":[{"type":"output_text","text":"Hi"}]}`) + "\n" +
		completed(`{"type":"message","content":[{"type":"output_text","text":"Hi"}]}`), want: helloEvents},
	"responses/nothing but the end": {stream: completed(`{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm."}],"summary":[]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","call_id":"a","name":"list","arguments":"{}"}`),
		want: []llm.Event{{Thought: "Hm."}, {Text: "Hi"}, wireCall("list", `{}`), {Stop: llm.StopTools}}},
	"responses/calls without IDs": {stream: completed(`{"type":"function_call","name":"list","arguments":"{}"},{"type":"function_call","name":"read","arguments":"{}"}`),
		want: []llm.Event{wireCall("list", `{}`), wireCall("read", `{}`), {Stop: llm.StopTools}}},
	"responses/a call in the end alone": {stream: itemDone(0, `{"type":"message","content":[{"type":"output_text","text":"Hi"}]}`) + "\n" +
		completed(`{"type":"message","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","call_id":"a","name":"list","arguments":"{}"}`),
		want: []llm.Event{{Text: "Hi"}, wireCall("list", `{}`), {Stop: llm.StopTools}}},
	"responses/a call begun, and whole in the end": {stream: itemAdded(0,
		`{"type":"function_call","id":"f","call_id":"a","name":"list","arguments":""}`) + "\n" + argsDelta("f", 0, `{"k"`) + "\n" +
		completed(`{"type":"function_call","id":"g","call_id":"a","name":"list","arguments":"{\"k\":1}"}`),
		want: []llm.Event{wireCall("list", `{"k":1}`), {Stop: llm.StopTools}}},
	"responses/an ID in each event, and deltas that cannot be read": {stream: itemAdded(0,
		`{"type":"function_call","id":"f1","call_id":"a","name":"list","arguments":""}`) + "\n" + argsDelta("f2", 0, `gh:x7Q`) + "\n" +
		`{"type":"response.function_call_arguments.done","item_id":"f3","output_index":0,"arguments":"{\"k\":1}"}` + "\n" + itemDone(0,
		`{"type":"function_call","id":"f4","call_id":"a","name":"list","arguments":"{\"k\":1}"}`) + "\n" + completed(``),
		want: []llm.Event{wireCall("list", `{"k":1}`), {Stop: llm.StopTools}}},
	"responses/one index for all": {stream: itemAdded(0, `{"type":"function_call","id":"f","call_id":"a","name":"list"}`) + "\n" + itemAdded(0,
		`{"type":"function_call","id":"g","call_id":"b","name":"read"}`) + "\n" +
		argsDelta("g", 0, `{"k":2}`) + "\n" + argsDelta("f", 0, `{"k":1}`) + "\n" + completed(``),
		want: []llm.Event{wireCall("list", `{"k":1}`), wireCall("read", `{"k":2}`), {Stop: llm.StopTools}}},
	"responses/cut off for no reason": {stream: `{"type":"response.output_text.delta","delta":"H"}` + "\n" +
		`{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":null,"output":[]}}`,
		want: []llm.Event{{Text: "H"}, {Stop: llm.StopMaxTokens}}},
	"responses/an end with an error": {stream: `{"type":"response.completed","response":{"status":"failed","error":{"code":"server_error","message":"gone"},"output":[]}}`,
		fails: &llm.Error{Status: 500, Message: "gone", Hint: "try again later", Retryable: true}},
	"responses/an error in an error": {stream: `{"type":"error","sequence_number":2,"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"Your input exceeds the context window of this model.","param":"input"}}`,
		fails: &llm.Error{Status: 400, Message: "Your input exceeds the context window of this model.",
			Hint: "the conversation is too large: type /compact, or begin a new session", TooLong: true}},
	"responses/the future": {stream: `{"type":"response.queued","response":{}}` + "\n" + `{"type":"keepalive","sequence_number":1}` + "\n" + itemDone(0,
		`{"type":"web_search_call","content":"x","status":"completed"}`) + "\n" +
		`{"type":"response.output_text.delta","delta":"Hi"}` + "\n" + `{"type":"response.output_text.annotation.added","annotation":{"type":"url_citation"}}` +
		"\n" + completed(``), want: helloEvents},

	// Anthropic's Messages, and other servers' versions of them.
	"claude/without message_stop": {stream: claudeText("Hi") + "\n" +
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, want: helloEvents},
	"claude/DONE": {stream: claudeText("Hi") + "\n" + `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}` + "\n" +
		`{"type":"message_delta","delta":{},"usage":{"output_tokens":1}}` + "\ndata: [DONE]\n\n", want: helloEvents},
	"claude/blocks never begun": {stream: `{"type":"content_block_delta","index":3,"delta":{"type":"thinking_delta","thinking":"Hm."}}` + "\n" +
		claudeText("Hi") + "\n" + `{"type":"message_stop"}`, want: []llm.Event{{Thought: "Hm."}, {Text: "Hi"}, {Stop: llm.StopEnd}}},
	"claude/blocks in each other": {stream: claudeCallOf(0, "a") + "\n" + claudeCallOf(1, "b") + "\n" + claudeArgs(0, `{"k":`) + "\n" + claudeArgs(1,
		`{}`) + "\n" + claudeArgs(0, `1}`) + "\n" + `{"type":"message_stop"}`,
		want: []llm.Event{wireCall("a", `{"k":1}`), wireCall("b", `{}`), {Stop: llm.StopTools}}},
	"claude/one index for all": {stream: claudeCallOf(0, "a") + "\n" + claudeArgs(0, `{"k":1}`) + "\n" + claudeCallOf(0, "b") + "\n" + claudeArgs(0,
		`{"k":2}`) + "\n" + `{"type":"message_stop"}`, want: []llm.Event{wireCall("a", `{"k":1}`), wireCall("b", `{"k":2}`), {Stop: llm.StopTools}}},
	"claude/a block of the future": {stream: `{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}` + "\n" + claudeArgs(0, `{"q":1}`) + "\n" + `{"type":"ping"}` + "\n" + `{"type":"new_event","index":"x"}` + "\n" + claudeText("Hi") + "\n" + `{"type":"message_stop"}`, want: helloEvents},
	"claude/an error of a gateway": {stream: claudeText("H") + "\n" + `{"error":{"message":"gone","type":"None","param":"None","code":"500"}}`,
		want:  []llm.Event{{Text: "H"}},
		fails: &llm.Error{Status: 500, Message: "gone", Hint: "try again later", Retryable: true}},
	"claude/an error before anything": {stream: "event: error\n" +
		`data: {"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}` + "\n\n",
		fails: &llm.Error{Status: 529, Message: "Overloaded", Hint: "try again later", Retryable: true}},
	"claude/an error as JSON": {kind: "application/json", stream: `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`,
		fails: &llm.Error{Status: 429, Message: "slow down", Hint: "wait a minute, then try again", Retryable: true}},
	"claude/one piece": {kind: "application/json",
		stream: `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s"},{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"list","input":{"k":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":2}}`,
		want:   []llm.Event{{Thought: "Hm."}, {Text: "Hi"}, wireCall("list", `{"k":1}`), {Stop: llm.StopTools}}},

	// Ollama.
	"ollama/thoughts in the text": {stream: ollamaSays(`"content":"<think>\nH"`, `"done":false`) + ollamaSays(`"content":"m.</think>\n\nHi"`,
		`"done":false`) + ollamaSays(`"content":""`, `"done":true,"done_reason":"stop"`),
		want: []llm.Event{{Thought: "\nHm."}, {Text: "Hi"}, {Stop: llm.StopEnd}}},
	"ollama/thoughts that never end": {stream: ollamaSays(`"content":"<think>Hm</th"`, `"done":false`) + ollamaSays(`"content":""`,
		`"done":true,"done_reason":"length"`),
		want: []llm.Event{{Thought: "Hm</th"}, {Stop: llm.StopMaxTokens}}},
	"ollama/calls after a tag": {stream: ollamaSays(`"content":"<think>Hm.</think>","tool_calls":[{"id":"call_1","type":"function","function":{"index":0,"name":"list","arguments":{}}}]`, `"done":false`) + ollamaSays(`"content":"","tool_calls":null`, `"done":true,"done_reason":"stop"`),
		want: []llm.Event{{Thought: "Hm."}, wireCall("list", `{}`), {Stop: llm.StopTools}}},
	"ollama/other types": {stream: ollamaSays(`"content":"Hi","thinking":null,"images":{},"tool_calls":[]`,
		`"done":false,"error":null`) + ollamaSays(`"content":[]`, `"done":true,"done_reason":7,"eval_count":"x"`), want: helloEvents},
	"ollama/an error in the middle": {stream: ollamaSays(`"content":"H"`,
		`"done":false`) + `{"error":"error parsing tool call: raw='{', err=unexpected end of JSON input"}` + "\n",
		want:  []llm.Event{{Text: "H"}},
		fails: &llm.Error{Message: "error parsing tool call: raw='{', err=unexpected end of JSON input", Hint: "try again later", Retryable: true}},
}

func ollamaSays(message, rest string) string {
	return `{"model":"m","message":{"role":"assistant",` + message + `},` + rest + `}` + "\n"
}

var helloEvents = []llm.Event{{Text: "Hi"}, {Stop: llm.StopEnd}}

const chatEnd = "data: [DONE]\n\n"

func saysDelta(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

func saysText(text string) string { return saysDelta(`{"content":` + inJSON(text) + `}`) }

func stopsFor(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":` + inJSON(reason) + `}]}`
}

// inJSON returns a text as a JSON string.
func inJSON(text string) string {
	raw, _ := json.Marshal(text) // strings always encode
	return string(raw)
}

func geminiThought(text string) string {
	return saysDelta(`{"content":` + inJSON(text) + `,"extra_content":{"google":{"thought":true}}}`)
}

func itemAdded(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func itemDone(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

func argsDelta(id string, index int, delta string) string {
	return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","item_id":%q,"output_index":%d,"delta":%s}`, id, index, inJSON(delta))
}

func completed(items string) string {
	return `{"type":"response.completed","response":{"status":"completed","error":null,"output":[` + items + `]}}`
}

func claudeText(text string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + inJSON(text) + `}}`
}

func claudeCallOf(index int, name string) string {
	raw, _ := json.Marshal(map[string]any{"type": "content_block_start", "index": index,
		"content_block": map[string]any{"type": "tool_use", "id": name, "name": name, "input": map[string]any{}}})
	return string(raw)
}

func claudeArgs(index int, args string) string {
	raw, _ := json.Marshal(map[string]any{"type": "content_block_delta", "index": index,
		"delta": map[string]any{"type": "input_json_delta", "partial_json": args}})
	return string(raw)
}

func brokeOff() *llm.Error {
	return &llm.Error{Message: "the provider failed in the middle of the answer", Hint: "try again later", Retryable: true}
}

// TestQuirks reads the dialects as real servers write them.
func TestQuirks(t *testing.T) {
	for name, q := range quirks {
		t.Run(name, func(t *testing.T) {
			dialect, _, _ := strings.Cut(name, "/")
			p := dialects[dialect].provider
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != dialects[dialect].path {
					http.NotFound(w, r)
					return
				}
				body := q.stream
				w.Header().Set("Content-Type", "text/event-stream")
				if q.kind != "" {
					w.Header().Set("Content-Type", q.kind)
				}
				if dialect != "ollama" && (!strings.Contains(q.kind, "json") || strings.Contains(body, "\n")) {
					body = eventsOf(body)
				}
				_, _ = io.WriteString(w, body)
			})
			p.BaseURL = s.URL
			m, err := p.open(func(string) string { return wireKey }, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
			if diff := cmp.Diff(q.want, plain(t, got)); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
			if q.fails == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			q.fails.Provider = m.Name()
			if diff := cmp.Diff(error(q.fails), err); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
		})
	}
}

// eventsOf returns the lines that are JSON as events.
func eventsOf(body string) string {
	var out strings.Builder
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "{") {
			line = "data: " + strings.TrimSuffix(line, "\n") + "\n\n"
		}
		out.WriteString(line)
	}
	return out.String()
}
