package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"
)

// stream is the ObjectStream under jsonrpc2: one line, one frame.
//
// jsonrpc2 only reads in order and matches responses to our calls. A payload
// never passes through it, since it would decode it into maps, escape it for
// HTML and lose the type of an id: a request's payload waits in frame for the
// handler that the read goroutine calls next, and a call's payload waits in
// call for the WriteObject that DispatchCall makes.
//
// What is not a frame is answered here, and reading goes on: jsonrpc2 would
// close the connection.
type stream struct {
	in      *bufio.Reader
	closer  io.Closer // of in; may be nil
	maxLine int       // bytes, without the line's end
	out     *writer
	trace   func(Side, []byte)
	done    <-chan struct{} // closed at the connection's end, beyond which the reader must not wait
	idle    func()          // called on the read goroutine before it may wait for the client
	ended   func()          // called when nothing more comes, before our open calls hear of it
	log     *slog.Logger

	frame frame // the request that ReadObject returned last; of the read goroutine
	call  any   // the request that WriteObject writes next; guarded by Client.calling
}

// frame is one request or notification as it came.
type frame struct {
	id     json.RawMessage // compact; nil means a notification
	method string
	params json.RawMessage // nil means none; shares the memory of the line
}

// Side is who wrote a line of the wire.
type Side string

// The two sides.
const (
	ClientSide Side = "client"
	AgentSide  Side = "agent"
)

// message is the envelope of every frame that we write.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *jsonrpc2.Error `json:"error,omitempty"`
}

var null = json.RawMessage("null")

// WriteObject writes the call that Client.call prepared; jsonrpc2 writes nothing
// else.
func (s *stream) WriteObject(any) error {
	return s.write(s.call)
}

// write encodes a frame and queues it. It never blocks on the client.
func (s *stream) write(m any) error {
	line, err := marshal(m)
	if err != nil {
		return err
	}
	return s.out.enqueue(line)
}

// reply answers the request with that id. That the client is gone is seen by the
// reader too.
func (s *stream) reply(id json.RawMessage, result any, err error) {
	m := message{JSONRPC: "2.0", ID: id, Result: result}
	switch {
	case err != nil:
		m.Error, m.Result = wireError(err), nil
	case result == nil:
		m.Result = struct{}{} // strict clients do not take null
	}
	if err := s.write(m); err != nil && !s.out.gone() {
		// A result of ours that does not marshal must not leave the client waiting.
		s.log.Error("write response", "err", err)
		_ = s.write(message{JSONRPC: "2.0", ID: id, Error: wireError(err)})
	}
}

// refuse answers a line that is no request.
func (s *stream) refuse(code int64, text string) {
	s.log.Warn("bad frame", "code", code, "err", text)
	_ = s.write(message{JSONRPC: "2.0", ID: null, Error: &jsonrpc2.Error{Code: code, Message: text}})
}

// Close makes a blocked ReadObject return where the input can be closed.
func (s *stream) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// ReadObject reads the next frame for jsonrpc2. Every error that it returns ends
// the connection.
func (s *stream) ReadObject(v any) error {
	for {
		s.out.pause(s.done)
		line, tooLong, err := s.readLine()
		if err != nil && len(line) == 0 {
			s.ended()
			return err
		}
		var stub []byte
		if tooLong {
			stub = s.overLimit(line)
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			if s.trace != nil {
				s.trace(ClientSide, line)
			}
			stub = s.classify(line)
		}
		if stub != nil {
			return json.Unmarshal(stub, v)
		}
	}
}

// edge is how much is kept of either end of a line over the limit, in bytes:
// enough for the members that tell what it is.
const edge = 4 << 10

// readLine reads up to the next newline or the end of input. A line over the
// limit is skipped without being held: it comes back as its two ends.
func (s *stream) readLine() (line []byte, tooLong bool, err error) {
	if ahead, _ := s.in.Peek(s.in.Buffered()); bytes.IndexByte(ahead, '\n') < 0 {
		s.idle()
	}
	// Of a long line append alone would hold several copies at its worst.
	var parts [][]byte
	for size := 0; ; {
		part, err := s.in.ReadSlice('\n')
		parts = append(parts, bytes.Clone(part))
		if size += len(part); size > s.maxLine+1 {
			tooLong = true
			parts = [][]byte{ends(parts)}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.Join(parts, nil), tooLong, err
		}
	}
}

// ends is a line without what lies between its two ends. All parts but the last
// are longer than an end.
func ends(parts [][]byte) []byte {
	if n := len(parts); n > 3 {
		parts = [][]byte{parts[0], parts[n-2], parts[n-1]}
	}
	line := bytes.Join(parts, nil)
	if len(line) > 2*edge {
		line = append(line[:edge], line[len(line)-edge:]...)
	}
	return line
}

