package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// stream is the ObjectStream for jsonrpc2: one line is one frame.
//
// jsonrpc2 only reads requests in order and calls their handler. No payload passes
// through it, since it would decode it into maps, escape it for HTML and lose the
// type of an id. A request's payload waits in frame for the handler that the read
// goroutine calls next. An answer goes straight to the caller who waits for it.
//
// An invalid line is answered here, and reading continues: jsonrpc2 would close
// the connection.
type stream struct {
	in         *bufio.Reader
	closer     io.Closer // of in; may be nil
	maxLine    int       // bytes, without the line ending
	out        *writer
	trace      func(Side, []byte)
	done       <-chan struct{} // closed at the end of the connection; the reader must not wait longer
	beforeWait func()          // called on the read goroutine before it may wait for the client
	onEnd      func()          // called at the end of the input, before our open calls fail
	log        *slog.Logger
	exit       func(session string) texts.Change // see Server.Exit

	version2 atomic.Bool // ids are strings or integers, and errors have the data of version 2

	frame frame // the request that ReadObject returned last; owned by the read goroutine
	calls openCalls
}

// frame is one request or notification as received.
type frame struct {
	id      json.RawMessage // compact; nil means a notification
	method  string
	params  json.RawMessage // nil means none; shares the memory of the line
	tooLong bool            // its line is over the limit: only the id is known
}

// Side is the author of a line on the wire.
type Side string

// The two sides.
const (
	ClientSide Side = "client"
	AgentSide  Side = "agent"
)

// message is the envelope of every frame that we send.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *jsonrpc2.Error `json:"error,omitempty"`
}

var null = json.RawMessage("null")

// WriteObject is not called: the package writes its frames itself.
func (s *stream) WriteObject(any) error { return errors.ErrUnsupported }

// write encodes a frame and queues it. It never blocks on the client.
func (s *stream) write(m any) error {
	line, err := marshalLine(s.leaving(m))
	if err != nil {
		return err
	}
	return s.out.enqueue(line)
}

// marshalLine returns a frame as a line of the wire.
func marshalLine(frame any) ([]byte, error) {
	line, err := plainjson.Marshal(frame)
	return append(line, '\n'), err
}

// leaving returns a frame after Server.Exit has changed its text.
func (s *stream) leaving(frame any) any {
	if s.exit == nil {
		return frame
	}
	session := ""
	switch m := frame.(type) {
	case notification:
		if p, ok := m.Params.(sessionNotification); ok {
			if chunk, ok := p.Update.(MessageChunk); ok && chunk.Words {
				return frame
			}
			session = p.SessionID
		}
	case message:
		switch p := m.Params.(type) {
		case RequestPermissionRequest:
			session = p.SessionID
		case elicitation:
			session = p.SessionID
		}
	}
	return texts.Map(frame, s.exit(session))
}

// reply answers the request with that id. It ignores a closed connection, which
// the reader also detects.
func (s *stream) reply(id json.RawMessage, result any, err error) {
	m := message{JSONRPC: "2.0", ID: id, Result: result}
	switch {
	case err != nil:
		m.Error, m.Result = s.fault(err), nil
	case result == nil:
		m.Result = struct{}{} // strict clients reject null
	}
	if err := s.write(m); err != nil && !s.out.stopped() {
		// A result that cannot be marshalled must not leave the client waiting.
		s.log.Error("write response", "err", err)
		_ = s.write(message{JSONRPC: "2.0", ID: id, Error: wireError(err)})
	}
}

// fault returns an error as the client reads it.
func (s *stream) fault(err error) *jsonrpc2.Error {
	e := wireError(err)
	if unknown, ok := errors.AsType[sessionError](err); ok && e.Code == codeResourceNotFound && s.version2.Load() {
		e.SetError(map[string]string{"sessionId": unknown.id})
	}
	return e
}

// refuse answers a line that is not a request.
func (s *stream) refuse(code int64, text string) {
	s.log.Warn("bad frame", "code", code, "err", text)
	_ = s.write(message{JSONRPC: "2.0", ID: null, Error: &jsonrpc2.Error{Code: code, Message: text}})
}

// Close makes a blocked ReadObject return, if the input can be closed.
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
		s.out.pauseReader(s.done)
		line, tooLong, err := s.readLine()
		if err != nil && len(line) == 0 {
			s.onEnd()
			return err
		}
		switch line = bytes.TrimSpace(line); {
		case tooLong:
			if s.overLimit(line) {
				return json.Unmarshal(stub, v)
			}
		case len(line) > 0:
			if s.trace != nil {
				s.trace(ClientSide, line)
			}
			if s.classify(line) {
				return json.Unmarshal(stub, v)
			}
		}
	}
}

// stub is the request by which jsonrpc2 calls the handler.
var stub = []byte(`{"jsonrpc":"2.0","method":""}`)

// endBytes is the number of bytes kept of each end of a line over the limit. They
// suffice for the members that identify the frame.
const endBytes = 4 << 10

// readLine reads up to the next newline or the end of input. It does not store
// a line over the limit, but returns its two ends.
func (s *stream) readLine() (line []byte, tooLong bool, err error) {
	if ahead, _ := s.in.Peek(s.in.Buffered()); bytes.IndexByte(ahead, '\n') < 0 {
		s.beforeWait()
	}
	// For a long line, append alone could hold several copies.
	var parts [][]byte
	for size := 0; ; {
		part, err := s.in.ReadSlice('\n')
		parts = append(parts, bytes.Clone(part))
		if size += len(part); size > s.maxLine+1 {
			tooLong = true
			parts = [][]byte{lineEnds(parts)}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.Join(parts, nil), tooLong, err
		}
	}
}

