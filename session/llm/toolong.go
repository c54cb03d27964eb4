package llm

import (
	"net/http"
	"slices"
	"strings"
)

// tooLongKinds and tooLongWords are how servers tell that a request does not fit
// into the model's context window. Few have a word of their own for it, the
// others are known by a part of their message, in lower case.
//
//	https://platform.claude.com/docs/en/build-with-claude/context-windows
//	https://platform.openai.com/docs/guides/error-codes
//	https://github.com/ggml-org/llama.cpp/tree/master/tools/server
var (
	tooLongKinds = []string{"context_length_exceeded", "exceed_context_size_error", "request_too_large"}
	tooLongWords = []string{
		"prompt is too long", "exceed context limit", // Anthropic
		"maximum context length", "exceeds the context window", // OpenAI, vLLM, OpenRouter
		"exceeds the maximum number of tokens", // Gemini
		"exceeds the available context size",   // llama.cpp
		"greater than the context length",      // LM Studio
		"exceeds the context length",           // Ollama
	}
)

// tooLong tells whether a failure means that the request does not fit into the
// model's context window.
func tooLong(status int, kind, message string) bool {
	switch status {
	case 0, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError:
	default:
		return false
	}
	message = strings.ToLower(message)
	return slices.Contains(tooLongKinds, kind) || status == http.StatusRequestEntityTooLarge ||
		slices.ContainsFunc(tooLongWords, func(w string) bool { return strings.Contains(message, w) })
}