// overLimit deals with a line of which there are only the ends. If they show
// that it answers a call of ours, that call fails, since it would wait for ever;
// anything else is refused.
func (s *stream) overLimit(line []byte) []byte {
	limit := strconv.Itoa(s.maxLine) + " bytes"
	m := outerMembers(line[:min(edge, len(line))], line[max(0, len(line)-edge):])
	if m["method"] != nil || m["result"] == nil && m["error"] == nil {
		s.refuse(jsonrpc2.CodeInvalidRequest, "line over "+limit)
		return nil
	}
	s.log.Warn("answer over the limit", "id", string(m["id"]), "limit", limit)
	id, err := strconv.ParseUint(string(m["id"]), 10, 64)
	if err != nil { // no id of ours, or none that can be seen
		return nil
	}
	return encodeStub(id, nil, &jsonrpc2.Error{Message: "the answer is over " + limit + " (acp.max_line_bytes)"})
}

// outerMembers are the members of an object that can be seen at its two ends,
// which may overlap. One that is cut has an empty value.
func outerMembers(head, tail []byte) map[string]json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	m := map[string]json.RawMessage{}
	for {
		key, _ := dec.Token()
		name, ok := key.(string)
		if !ok {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil || !dec.More() { // a number at the end may be half of it
			m[name] = json.RawMessage{}
			break
		}
		m[name] = value
	}
	// What follows a comma up to the end of the line is members of the outer
	// object exactly if it is the inside of an object: in a string or further in,
	// quotes and brackets would not add up.
	for i, c := range tail {
		if c != ',' {
			continue
		}
		tail[i] = '{'
		if json.Unmarshal(tail[i:], &m) == nil {
			break
		}
		tail[i] = ','
	}
	return m
}

// classify sorts a line into request, notification and response. It returns
// the small frame that jsonrpc2 dispatches by, or nil if the line was dealt
// with.
func (s *stream) classify(line []byte) []byte {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if !json.Valid(line) {
		s.refuse(jsonrpc2.CodeParseError, "not JSON: one message a line is expected")
		return nil
	}
	switch jsonKind(line) {
	case "object":
	case "array":
		s.refuse(jsonrpc2.CodeInvalidRequest, "batches are not supported: send one message a line")
		return nil
	default:
		s.refuse(jsonrpc2.CodeInvalidRequest, "not a JSON-RPC message: an object is expected")
		return nil
	}
	m := objectOf(line, "", "jsonrpc", "id", "method", "params", "result", "error")
	id, method, result, fault := m.members["id"], m.members["method"], m.members["result"], m.members["error"]
	if method == nil && (result != nil || fault != nil) {
		return s.response(id, result, fault)
	}
	switch {
	case m.optional("jsonrpc") != "2.0":
		s.refuse(jsonrpc2.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	case method == nil:
		s.refuse(jsonrpc2.CodeInvalidRequest, "neither method nor result nor error")
	case jsonKind(method) != "string":
		s.refuse(jsonrpc2.CodeInvalidRequest, "method must be a string")
	case !legalID(id):
		s.refuse(jsonrpc2.CodeInvalidRequest, "id must be a string, an integer or null")
	default:
		// Not a part of the line, which the id would keep alive as long as the
		// request runs.
		s.frame = frame{id: bytes.Clone(id), method: unquote(method), params: m.members["params"]}
		return []byte(`{"jsonrpc":"2.0","method":""}`)
	}
	return nil
}

// legalID reports whether raw is a string, an integer, null or absent.
func legalID(raw json.RawMessage) bool {
	if raw == nil || raw[0] == '"' || string(raw) == "null" {
		return true
	}
	return (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') && !bytes.ContainsAny(raw, ".eE")
}

// response passes jsonrpc2 the answer to one of our calls in a form that it
// cannot stumble over. An answer that fits no call of ours is dropped: it is
// never answered, or two peers could send each other errors for ever. An error
// with a null id is none of ours; jsonrpc2 would take it for id 0.
func (s *stream) response(id, result, fault json.RawMessage) []byte {
	n, err := strconv.ParseUint(string(id), 10, 64)
	hasResult, hasError := result != nil && string(result) != "null", fault != nil && string(fault) != "null"
	if err != nil || hasResult && hasError {
		s.log.Debug("dropped a response", "id", string(id))
		return nil
	}
	if !hasError {
		if result == nil {
			result = null
		}
		return encodeStub(n, result, nil)
	}
	var e jsonrpc2.Error
	if json.Unmarshal(fault, &e) != nil {
		e = jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "malformed error: " + string(fault)}
	}
	return encodeStub(n, nil, &e)
}

func encodeStub(id uint64, result json.RawMessage, fault *jsonrpc2.Error) []byte {
	m := message{JSONRPC: "2.0", ID: id, Error: fault}
	if result != nil {
		m.Result = result
	}
	b, err := json.Marshal(m)
	if err != nil { // valid JSON went in
		panic(err)
	}
	return b
}
