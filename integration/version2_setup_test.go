package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

// open2 opens a session of version 2 with these MCP servers, and returns its id.
func (a *agent) open2(servers ...string) string {
	a.t.Helper()
	var r struct{ SessionID string }
	result := a.accepted(fmt.Sprintf(`"new-%d"`, len(a.agentFrames())), "session/new",
		fmt.Sprintf(`{"cwd":%q,"mcpServers":[%s]}`, a.dir, strings.Join(servers, ",")))
	if err := json.Unmarshal([]byte(result), &r); err != nil || r.SessionID == "" {
		a.t.Fatalf("session/new: %s", result)
	}
	return r.SessionID
}

// work2 sends a prompt in version 2 and waits for the nth end of work of the session.
func (a *agent) work2(session, text string, n int) {
	a.t.Helper()
	id := fmt.Sprintf(`"prompt-%d"`, len(a.agentFrames()))
	a.request(id, "session/prompt", promptParams(session, text))
	a.inserted(id)
	if reason := a.idle(session, n); reason != "end_turn" {
		a.t.Errorf("%q ended with %s:\n%s", text, reason, a.lines())
	}
}

// The agent says that it starts servers with stdio and connects to servers with HTTP, and both work without
// their lists. A server that does not start is shown in a notice, and the others work.
// Statements 236, 251, 252, 253.
func TestServersInVersion2(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fakemcp.Server() }, nil))
	t.Cleanup(web.CloseClientConnections)
	a := connect2(t, home(t), allowMCP)
	a.checkContains(string(a.answer(`"init"`).Result), `"mcp":{"stdio":{},"http":{}}`)
	server := filepath.Join(a.root, "server")
	a.script(server, fmt.Sprintf("%s=serve exec '%s'", fakemcp.Behaviour, testBinary(t)))
	s := a.open2(
		fmt.Sprintf(`{"type":"stdio","name":"io","command":%q}`, server),
		fmt.Sprintf(`{"type":"http","name":"web","url":%q}`, web.URL),
		`{"type":"stdio","name":"gone","command":"/nonexistent/server"}`,
	)
	a.work2(s, `/io__echo {"message":"by stdio"}`, 1)
	a.work2(s, `/web__echo {"message":"by HTTP"}`, 2)
	a.checkContains(a.lines(), "Echo: by stdio", "Echo: by HTTP")
	a.await("notice about the server that does not start", func(f frame) bool {
		return strings.Contains(f.line, `"sessionUpdate":"notice"`) && strings.Contains(f.line, "gone")
	})
}

// initialize needs neither the network, nor a key, nor a directory of its own.
// Statements 238.
func TestInitializeAlone(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("initialize connects to %s", r.URL)
	}))
	t.Cleanup(proxy.Close)
	a := launch(t, start{
		args: []string{"serve", "--protocol", "v2"},
		env:  []string{"ZEPH_HOME=/nonexistent/zeph", "HOME=/nonexistent", "HTTP_PROXY=" + proxy.URL, "HTTPS_PROXY=" + proxy.URL},
	})
	a.request(`"init"`, "initialize", `{"protocolVersion":2,"info":{"name":"ed","version":"1"}}`)
	f := a.awaitWithin(promptly, "answer", func(f frame) bool { return string(f.ID) == `"init"` })
	if !strings.Contains(string(f.Result), `"protocolVersion":2`) {
		t.Errorf("initialize: %s", f.line)
	}
}

