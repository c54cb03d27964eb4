package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// tooLongKinds and tooLongWords identify the errors of servers for a request that
// exceeds the model's context window. Few have their own code; others are known
// by a part of the message, in lower case.
//
//	https://platform.claude.com/docs/en/build-with-claude/context-windows
//	https://platform.openai.com/docs/guides/error-codes
//	https://github.com/ggml-org/llama.cpp/tree/master/tools/server
var (
	tooLongKinds = []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large", "model_max_prompt_tokens_exceeded"}
	tooLongWords = []string{
		"prompt is too long", "exceed context limit", // Anthropic, Fireworks
		"maximum context length", "exceeds the context window", // OpenAI, vLLM, OpenRouter, Mistral, DeepSeek
		"longer than the maximum model length",                                 // vLLM
		"longer than the model's context length",                               // SGLang, Together
		"`inputs` tokens + `max_new_tokens` must be",                           // Hugging Face
		"exceeds the maximum number of tokens", "request payload size exceeds", // Gemini
		"exceeds the available context size",                               // llama.cpp
		"greater than the context length", "loaded with context length of", // LM Studio
		"exceeds the context length", "exceeded max context length", // Ollama
		"maximum prompt length is",                                                   // xAI
		"reduce the length of the messages",                                          // Groq, Cerebras
		"prompt token count of",                                                      // GitHub Copilot
		"exceeded model token limit",                                                 // Moonshot
		"context window exceeds limit",                                               // MiniMax
		"prompt exceeds max length",                                                  // GLM
		"range of input length should be",                                            // Qwen
		"maximum allowed input length",                                               // Poolside
		"input is too long for requested model",                                      // Bedrock
		"input tokens exceeded",                                                      // Nova
		"too many tokens: ", "context length exceeded", "contextwindowexceedederror", // Cohere, gateways
	}
)

// IsTooLong reports whether a failure means that the request exceeds the model's
// context window.
func IsTooLong(status int, kind, message string) bool {
	switch status {
	case 0, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return false
	}
	message = strings.ToLower(message)
	return slices.Contains(tooLongKinds, kind) || status == http.StatusRequestEntityTooLarge ||
		slices.ContainsFunc(tooLongWords, func(w string) bool { return strings.Contains(message, w) })
}

// The messages that state the size of a request and of the window: those of llama.cpp, and those of
// vLLM, which states the window first.
var (
	sizeThenWindow = lazyregexp.New(`request \((\d+) tokens\) exceeds the available context size \((\d+) tokens\)`)
	windowThenSize = lazyregexp.New(`maximum context length (?:is|of) (\d+) tokens.{0,80}?\D(\d+) (?:input tokens|in the messages)`)
)

// sizesIn returns the sizes that a refusal states, in tokens; 0 means that it does not.
func sizesIn(message string) (prompt, window int) {
	number := func(text string) int {
		n, err := strconv.Atoi(text)
		if err != nil { // it is too large
			return 0
		}
		return n
	}
	if m := sizeThenWindow.FindStringSubmatch(message); m != nil {
		return number(m[1]), number(m[2])
	}
	if m := windowThenSize.FindStringSubmatch(message); m != nil {
		return number(m[2]), number(m[1])
	}
	return 0, 0
}
