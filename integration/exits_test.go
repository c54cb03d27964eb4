package integration

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/integration/leaks"
)

// offeredTool is a tool in a request to the model.
type offeredTool struct {
	Name        string
	InputSchema schemaPart `json:"input_schema"`
}

type schemaPart struct {
	Type       any
	Properties map[string]schemaPart
	Items      *schemaPart
	Enum       []any
}

// filled returns a value for a schema in which each text is the given one.
func (s schemaPart) filled(text string) any {
	kind, _ := s.Type.(string)
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Properties != nil || kind == "object":
		out := map[string]any{}
		for name, part := range s.Properties {
			out[name] = part.filled(text)
		}
		return out
	case kind == "array":
		item := any(text)
		if s.Items != nil {
			item = s.Items.filled(text)
		}
		return []any{item}
	case kind == "integer", kind == "number":
		return 1
	case kind == "boolean":
		return false
	}
	return text
}

// singleLines are the credentials that fit into a name of a file.
func singleLines() (names []string) {
	for _, c := range leaks.Credentials {
		if !strings.ContainsAny(c.Text, "\n/ \"") {
			names = append(names, c.Text)
		}
	}
	return names
}

// leakingCalls are calls whose outputs have all credentials. The inputs have none.
func leakingCalls() []modelCall {
	calls := []modelCall{
		{"read", map[string]any{"path": "secrets.txt"}},
		{"read", map[string]any{"path": "secrets.json"}},
		{"grep", map[string]any{"pattern": "."}},
		{"search_code", map[string]any{"query": "."}},
		{"list_directory", map[string]any{"path": "."}},
		{"find_path", map[string]any{"pattern": "**"}},
		{"bash", map[string]any{"command": "cat secrets.txt"}},
		{"bash", map[string]any{"command": "cat secrets.txt >&2; exit 3"}},
		{"bash", map[string]any{"command": "while read -r line; do printf '%s\\n' \"$line\"; done < secrets.txt; env"}},
		{"bash", map[string]any{"command": "for i in $(seq 400); do cat secrets.txt; done"}},
		{"bash", map[string]any{"command": "cat secrets.txt; sleep 0.1; cat secrets.txt", "background": true}},
		{"edit", map[string]any{"path": "secrets.txt", "old_string": "DB_PASSWORD=other", "new_string": "x"}},
		{"edit", map[string]any{"path": "secrets.txt", "old_string": "aws_secret_access_key = x\nother", "new_string": "x"}},
		{"edit", map[string]any{"path": "secrets.txt", "old_string": "-----END RSA", "new_string": "-----END  RSA"}},
		{"edit", map[string]any{"path": "secrets.txt", "old_string": "-----BEGIN RSA\nMIIE", "new_string": "x"}},
		{"copy_path", map[string]any{"source": "secrets.txt", "destination": "copy.txt"}},
		{"leaks__result", map[string]any{}},
		{"leaks__failure", map[string]any{}},
		{"leaks__error", map[string]any{}},
		{"memory_search", map[string]any{"query": "password"}},
	}
	for _, c := range leaks.Credentials { // a hint with a line of the file
		first, _, _ := strings.Cut(c.Text, "\n")
		calls = append(calls, modelCall{"edit", map[string]any{"path": "secrets.txt", "old_string": first[:min(len(first), 8)] + "?", "new_string": "x"}})
	}
	return calls
}

// inputsWith are calls of a tool whose inputs have credentials in every place.
func inputsWith(tool offeredTool) (calls []modelCall) {
	for _, text := range []string{leaks.All(), strings.Join(singleLines(), " ")} {
		if in, ok := tool.InputSchema.filled(text).(map[string]any); ok {
			calls = append(calls, modelCall{tool.Name, in})
		}
	}
	for _, name := range singleLines() {
		in, _ := tool.InputSchema.filled("missing/" + name + ".txt").(map[string]any)
		calls = append(calls, modelCall{tool.Name, in})
	}
	named := map[string]any{"password": "Nc8XtR3mKwQ6vLz", "env": []any{map[string]any{"name": "API_TOKEN", "value": "Jd4XtK8mWnR6vQc"}}}
	return append(calls, modelCall{tool.Name, named}, modelCall{tool.Name, map[string]any{"path": []any{leaks.All()}}})
}

