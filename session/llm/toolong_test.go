package llm

import (
	"net/http"
	"testing"
)

// What servers say when a conversation is too long, and what only sounds like it.
func TestTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		body   string
		want   bool
	}{
		"anthropic":          {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212345 tokens > 200000 maximum"}}`, true},
		"anthropic, output":  {400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199211 + 20000 > 200000"}}`, true},
		"anthropic, bytes":   {413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, true},
		"openai":             {400, `{"error":{"message":"Your input is too large","type":"invalid_request_error","code":"context_length_exceeded"}}`, true},
		"vllm":               {400, `{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}`, true},
		"gemini":             {400, `[{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}]`, true},
		"llama.cpp":          {400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, true},
		"another mistake":    {400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: too long a name"}}`, false},
		"limit of the speed": {429, `{"error":{"message":"Request too large on tokens per min: maximum context length","code":"rate_limit_exceeded"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := &endpoint{provider: "p", model: "m"}
			err := e.failure(newStatusError(&http.Response{StatusCode: tt.status, Header: http.Header{}}, []byte(tt.body)))
			if f := err.(*Error); f.TooLong != tt.want {
				t.Errorf("TooLong is %v: %v", f.TooLong, f)
			}
		})
	}
}
