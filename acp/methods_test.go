package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

// checked serves, and validates every frame of the agent against the schemas.
func checked(t *testing.T, s *Server) *wire {
	v := schema.Load(t)
	s.Trace = func(side Side, line []byte) {
		if err := v.Frame(string(side), line); err != nil {
			t.Errorf("%v: %.300s", err, line)
		}
	}
	return serve(t, s)
}

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

func result(id int, value string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, id, value)
}

func refusal(id, code int, text string) string {
	if code == codeAuthRequired || code == -32603 {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%q,"data":{"details":%q}}}`, id, code, text, text)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%q}}`, id, code, text)
}

func title(text string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"session_info_update","title":"` + text + `"}}}`
}

func stateWith(model string) string {
	return `"modes":{"currentModeId":"code","availableModes":[{"id":"code","name":"Code"}]},"configOptions":` + options(model)
}

func options(model string) string {
	return `[{"id":"model","name":"Model","category":"model","type":"select","currentValue":"` + model +
		`","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]}]`
}

// Session s1 is open, with model a. Updates show when Opened is called, after
// the client got the session's id ("opened"), and when settings were stored
// ("sync").
func TestSessionMethods(t *testing.T) {
	const load = `{"sessionId":"s1","cwd":"/w","mcpServers":[]}`
	for name, tt := range map[string]struct {
		method, params string
		want           []string
	}{
		"new": {"session/new", `{"cwd":"/w","mcpServers":[]}`,
			[]string{result(1, `{"sessionId":"s2",`+stateWith("a")+`}`), strings.Replace(title("opened"), "s1", "s2", 1)}},
		"new, servers": {"session/new",
			`{"cwd":"/w","additionalDirectories":null,"mcpServers":[{"name":"x","command":"/x","args":null,"env":[{"name":"A","value":"b"}]},{"type":"http","name":"y","url":"http://y","headers":[{"name":"A","value":"b"}]},{"type":"sse","name":"z","url":"http://z"}]}`, []string{result(1, `{"sessionId":"s2",`+stateWith("a")+`}`), strings.Replace(title("opened"), "s1", "s2", 1)}},
		"new, bad variable": {"session/new", `{"cwd":"/w","mcpServers":[{"name":"x","command":"/x","env":[{"value":"b"}]}]}`,
			[]string{refusal(1, -32602, "mcpServers[0].env[0].name: is required")}},
		"new, odd variable": {"session/new", `{"cwd":"/w","mcpServers":[{"name":"x","command":"/x","env":["A=b"]}]}`,
			[]string{refusal(1, -32602, "mcpServers[0].env[0]: must be an object, not string")}},
		"new, bad header": {"session/new", `{"cwd":"/w","mcpServers":[{"type":"http","name":"x","url":"http://x","headers":[{}]}]}`,
			[]string{refusal(1, -32602, "mcpServers[0].headers[0].name: is required")}},
		"load": {"session/load", load,
			[]string{`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"},"messageId":"m"}}}`, result(1, `{`+stateWith("a")+`}`), title("opened")}},
		"load, unknown":      {"session/load", `{"sessionId":"no","cwd":"/w"}`, []string{refusal(1, -32002, "session no: unknown session")}},
		"load, relative":     {"session/load", `{"sessionId":"s1","cwd":"w"}`, []string{refusal(1, -32602, `cwd: must be an absolute path, got "w"`)}},
		"load, no session":   {"session/load", `{"cwd":"/w"}`, []string{refusal(1, -32602, "sessionId: is required")}},
		"load, no cwd":       {"session/load", `{"sessionId":"s1"}`, []string{refusal(1, -32602, "cwd: is required")}},
		"load, cwd a number": {"session/load", `{"sessionId":"s1","cwd":1}`, []string{refusal(1, -32602, "cwd: must be a string, not number")}},
		"resume":             {"session/resume", `{"sessionId":"s1","cwd":"/w"}`, []string{result(1, `{`+stateWith("a")+`}`), title("opened")}},
		"resume, unknown":    {"session/resume", `{"sessionId":"no","cwd":"/w"}`, []string{refusal(1, -32002, "session no: unknown session")}},
		"list, no cwd":       {"session/list", `null`, []string{result(1, `{"sessions":[]}`)}},
		"list, nulls":        {"session/list", `{"cwd":null,"cursor":null}`, []string{result(1, `{"sessions":[]}`)}},
		"list": {"session/list", `{"cwd":"/w"}`,
			[]string{result(1, `{"sessions":[{"sessionId":"s1","cwd":"/w","updatedAt":"1970-01-01T00:00:00Z"}],"nextCursor":"next"}`)}},
		"list, relative":      {"session/list", `{"cwd":"w"}`, []string{refusal(1, -32602, `cwd: must be an absolute path, got "w"`)}},
		"list, bad cursor":    {"session/list", `{"cursor":"x"}`, []string{refusal(1, -32602, "cursor: unknown")}},
		"list, cursor number": {"session/list", `{"cursor":7}`, []string{refusal(1, -32602, "cursor: must be a string, not number")}},
		"delete":              {"session/delete", `{"sessionId":"s1"}`, []string{result(1, `{}`)}},
		"delete, unknown":     {"session/delete", `{"sessionId":"no"}`, []string{result(1, `{}`)}},
		"delete, nothing":     {"session/delete", `{}`, []string{refusal(1, -32602, "sessionId: is required")}},
		"close":               {"session/close", `{"sessionId":"s1"}`, []string{result(1, `{}`)}},
		"mode":                {"session/set_mode", `{"sessionId":"s1","modeId":"code"}`, []string{result(1, `{}`), title("sync")}},
		"mode, unknown":       {"session/set_mode", `{"sessionId":"s1","modeId":"x"}`, []string{refusal(1, -32602, "modeId: unknown mode")}},
		"option": {"session/set_config_option", `{"sessionId":"s1","configId":"model","value":"b"}`,
			[]string{result(1, `{"configOptions":`+options("b")+`}`), title("sync")}},
		"option, odd type": {"session/set_config_option", `{"sessionId":"s1","configId":"model","type":"id","value":"b"}`,
			[]string{result(1, `{"configOptions":`+options("b")+`}`), title("sync")}},
		"option, type null": {"session/set_config_option", `{"sessionId":"s1","configId":"model","type":null,"value":"b"}`,
			[]string{result(1, `{"configOptions":`+options("b")+`}`), title("sync")}},
		"option, boolean": {"session/set_config_option", `{"sessionId":"s1","configId":"model","type":"boolean","value":true}`,
			[]string{refusal(1, -32602, "value: unknown value")}},
		"option, only bool": {"session/set_config_option", `{"sessionId":"s1","configId":"model","value":false}`,
			[]string{refusal(1, -32602, "value: unknown value")}},
		"option, no boolean": {"session/set_config_option", `{"sessionId":"s1","configId":"model","type":"boolean","value":"b"}`,
			[]string{refusal(1, -32602, "value: must be a boolean, not string")}},
		"option, a number": {"session/set_config_option", `{"sessionId":"s1","configId":"model","value":7}`,
			[]string{refusal(1, -32602, "value: must be a string or a boolean, not number")}},
		"option, no value": {"session/set_config_option", `{"sessionId":"s1","configId":"model"}`, []string{refusal(1, -32602, "value: is required")}},
		"option, null": {"session/set_config_option", `{"sessionId":"s1","configId":"model","type":"boolean","value":null}`,
			[]string{refusal(1, -32602, "value: is required")}},
		"option, no id": {"session/set_config_option", `{"sessionId":"s1","value":"b"}`, []string{refusal(1, -32602, "configId: is required")}},
		"option, unknown": {"session/set_config_option", `{"sessionId":"s1","configId":"x","value":"b"}`,
			[]string{refusal(1, -32602, "configId: unknown option")}},
		"option, no session": {"session/set_config_option", `{"sessionId":"no","configId":"model","value":"b"}`,
			[]string{refusal(1, -32002, "session no: unknown session")}},
		"option, panic": {"session/set_config_option", `{"sessionId":"s1","configId":"panic","value":"b"}`,
			[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"session/set_config_option: internal error: boom","data":{"details":"session/set_config_option: internal error: boom"}}}`}},
		"model":          {"session/set_model", `{"sessionId":"s1","modelId":"b"}`, []string{result(1, `{}`), title("sync")}},
		"model, unknown": {"session/set_model", `{"sessionId":"s1","modelId":"x"}`, []string{refusal(1, -32602, "modelId: unknown value")}},
		"model, none":    {"session/set_model", `{"sessionId":"s1"}`, []string{refusal(1, -32602, "modelId: is required")}},
	} {
		t.Run(name, func(t *testing.T) {
			w := checked(t, newServer(t, &fakeSessions{loud: true}))
			if tt.method == "session/set_model" { // no schema has it any more
				w = serve(t, newServer(t, &fakeSessions{loud: true}))
			}
			w.send(open)
			w.read()
			w.read() // opened
			w.send(request(1, tt.method, tt.params))
			for _, want := range tt.want {
				if diff := cmp.Diff(canonical(t, want), canonical(t, w.read())); diff != "" {
					t.Errorf("%s %s (-want +got)\n%s", tt.method, tt.params, diff)
				}
			}
			w.send(alive)
			if got := w.read(); !strings.Contains(got, `"alive"`) {
				t.Errorf("%s %s: more than was wanted: %s", tt.method, tt.params, got)
			}
		})
	}
}

// After several settings in one write the last one holds, and each answer shows
// its own.
func TestOptionsInOneWrite(t *testing.T) {
	w := checked(t, newServer(t, &fakeSessions{}))
	w.send(open)
	w.read()
	var lines []string
	for i := range 10 {
		lines = append(lines, request(i, "session/set_config_option", fmt.Sprintf(`{"sessionId":"s1","configId":"model","value":%q}`, "ab"[i%2:i%2+1])))
	}
	w.send(lines...)
	for i := range 10 {
		want := result(i, `{"configOptions":`+options("ab"[i%2:i%2+1])+`}`)
		if got := w.read(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestInitialize(t *testing.T) {
	const (
		apiKey = `{"id":"api-key","name":"API key","description":"Uses the provider's key from the environment or from login. Without a key it uses Ollama on this machine, else the built-in provider, which needs no key."}`
		login  = `{"id":"login","name":"Log in","description":"Asks in a terminal for a provider and its key, and stores it."`
		old    = login + `,"_meta":{"terminal-auth":{"label":"Log in","command":"/bin/zeph-acp","args":["login"],"env":{}}}}`
		now    = login + `,"type":"terminal","args":["login"]}`
	)
	for name, tt := range map[string]struct{ caps, methods string }{
		"nothing":     {`null`, apiKey},
		"not asked":   {`{"auth":{"terminal":false},"_meta":{"terminal-auth":0}}`, apiKey},
		"wrong types": {`{"auth":{"terminal":"yes"},"_meta":[]}`, apiKey},
		"terminal":    {`{"auth":{"terminal":true}}`, apiKey + "," + now},
		"older form":  {`{"_meta":{"terminal-auth":true}}`, apiKey + "," + old},
		"both forms":  {`{"auth":{"terminal":true},"_meta":{"terminal-auth":true}}`, apiKey + "," + now},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, &fakeSessions{})
			s.Command, s.Logout = "/bin/zeph-acp", func() error { return nil }
			s.Extensions = map[string]Extension{"_zeph/b": nil, "_zeph/a": nil}
			w := checked(t, s)
			w.send(request(1, "initialize", `{"protocolVersion":1,"clientCapabilities":`+tt.caps+`,"clientInfo":{"name":"x","version":2}}`))
			want := result(1, `{"protocolVersion":1,"agentInfo":{"name":"zeph-acp","version":"1"},"authMethods":[`+tt.methods+
				`],"agentCapabilities":{"loadSession":true,`+
				`"promptCapabilities":{"image":true,"embeddedContext":true},"mcpCapabilities":{"http":true,"sse":true},`+
				`"sessionCapabilities":{"list":{},"delete":{},"additionalDirectories":{},"resume":{},"fork":{},"close":{},`+
				`"systemPrompt":{"mode":{"override":{}}}},"auth":{"logout":{}},`+
				`"_meta":{"zeph":{"methods":["_zeph/a","_zeph/b"]}}},"_meta":{"steering":{"supported":true}}}`)
			if diff := cmp.Diff(canonical(t, want), canonical(t, w.read())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := s.client.Info(); got != (Implementation{Name: "x"}) {
				t.Errorf("the client is %+v", got)
			}
		})
	}
}

// A client that offers version 2 sends its name and capabilities in the members of version 2.
// Members of version 1 take precedence; a version 1 client is read by them alone.
func TestInitializeInVersion2(t *testing.T) {
	const two = `"info":{"name":"two","version":"9"},"capabilities":{"auth":{"terminal":{}},"elicitation":{"form":{},"url":null},"_meta":{"terminal_output":true},"x":1}`
	for params, want := range map[string]InitializeRequest{
		`{"protocolVersion":2,` + two + `}`: {
			ClientInfo:         Implementation{Name: "two", Version: "9"},
			ClientCapabilities: ClientCapabilities{AuthTerminal: true, ElicitForm: true, TerminalOutput: true},
		},
		`{"protocolVersion":3,"clientInfo":{"name":"one"},"clientCapabilities":{"terminal":true},` + two + `}`: {
			ClientInfo: Implementation{Name: "one"}, ClientCapabilities: ClientCapabilities{Terminal: true},
		},
		`{"protocolVersion":2,"info":[],"capabilities":7}`: {},
		`{"protocolVersion":1,` + two + `}`:                {},
	} {
		var got InitializeRequest
		err := DecodeParams(json.RawMessage(params), &got)
		if got.ProtocolVersion = nil; err != nil || !cmp.Equal(got, want, cmpopts.IgnoreUnexported(InitializeRequest{})) {
			t.Errorf("%s: %+v, %v", params, got, err)
		}
	}
}

// Each capability is encoded and decoded by itself, and a malformed one counts
// as absent.
func TestClientCapabilities(t *testing.T) {
	for want := range capabilitiesOneByOne() {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got ClientCapabilities
		if err := json.Unmarshal(b, &got); err != nil || got != want {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
	for _, doc := range []string{
		`null`, `7`, `[]`, `{}`,
		`{"fs":"yes","terminal":1,"session":null,"elicitation":true,"auth":[],"_meta":7}`,
		`{"fs":{"readTextFile":"true","writeTextFile":1},"terminal":{},"session":{"configOptions":{"boolean":true},"notices":true,"compaction":[]}}`,
		`{"session":{"configOptions":true,"notices":null},"elicitation":{"form":null,"url":true},"auth":{"terminal":{}},"_meta":{"terminal-auth":"true","terminal_output":{}}}`,
	} {
		got := ClientCapabilities{Terminal: true}
		if err := json.Unmarshal([]byte(`[`+doc+`]`), &[]*ClientCapabilities{&got}); err != nil {
			t.Error(err)
		}
		if err := got.UnmarshalJSON([]byte(doc)); err != nil || got != (ClientCapabilities{}) {
			t.Errorf("%s: %+v, %v", doc, got, err)
		}
	}
}

// Clients pass on the MCP servers of configuration files in various forms.
func TestMCPServers(t *testing.T) {
	variable := []EnvVariable{{"A", "b"}}
	stdio := []MCPServer{{Type: "stdio", Name: "x", Command: "/x"}}
	full := []MCPServer{{Type: "stdio", Name: "x", Command: "/x", Args: []string{"-v"}, Env: variable}}
	remote := []MCPServer{{Type: "http", Name: "x", URL: "http://x", Headers: variable}}
	for servers, want := range map[string]any{
		`[{"name":"x","command":"/x","args":["-v"],"env":[{"name":"A","value":"b"}]}]`: full,
		`[{"type":"stdio","name":"x","command":"/x","args":["-v"],"env":{"A":"b"}}]`:   full,
		`{"x":{"command":"/x","args":["-v"],"env":{"A":"b"}}}`:                         full,
		`[{"name":"x","command":"/x","args":{},"env":{},"headers":[]}]`:                stdio,
		`[{"name":"x","command":"/x","args":null,"env":null,"url":null,"type":null}]`:  stdio,
		`[{"name":"x","command":"/x","env":[{"name":"A"}],"timeout":5,"disabled":false}]`: []MCPServer{{Type: "stdio", Name: "x", Command: "/x",
			Env: []EnvVariable{{"A", ""}}}},
		`[{"type":"http","name":"x","url":"http://x","headers":[{"name":"A","value":"b"}]}]`: remote,
		`[{"name":"x","url":"http://x","headers":{"A":"b"}}]`:                                remote,
		`[{"type":"streamable-http","name":"x","url":"http://x","headers":{"A":"b"}}]`:       remote,
		`[{"type":"sse","name":"x","url":"http://x","command":"","env":[]}]`:                 []MCPServer{{Type: "sse", Name: "x", URL: "http://x"}},
		`{}`:                    []MCPServer(nil),
		`[]`:                    []MCPServer(nil),
		`null`:                  []MCPServer(nil),
		`{"x":{}}`:              "mcpServers.x.command: is required",
		`{"x":7}`:               "mcpServers.x: must be an object, not number",
		`{"":{"command":"/x"}}`: "mcpServers..name: is required",
		`[{"name":"x","command":"/x","env":{"A":7}}]`:                  "mcpServers[0].env.A: must be a string, not number",
		`[{"name":"x","command":"/x","env":[{"name":"A","value":7}]}]`: "mcpServers[0].env[0].value: must be a string, not number",
		`[{"name":"x","command":"/x","args":{"0":"-v"}}]`:              "mcpServers[0].args: must be an array, not object",
		`[{"name":"x","command":["/x"]}]`:                              "mcpServers[0].command: must be a string, not array",
	} {
		var p NewSessionRequest
		err := DecodeParams(json.RawMessage(`{"cwd":"/w","mcpServers":`+servers+`}`), &p)
		var got any = p.MCPServers
		if err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", servers, diff)
		}
	}
}

func capabilitiesOneByOne() func(yield func(ClientCapabilities) bool) {
	return slices.Values([]ClientCapabilities{
		{}, {ReadTextFile: true}, {WriteTextFile: true}, {Terminal: true}, {BooleanOptions: true}, {Notices: true}, {Compaction: true},
		{ElicitForm: true}, {ElicitURL: true}, {AuthTerminal: true}, {MetaTerminalAuth: true}, {TerminalOutput: true}, {OutputParts: true},
	})
}

func TestAuthentication(t *testing.T) {
	locked := fmt.Errorf("%w: no key", ErrAuthRequired)
	for name, tt := range map[string]struct {
		ready          error
		method, params string
		want           string
	}{
		"api-key, ready":  {nil, "authenticate", `{"methodId":"api-key","authMethod":{}}`, result(1, `{}`)},
		"login, ready":    {nil, "authenticate", `{"methodId":"login"}`, result(1, `{}`)},
		"api-key, no key": {locked, "authenticate", `{"methodId":"api-key"}`, refusal(1, -32000, "authenticate: authentication required: no key")},
		"login, no key": {locked, "authenticate", `{"methodId":"login"}`,
			refusal(1, -32000, `authenticate: authentication required: no key; login is done in a terminal, not here: run it there, then try again`)},
		"unknown":          {nil, "authenticate", `{"methodId":"x"}`, refusal(1, -32602, `methodId: unknown method "x", there are "api-key" and "login"`)},
		"number":           {nil, "authenticate", `{"methodId":1}`, refusal(1, -32602, "methodId: must be a string, not number")},
		"missing":          {nil, "authenticate", `{}`, refusal(1, -32602, "methodId: is required")},
		"logout":           {nil, "logout", `{}`, result(1, `{}`)},
		"logout, null":     {nil, "logout", `null`, result(1, `{}`)},
		"logout, an array": {nil, "logout", `[]`, refusal(1, -32602, "params: must be an object")},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, &fakeSessions{})
			s.Ready, s.Logout = func() error { return tt.ready }, func() error { return nil }
			w := checked(t, s)
			w.send(request(1, tt.method, tt.params))
			if diff := cmp.Diff(canonical(t, tt.want), canonical(t, w.read())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestLogoutUnsupported(t *testing.T) {
	w := serve(t, newServer(t, &fakeSessions{}))
	w.send(`{"jsonrpc":"2.0","id":1,"method":"logout"}`)
	if got, want := w.read(), refusal(1, -32601, "method not found: logout"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestExtensions(t *testing.T) {
	called := make(chan string, 9)
	s := newServer(t, &fakeSessions{})
	answer := func(do func(params json.RawMessage) (any, error)) Extension {
		return func(_ context.Context, _ *Client, params json.RawMessage) (func() (any, error), error) {
			return func() (any, error) { return do(params) }, nil
		}
	}
	s.Extensions = map[string]Extension{
		"_x/echo": answer(func(params json.RawMessage) (any, error) {
			called <- "echo"
			return params, nil
		}),
		"_x/nothing": answer(func(json.RawMessage) (any, error) { return nil, nil }),
		"_x/fails":   answer(func(json.RawMessage) (any, error) { return nil, errors.New("no <luck>") }),
		"_x/params": func(_ context.Context, _ *Client, params json.RawMessage) (func() (any, error), error) {
			var p struct {
				N int `json:"n"`
			}
			return nil, DecodeParams(params, &p)
		},
		"_x/panics": answer(func(json.RawMessage) (any, error) { panic("boom") }),
	}
	w := serve(t, s)
	for _, tt := range [][2]string{
		{request(1, "_x/echo", `[1,"<a>"]`), result(1, `[1,"<a>"]`)},
		{`{"jsonrpc":"2.0","id":1,"method":"_x/echo"}`, result(1, `{}`)},
		{request(1, "_x/nothing", `{}`), result(1, `{}`)},
		{request(1, "_x/fails", `{}`), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no <luck>","data":{"details":"no <luck>"}}}`},
		{request(1, "_x/params", `{"n":"1"}`), refusal(1, -32602, "n: must be an integer, not string")},
		{request(1, "_x/params", `7`), refusal(1, -32602, "params: must be an object")},
		{request(1, "_x/panics", `{}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"_x/panics: internal error: boom","data":{"details":"_x/panics: internal error: boom"}}}`},
		{request(1, "_x/other", `{}`), refusal(1, -32601, "method not found: _x/other")},
	} {
		w.send(tt[0])
		if diff := cmp.Diff(canonical(t, tt[1]), canonical(t, w.read())); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt[0], diff)
		}
	}
	w.send(`{"jsonrpc":"2.0","method":"_x/echo","params":{}}`, `{"jsonrpc":"2.0","method":"_x/other"}`, alive)
	if got := w.read(); !strings.Contains(got, `"alive"`) {
		t.Errorf("w.read(): got %v, want %q in it", got, `"alive"`)
	}
	if len(called) != 2 {
		t.Errorf("called %d times, a notification too", len(called))
	}
}
