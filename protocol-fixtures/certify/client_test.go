package certify

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

func TestMain(m *testing.M) { os.Exit(machine.Tests{M: m}.Run()) }

// testClient is a client that keeps all statements, apart from its fault.
type testClient struct {
	t       *testing.T
	version int
	caps    string // the capabilities, as JSON
	dir     string
	// answer replaces an answer, if it returns one; "-" means none. id is the JSON of the id.
	answer func(c *testClient, method, id string, params agentParams) string
	// before sends lines in addition, before a request of the client, whose line it can change.
	before func(c *testClient, method string, line string) string
	ends   string // the agent's method at which the client ends; "" for none

	schema   *schema.Validator
	in       io.WriteCloser // of the agent
	done     chan struct{}
	answered chan string // results of own requests
	idle     chan struct{}
	pinged   chan struct{} // the scenario late, which goes on after its turn, got an answer

	mu        sync.Mutex
	scenario  string
	session   string
	terminals map[string]*exec.Cmd
	output    map[string]*strings.Builder
	lastID    int
}

// agentParams are the params of the agent's requests.
type agentParams struct {
	SessionID, Path, Content, Command, CWD, TerminalID, Mode string
	Args                                                     []string
	Env                                                      []struct{ Name, Value string }
	Line, Limit, OutputByteLimit                             int
	Options                                                  []struct{ OptionID, Kind string }
	Update                                                   struct{ SessionUpdate, State, StopReason string }
}

// certify runs the scenarios, each by its name, and returns the report.
func (c *testClient) certify(names ...string) *Report {
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	c.in, c.schema, c.dir = in, schema.Load(c.t), c.t.TempDir()
	c.done, c.answered, c.idle = make(chan struct{}), make(chan string, 1), make(chan struct{}, 1)
	c.pinged = make(chan struct{}, 2)
	c.terminals, c.output = map[string]*exec.Cmd{}, map[string]*strings.Builder{}
	config := Config{Protocol: "auto", Version: "1", Patience: 30 * time.Second}
	if len(names) == 1 {
		config.Only = names[0]
	}
	go c.read(out)
	go c.drive(names)
	r := Serve(c.t.Context(), toAgent, fromAgent, config)
	_ = fromAgent.Close()
	<-c.done
	return r
}

// drive sends the requests of the client.
func (c *testClient) drive(names []string) {
	defer c.in.Close()
	if c.version == 2 {
		c.request("initialize", `{"protocolVersion":2,"info":{"name":"test","version":"1"},"capabilities":`+c.caps+`}`)
	} else {
		c.request("initialize", `{"protocolVersion":1,"clientInfo":{"name":"test","version":"1"},"clientCapabilities":`+c.caps+`}`)
	}
	var r struct{ SessionID string }
	_ = json.Unmarshal([]byte(c.request("session/new", `{"cwd":`+quote(c.dir)+`,"mcpServers":[]}`)), &r)
	c.mu.Lock()
	c.session = r.SessionID
	c.mu.Unlock()
	for _, name := range names {
		c.mu.Lock()
		c.scenario = name
		c.mu.Unlock()
		c.request("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"/certify %s"}]}`, r.SessionID, name))
		if c.version == 2 {
			select {
			case <-c.idle:
			case <-c.done:
				return
			}
		}
		for range 2 * strings.Count(name, "late") { // before and after the end of the turn
			select {
			case <-c.pinged:
			case <-c.done:
				return
			case <-time.After(time.Minute): // a client with a fault
			}
		}
	}
	c.request("session/list", `{"cwd":`+quote(c.dir)+`}`)
	if c.version == 2 {
		c.request("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"style","type":"id","value":"long"}`, r.SessionID))
		c.request("session/resume", `{"sessionId":"certify-history","cwd":`+quote(c.dir)+`,"replayFrom":{"type":"start"}}`)
		return
	}
	c.request("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"style","value":"long"}`, r.SessionID))
	c.request("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"code"}`, r.SessionID))
	c.request("session/load", `{"sessionId":"certify-history","cwd":`+quote(c.dir)+`,"mcpServers":[]}`)
}

// request sends a request and waits for its result.
func (c *testClient) request(method, params string) string {
	c.mu.Lock()
	c.lastID++
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.lastID, method, params)
	c.mu.Unlock()
	if c.before != nil {
		line = c.before(c, method, line)
	}
	c.write(line)
	select {
	case result := <-c.answered:
		return result
	case <-c.done:
		return ""
	}
}

func (c *testClient) write(line string) {
	_ = c.schema.Frame("client", []byte(line))
	_, _ = io.WriteString(c.in, line+"\n") // fails once the agent has ended
}

// read handles the agent's lines until the fault ends the client.
func (c *testClient) read(out *io.PipeReader) {
	defer close(c.done)
	defer out.Close()
	r := bufio.NewReaderSize(out, 2<<20)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var f struct {
			ID            json.RawMessage
			Method        string
			Params        agentParams
			Result, Error json.RawMessage
			JSONRPC       string
		}
		hostile := c.now() == "unknown" || c.now() == "malformed" || c.now() == "late"
		if err := json.Unmarshal(line, &f); err != nil && hostile {
			if c.ends == "malformed" {
				_ = c.in.Close()
				return
			}
			continue
		}
		if !hostile && !strings.HasPrefix(f.Method, "_") && f.Method != "$/cancel_request" {
			if err := c.schema.Frame("agent", line[:len(line)-1]); err != nil && c.before == nil {
				c.t.Errorf("%v\n%s", err, clip(string(line), 500))
			}
		}
		if c.ends != "" && f.Method == c.ends {
			_ = c.in.Close()
			return
		}
		switch {
		case f.Method == "" && string(f.ID) == c.awaited():
			c.answered <- string(f.Result)
		case f.Method == "session/update" && f.ID == nil:
			c.updated(f.Params)
		case f.Method != "" && f.ID != nil:
			c.serve(f.Method, string(f.ID), f.Params)
		}
	}
}

// awaited returns the id of the last request of drive. Faults may send others.
func (c *testClient) awaited() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.lastID)
}

