package certify

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// frame is a line of the client.
type frame struct {
	line    []byte
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// request is a request of the agent.
type request struct {
	method   string
	line     []byte
	reply    chan reply // gets one reply
	answered []byte     // the first answer
}

// reply is the answer to a request.
type reply struct {
	request, line []byte
	Result, Error json.RawMessage
	silent        bool // no answer: the client has ended, or was silent for too long
	cancelled     bool // the answer came after session/cancel
}

func (r reply) frames() []Frame {
	frames := []Frame{agentFrame(r.request)}
	if r.line != nil {
		frames = append(frames, clientFrame(r.line))
	}
	return frames
}

// failure returns the error of a reply.
func (r reply) failure() (code int, message string) {
	var e struct {
		Code    int
		Message string
	}
	_ = json.Unmarshal(r.Error, &e) // the schema is checked elsewhere
	return e.Code, e.Message
}

// maxLine limits a line of the client, in bytes.
const maxLine = 64 << 20

// read handles the lines of the client.
func (a *agent) read(in io.Reader) {
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxLine)
	for scan.Scan() {
		a.receive(bytes.Clone(bytes.TrimSuffix(scan.Bytes(), []byte("\r"))))
	}
	if errors.Is(scan.Err(), bufio.ErrTooLong) {
		a.checked("json-lines", false, "a line is longer than 64 MiB")
	}
}

// receive handles a line of the client.
func (a *agent) receive(line []byte) {
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	f := frame{line: line}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(line, &members); err != nil {
		a.checked("json-lines", false, "a line is not a JSON object", clientFrame(line))
		a.refuse(nil, -32700, "not a JSON object")
		return
	}
	a.checked("json-lines", true, "")
	f.ID, f.Params, f.Result, f.Error = members["id"], members["params"], members["result"], members["error"]
	_ = json.Unmarshal(members["jsonrpc"], &f.JSONRPC) // checked below
	method := json.Unmarshal(members["method"], &f.Method) == nil
	answer := (f.Result == nil) != (f.Error == nil) && f.ID != nil
	a.checked("messages", f.JSONRPC == "2.0" && method != answer, "a line is no request, notification or answer of JSON-RPC 2.0", clientFrame(line))
	if method == answer {
		a.refuse(nil, -32600, "not a request, notification or answer")
		return
	}
	if answer {
		a.answered(f)
		return
	}
	if f.ID != nil && !a.opened(f) {
		a.refuse(nil, -32600, "not a valid id")
		return
	}
	a.handle(f)
}

// opened notes the id of a request, and reports whether the request can be answered.
func (a *agent) opened(f frame) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := string(f.ID)
	legal := legalID(f.ID) && (id != "null" || a.version != 2)
	a.note("own-ids", legal && !a.open[id], "a request has an id that is in use, or of the wrong type", clientFrame(f.line))
	a.open[id] = true
	return legal
}

// legalID reports whether an id is a string, an integer or null.
func legalID(id json.RawMessage) bool {
	if id[0] == '"' || string(id) == "null" {
		return true
	}
	var n int64
	return json.Unmarshal(id, &n) == nil
}

// answered handles an answer of the client.
func (a *agent) answered(f frame) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.requests[string(f.ID)]
	if r == nil {
		if r = a.requests[otherType(f.ID)]; r != nil && r.answered == nil {
			a.note("answer-ids", false, "an answer has the id in another type", agentFrame(r.line), clientFrame(f.line))
		}
	} else {
		a.note("answer-ids", true, "")
	}
	switch {
	case r == nil && string(f.ID) == "null" && f.Error != nil && a.malformed:
		return // the answer to a malformed line
	case r == nil:
		a.note("answered-once", false, "an answer has the id of no request", clientFrame(f.line))
		return
	case r.answered != nil:
		a.note("answered-once", false, "a request is answered twice", agentFrame(r.line), clientFrame(r.answered), clientFrame(f.line))
		return
	}
	r.answered = f.line
	a.note("answered-once", true, "")
	if f.Error != nil {
		a.valid("results", "Error", f.Error, agentFrame(r.line), clientFrame(f.line))
	} else if !strings.HasPrefix(r.method, "_") {
		a.validResult(r, f)
	}
	r.reply <- reply{request: r.line, line: f.line, Result: f.Result, Error: f.Error, cancelled: a.current != nil && a.current.isCancelled()}
}

// validResult checks a result. a.mu is held.
func (a *agent) validResult(r *request, f frame) {
	key := r.method + " Response"
	if string(f.Result) == "null" && a.invalid(key, []byte("{}")) == nil {
		a.note("empty-results", false, "the result of "+r.method+" is null, not an object", agentFrame(r.line), clientFrame(f.line))
		return
	}
	a.valid("results", key, f.Result, agentFrame(r.line), clientFrame(f.line))
}

// otherType returns the JSON of a number's string, or of a string's number.
func otherType(id json.RawMessage) string {
	if len(id) > 1 && id[0] == '"' {
		return string(id[1 : len(id)-1])
	}
	return `"` + string(id) + `"`
}

// valid checks data against the schema. a.mu is held.
func (a *agent) valid(statement, key string, data []byte, frames ...Frame) {
	err := a.invalid(key, data)
	what := ""
	if err != nil {
		method, _, _ := strings.Cut(key, " ")
		what = fmt.Sprintf("%s does not fit the schema: %v", method, err)
	}
	a.note(statement, err == nil, what, frames...)
}

// invalid returns the schema error of data. a.mu is held.
func (a *agent) invalid(key string, data []byte) error {
	return validate(max(a.version, 1), key, data)
}

// ask sends a request. The ids alternate between integers and strings.
func (a *agent) ask(method string, params map[string]any) *request {
	a.mu.Lock()
	a.lastID++
	var id any = a.lastID
	if a.lastID%2 == 0 {
		id = fmt.Sprintf("certify-%d", a.lastID)
	}
	key, _ := json.Marshal(id) // an integer or a string
	r := &request{method: method, reply: make(chan reply, 1)}
	r.line, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}) // as in send
	a.requests[string(key)] = r
	a.mu.Unlock()
	a.line(r.line)
	return r
}

// wait waits for the reply to a request; 0 means without limit.
func (a *agent) wait(r *request, limit time.Duration) reply {
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case got := <-r.reply:
		return got
	case <-a.closed:
	case <-late:
	}
	select { // an answer that came just before
	case got := <-r.reply:
		return got
	default:
		return reply{request: r.line, silent: true}
	}
}

// respond answers a request of the client.
func (a *agent) respond(id json.RawMessage, result any) []byte {
	a.close(id)
	return a.send(map[string]any{"id": id, "result": result})
}

// refuse answers a request of the client with an error.
func (a *agent) refuse(id json.RawMessage, code int, message string) {
	a.close(id)
	a.send(map[string]any{"id": id, "error": map[string]any{"code": code, "message": message}})
}

// close notes that a request of the client is answered.
func (a *agent) close(id json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, string(id))
}
