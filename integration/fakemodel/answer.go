package fakemodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Reply answers one request.
type Reply func(http.ResponseWriter, *http.Request)

// Block is one content block of an answer.
type Block struct {
	kind   string // text, thinking or tool_use
	text   string // of the whole block; the input's JSON for tool_use
	id     string
	name   string
	signed string
}

// Say returns a block of text.
func Say(text string) Block { return Block{kind: "text", text: text} }

// Think returns a block of thoughts with their signature.
func Think(text, signed string) Block { return Block{kind: "thinking", text: text, signed: signed} }

// Call returns a block that calls a tool. The input is a string of JSON, or a
// value to encode as JSON.
func Call(id, name string, input any) Block {
	text, ok := input.(string)
	if !ok {
		b, err := json.Marshal(input)
		if err != nil {
			panic(err)
		}
		text = string(b)
	}
	return Block{kind: "tool_use", text: text, id: id, name: name}
}

// Answer returns a reply that streams these blocks.
func Answer(blocks ...Block) Reply { return Counted(promptTokens, blocks...) }

// promptTokens is the count of a request's tokens in all other replies.
const promptTokens = 25

// Counted is Answer with the provider's count of the request's tokens.
func Counted(tokens int, blocks ...Block) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		stop := "end_turn"
		for _, b := range blocks {
			if b.kind == "tool_use" {
				stop = "tool_use"
			}
		}
		Stream(w, counted(tokens, blocks)+
			Event("message_delta", `{"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":7}}`, stop)+
			Event("message_stop", `{}`))
	}
}

// Hang returns a reply that streams blocks, closes started, and then sends
// nothing until the agent goes away.
func Hang(started chan<- struct{}, blocks ...Block) Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		Stream(w, Events(blocks))
		close(started)
		<-r.Context().Done()
	}
}

// BreakOff returns a reply that streams blocks and closes the connection.
func BreakOff(blocks ...Block) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		Stream(w, Events(blocks))
		panic(http.ErrAbortHandler)
	}
}

// Overload returns a reply that ends with an error in the middle of a stream.
func Overload(blocks ...Block) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		Stream(w, Events(blocks)+Event("error", `{"error":{"type":"overloaded_error","message":"Overloaded"}}`))
	}
}

// Refuse returns a reply with an error instead of a stream. A retry need not
// wait.
func Refuse(status int, kind, message string) Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After-Ms", "1")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"type":"error","error":{"type":%q,"message":%q}}`, kind, message)
	}
}

// Events returns the events of an answer up to the end of its blocks.
func Events(blocks []Block) string { return counted(promptTokens, blocks) }

// counted returns the events of an answer up to the end of its blocks. tokens is the
// provider's count of the request's tokens.
func counted(tokens int, blocks []Block) string {
	var b strings.Builder
	b.WriteString(Event("message_start", `{"message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],`+
		`"stop_reason":null,"stop_sequence":null,`+
		`"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}`, tokens))
	b.WriteString(Event("ping", `{}`))
	for i, bl := range blocks {
		start, delta, member := `{"type":"text","text":""}`, "text_delta", "text"
		switch bl.kind {
		case "thinking":
			start, delta, member = `{"type":"thinking","thinking":"","signature":""}`, "thinking_delta", "thinking"
		case "tool_use":
			start = fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, bl.id, bl.name)
			delta, member = "input_json_delta", "partial_json"
		}
		b.WriteString(Event("content_block_start", `{"index":%d,"content_block":%s}`, i, start))
		for _, piece := range pieces(bl.text) {
			text, _ := json.Marshal(piece) // strings always encode
			b.WriteString(Event("content_block_delta", `{"index":%d,"delta":{"type":%q,%q:%s}}`, i, delta, member, text))
		}
		if bl.signed != "" {
			b.WriteString(Event("content_block_delta", `{"index":%d,"delta":{"type":"signature_delta","signature":%q}}`, i, bl.signed))
		}
		b.WriteString(Event("content_block_stop", `{"index":%d}`, i))
	}
	return b.String()
}

// Event returns one event, whose data also carry its type.
func Event(name, format string, args ...any) string {
	data := fmt.Sprintf(format, args...)
	comma := ","
	if data == "{}" {
		comma = ""
	}
	return "event: " + name + "\ndata: " + fmt.Sprintf(`{"type":%q`, name) + comma + data[1:] + "\n\n"
}

// pieces splits a text into deltas of odd lengths.
func pieces(text string) []string {
	var out []string
	runes := []rune(text)
	size := max(3, len(runes)/50)
	for len(runes) > 0 {
		n := min(size+len(out)%3, len(runes))
		out, runes = append(out, string(runes[:n])), runes[n:]
	}
	return out
}

// Stream sends text in writes that end anywhere, even within a character.
func Stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	size := max(97, len(text)/40)
	for len(text) > 0 {
		n := min(size, len(text))
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return // the agent went away
		}
		w.(http.Flusher).Flush()
		text = text[n:]
	}
}
