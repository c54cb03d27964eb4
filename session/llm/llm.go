// Package llm is the contract of a language model: messages in, a stream of events out.
//
// Start with [Model]. Package provider returns models. The adapters are its siblings; wire
// and textcalls are the code that they share. Functions such as [AcceptsImages], [Levels]
// and [Cost] return the capabilities of a model, including a wrapped one: see [As].
//
// It promises that a stream ends with a Stop event or with an error. A provider's failure is a
// [*Error] that names the provider, the status and the action to take. The package does not depend
// on sessions, tools or the protocol of clients.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Model is a language model at one provider. It may be used concurrently.
type Model interface {
	// Name returns the name by which the user picks the model: "provider:model".
	Name() string
	// Window returns the size of the context window in tokens; 0 means unknown.
	Window() int
	// Stream asks for the next answer. The sequence yields events until Stop, or
	// one error and ends. It ends shortly after ctx is done, with ctx's cause.
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Request is a conversation that a model is to continue.
type Request struct {
	System   string    // the same in all projects, so that the provider's cache holds
	Project  string    // the rest of the system prompt, stable over a session; it comes after the tools
	Messages []Message // user and assistant in turn; every tool call has its result in the next message
	Tools    []Tool    // in a stable order
	Unlisted []Tool    // tools that the model is not told of, and that run if it names them
	// IsProgram reports whether a name is a program's, which models may mistake for a tool; nil means that none is known.
	IsProgram func(name string) bool
	Thought   string // how much to think, one of the model's Levels; anything else means its default
	Cache     *Cache // of the conversation; nil encodes all of it for this request alone
	Size      int    // of the request, estimated in tokens; 0 means unknown
}

// Tool describes a tool to the model.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema, an object
	Invocation  Invocation      // how it is called in a text
	Aliases     string          // other names that models know it by, separated by spaces
	// Foreign marks a tool that is not ours, such as one of an MCP server. It is left out if the
	// provider refuses its schema.
	Foreign bool
	Seldom  bool // few tasks need it, so it may be left out until the model looks for it
}

// Role is the author of a message.
type Role string

// The roles. Results of tools are in messages of the user's role.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of the history; it marshals to JSON and back.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
	// Count is the provider's token count of this answer; nil if it sent none, and for
	// a message that is not an answer.
	Count *Count `json:"count,omitempty"`
}

// Count compares the tokens that a provider counted for one request and its answer with
// our estimate.
type Count struct {
	Model    string `json:"model"`     // Name of the model that counted
	Tokens   int    `json:"tokens"`    // as the provider counted, without thoughts that are not sent back
	Estimate int    `json:"estimated"` // of the messages up to the answer; see MessageTokens
}

// Block is one piece of a message. Exactly one field is set, except that Opaque may
// stand alone or next to Thought.
type Block struct {
	Text    string      `json:"text,omitempty" texts:"-"`
	Thought string      `json:"thought,omitempty" texts:"-"`
	Opaque  *Opaque     `json:"opaque,omitempty" texts:"-"`
	Image   *Image      `json:"image,omitempty"`
	Call    *ToolCall   `json:"call,omitempty"`
	Result  *ToolResult `json:"result,omitempty"`
}

// Opaque is data that a provider requires to be sent back unchanged, such as a signed
// thought. It is sent only to the model that made it, since others cannot read it.
type Opaque struct {
	Provider string          `json:"provider"` // Name of the model, "provider:model"
	Data     json.RawMessage `json:"data"`
}

// Image is a picture. A model without vision gets a line of text instead.
type Image struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"`
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID    string          `json:"id"`    // the provider's; unique in one answer
	Name  string          `json:"name"`  // may be a tool that does not exist
	Input json.RawMessage `json:"input"` // valid JSON: an object, or a string with the text that the model wrote in its place
	// Note says how the call differs from the model's words, for its result; empty if it does not.
	Note string `json:"-"`
	// Incomplete reports that the answer was cut off within the call. It must not run; its Input is a string.
	Incomplete bool `json:"-"`
}

// ToolResult answers the ToolCall of the same ID.
type ToolResult struct {
	ID     string  `json:"id"`
	Text   string  `json:"text"`
	Failed bool    `json:"failed,omitempty"`
	Images []Image `json:"images,omitempty"` // which belong below Text
}

// Event is a piece of an answer. Exactly one field is set.
type Event struct {
	Text    string    // more of the answer, UTF-8, never half a character
	Thought string    // more of the reasoning, likewise
	Opaque  *Opaque   // belongs to the thoughts before it, and ends them
	Call    *ToolCall // complete
	Usage   *Usage    // so far; a later one replaces it
	Stop    StopReason

	// Only models of packages failover and textcalls send these.
	Wait     *Wait     // a pause before another attempt
	Fallback *Fallback // another model answers from here on
	// Notice is a sentence for the user about the model.
	Notice string
	// Progress is how far the server has read the request, before the answer begins.
	Progress *Progress
	// Reasoned reports that the text of the answer so far was reasoning: its end was marked, but not its beginning.
	Reasoned bool
	// Cut reports that the answer broke off and that the model was asked to continue, as
	// AskToContinue does. Thoughts and calls so far are discarded; the text continues where it
	// ended.
	Cut bool
}

// Usage counts tokens of one answer.
type Usage struct {
	Input      int `json:"input"` // all input tokens, cached ones included
	Output     int `json:"output"`
	CacheRead  int `json:"cacheRead,omitempty"`  // of Input
	CacheWrite int `json:"cacheWrite,omitempty"` // of Input
}

// StopReason says why an answer ended.
type StopReason string

// The stop reasons.
const (
	StopEnd       StopReason = "end"        // the answer is complete
	StopTools     StopReason = "tools"      // the model waits for the results of its tool calls
	StopMaxTokens StopReason = "max_tokens" // cut off by the output limit
	StopRefusal   StopReason = "refusal"    // the model declines
)

// Error is a provider's failure.
type Error struct {
	Provider string // as configured, or the name of the model that failed to answer
	Status   int    // HTTP status; 0 means there is none, as after a network failure
	Message  string // the provider's message, one line, without secrets
	Hint     string // one sentence of advice to the user
	Auth     bool   // the key is missing or refused
	TooLong  bool   // the request does not fit into the context window

	// Prompt is the size of a request that is TooLong, and Window that of the window, both in tokens as
	// the server counts them; 0 means unknown.
	Prompt, Window int

	// Retryable reports that the same request may work later, after a failure of the
	// network or of the provider. RetryAfter is the wait that the provider asked for; 0
	// means none.
	Retryable  bool
	RetryAfter time.Duration
	// Stalled reports that not even the first byte of an answer came in time: the request is sent
	// only once more.
	Stalled bool
}

// Error returns one sentence: provider, status, reason, what to do.
func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf(" answered %d", e.Status)
	}
	s := fmt.Sprintf("%s%s: %s", e.Provider, status, e.Message)
	if e.Hint != "" {
		if !strings.HasSuffix(s, "..") { // an ellipsis
			s = strings.TrimSuffix(s, ".")
		}
		s += " (" + e.Hint + ")"
	}
	return s
}
