package textcalls

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// about returns answers about the syntax of tool calls. None of them is a call: the example is in code, or other text
// follows it.
func about(t *testing.T) (answers []string) {
	files, err := filepath.Glob("../provider/testdata/forms/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var examples []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, example, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n---\n")
		invents := strings.Contains(example, "_response>") || strings.Contains(example, "[mode: ")
		if strings.Contains(head, "|tools") && !strings.Contains(head, "stop: ") && !invents && !strings.Contains(head, "thought:") {
			examples = append(examples, example)
		}
	}
	indented := func(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }
	quoted := func(s string) string { return "> " + strings.ReplaceAll(s, "\n", "\n> ") }
	frames := []func(form string) string{
		func(f string) string {
			return "The model writes:\n\n~~~~text\n" + f + "\n~~~~\n\nThe server parses it."
		},
		func(f string) string { return "The model writes:\n\n~~~~text\n" + f + "\n~~~~\n" },
		func(f string) string { return "1. It writes this:\n   ~~~~\n" + f + "\n   ~~~~\n2. It waits.\n" },
		func(f string) string {
			return "Unlike JSON, it looks like\n" + f + "\nwhich the parser of the server must know.\n"
		},
		func(f string) string {
			return "In Go:\n\n~~~~go\nconst call = " + fmt.Sprintf("%q", f) + "\n~~~~\nSee `parser.go`."
		},
		func(f string) string { return "~~~~python\nTEMPLATE = '''\n" + f + "\n'''\n~~~~\n" },
		func(f string) string {
			return "A test has\n\n~~~~diff\n+" + strings.ReplaceAll(f, "\n", "\n+") + "\n~~~~\n\nas its input."
		},
		func(f string) string {
			return "Forms:\n\n| model | form |\n|---|---|\n| m | `" + strings.ReplaceAll(strings.ReplaceAll(f, "`", "'"), "\n", " ") + "` |\n"
		},
		func(f string) string {
			return "The template has `" + strings.ReplaceAll(strings.ReplaceAll(f, "`", "'"), "\n", " ") + "` at its end."
		},
		func(f string) string {
			return "An example:\n\n" + indented(f) + "\n\nNote the tags. They are tokens of their own.\n"
		},
		func(f string) string { return "The log says:\n" + quoted(f) + "\nThat is the raw text.\n" },
		func(f string) string {
			return "First\n" + f + "\n\nThen the result comes.\n\n" + f + "\n\nSo there are two calls in this example.\n"
		},
		func(f string) string {
			return f + "\n\nThis is how the model would call the tool; I did not call it.\n"
		},
	}
	for _, form := range examples {
		for _, frame := range frames {
			answers = append(answers, frame(form))
		}
	}
	for _, word := range []string{"<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "<｜tool▁calls▁begin｜>",
		"<invoke", "functools", ">>>", "{", "[",
		"<tools>", "commentary to=", "```", "</tool_call>", "<function_calls>"} {
		for _, sentence := range []string{"The token %s begins a call.", "%s is a token.", "Grep for %s in the log: it shows where the template fails.",
			"Write %s, then {\"name\": …}, then the end.", "\n%s\n", "a %s b %[1]s c", "- %s\n- read\n- bash\n", "%s read the file", "%s\nread\n"} {
			answers = append(answers, fmt.Sprintf(sentence, word))
		}
	}
	for _, name := range []string{"read", "bash", "list", "leftpad", "write"} {
		for _, json := range []string{`{"name": %q, "version": "1.0.0", "scripts": {}}`, `{"name": %q}`, `{"tool": %q, "count": 3}`,
			`[{"name": %q, "calls": 2}]`,
			`{"tools": [{"name": %q, "description": "Reads", "parameters": {}}]}`,
			`{"type": "function", "function": {"name": %q, "description": "x", "parameters": {}}}`,
			`{"command": %q}`, `{"command": %q, "args": ["-l"]}`, `{"action": %q, "input": [1]}`, `{"id": 1, "name": %q, "email": "a@b"}`} {
			one := fmt.Sprintf(json, name)
			answers = append(answers, one, "```json\n"+one+"\n```", "```json\n"+one+"\n```\nThat is the file.", "The file is\n"+one+"\n")
		}
	}
	return answers
}

// No answer about the syntax of calls is taken for a call, and its text stays, however it is cut.
func TestProseIsNoCall(t *testing.T) {
	all := about(t)
	if len(all) < 1000 {
		t.Errorf("%d answers, want at least 1,000", len(all))
	}
	wrong := 0
	for _, answer := range all {
		for _, size := range []int{0, 1, 7} {
			var events []llm.Event
			for rest := []rune(answer); len(rest) > 0; {
				n := len(rest)
				if size > 0 {
					n = min(size, n)
				}
				events = append(events, llm.Event{Text: string(rest[:n])})
				rest = rest[n:]
			}
			m := Auto(&answers{events: append(events, llm.Event{Stop: llm.StopEnd})}, new(ToolUse))
			got, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("Fix the parser.")}, Tools: llmtest.Tools()})
			want := answer
			for _, s := range specialTokens { // they are dropped outside of code
				if !strings.Contains(want, s) {
					continue
				}
				want = ""
			}
			text := llmtest.Transcript(got, err)
			if strings.HasSuffix(text, "|tools") || want != "" && text != want+"|end" {
				if wrong++; wrong < 20 {
					t.Errorf("pieces of %d: %q\nbecomes %q", size, answer, text)
				}
			}
		}
	}
	t.Logf("%d answers, %d wrong", len(all), wrong)
}
