package local

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// converse runs Direct as the turn loop does; calls whose input has "bad" fail.
func converse(t *testing.T, history []llm.Message) (calls []string, answer string) {
	t.Helper()
	for range 20 {
		events, err := llmtest.Collect(Direct{}, t.Context(), llm.Request{Messages: history, Tools: llmtest.Tools()})
		if err != nil || len(events) != 2 {
			t.Fatalf("Stream: %v, %v", events, err)
		}
		if events[1].Stop == llm.StopEnd {
			return calls, events[0].Text
		}
		c := events[0].Call
		calls = append(calls, c.Name+" "+string(c.Input))
		history = append(history,
			llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Call: c}}},
			llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: c.ID, Failed: strings.Contains(string(c.Input), "bad")}}}})
	}
	t.Fatalf("the model did not end its turn after the calls %q", calls)
	return nil, ""
}

func TestDirect(t *testing.T) {
	help := strings.TrimSpace(connectHelp)
	bashUsage := `Usage: /bash {"command": "…"}, or shorter /bash COMMAND
  command (string): What to run.
  background (boolean, optional)`
	for name, tt := range map[string]struct {
		prompt string
		calls  []string
		answer string
	}{
		"a command":    {"/bash go test ./... > \"x\"", []string{`bash {"command":"go test ./... > \"x\""}`}, "bash: done."},
		"space before": {" \n\t/read  a b.go \n", []string{`read {"path":"a b.go"}`}, "read: done."},
		"CRLF":         {"/read a\r\n/read b\r\n", []string{`read {"path":"a"}`, `read {"path":"b"}`}, "2 calls, all done."},
		"it fails":     {"/bash bad", []string{`bash {"command":"bad"}`}, "bash: failed."},
		"several": {"/bash a\n\n/read bad\n/bash b\n", []string{`bash {"command":"a"}`, `read {"path":"bad"}`, `bash {"command":"b"}`},
			"3 calls, 1 failed: 2 (read)."},
		"several lines": {"/bash cat <<E\n/usr/bin\n/tmp\n```\nE\n/read a",
			[]string{"bash {\"command\":\"cat <<E\\n/usr/bin\\n/tmp\\n```\\nE\"}", `read {"path":"a"}`}, "2 calls, all done."},
		"JSON":           {"/write {\"path\":\n \"a\", \"content\": \"<\"}", []string{"write {\"path\":\n \"a\", \"content\": \"<\"}"}, "write: done."},
		"nothing needed": {"/list", []string{`list {}`}, "list: done."},
		"blocks": {"First\n```bash\na\n```\nthen\n```tool_call\n{\"tool_id\":\"list\"}\n```", []string{`bash {"command":"a"}`, `list {}`},
			"2 calls, all done."},

		"usage": {"/bash", nil, "Nothing was run: /bash needs command.\n" + bashUsage},
		"usage of two": {"/write a", nil,
			"Nothing was run: /write needs path and content: write JSON.\nUsage: /write {\"path\": \"…\", \"content\": \"…\"}\n  path (string)\n  content (string)"},
		"usage of number": {"/sleep 3", nil,
			"Nothing was run: /sleep needs seconds: write JSON.\nUsage: /sleep {\"seconds\": 1}\n  seconds (integer)\n  why (any, optional)"},
		"too much": {"/list a", nil, "Nothing was run: /list takes no parameters.\nUsage: /list {}"},
		"bad JSON": {"/bash {\"command\": }", nil,
			"Nothing was run: /bash: this is not valid JSON: invalid character '}' looking for beginning of value (line 1 of it)\n" + bashUsage},
		"one is wrong":   {"/read a\n/bash {\n/read b", nil, "Nothing was run.\n\n/bash: the JSON object ends too early\n" + bashUsage},
		"block is wrong": {"```bash\nls", nil, "Nothing was run: the bash block that begins in line 1 is never closed"},
		"block's tool": {"```tool_call\n{\"tool_id\":\"reed\"}\n```", nil,
			`Nothing was run: line 1: there is no tool "reed". The tools are /bash, /read, /write, /sleep, /list, /web_scrape.`},
		"block among good": {"```bash\nls\n```\n```scrape\n```", nil, "Nothing was run.\n\nthe scrape block in line 4 cannot be run: there is no JSON object"},

		"a question":    {"what is this?", nil, help},
		"nothing":       {"", nil, help},
		"a path":        {"/usr/bin/env is where?", nil, help},
		"in the middle": {"please\n/bash ls", nil, help},
		"unknown command": {"/foo bar", nil,
			"There is no command /foo. The tools are /bash, /read, /write, /sleep, /list, /web_scrape. Type /help for the commands.\n\n" + help},
	} {
		t.Run(name, func(t *testing.T) {
			calls, answer := converse(t, []llm.Message{llmtest.UserText(tt.prompt)})
			if diff := cmp.Diff(tt.calls, calls); diff != "" || answer != tt.answer {
				t.Errorf("answer %q, want %q; calls (-want +got)\n%s", answer, tt.answer, diff)
			}
		})
	}
	if lines := strings.Count(help, "\n") + 1; lines != 3 {
		t.Errorf("how to connect takes %d lines, not 3", lines)
	}
}

