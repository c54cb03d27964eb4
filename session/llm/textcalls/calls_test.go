package textcalls

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

func TestTextCalls(t *testing.T) {
	call := func(line int, tool, input string) Call {
		return Call{Line: line, Tool: tool, Input: json.RawMessage(input)}
	}
	for name, tt := range map[string]struct {
		text string
		want []Call
	}{
		"nothing":          {"just text with `bash` and ```bash ls``` inline", nil},
		"bash":             {"Do:\n```bash\nls -l\n```\nthanks", []Call{call(2, "bash", `{"command":"ls -l"}`)}},
		"CRLF":             {"```bash\r\nls\r\npwd\r\n```\r\n", []Call{call(1, "bash", `{"command":"ls\npwd"}`)}},
		"no last newline":  {"```bash\nls\n```", []Call{call(1, "bash", `{"command":"ls"}`)}},
		"tildes":           {"~~~bash\necho '```'\n~~~", []Call{call(1, "bash", "{\"command\":\"echo '```'\"}")}},
		"longer fence":     {"````bash\ncat <<E\n```\nE\n`````", []Call{call(1, "bash", "{\"command\":\"cat <<E\\n```\\nE\"}")}},
		"indented":         {"  ```bash\n  a\n    b\n c\n  ```", []Call{call(1, "bash", `{"command":"a\n  b\nc"}`)}},
		"indented code":    {"    ```bash\n    ls\n    ```", nil},
		"info string":      {"```Bash title=\"x\"\na && b > c\n```", []Call{call(1, "bash", `{"command":"a && b > c"}`)}},
		"another language": {"```fish\nls\n```\n```go\n~~~bash\nrm\n~~~\n```", nil},
		"quoted example":   {"````text\n```bash\nrm\n```\n````", nil},
		"scrape":           {"```scrape\n{\"url\": \"https://a\", \"select\": \"p\"}\n```", []Call{call(1, "web_scrape", `{"url": "https://a", "select": "p"}`)}},
		"tool_call":        {"```tool_call\n{\"tool_id\": \"read\",\n \"params\": {\"path\": \"a\"}}\n```", []Call{call(1, "read", `{"path": "a"}`)}},
		"no params":        {"```tool_call\n{\"tool_id\": \"list\"}\n```", []Call{call(1, "list", `{}`)}},
		"several": {"```bash\na\n```\n```tool_call\n{\"tool_id\":\"t\",\"params\":{}}\n```\n```bash\nb\n```",
			[]Call{call(1, "bash", `{"command":"a"}`), call(4, "t", `{}`), call(7, "bash", `{"command":"b"}`)}},
		"not closed": {"x\n```bash\nrm -rf ./a\n``",
			[]Call{{Line: 2, Tool: "bash", Problem: "the bash block that begins in line 2 is never closed"}}},
		"closed by another": {"~~~bash\nls\n```\n", []Call{{Line: 1, Tool: "bash", Problem: "the bash block that begins in line 1 is never closed"}}},
		"empty":             {"```bash\n\n```", []Call{{Line: 1, Tool: "bash", Problem: "the bash block in line 1 cannot be run: there is no command"}}},
		"bad JSON": {"```scrape\n{\"url\":\n oops}\n```",
			[]Call{{Line: 1, Tool: "web_scrape",
				Problem: "the scrape block in line 1 cannot be run: this is not valid JSON: invalid character 'o' looking for beginning of value (line 2 of it)"}}},
		"short JSON": {"```tool_call\n{\"tool_id\": \"a\"\n```",
			[]Call{{Line: 1, Problem: "the tool_call block in line 1 cannot be run: the JSON object ends too early"}}},
		"no JSON":       {"```scrape\n```", []Call{{Line: 1, Tool: "web_scrape", Problem: "the scrape block in line 1 cannot be run: there is no JSON object"}}},
		"not an object": {"```scrape\n[1]\n```", []Call{{Line: 1, Tool: "web_scrape", Problem: "the scrape block in line 1 cannot be run: want a JSON object"}}},
		"two objects": {"```scrape\n{}{}\n```",
			[]Call{{Line: 1, Tool: "web_scrape", Problem: "the scrape block in line 1 cannot be run: there is more text after the JSON object"}}},
		"no tool_id": {"```tool_call\n{\"tool\":1}\n```",
			[]Call{{Line: 1, Problem: `the tool_call block in line 1 cannot be run: want {"tool_id": "NAME", "params": {…}}`}}},
		"odd params": {"```tool_call\n{\"tool_id\":\"a\",\"params\":[]}\n```",
			[]Call{{Line: 1, Tool: "a", Problem: "the tool_call block in line 1 cannot be run: params must be a JSON object"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Find(tt.text, llmtest.Tools())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzTextCalls(f *testing.F) {
	for _, s := range []string{"```bash\nls\n```", "~~~~scrape\r\n{}\r\n~~~~", "```tool_call\n{\"tool_id\":\"a\"}\n```", "   ```bash\n   x",
		"/bash ls\n/read {\"path\":\"a\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Find(text, llmtest.Tools()) {
			if (c.Problem == "") != (llm.IsObject(c.Input) && json.Valid(c.Input)) {
				t.Errorf("%+v", c)
			}
			if c.Line < 1 || c.Line > strings.Count(text, "\n")+1 {
				t.Errorf("line %d", c.Line)
			}
		}
	})
}
