package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

// The SDK and the adapter read the same from recorded streams.
func TestOpenAIRecordedStreams(t *testing.T) {
	for _, name := range []string{"text", "thoughts", "call", "parallel", "split", "refusal", "max_tokens"} {
		for api, read := range officialOpenAI {
			t.Run(api+"/"+name, func(t *testing.T) { compareOpenAI(t, api, recordedStream(t, api+"/"+name+".txt"), read) })
		}
	}
	t.Run("chat/filtered", func(t *testing.T) {
		compareOpenAI(t, openai.APIChat, recordedStream(t, "chat/filtered.txt"), officialChat)
	})
}

// The adapter reads the stream of the SDK's own tests as the SDK does. Its usage
// is left out: more tokens come from the cache than there are.
func TestOpenAIOfficialStream(t *testing.T) {
	file := filepath.Join(machine.ModuleDir(t, "github.com/openai/openai-go/v3"), "streamaccumulator_test.go")
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(source), "var mockResponseBody = `")
	stream, _, closed := strings.Cut(rest, "`")
	if !found || !closed {
		t.Fatalf("no stream in %s", file)
	}
	hasUsage := func(event string) bool { return strings.Contains(event, `"usage":{`) }
	stream = strings.Join(slices.DeleteFunc(strings.SplitAfter(stream, "\n\n"), hasUsage), "")
	compareOpenAI(t, openai.APIChat, []byte(stream), officialChat)
}

// The SDK and the adapter read the same from streams of any content in any pieces.
func TestOpenAIRandomStreams(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		t.Run(fmt.Sprintf("chat/%d", seed), func(t *testing.T) { compareOpenAI(t, openai.APIChat, chatStream(r), officialChat) })
		t.Run(fmt.Sprintf("responses/%d", seed), func(t *testing.T) {
			compareOpenAI(t, openai.APIResponses, responsesStream(r), officialResponses)
		})
	}
}

// officialOpenAI returns the answer that the SDK reads, by API.
var officialOpenAI = map[string]func(stream []byte) (answer, error){
	openai.APIChat: officialChat, openai.APIResponses: officialResponses,
}

// compareOpenAI reads a stream by both.
func compareOpenAI(t *testing.T, api string, stream []byte, read func([]byte) (answer, error)) {
	t.Helper()
	want, err := read(stream)
	if err != nil {
		t.Fatalf("the SDK: %v\n%s", err, stream)
	}
	m := openAIAt(record(t, sse(stream)), openai.Config{API: api})
	events, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	if err != nil {
		t.Fatalf("ours: %v\n%s", err, stream)
	}
	if diff := gocmp.Diff(want, openAIAnswerOf(t, events)); diff != "" {
		t.Errorf("answer (-SDK +ours)\n%s\n%s", diff, stream)
	}
}

// openAIAnswerOf returns the answer in the events of an adapter of OpenAI. Thoughts that
// servers add to Chat Completions are left out.
func openAIAnswerOf(t *testing.T, events []llm.Event) answer {
	var kept []llm.Event
	var a answer
	for _, e := range events {
		if e.Opaque == nil {
			kept = append(kept, e)
			continue
		}
		var thought struct {
			EncryptedContent string `json:"encrypted_content"`
		}
		if err := json.Unmarshal(e.Opaque.Data, &thought); err != nil {
			t.Error(err)
		}
		if thought.EncryptedContent != "" {
			a.Blocks = append(a.Blocks, "thought "+thought.EncryptedContent)
		}
	}
	got := oursOf(kept)
	got.Blocks = append(a.Blocks, got.Blocks...)
	return got
}

// eventsIn returns the SDK's events of a stream.
func eventsIn[T any](stream []byte) *ssestream.Stream[T] {
	res := &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(stream))}
	return ssestream.NewStream[T](ssestream.NewDecoder(res), nil)
}

