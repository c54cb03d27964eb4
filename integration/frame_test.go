package integration

import (
	"encoding/json"
	"slices"
	"strings"
)

// side is the writer of a line.
type side string

const (
	clientSide side = "client"
	agentSide  side = "agent"
)

// frame is one line of the wire.
type frame struct {
	side   side
	line   string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// update has the members of a session/update that tests read.
type update struct {
	Kind       string `json:"sessionUpdate"`
	ToolCallID string `json:"toolCallId"`
	Title      string `json:"title"`
	Status     string `json:"status"`
	Content    json.RawMessage
	RawOutput  json.RawMessage `json:"rawOutput"`
	Meta       struct {
		Info   *struct{ Terminal_ID, CWD string }  `json:"terminal_info"`
		Output *struct{ Terminal_ID, Data string } `json:"terminal_output"`
		Exit   *struct {
			Terminal_ID string
			Exit_Code   *int
		} `json:"terminal_exit"`
	} `json:"_meta"`
}

// update returns the update of a session/update.
func (f frame) update() (u update, ok bool) {
	var p struct{ Update update }
	if f.Method != "session/update" || json.Unmarshal(f.Params, &p) != nil {
		return update{}, false
	}
	return p.Update, true
}

// parseFrame returns the frame in a line.
func parseFrame(s side, line []byte) frame {
	f := frame{side: s, line: string(line)}
	_ = json.Unmarshal(line, &f) // the checker and the client report invalid JSON
	return f
}

func (a *agent) record(f frame) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.frames = append(a.frames, f)
	close(a.newFrame)
	a.newFrame = make(chan struct{})
}

// agentFrames returns the frames that the agent wrote so far.
func (a *agent) agentFrames() []frame {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.frames), func(f frame) bool { return f.side != agentSide })
}

// methods returns the agent's requests and notifications except updates, in order.
func (a *agent) methods() []string {
	var names []string
	for _, f := range a.agentFrames() {
		if f.Method != "" && f.Method != "session/update" {
			names = append(names, f.Method)
		}
	}
	return names
}

// joinLines returns the lines of frames.
func joinLines(frames []frame) string {
	var b strings.Builder
	for _, f := range frames {
		b.WriteString(f.line)
	}
	return b.String()
}

// lines returns the text of all frames of the agent so far.
func (a *agent) lines() string { return joinLines(a.agentFrames()) }