// After a logout, what needs the key is refused until there is a key again. A prompt that was inserted before
// the key is missed ends with that error.
// Statements 244.
func TestLogoutInVersion2(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("Here.")))
	a := launch(t, start{config: "[acp]\nprotocol = \"auto\"\n" + keyless, env: []string{"ANTHROPIC_BASE_URL=" + p.URL}})
	a.request(`"init"`, "initialize", `{"protocolVersion":2,"info":{"name":"ed","version":"1"}}`)
	a.answer(`"init"`)
	a.login()
	s := a.open2()
	a.accepted("1", "auth/logout", `{}`)
	a.refused("2", "session/new", `{"cwd":`+quote(a.dir)+`}`)
	a.refused("3", "auth/login", `{"methodId":"api-key"}`)
	a.request("4", "session/prompt", promptParams(s, "hi"))
	if f := a.answer("4"); f.Error != nil {
		if f.Error.Code != -32000 {
			t.Errorf("the prompt: %s", f.line)
		}
	} else if reason := a.idle(s, 1); reason != "error" || !strings.Contains(a.lines(), `"error":{"code":-32000`) {
		t.Errorf("the prompt ended with %s:\n%s", reason, a.lines())
	}
	if len(p.Requests()) > 0 {
		t.Error("a request without a key")
	}
	a.login()
	a.open2()
}

// Instructions of the client reach the model as system text, also after the session is resumed without them.
// Statements 256.
func TestSystemPromptInVersion2(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(fakemodel.Request) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say("ok")) }
	root := home(t)
	check := func(a *agent, session, what string) {
		t.Helper()
		a.work2(session, "hi", 1)
		all := p.Requests()
		var r struct{ System json.RawMessage }
		if err := json.Unmarshal([]byte(all[len(all)-1]), &r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(r.System), "Answer in verse.") || !strings.Contains(string(r.System), "You are zeph-acp") {
			t.Errorf("%s: the system text is %s", what, r.System)
		}
	}
	open := func(method, params string) (a *agent, session string) {
		t.Helper()
		a = launch(t, start{root: root, env: p.Env(), args: []string{"--protocol", "v2"}})
		a.request(`"init"`, "initialize", `{"protocolVersion":2,"info":{"name":"ed","version":"1"}}`)
		a.answer(`"init"`)
		var r struct{ SessionID string }
		if err := json.Unmarshal([]byte(a.accepted("1", method, fmt.Sprintf(`{"cwd":%q,%s}`, a.dir, params))), &r); err != nil {
			t.Fatal(err)
		}
		return a, r.SessionID
	}
	a, s := open("session/new", `"systemPrompt":{"mode":"append","content":[{"type":"text","text":"Answer in verse."}]}`)
	check(a, s, "new")
	a.in.Close()
	a.exits(0)
	b, _ := open("session/resume", fmt.Sprintf(`"sessionId":%q`, s))
	check(b, s, "resumed")
}

// What version 1 alone has is a fault in version 2. Each frame of all tests and fixtures is checked like these.
// Statements 220.
func TestNothingOfVersion1(t *testing.T) {
	for frame, fault := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","configOptions":[],"availableCommands":[]}}`:               "",
		`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s","configOptions":[],"availableCommands":[],"modes":{}}}`:    "modes",
		`{"jsonrpc":"2.0","id":9,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/a"}}`:                "fs/read_text_file",
		`{"jsonrpc":"2.0","id":9,"method":"fs/write_text_file","params":{"sessionId":"s","path":"/a","content":"b"}}`: "fs/write_text_file",
		`{"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"sessionId":"s","command":"ls"}}`:               "terminal/create",
		`{"jsonrpc":"2.0","id":9,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}`:             "terminal/output",
		`{"jsonrpc":"2.0","id":9,"method":"terminal/release","params":{"sessionId":"s","terminalId":"t"}}`:            "terminal/release",
		`{"jsonrpc":"2.0","id":9,"method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"t"}}`:      "terminal/wait_for_exit",
		`{"jsonrpc":"2.0","id":9,"method":"terminal/kill","params":{"sessionId":"s","terminalId":"t"}}`:               "terminal/kill",
	} {
		v := schema.Load(t)
		for _, f := range [][2]string{
			{"client", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"ed","version":"1"}}}`},
			{"agent", `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{},"authMethods":[]}}`},
			{"client", `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}`},
		} {
			if err := v.Frame(f[0], []byte(f[1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := v.Frame("agent", []byte(frame)); (err != nil) != (fault != "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want a fault about %q", frame, err, fault)
		}
	}
}
