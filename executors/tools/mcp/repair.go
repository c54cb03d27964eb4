package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/stdio"
)

// mistakeKey is the member of _meta that names the mistake in a definition.
const mistakeKey = "zeph-acp/mistake"

// repairResult returns a list of tools in which each malformed definition is replaced by one
// that has the tool's name and the mistake. Otherwise the SDK would refuse the whole list. ok is
// false if there is nothing to repair.
func repairResult(raw json.RawMessage) (repaired json.RawMessage, ok bool) {
	var result map[string]json.RawMessage
	var tools []json.RawMessage
	if !bytes.Contains(raw, []byte(`"tools"`)) || json.Unmarshal(raw, &result) != nil || json.Unmarshal(result["tools"], &tools) != nil {
		return nil, false
	}
	for i, tool := range tools {
		if err := json.Unmarshal(tool, new(sdk.Tool)); err != nil {
			ok, tools[i] = true, brokenTool(tool, err)
		}
	}
	if !ok {
		return nil, false
	}
	return withMember(result, "tools", tools)
}

// repairMessage is repairResult for a whole message.
func repairMessage(raw []byte) (repaired []byte, ok bool) {
	var message map[string]json.RawMessage
	if json.Unmarshal(raw, &message) != nil {
		return nil, false
	}
	if repaired, ok = repairResult(message["result"]); !ok {
		return nil, false
	}
	return withMember(message, "result", json.RawMessage(repaired))
}

// withMember returns an object with another value of one member; ok is false if it has no JSON.
func withMember(object map[string]json.RawMessage, name string, value any) (raw json.RawMessage, ok bool) {
	member, err := json.Marshal(value)
	if err != nil {
		return nil, false
	}
	object[name] = member
	raw, err = json.Marshal(object)
	return raw, err == nil
}

// brokenTool returns the definition in place of one that cannot be read.
func brokenTool(raw json.RawMessage, mistake error) json.RawMessage {
	var known struct {
		Name json.RawMessage `json:"name"`
	}
	_ = json.Unmarshal(raw, &known) // it may have no name
	broken := sdk.Tool{InputSchema: struct{}{}, Meta: sdk.Meta{mistakeKey: executors.PlainJSONError(mistake).Error()}}
	_ = json.Unmarshal(known.Name, &broken.Name)
	data, err := json.Marshal(broken)
	if err != nil {
		return raw
	}
	return data
}

// repairing is a program whose lists of tools are repaired. It is both a transport of the SDK and
// its connection.
type repairing struct{ *stdio.Server }

func (r repairing) Connect(context.Context) (sdk.Connection, error) { return r, nil }

func (r repairing) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := r.Server.Read(ctx)
	if response, ok := m.(*jsonrpc.Response); ok {
		if repaired, ok := repairResult(response.Result); ok {
			response.Result = repaired
		}
	}
	return m, err
}

// mistake returns the mistake that repairResult found in a definition, or "".
func mistake(t *sdk.Tool) string {
	text, _ := t.Meta[mistakeKey].(string)
	return text
}

// listsTools reports whether a request asks for tools. The SDK writes the method before the
// parameters.
func listsTools(req *http.Request) bool {
	body, ok := postedBody(req)
	if !ok {
		return false
	}
	defer body.Close()
	beginning, _ := io.ReadAll(io.LimitReader(body, 256))
	return bytes.Contains(beginning, []byte(`"method":"tools/list"`))
}

// repairResponse repairs the response to a request for tools.
func repairResponse(res *http.Response) {
	res.ContentLength = -1
	if hasEvents(res) {
		res.Body = &repairedEvents{ReadCloser: res.Body, lines: bufio.NewReader(res.Body)}
		return
	}
	data, err := io.ReadAll(res.Body) // it is a limitedBody
	if repaired, ok := repairMessage(data); ok {
		data = repaired
	}
	var rest io.Reader = bytes.NewReader(data)
	if err != nil {
		rest = io.MultiReader(rest, failedReader{err})
	}
	res.Body = &repairedBody{res.Body, rest}
}

// failedReader returns an error.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) { return 0, f.err }

// repairedBody is a body that was read and is replaced.
type repairedBody struct {
	io.Closer
	io.Reader
}

// repairedEvents is a stream of events whose messages are repaired. A message is one line
// after "data:".
type repairedEvents struct {
	io.ReadCloser
	lines *bufio.Reader
	next  []byte // the rest of the line
	err   error  // after it
}

func (r *repairedEvents) Read(p []byte) (int, error) {
	if len(r.next) == 0 && r.err == nil {
		r.readLine()
	}
	if len(r.next) == 0 {
		return 0, r.err
	}
	n := copy(p, r.next)
	r.next = r.next[n:]
	return n, nil
}

// readLine reads the next line, or the beginning of a line that is too long for a message.
func (r *repairedEvents) readLine() {
	for r.err == nil && len(r.next) <= maxBody {
		var part []byte
		part, r.err = r.lines.ReadSlice('\n')
		r.next = append(r.next, part...)
		if !errors.Is(r.err, bufio.ErrBufferFull) {
			break
		}
		r.err = nil
	}
	if data, ok := bytes.CutPrefix(r.next, []byte("data:")); ok {
		if repaired, ok := repairMessage(data); ok {
			r.next = append(append([]byte("data: "), repaired...), '\n')
		}
	}
}