// officialChat returns the answer that the SDK reads from a stream of Chat Completions.
func officialChat(stream []byte) (answer, error) {
	var acc official.ChatCompletionAccumulator
	events := eventsIn[official.ChatCompletionChunk](stream)
	for events.Next() {
		if !acc.AddChunk(events.Current()) {
			return answer{}, fmt.Errorf("no chunk of the answer: %s", events.Current().RawJSON())
		}
	}
	if err := events.Err(); err != nil || len(acc.Choices) == 0 {
		return answer{}, fmt.Errorf("%d choices: %w", len(acc.Choices), err)
	}
	message := acc.Choices[0].Message
	a := answer{Text: message.Content + message.Refusal}
	for _, c := range message.ToolCalls {
		if !json.Valid([]byte(c.Function.Arguments)) { // cut off
			continue
		}
		a.Blocks = append(a.Blocks, fmt.Sprintf("call %q %q %s", c.ID, c.Function.Name, compact(json.RawMessage(c.Function.Arguments))))
	}
	a.Stop = map[string]llm.StopReason{
		"stop": llm.StopEnd, "tool_calls": llm.StopTools, "length": llm.StopMaxTokens, "content_filter": llm.StopRefusal,
	}[acc.Choices[0].FinishReason]
	if message.Refusal != "" {
		a.Stop = llm.StopRefusal
	}
	a.Usage = llm.Usage{Input: int(acc.Usage.PromptTokens), Output: int(acc.Usage.CompletionTokens), CacheRead: int(acc.Usage.PromptTokensDetails.CachedTokens)}
	return a, nil
}

// officialResponses returns the answer in the last event of a stream of the Responses
// API, which has the complete answer.
func officialResponses(stream []byte) (answer, error) {
	var last responses.Response
	events := eventsIn[responses.ResponseStreamEventUnion](stream)
	for events.Next() {
		switch e := events.Current().AsAny().(type) {
		case responses.ResponseCompletedEvent:
			last = e.Response
		case responses.ResponseIncompleteEvent:
			last = e.Response
		}
	}
	a := answer{Stop: llm.StopEnd}
	var calls []string
	for _, item := range last.Output {
		switch item := item.AsAny().(type) {
		case responses.ResponseReasoningItem:
			a.Blocks = append(a.Blocks, "thought "+item.EncryptedContent)
		case responses.ResponseFunctionToolCall:
			if item.Status == "incomplete" {
				continue
			}
			a.Stop = llm.StopTools
			calls = append(calls, fmt.Sprintf("call %q %q %s", item.CallID, item.Name, compact(json.RawMessage(item.Arguments))))
		case responses.ResponseOutputMessage:
			for _, part := range item.Content {
				a.Text += part.Text + part.Refusal
				if part.Refusal != "" {
					a.Stop = llm.StopRefusal
				}
			}
		}
	}
	a.Blocks = append(a.Blocks, calls...)
	switch last.IncompleteDetails.Reason {
	case "max_output_tokens":
		a.Stop = llm.StopMaxTokens
	case "content_filter":
		a.Stop = llm.StopRefusal
	}
	u := last.Usage
	a.Usage = llm.Usage{Input: int(u.InputTokens), Output: int(u.OutputTokens), CacheRead: int(u.InputTokensDetails.CachedTokens),
		CacheWrite: int(u.InputTokensDetails.CacheWriteTokens)}
	return a, events.Err()
}

