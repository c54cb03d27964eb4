package textcalls

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// answerIn returns the transcript of an answer in a conversation, without notices.
func answerIn(t *testing.T, use *ToolUse, history []llm.Message, pieces ...string) string {
	t.Helper()
	var events []llm.Event
	for _, p := range pieces {
		events = append(events, llm.Event{Text: p})
	}
	m := Auto(&answers{events: append(events, llm.Event{Stop: llm.StopEnd})}, use)
	got, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history, Tools: llmtest.Tools(), IsProgram: llmtest.IsProgram})
	var kept []llm.Event
	for _, ev := range got {
		if ev.Notice == "" {
			kept = append(kept, ev)
		}
	}
	return llmtest.Transcript(kept, err)
}

// at returns the conversation in which a model has called a tool for a prompt, with the ID.
func at(prompt, id string) []llm.Message {
	return []llm.Message{llmtest.UserText(prompt),
		{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: id, Name: "list", Input: []byte("{}")}}}},
		{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: id, Text: "a.go"}}}}}
}

// later returns a conversation with a further prompt.
func later(history []llm.Message, prompt string) []llm.Message {
	return append(history, llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "Done."}}}, llmtest.UserText(prompt))
}

// An answer that is nothing but the call of something that is no tool is one where the model is at work or names a program, and
// the user has not asked for text of that form.
func TestUnknownCalls(t *testing.T) {
	const multiply, rm = `{"name": "multiply", "arguments": {"a": 1}}`, `{"name": "rm", "arguments": {"path": "a"}}`
	for name, tt := range map[string]struct {
		history []llm.Message
		answer  string
		call    bool
	}{
		"first answer":           {[]llm.Message{llmtest.UserText("Where is multiply?")}, multiply, false},
		"a program":              {[]llm.Message{llmtest.UserText("Delete a.")}, rm, true},
		"another tool's name":    {[]llm.Message{llmtest.UserText("Run ls.")}, strings.ReplaceAll(multiply, "multiply", "run_command"), true},
		"after a result":         {at("Where is multiply?", "1"), multiply, true},
		"as our block":           {at("Where is multiply?", "1"), "```tool_call\n" + `{"tool_id": "multiply", "params": {"a": 1}}` + "\n```", true},
		"in tags":                {at("Where is multiply?", "1"), "<tool_call>" + multiply + "</tool_call>", true},
		"a later prompt":         {later(at("Look.", "1"), "Where is multiply?"), multiply, false},
		"it has called in text":  {later(at("Look.", "text_1_1"), "Where is multiply?"), multiply, true},
		"asked for JSON":         {at("Write it as JSON.", "1"), multiply, false},
		"asked for an example":   {at("Show an example.", "1"), multiply, false},
		"asked about the API":    {[]llm.Message{llmtest.UserText("What does the API get for rm?")}, rm, false},
		"a file of JSON":         {at("Where is config.json?", "1"), multiply, true},
		"arguments are a schema": {at("Look.", "1"), `{"name": "x", "parameters": {"type": "object", "properties": {}}}`, false},
		"no arguments":           {at("Look.", "1"), `{"name": "x"}`, false},
		"more members":           {at("Look.", "1"), `{"name": "x", "arguments": {}, "version": 2}`, false},
		"a list":                 {at("Look.", "1"), `{"name": "x", "args": ["-l"]}`, false},
		"an action":              {at("Look.", "1"), `{"action": "deploy", "input": {}}`, false},
		"a title":                {at("Look.", "1"), `{"name": "Read the file", "arguments": {}}`, false},
		"text before":            {at("Look.", "1"), "So:\n" + multiply, false},
		"text after":             {at("Look.", "1"), multiply + "\nThat is it.", false},
		"Python":                 {at("Look.", "1"), "multiply(a=1)", false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, pieces := range [][]string{{tt.answer}, strings.SplitAfter(tt.answer, "")} {
				got := answerIn(t, new(ToolUse), tt.history, pieces...)
				if call := strings.HasSuffix(got, "|tools") && !strings.Contains(got, tt.answer); call != tt.call || !call && got != tt.answer+"|end" {
					t.Errorf("got %q, want a call: %t", got, tt.call)
				}
			}
		})
	}
}

// The answers about the syntax of calls stay text where unknown calls count: in the midst of work, and for a model that has
// called in text.
func TestProseAtWorkIsNoCall(t *testing.T) {
	for id, history := range map[string][]llm.Message{"native": at("Fix the parser.", "1"), "in text": at("Fix the parser.", "text_1_1")} {
		wrong := 0
		for _, answer := range about(t) {
			if got := answerIn(t, new(ToolUse), history, answer); strings.HasSuffix(got, "|tools") {
				if wrong++; wrong < 20 {
					t.Errorf("%s: %q\nbecomes %q", id, answer, got)
				}
			}
		}
	}
}

// A block with the failure of the last call quotes it.
func TestQuotedFailure(t *testing.T) {
	const failure = "mv: cannot stat 'a': No such file or directory\n[exit 1]"
	for text, want := range map[string]string{
		failure:               "```bash\n" + failure + "\n```|end",
		"ls 'a'\n" + "exit 1": `bash {"command":"ls 'a'\nexit 1"}|tools`,
	} {
		history := at("Rename a.", "text_1_1")
		history[2].Blocks[0].Result.Text, history[2].Blocks[0].Result.Failed = failure, true
		m := Wrap(&answers{events: []llm.Event{{Text: "```bash\n" + text + "\n```"}, {Stop: llm.StopEnd}}})
		got, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history, Tools: llmtest.Tools()})
		if s := llmtest.Transcript(got, err); s != want {
			t.Errorf("got %q, want %q", s, want)
		}
	}
}
