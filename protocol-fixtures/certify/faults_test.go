package certify

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
)

// TestFaults runs clients with one fault each. The report must name that fault alone, with
// the frame that shows it.
func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		scenario, statement string
		frame               string // part of a frame of the report
		client              *testClient
	}{
		"stdout is not clean": {"stream", "json-lines", "loading", &testClient{before: sends("session/prompt", "loading plug-ins")}},
		"no jsonrpc":          {"stream", "messages", `{"id":2`, &testClient{before: swaps("session/new", `"jsonrpc":"2.0",`, "")}},
		"an id in use": {"cancel", "own-ids", `"id":3,"method":"session/list"`, &testClient{
			before: twice("session/prompt", `{"jsonrpc":"2.0","id":3,"method":"session/list","params":{}}`),
		}},
		"an id of a wrong type": {"stream", "own-ids", `"id":1.5`, &testClient{
			before: sends("session/prompt", `{"jsonrpc":"2.0","id":1.5,"method":"session/list","params":{}}`),
		}},
		"ids as strings": {"allow-once", "answer-ids", `"id":"1"`, &testClient{
			answer: answers("session/request_permission", `{"jsonrpc":"2.0","id":"1","result":{"outcome":{"outcome":"selected","optionId":"certify-allow-once"}}}`),
		}},
		"answered twice":     {"read", "answered-once", `"again"`, &testClient{answer: doubles("fs/read_text_file")}},
		"never answered":     {"read", "answered-once", "fs/read_text_file", &testClient{answer: answers("fs/read_text_file", "-")}},
		"unasked answer":     {"stream", "answered-once", "nobody", &testClient{before: sends("session/prompt", resultOf(`"nobody"`, `{}`))}},
		"result is a string": {"allow-once", "results", `"result":"yes"`, &testClient{answer: answers("session/request_permission", `RESULT"yes"`)}},
		"no option id": {"allow-once", "results", `"selected"}`, &testClient{
			answer: answers("session/request_permission", `RESULT{"outcome":{"outcome":"selected"}}`),
		}},
		"null result": {"write", "empty-results", `"result":null`, &testClient{answer: writesNull}},
		"no cwd":      {"stream", "params", `"params":{"mcpServers":[]}`, &testClient{before: cuts("session/new", `"cwd":`, `,"mcp`)}},
		"prompt is a string": {"stream", "params", `"prompt":"`, &testClient{
			before: swaps("session/prompt", `[{"type":"text","text":"/certify stream"}]`, `"hi"`),
		}},
		"no initialize": {"stream", "initialize-first", "session/list", &testClient{
			before: sends("initialize", `{"jsonrpc":"2.0","id":"early","method":"session/list","params":{}}`),
		}},
		"relative directory": {"stream", "absolute-paths", `"additionalDirectories":["src"]`, &testClient{
			before: swaps("session/new", `"mcp`, `"additionalDirectories":["src"],"mcp`),
		}},
		"invented session": {"stream", "known-sessions", `"mine"`, &testClient{
			before: sends("session/prompt", `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"mine"}}`),
		}},
		"audio": {"stream", "advertised", `"audio"`, &testClient{
			before: swaps("session/prompt", `[{`, `[{"type":"audio","data":"","mimeType":"audio/wav"},{`),
		}},
		"a server over sse": {"stream", "advertised", `"sse"`, &testClient{
			before: swaps("session/new", `"mcpServers":[`, `"mcpServers":[{"type":"sse","name":"s","url":"http://localhost/","headers":[]}`),
		}},
		"a method of nobody": {"stream", "advertised", "session/fly", &testClient{
			before: sends("session/prompt", `{"jsonrpc":"2.0","id":"f","method":"session/fly","params":{}}`),
		}},
		"an invented mode": {"stream", "offered-values", `"modeId":"yolo"`, &testClient{before: swaps("session/set_mode", `"code"`, `"yolo"`)}},
		"an invented value": {"stream", "offered-values", `"value":"huge"`, &testClient{
			before: swaps("session/set_config_option", `"long"`, `"huge"`),
		}},
		"ends in a turn":        {"stream", "stays", "_zeph/certify", &testClient{ends: "_zeph/certify"}},
		"ends when asked":       {"read", "stays", "fs/read_text_file", &testClient{ends: "fs/read_text_file"}},
		"answers unknown":       {"unknown", "unknown-methods", `"result":{}`, &testClient{answer: answers("certify/unknown", `RESULT{}`)}},
		"ignores unknown":       {"stream", "unknown-methods", `_zeph/certify`, &testClient{answer: answers("_zeph/certify", `-`)}},
		"ends at unknown":       {"unknown", "unknown-members", "_zeph/unknown", &testClient{ends: "_zeph/unknown"}},
		"ends at malformed":     {"malformed", "malformed-frames", "_zeph/certify", &testClient{ends: "malformed"}},
		"an invented option":    {"one-option", "permission-options", "allow-always", &testClient{answer: selects("certify-allow-always")}},
		"an answer in a cancel": {"cancel-question", "permission-cancelled", "certify-allow-once", &testClient{answer: cancelsAnd("certify-allow-once")}},
		"no questions":          {"reject-once", "capabilities", "-32601", &testClient{answer: answers("session/request_permission", `ERROR`)}},
		"no buffers":            {"read", "capabilities", "-32601", &testClient{answer: answers("fs/read_text_file", `ERROR`)}},
		"a mock of files": {"read", "file-content", "mock", &testClient{
			answer: answersIf("fs/read_text_file", "notes.txt", `RESULT{"content":"mock"}`),
		}},
		"empty missing file": {"read", "file-missing", `"content":""`, &testClient{
			answer: answersIf("fs/read_text_file", "missing.txt", `RESULT{"content":""}`),
		}},
		"writes nothing": {"write", "file-written", "fs/write_text_file", &testClient{answer: writesNothing}},
		"joins arguments": {"terminal", "terminal-command", `a b|c`, &testClient{
			answer: outputs(`{"output":"a b|c|\nx $y\n/tmp\n","truncated":false,"exitStatus":{"exitCode":3}}`),
		}},
		"no exit code": {"terminal", "terminal-exit", `"exitCode":0`, &testClient{
			answer: answers("terminal/wait_for_exit", `RESULT{"exitCode":0}`),
		}},
		"no limit": {"terminal-limit", "terminal-limit", `"truncated":false`, &testClient{
			answer: outputs(`{"output":"line 0\nlast\n","truncated":false,"exitStatus":{"exitCode":0}}`),
		}},
		"kill fails": {"terminal-kill", "terminal-kill", "terminal/kill", &testClient{answer: killsBadly}},
		"undeclared terminal": {"undeclared", "undeclared", "terminal/create", &testClient{
			caps: `{}`, answer: answers("terminal/create", `RESULT{"terminalId":"t"}`),
		}},
		"a form with a gap": {"form", "form-content", `"colour":"blue"`, &testClient{
			answer: answers("elicitation/create", `RESULT{"action":"accept","content":{"name":"x","colour":"blue"}}`),
		}},
		"version 2, an id that is null": {"stream", "own-ids", `"id":null`, &testClient{
			version: 2, before: sends("session/prompt", `{"jsonrpc":"2.0","id":null,"method":"session/list","params":{}}`),
		}},
		"version 2, a method of version 1": {"stream", "advertised", "session/set_mode", &testClient{
			version: 2, before: sends("session/prompt", `{"jsonrpc":"2.0","id":"f","method":"session/set_mode","params":{"modeId":"code"}}`),
		}},
		"version 2, an untyped server": {"stream", "params", `"mcpServers":[{"name"`, &testClient{
			version: 2, before: swaps("session/new", `"mcpServers":[`, `"mcpServers":[{"name":"s","command":"/bin/s"}`),
		}},
		"version 2, an invented option": {"one-option", "permission-options", "allow-always", &testClient{version: 2, answer: selects("certify-allow-always")}},
		"version 2, an answer after a cancel": {"cancel-race", "permission-crossed", "certify-allow-once", &testClient{
			version: 2, answer: selects("certify-allow-once"),
		}},
		"version 2, a cursor of no kind": {"stream", "params", `"replayFrom":"start"`, &testClient{
			version: 2, before: swaps("session/resume", `{"type":"start"}`, `"start"`),
		}},
		"version 2, ends in a turn": {"streamed-terminal", "stays", "_zeph/certify", &testClient{version: 2, ends: "_zeph/certify"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := tt.client
				c.t = t
				switch {
				case c.version == 2:
					c.caps = everything2
				case c.caps == "":
					c.caps = everything
				}
				c.version = max(c.version, 1)
				r := c.certify(tt.scenario)
				var got []string
				for _, f := range r.Broken {
					got = append(got, f.Statement+": "+f.What)
				}
				if len(r.Broken) == 0 || r.Broken[0].Statement != tt.statement || len(r.Broken) > 1 {
					t.Fatalf("broken: %q, want %s alone", got, tt.statement)
				}
				if frames := fmt.Sprint(r.Broken[0].Frames); !strings.Contains(frames, tt.frame) {
					t.Errorf("%q shows the frames %s, want one with %s", got, frames, tt.frame)
				}
				if text := r.Broken[0].What; strings.Contains(text, "schema: ") && len(text) < 50 {
					t.Errorf("the finding %q does not say what is wrong", text)
				}
			})
		})
	}
}