// lineEnds returns the two ends of a line. All parts but the last are longer than
// an end.
func lineEnds(parts [][]byte) []byte {
	if n := len(parts); n > 3 {
		parts = [][]byte{parts[0], parts[n-2], parts[n-1]}
	}
	line := bytes.Join(parts, nil)
	if len(line) > 2*endBytes {
		line = append(line[:endBytes], line[len(line)-endBytes:]...)
	}
	return line
}

// overLimit handles a line over the limit. The reader kept only its two ends.
// If they show an answer to a call of ours, that call fails, since it would
// otherwise wait forever. Any other line is refused. If the ends show the id of a request,
// overLimit reports true, as classify does, so that the request is answered as well.
func (s *stream) overLimit(line []byte) (request bool) {
	limit := strconv.Itoa(s.maxLine) + " bytes"
	m := outerMembers(line[:min(endBytes, len(line))], line[max(0, len(line)-endBytes):])
	isRequest := m["method"] != nil && string(m["method"]) != "null"
	if isRequest || m["result"] == nil && m["error"] == nil {
		s.refuse(jsonrpc2.CodeInvalidRequest, "line over "+limit)
		s.frame = frame{id: s.legalID(m["id"]), tooLong: true}
		return isRequest && s.frame.id != nil && string(s.frame.id) != "null"
	}
	s.log.Warn("answer over the limit", "id", string(m["id"]), "limit", limit)
	if id, err := callID(m["id"]); err == nil { // else it is not one of our ids, or not visible
		s.calls.settle(id, answer{fault: &jsonrpc2.Error{Message: "the answer is over " + limit + " (acp.max_line_bytes)"}})
	}
	return false
}

// outerMembers returns the members of an object that are visible at its two
// ends, which may overlap. A truncated member has an empty value.
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
		if dec.Decode(&value) != nil || !dec.More() { // a number at the end may be truncated
			m[name] = json.RawMessage{}
			break
		}
		m[name] = value
	}
	// If the rest of the line after a comma parses as the members of an
	// object, these are members of the outer object. After a comma in a string or a
	// nested value, quotes or brackets are unbalanced.
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

// classify distinguishes requests, notifications and responses. It reports whether
// a request or notification waits in frame; any other line is handled.
func (s *stream) classify(line []byte) (request bool) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if !json.Valid(line) {
		s.refuse(jsonrpc2.CodeParseError, "not JSON: one message per line is expected")
		return false
	}
	switch jsonKind(line) {
	case "object":
	case "array":
		s.refuse(jsonrpc2.CodeInvalidRequest, "batches are not supported: send one message per line")
		return false
	default:
		s.refuse(jsonrpc2.CodeInvalidRequest, "not a JSON-RPC message: an object is expected")
		return false
	}
	m := objectOf(line, "", "jsonrpc", "id", "method", "params", "result", "error")
	id, method, result, fault := m.members["id"], m.members["method"], m.members["result"], m.members["error"]
	if !m.has("method") { // some clients write all members, also those that are null
		method = nil
	}
	if method == nil && (result != nil || fault != nil) {
		s.response(id, result, fault)
		return false
	}
	s.frame = frame{id: s.legalID(id), params: m.members["params"]}
	switch {
	case m.optionalString("jsonrpc") != "2.0":
		s.refuse(jsonrpc2.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	case method == nil:
		s.refuse(jsonrpc2.CodeInvalidRequest, "method, result and error are missing")
		s.response(id, nil, nil) // an answer without its content, if it has the id of an open call
	case jsonKind(method) != "string":
		s.refuse(jsonrpc2.CodeInvalidRequest, "method must be a string")
	case id != nil && s.frame.id == nil:
		kinds := "a string, a number or null"
		if s.version2.Load() {
			kinds = "a string or an integer"
		}
		s.refuse(jsonrpc2.CodeInvalidRequest, "id must be "+kinds)
	default:
		s.frame.method = unquote(method)
		return true
	}
	return false
}

// legalID returns a copy of an id that is a string, a number or null; else nil. The original
// would keep the line in memory as long as the request runs. The schema has integers only, but
// JSON-RPC has numbers: clients use random ones, or have no other type.
// Version 2 has strings and integers of 64 bits alone.
func (s *stream) legalID(raw json.RawMessage) json.RawMessage {
	kind, strict := jsonKind(raw), s.version2.Load()
	_, err := strconv.ParseInt(string(raw), 10, 64)
	if kind == "string" || kind == "number" && (err == nil || !strict) || kind == "null" && !strict {
		return bytes.Clone(raw)
	}
	return nil
}

// response settles one of our calls with its answer. An error with a null id does
// not belong to a call of ours. A response is never answered, or two peers could send
// each other errors forever.
//
// A response has a result or an error, not both. One with both or with neither
// fails the call, which has no other answer to wait for. If both are present, a
// null one counts as absent.
func (s *stream) response(id, result, fault json.RawMessage) {
	n, err := callID(id)
	if err != nil || !s.calls.settle(n, answerOf(result, fault)) {
		s.log.Debug("dropped a response", "id", string(id))
	}
}

// callID returns the id of a call of ours as the client returns it.
func callID(raw []byte) (uint64, error) {
	return strconv.ParseUint(string(trimZeroFraction(raw)), 10, 64)
}

// answerOf returns the content of a response.
func answerOf(result, fault json.RawMessage) answer {
	hasResult, hasError := result != nil && string(result) != "null", fault != nil && string(fault) != "null"
	var e jsonrpc2.Error
	switch {
	case hasResult && hasError:
		e.Message = "invalid response: both a result and an error"
	case result == nil && !hasError:
		e.Message = "invalid response: neither a result nor an error"
	case !hasError:
		return answer{result: result}
	case json.Unmarshal(fault, &e) != nil:
		e = jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: "malformed error: " + string(fault)}
	}
	return answer{fault: &e}
}
