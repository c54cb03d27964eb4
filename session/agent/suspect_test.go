package agent

import (
	"encoding/json"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

func TestIsReasoningName(t *testing.T) {
	for name, want := range map[string]bool{
		"openai:o3-mini": true, "openai:o1": true, "x:o4": true, "compatible:qwen/QwQ-32b": true, "ollama:deepseek-r1:8b": true,
		"claude:claude-sonnet-thinking": true,
		"openai:gpt-5":                  false, "claude:claude-sonnet-5": false, "x:o10": false, "x:solo1": false, "direct": false,
	} {
		if got := isReasoningName(name); got != want {
			t.Errorf("isReasoningName(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestSuspects(t *testing.T) {
	for name, tt := range map[string]struct {
		config string // of reasoning_model_detection
		off    bool
		call   executors.Call
		said   string // by the user
		want   string
	}{
		"a path that is not there": {call: executors.Call{Tool: "read", Card: executors.Card{Paths: []string{"/w/lib/magic.go"}}}, want: "/w/lib/magic.go"},
		"one that is":              {call: executors.Call{Tool: "read", Card: executors.Card{Paths: []string{"/w/a.go"}}}},
		"one that the user named":  {call: executors.Call{Tool: "read", Card: executors.Card{Paths: []string{"/w/lib/magic.go"}}}, said: "open Magic.go"},
		"one that is made":         {call: executors.Call{Tool: "write", Card: executors.Card{Paths: []string{"/w/new.go"}}}},
		"made in no directory":     {call: executors.Call{Tool: "write", Card: executors.Card{Paths: []string{"/w/nowhere/new.go"}}}, want: "/w/nowhere/new.go"},
		"in a command": {call: executors.Call{Tool: "bash",
			Card: executors.Card{Script: command.Parse("go run ./tools/gen.go a.go", command.Shell{Dir: "/w"})}}, want: "./tools/gen.go"},
		"an address":                {call: executors.Call{Tool: "read", Input: json.RawMessage(`{"url":"https://made.up/x"}`)}, want: "https://made.up/x"},
		"an address the user named": {call: executors.Call{Tool: "read", Input: json.RawMessage(`{"url":"https://www.real.org/other/page"}`)}, said: "see real.org"},
		"a hash": {call: executors.Call{Tool: "bash", Input: json.RawMessage(`{"command":"git show 1a2b3c4d5e6f7a8b"}`)},
			want: "1a2b3c4d5e6f7a8b"},
		"a mail address":             {call: executors.Call{Tool: "bash", Input: json.RawMessage(`{"command":"git log --author=a@b.example"}`)}, want: "a@b.example"},
		"what is written":            {call: executors.Call{Tool: "write", Input: json.RawMessage(`{"content":"https://made.up"}`)}},
		"words":                      {call: executors.Call{Tool: "bash", Input: json.RawMessage(`{"command":"go test ./... -run TestDecade"}`)}},
		"the user's own call":        {call: executors.Call{Tool: "read", Origin: executors.User, Card: executors.Card{Paths: []string{"/w/x.go"}}}},
		"switched off":               {off: true, call: executors.Call{Tool: "read", Card: executors.Card{Paths: []string{"/w/x.go"}}}},
		"a model that never reasons": {config: "never", call: executors.Call{Tool: "read", Card: executors.Card{Paths: []string{"/w/x.go"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, "", &client{})
			count := 0
			a.Exists, a.Suspected = func(path string) bool { return path == "/w" || path == "/w/a.go" }, func() { count++ }
			a.Config.HallucinationDetection, a.Config.ReasoningModelDetection = !tt.off, "auto"
			if tt.config != "" {
				a.Config.ReasoningModelDetection = tt.config
			}
			tools := []executors.Tool{
				{Name: "read", Effect: executors.Reads}, {Name: "write", Effect: executors.Mutates, Kind: executors.KindEdit},
				{Name: "bash", Effect: executors.Mutates, Kind: executors.KindExecute},
			}
			turn := &turn{Agent: a, model: &listener{}, tools: tools, history: []llm.Message{
				{Role: llm.User, Blocks: []llm.Block{{Text: tt.said}}},
				{Role: llm.Assistant, Blocks: []llm.Block{{Thought: "magic.go, of course; https://made.up"}, {Text: "1a2b3c4d5e6f7a8b"}}},
			}}
			call := tt.call
			call.Record = &executors.Record{}
			call.Spec, _ = executors.Find(tools, call.Tool)
			turn.recordSuspects(&call)
			if call.Record.Suspect != tt.want {
				t.Errorf("suspects of %s: %q, want %q", call.Tool, call.Record.Suspect, tt.want)
			}
			if want := min(1, len(tt.want)); count != want {
				t.Errorf("%d calls with suspects are counted, want %d", count, want)
			}
		})
	}
}
