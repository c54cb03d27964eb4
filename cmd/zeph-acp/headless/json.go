package headless

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// JSON is a View for programs. It prints the params of each session/update on a line.
type JSON struct {
	W io.Writer // write errors are left to W

	mu sync.Mutex
}

// Update prints the params as the agent wrote them.
func (j *JSON) Update(params json.RawMessage) { j.line(params) }

// Output prints nothing: the agent's updates contain the output when the call ends.
func (j *JSON) Output(string, []byte) {}

// End prints nothing: the result is the caller's to print.
func (j *JSON) End(acp.StopReason, error) {}

func (j *JSON) line(text []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.W.Write(append(text[:len(text):len(text)], '\n'))
}