type (
	answerFunc = func(c *testClient, method, id string, p agentParams) string
	beforeFunc = func(c *testClient, method string, line string) string
)

// sends sends a line before a request.
func sends(method, extra string) beforeFunc {
	return func(c *testClient, m, line string) string {
		if m == method {
			c.write(extra)
		}
		return line
	}
}

// twice sends a line after a request, and cancels the request's turn.
func twice(method, extra string) beforeFunc {
	return func(c *testClient, m, line string) string {
		if m == method {
			c.write(line)
			return extra
		}
		return line
	}
}

// swaps replaces a part of a request.
func swaps(method, old, text string) beforeFunc {
	return func(_ *testClient, m, line string) string {
		if m == method {
			return strings.Replace(line, old, text, 1)
		}
		return line
	}
}

// cuts removes a part of a request, up to the beginning of another one and its comma.
func cuts(method, from, to string) beforeFunc {
	return func(_ *testClient, m, line string) string {
		i, j := strings.Index(line, from), strings.Index(line, to)
		if m == method && i >= 0 && j > i {
			return line[:i] + line[j+1:]
		}
		return line
	}
}

// answers replaces the answer to a method: "RESULT" and a result, "ERROR", or a line.
func answers(method, line string) answerFunc { return answersIf(method, "", line) }