// TestExits puts twenty credentials into the inputs and the outputs of every tool that the agent
// offers, and into what hooks, servers and files say. Then it looks for them at every exit: in the
// frames to the client, in the requests to the model, on stderr, in the database, in the logs, and
// in what the commands on sessions print.
func TestExits(t *testing.T) {
	t.Parallel()
	root := home(t)
	work, zeph := filepath.Join(root, "work"), filepath.Join(root, "zeph")
	p := fakemodel.NewAnthropic(t)
	logFile := filepath.Join(zeph, "log.txt")
	config := allowMCP + fmt.Sprintf("[log]\nlevel = \"debug\"\nfile = %q\n", logFile) +
		"[agent]\nmax_tool_iterations = 10000\nmode = \"code\"\n[tools]\nmax_output_chars = 2000\n" +
		fakeServer(t, "push", filepath.Join(root, "methods"))
	a := launch(t, start{root: root, config: config, env: append(p.Env(), "SOME_TOKEN=Zk3XtR8mWnQ5vLcB")})
	a.initialize(`{"_meta":{"terminal_output":true},"session":{"notices":{}}}`)
	document, _ := json.Marshal(map[string]any{"all": leaks.All(), "api_key": "Hb2KtW9mXnQ5vRcL7zYp"})
	a.file("secrets.txt", leaks.All()+"\n")
	a.file("secrets.json", string(document))
	for _, name := range singleLines() {
		a.file("names/"+name+".txt", "x\n")
	}
	say, _ := json.Marshal(map[string]any{"decision": "block", "reason": leaks.All()})
	a.file(filepath.Join(root, "say.json"), string(say))
	a.file(filepath.Join(root, "all.txt"), leaks.All())
	a.file(filepath.Join(zeph, "hooks.json"), hooksFile(9,
		hook{"PostToolUse", "read", "cat " + filepath.Join(root, "say.json")},
		hook{"PreToolUse", "delete_path", "cat " + filepath.Join(root, "all.txt") + " >&2; exit 2"},
		hook{"PreToolUse", "list_directory", "cat " + filepath.Join(root, "all.txt") + " >&2; exit 1"},
	))
	session := a.openWith(stdioServer(t, "leaks", "leaks", fakemcp.Leak+"="+leaks.All()))

	var tools []offeredTool
	var queue []modelCall
	overflow := regexp.MustCompile(`overflow:[0-9a-f-]{36}`)
	n, readsOverflow := 0, false
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		if r.Last() != "go" && !strings.HasSuffix(r.Last(), "go") {
			return fakemodel.Answer(fakemodel.Say("done"))
		}
		if tools == nil {
			var first struct{ Tools []offeredTool }
			p.DecodeLast(&first)
			tools = first.Tools
			queue = leakingCalls()
			for _, tool := range tools {
				queue = append(queue, inputsWith(tool)...)
			}
			queue = append(queue, inputsWith(offeredTool{Name: "no_such_" + singleLines()[0]})...)
			for _, c := range leaks.Credentials {
				first, _, _ := strings.Cut(c.Text, "\n")
				queue = append(queue, modelCall{"write", map[string]any{"path": "a.fake", "content": "error: " + first + "\n"}})
			}
		}
		if all := p.Requests(); !readsOverflow {
			if id := overflow.FindString(all[len(all)-1]); id != "" {
				readsOverflow = true
				queue = slices.Insert(queue, 0, modelCall{"read_overflow", map[string]any{"id": id}})
			}
		}
		if len(queue) == 0 {
			return fakemodel.Answer(fakemodel.Say("done"))
		}
		n++
		c := queue[0]
		queue = queue[1:]
		return fakemodel.Answer(fakemodel.Call(fmt.Sprint("call_", n), c.tool, c.input))
	}
	for more := 1; more > 0; more = len(queue) { // the turn also ends at repeated failures
		a.turnAnswering(session, "go", "allow_once")
	}
	if len(tools) < 20 || !slices.ContainsFunc(tools, func(o offeredTool) bool { return o.Name == "leaks__result" }) || !readsOverflow {
		t.Errorf("the model was offered %d tools; read_overflow: %t", len(tools), readsOverflow)
	}
	t.Logf("%d calls of %d tools", n, len(tools))
	a.turnOf(session, "/status")
	a.turnOf(session, "/mcp")
	a.turnOf(session, "/compact")
	a.closeSession(session)
	a.request(`"load"`, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, work))
	if f := a.answer(`"load"`); f.Error != nil {
		t.Errorf("session/load: %s", f.line)
	}
	a.exitChecked = true
	a.stop()

	var found []leaks.Leak
	for _, f := range a.agentFrames() {
		switch f.Method {
		case "fs/write_text_file", "terminal/create": // the client carries them out
			continue
		}
		found = append(found, leaks.In("the frame "+f.Method+" "+kindOf(f.line), []byte(f.line))...)
	}
	for i, body := range p.Requests() {
		found = append(found, leaks.In(fmt.Sprint("request ", i), []byte(body))...)
	}
	found = append(found, leaks.In("stderr", []byte(a.stderr.String()))...)
	// What a rewind restores must be the exact content of the files.
	stored, err := leaks.InDir(zeph, "config.toml", "hooks.json", "zeph-rewind")
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, stored...)
	for _, args := range [][]string{
		{"sessions", "show", session}, {"sessions", "export", session}, {"sessions", "export", "--format=markdown", session},
		{"sessions", "export", "--format=html", session}, {"audit", "show"}, {"audit", "report"}, {"memory", "list"}, {"sessions", "search", "password"},
	} {
		out, err := commandIn(a, args...).CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed || len(out) == 0 {
			t.Errorf("%v: %v", args, err)
		}
		found = append(found, leaks.In(strings.Join(args, " "), out)...)
	}
	report(t, found)
}

// kindOf returns the kind of a session update.
func kindOf(line string) string {
	var f struct {
		Params struct {
			Update struct {
				Kind string `json:"sessionUpdate"`
				Name string
			}
		}
	}
	_ = json.Unmarshal([]byte(line), &f)
	return f.Params.Update.Kind + " " + f.Params.Update.Name
}

// report fails the test with the exits of credentials, each once.
func report(t *testing.T, found []leaks.Leak) {
	t.Helper()
	seen := map[string]int{}
	for _, l := range found {
		where := regexp.MustCompile(`\d+`).ReplaceAllString(l.Where, "N")
		if seen[where+l.Credential]++; seen[where+l.Credential] == 1 {
			t.Error(l)
		}
	}
}
