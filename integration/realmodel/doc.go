// Package realmodel lets a real small model work with zeph-acp: twenty tasks, at a server of
// llama.cpp, in the model's own template, in a template that asks for calls, and in text mode.
//
//	LLAMA_SERVER=… LLAMA_MODEL=model.gguf go test ./integration/realmodel -timeout 0 -args -long [-repeat 10]
//
// LLAMA_SERVER is llama-server, by default the one in PATH. LLAMA_MODEL is a file in GGUF, such as
// Qwen2.5-Coder-1.5B-Instruct in Q4.
//
// What is checked is the agent and never the model, which fails most tasks: the turn ends, with a
// sentence where it failed; each call ends; no special token and no call reaches the answer; nothing
// changes without permission; the server evaluates little of a prompt again; and the estimate of
// tokens is near the server's tokenizer. There is no time limit: on two processors, the tasks take
// an hour.
package realmodel