// chatStream returns a random stream of Chat Completions as the API documents it.
// https://developers.openai.com/api/reference/resources/chat
func chatStream(r *rand.Rand) []byte {
	var b bytes.Buffer
	send := func(members string) {
		fmt.Fprintf(&b, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m",%s}`+"\n\n", members)
		if r.IntN(5) == 0 {
			b.WriteString(": keep-alive\n\n")
		}
	}
	choice := func(delta, finish string) {
		send(`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}],"usage":null`)
	}
	choice(`{"role":"assistant","content":""}`, "null")
	member := []string{"content", "content", "refusal"}[r.IntN(3)]
	for _, piece := range pieces(r, words(r)) {
		choice(`{"`+member+`":`+quoted(piece)+`}`, "null")
	}
	calls := r.IntN(4)
	for i := range calls {
		choice(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%d","type":"function","function":{"name":"read","arguments":""}}]}`, i, i), "null")
		for _, piece := range pieces(r, arguments(r)) {
			choice(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quoted(piece)), "null")
		}
	}
	finish := []string{"stop", "length", "content_filter"}[r.IntN(3)]
	switch {
	case member == "refusal":
		finish = "stop"
	case calls > 0:
		finish = "tool_calls"
	}
	if member == "refusal" && calls > 0 { // no model does both
		return chatStream(r)
	}
	choice(`{}`, quoted(finish))
	in, out := r.IntN(1000), 1+r.IntN(1000)
	send(fmt.Sprintf(`"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, in, out,
		in+out, r.IntN(in+1)))
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

// responsesStream returns a random stream of the Responses API as it documents it.
// https://developers.openai.com/api/reference/resources/responses
func responsesStream(r *rand.Rand) []byte {
	var b bytes.Buffer
	n := 0
	send := func(kind, members string) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,%s}\n\n", kind, kind, n, members)
		n++
	}
	send("response.created", `"response":{"id":"resp_1","object":"response","status":"in_progress","output":[]}`)
	var items []string
	for i := range 1 + r.IntN(5) {
		at := fmt.Sprintf(`"item_id":"item_%d","output_index":%d`, i, i)
		start, whole, kind, part, text := responsesItem(r, i)
		send("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, start))
		for _, piece := range pieces(r, text) {
			send("response."+kind+".delta", at+part+`,"delta":`+quoted(piece))
		}
		send("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, whole))
		items = append(items, whole)
	}
	status, details := "completed", "null"
	if r.IntN(4) == 0 {
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	in := r.IntN(1000)
	send("response."+status, fmt.Sprintf(`"response":{"id":"resp_1","object":"response","status":%q,"error":null,"incomplete_details":%s,"output":[%s],`+
		`"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":0},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":1}}`,
		status, details, strings.Join(items, ","), in, r.IntN(in+1), 1+r.IntN(1000)))
	return b.Bytes()
}

// responsesItem returns the start of a random item and its end, the kind of its deltas
// and their position, and the text that they divide.
func responsesItem(r *rand.Rand, i int) (start, whole, kind, part, text string) {
	switch r.IntN(3) {
	case 0:
		text = words(r)
		item := func(content string) string {
			return fmt.Sprintf(`{"id":"item_%d","type":"message","status":"completed","role":"assistant","content":[%s]}`, i, content)
		}
		return item(""), item(`{"type":"output_text","annotations":[],"text":` + quoted(text) + `}`), "output_text", `,"content_index":0`, text
	case 1:
		text = words(r)
		item := func(summary string) string {
			return fmt.Sprintf(`{"id":"item_%d","type":"reasoning","encrypted_content":"gAAA%d","summary":[%s]}`, i, i, summary)
		}
		return item(""), item(`{"type":"summary_text","text":` + quoted(text) + `}`), "reasoning_summary_text", `,"summary_index":0`, text
	}
	text = arguments(r)
	item := func(args string) string {
		return fmt.Sprintf(`{"id":"item_%d","type":"function_call","status":"completed","call_id":"call_%d","name":"read","arguments":%s}`, i, i, quoted(args))
	}
	return item(""), item(text), "function_call_arguments", "", text
}

// arguments returns the random input of a call.
func arguments(r *rand.Rand) string {
	return fmt.Sprintf(`{"path":%s,"n":%d,"deep":[null,true,{"x":%s}]}`, quoted(words(r)), r.Uint64(), quoted(words(r)))
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(raw)
}