func answersIf(method, path, line string) answerFunc {
	return func(_ *testClient, m, id string, p agentParams) string {
		result, is := strings.CutPrefix(line, "RESULT")
		switch {
		case m != method || !strings.Contains(p.Path, path):
			return ""
		case is:
			return resultOf(id, result)
		case line == "ERROR":
			return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32601,"message":"unknown method"}}`
		}
		return line
	}
}

// outputs replaces the output of terminals.
func outputs(result string) answerFunc {
	return func(c *testClient, m, id string, p agentParams) string {
		if m != "terminal/output" || c.terminals[p.TerminalID] == nil {
			return ""
		}
		return resultOf(id, result)
	}
}

func doubles(method string) answerFunc {
	done := false
	return func(c *testClient, m, id string, p agentParams) string {
		if m != method || done {
			return ""
		}
		done = true
		result, _ := c.result(m, p)
		c.write(resultOf(id, result))
		return resultOf(id, `{"content":"again"}`)
	}
}

func selects(option string) answerFunc {
	return answers("session/request_permission", `RESULT{"outcome":{"outcome":"selected","optionId":"`+option+`"}}`)
}

func cancelsAnd(option string) answerFunc {
	return func(c *testClient, m, id string, p agentParams) string {
		if m == "session/request_permission" {
			c.cancel()
		}
		return selects(option)(c, m, id, p)
	}
}

func writesNull(c *testClient, m, id string, p agentParams) string {
	if m != "fs/write_text_file" {
		return ""
	}
	_, _ = c.result(m, p)
	return resultOf(id, "null")
}

func writesNothing(_ *testClient, m, id string, _ agentParams) string {
	if m != "fs/write_text_file" {
		return ""
	}
	return resultOf(id, "{}")
}

// killsBadly kills the command, but reports a failure.
func killsBadly(c *testClient, m, id string, p agentParams) string {
	if m != "terminal/kill" {
		return ""
	}
	_, _ = c.result(m, p)
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32603,"message":"cannot kill"}}`
}