func (c *testClient) now() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scenario
}

// updated cancels where the scenario wants it, and notes the end of a turn in version 2.
func (c *testClient) updated(p agentParams) {
	cancels := c.now() == "cancel" && strings.HasPrefix(p.Update.SessionUpdate, "tool_call")
	cancels = cancels || c.now() == "cancel-race" && p.Update.SessionUpdate == "agent_message_chunk"
	if cancels {
		c.cancel()
	}
	if p.Update.SessionUpdate == "state_update" && p.Update.StopReason != "" {
		c.idle <- struct{}{}
	}
}

func (c *testClient) cancel() {
	c.mu.Lock()
	session := c.session
	c.mu.Unlock()
	c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session))
}

// serve answers a request of the agent.
func (c *testClient) serve(method, id string, p agentParams) {
	if c.answer != nil {
		if line := c.answer(c, method, id, p); line == "-" {
			return
		} else if line != "" {
			c.write(line)
			return
		}
	}
	result, ok := c.result(method, p)
	if !ok {
		c.write(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"unknown method"}}`)
		if method == "_zeph/certify" && c.now() == "late" {
			c.pinged <- struct{}{}
		}
		return
	}
	if failure, failed := strings.CutPrefix(result, "error "); failed {
		c.write(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32002,"message":` + quote(failure) + `}}`)
		return
	}
	c.write(resultOf(id, result))
}

func resultOf(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func quote(s string) string {
	q, _ := json.Marshal(s)
	return string(q)
}

// result returns the result of a method, or "error MESSAGE".
func (c *testClient) result(method string, p agentParams) (string, bool) {
	declares := func(name string) bool { return strings.Contains(c.caps, name) }
	switch {
	case method == "session/request_permission":
		if strings.HasPrefix(c.now(), "cancel-") {
			if c.now() == "cancel-question" {
				c.cancel()
			}
			return `{"outcome":{"outcome":"cancelled"}}`, true
		}
		option := p.Options[0].OptionID
		for _, o := range p.Options {
			if o.Kind == strings.ReplaceAll(c.now(), "-", "_") {
				option = o.OptionID
			}
		}
		return `{"outcome":{"outcome":"selected","optionId":` + quote(option) + `}}`, true
	case method == "elicitation/create" && declares("elicitation"):
		if p.Mode == "form" {
			return `{"action":"accept","content":{"name":"x","colour":"red","count":3,"sure":true}}`, true
		}
		return `{"action":"accept"}`, true
	case method == "fs/read_text_file" && declares("readTextFile"):
		text, err := os.ReadFile(p.Path)
		if err != nil {
			return "error no such file", true
		}
		lines := strings.SplitAfter(string(text), "\n")
		lines = lines[max(p.Line, 1)-1:]
		if p.Limit > 0 {
			lines = lines[:p.Limit]
		}
		return `{"content":` + quote(strings.Join(lines, "")) + `}`, true
	case method == "fs/write_text_file" && declares("writeTextFile"):
		if err := os.WriteFile(p.Path, []byte(p.Content), 0o600); err != nil {
			return "error " + err.Error(), true
		}
		return `{}`, true
	case strings.HasPrefix(method, "terminal/") && declares(`"terminal":true`):
		return c.terminal(method, p)
	}
	return "", false
}

// terminal serves the methods of terminals.
func (c *testClient) terminal(method string, p agentParams) (string, bool) {
	if method == "terminal/create" {
		cmd := exec.Command(p.Command, p.Args...)
		cmd.Dir, cmd.Env = p.CWD, os.Environ()
		for _, e := range p.Env {
			cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
		}
		out := &strings.Builder{}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			return "error " + err.Error(), true
		}
		id := fmt.Sprint("t", len(c.terminals))
		c.terminals[id], c.output[id] = cmd, out
		if p.OutputByteLimit == 0 {
			return `{"terminalId":` + quote(id) + `}`, true
		}
		_ = cmd.Wait()
		if text := out.String(); len(text) > p.OutputByteLimit {
			out.Reset()
			out.WriteString(text[len(text)-p.OutputByteLimit:])
		}
		return `{"terminalId":` + quote(id) + `}`, true
	}
	cmd := c.terminals[p.TerminalID]
	if cmd == nil {
		return "error no such terminal", true
	}
	exit := `{"exitCode":null,"signal":"SIGKILL"}`
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() >= 0 {
		exit = fmt.Sprintf(`{"exitCode":%d}`, cmd.ProcessState.ExitCode())
	}
	switch method {
	case "terminal/output":
		if cmd.ProcessState == nil {
			return `{"output":"","truncated":false}`, true
		}
		text := c.output[p.TerminalID].String()
		return fmt.Sprintf(`{"output":%s,"truncated":%t,"exitStatus":%s}`, quote(text), len(text) == 1000, exit), true
	case "terminal/wait_for_exit":
		return exit, true
	case "terminal/kill":
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return `{}`, true
	case "terminal/release":
		delete(c.terminals, p.TerminalID)
		return `{}`, true
	}
	return "", false
}

func (c *testClient) declared(t *testing.T) map[string]any {
	var caps map[string]any
	if err := json.Unmarshal([]byte(c.caps), &caps); err != nil {
		t.Fatal(err)
	}
	return caps
}
