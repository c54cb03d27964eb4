package headless

import (
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
)

// JSON is a View for programs. It prints the params of each session/update on a
// line, and the prompt's result or error on the last line.
type JSON struct {
	W io.Writer // write errors are left to W

	mu sync.Mutex
}

// Update prints the params as the agent wrote them.
func (j *JSON) Update(params json.RawMessage) { j.line(params) }

// Output prints nothing: the agent's updates contain the output when the call ends.
func (j *JSON) Output(string, []byte) {}

// End prints {"stopReason": …}, or an error object of JSON-RPC.
func (j *JSON) End(stop acp.StopReason, err error) {
	var last any = acp.PromptResponse{StopReason: stop}
	if err != nil {
		refused, ok := errors.AsType[*jsonrpc2.Error](err)
		if !ok {
			refused = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()}
		}
		last = refused
	}
	if text, err := json.Marshal(last); err == nil {
		j.line(text)
	}
}

func (j *JSON) line(text []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.W.Write(append(text[:len(text):len(text)], '\n'))
}
