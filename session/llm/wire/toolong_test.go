package wire

import (
	"net/http"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Messages of servers about a conversation that is too long, and others that only
// look similar.
func TestTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"anthropic": {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212345 tokens > 200000 maximum"}}`, true},
		"anthropic, output": {400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199211 + 20000 > 200000"}}`, true},
		"anthropic, bytes": {413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, true},
		"openai":           {400, `{"error":{"message":"Your input is too large","type":"invalid_request_error","code":"context_length_exceeded"}}`, true},
		"vllm":             {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, true},
		"gemini": {400,
			`[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}]`, true},
		"llama.cpp": {400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, true},
		"xai": {400,
			`{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}`, true},
		"groq": {413, `{"error":{"message":"Please reduce the length of the messages or completion.","code":"context_length_exceeded"}}`, true},
		"openrouter": {400,
			`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"Input is too long for requested model.\"}}"}}}`,
			true},
		"lm studio": {400,
			`{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}`, true},
		"mistral": {400,
			`{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","code":"3051"}`, true},
		"moonshot": {400,
			`{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)","type":"invalid_request_error"}}`, true},
		"copilot": {400, `{"error":{"message":"prompt token count of 130000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}`,
			true},
		"together": {422, `{"error":{"message":"The input (70000 tokens) is longer than the model's context length (65536 tokens)."}}`, true},
		"ollama":   {400, `{"error":"prompt too long; exceeded max context length by 12 tokens"}`, true},
		"vllm, of old": {400, `{"object":"error","message":"The decoder prompt (length 20000) is longer than the maximum model length of 8192.","code":400}`,
			true},
		"another mistake":    {400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: too long a name"}}`, false},
		"limit of the speed": {429, `{"error":{"message":"Request too large on tokens per min: maximum context length","code":"rate_limit_exceeded"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Endpoint{Provider: "p", Model: "m"}
			err := e.Failure(newStatusError(&http.Response{StatusCode: tt.status, Header: http.Header{}}, []byte(tt.body)))
			if f := err.(*llm.Error); f.TooLong != tt.want {
				t.Errorf("TooLong is %v: %v", f.TooLong, f)
			}
		})
	}
}

// The sizes that servers state when they refuse a request.
func TestSizesIn(t *testing.T) {
	for message, want := range map[string][2]int{
		"request (8703 tokens) exceeds the available context size (8192 tokens), try increasing it":                                             {8703, 8192},
		"litellm.BadRequestError: OpenAIException - request (8703 tokens) exceeds the available context size (8192 tokens)":                     {8703, 8192},
		"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages, 100 in the completion).": {4900, 4096},
		"This model's maximum context length is 4096 tokens. However, your request has 4900 input tokens. Please reduce the length.":            {4900, 4096},
		"prompt is too long": {0, 0},
		"request (99999999999999999999 tokens) exceeds the available context size (8192 tokens)": {0, 8192},
	} {
		if prompt, window := sizesIn(message); prompt != want[0] || window != want[1] {
			t.Errorf("%q: %d, %d", message, prompt, window)
		}
	}
}