// Only the calls of the last prompt run, whatever came before it.
func TestDirectLastPrompt(t *testing.T) {
	old := []llm.Message{llmtest.UserText("/bash old"),
		{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "direct_1", Name: "bash", Input: json.RawMessage(`{}`)}}}}}
	for name, last := range map[string]llm.Message{
		"after a cancelled turn": {Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "direct_1", Text: llm.Tombstone}}, {Text: "/read a.go"}}},
		"cut by the client":      {Role: llm.User, Blocks: []llm.Block{{Text: "/read "}, {Text: "a.go"}}},
		"two blocks":             {Role: llm.User, Blocks: []llm.Block{{Text: "/read a.go"}, {Image: &llm.Image{}}}},
	} {
		t.Run(name, func(t *testing.T) {
			calls, _ := converse(t, append(old[:2:2], last))
			if diff := cmp.Diff([]string{`read {"path":"a.go"}`}, calls); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if calls, _ := converse(t, []llm.Message{{Role: llm.User, Blocks: []llm.Block{{Text: "/bash a"}, {Text: "/bash b"}}}}); len(calls) != 2 {
		t.Errorf("two commands in two blocks: %v", calls)
	}
}

func TestDirectCancelled(t *testing.T) {
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if events, err := llmtest.Collect(Direct{}, ctx,
		llm.Request{Messages: []llm.Message{llmtest.UserText("/list")}, Tools: llmtest.Tools()}); err != cause || events != nil {
		t.Errorf("Stream: %v, %v", events, err)
	}
}

// TestSlashWithText tests the short form, "/TOOL" followed by text that is not JSON.
func TestSlashWithText(t *testing.T) {
	for name, c := range map[string]struct {
		schema      string
		input, hint string // an empty input means that the usage is shown
	}{
		"the required one":      {`{"properties":{"n":{"type":"integer"},"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`, `{"a":"docs"}`, "A"},
		"the only string":       {`{"properties":{"n":{"type":"integer"},"a":{"type":"string"}}}`, `{"a":"docs"}`, "[A]"},
		"a path first":          {`{"properties":{"path":{"type":"string"},"glob":{"type":"string"}}}`, `{"path":"docs"}`, "[PATH]"},
		"a path that is none":   {`{"properties":{"path":{"type":"array"},"glob":{"type":"string"}}}`, "", ""},
		"two strings":           {`{"properties":{"a":{"type":"string"},"path":{"type":"string"}}}`, "", ""},
		"two that are required": {`{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a","b"]}`, "", `{"a": "…", "b": "…"}`},
		"a number is required":  {`{"properties":{"a":{"type":"string"},"n":{"type":"integer"}},"required":["n"]}`, "", `{"n": 1}`},
		"nothing":               {`{}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tool := llm.Tool{Name: "tool", Schema: json.RawMessage(c.schema)}
			got := slashCall(tool, "docs", 1)
			if string(got.Input) != c.input || (got.Problem == "") != (c.input != "") || Hint(tool) != c.hint {
				t.Errorf("input %s, problem %q, hint %q", got.Input, got.Problem, Hint(tool))
			}
			if got := string(slashCall(tool, "", 1).Input); got != "{}" && len(textcalls.Required(textcalls.Params(tool))) == 0 {
				t.Errorf("input without a text: got %s, want {}", got)
			}
		})
	}
}

func TestIsToolCommand(t *testing.T) {
	for prompt, want := range map[string]bool{
		"/bash": true, "/bash ls": true, "\n /bash\tls": true, "/list\n": true,
		"": false, "/": false, "/ bash": false, "/bash/x": false, "/bashful": false, "bash ls": false, "//bash": false, "say /bash ls": false, "/help": false,
	} {
		if got := IsToolCommand(prompt, llmtest.Tools()); got != want {
			t.Errorf("Spells(%q) = %t", prompt, got)
		}
	}
}

// Every prompt can be planned, and each call has either an input or a problem.
func FuzzPlan(f *testing.F) {
	f.Add("/bash ls")
	f.Add("/read {\"path\": 1}\n/list")
	f.Add("```bash\nls\n```")
	f.Fuzz(func(t *testing.T, text string) {
		planCalls(text, llmtest.Tools())
		for _, c := range slashCalls(text, llmtest.Tools()) {
			if (c.Input == nil) != (c.Problem != "") || c.Input != nil && !json.Valid(c.Input) {
				t.Errorf("%+v", c)
			}
		}
	})
}
