package integration

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// configured starts the binary with these providers; the first is the default.
func configured(of map[string]*fakemodel.Recorded, order ...string) start {
	s := start{env: slices.Clone(oneRetry)}
	for _, name := range order {
		s.config += fmt.Sprintf("\n[[llm.providers]]\nname = %q\n%s\nbase_url = %q\n", name, of[name].Settings, of[name].URL)
		if env := of[name].KeyEnv; env != "" {
			s.env = append(s.env, env+"="+fakemodel.Key(env))
		}
	}
	return s
}

// toolCall is a call and its result, as a model sees them.
type toolCall struct{ id, name, input, result string }

// callsIn returns the calls of a request, of any of the protocols. Only other calls
// and results may come between a call and its result.
func callsIn(t testing.TB, body string) []toolCall {
	t.Helper()
	type part struct {
		Type, ID, Name, Text string
		CallID               string          `json:"call_id"`
		ToolUseID            string          `json:"tool_use_id"`
		Input                json.RawMessage // of a tool_use
		Arguments            string
		Content, Output      json.RawMessage
		ToolUse              *struct { // of Bedrock
			ID    string `json:"toolUseId"`
			Name  string
			Input json.RawMessage
		}
		ToolResult *struct {
			ID      string `json:"toolUseId"`
			Content json.RawMessage
		}
		CachePoint any
	}
	var r struct {
		Input    []part
		Messages []struct {
			Role       string
			Content    json.RawMessage
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Contents []struct{ Parts []geminiPart }
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	var all []toolCall
	open := map[string]int{} // calls without a result
	call := func(id, name, input string) {
		if id == "" || slices.ContainsFunc(all, func(c toolCall) bool { return c.id == id }) {
			t.Errorf("the call ID %q is empty or not unique:\n%s", id, ending(body))
		}
		open[id] = len(all)
		all = append(all, toolCall{id, name, strings.ReplaceAll(input, " ", ""), ""})
	}
	result := func(id string, text json.RawMessage) {
		at, ok := open[id]
		if !ok {
			t.Fatalf("a result for %q, which is not an open call:\n%s", id, ending(body))
		}
		all[at].result = string(text)
		delete(open, id)
	}
	other := func() {
		if len(open) > 0 {
			t.Errorf("other content between the calls %v and their results:\n%s", open, ending(body))
		}
	}
	take := func(p part) {
		switch {
		case p.ToolUse != nil:
			call(p.ToolUse.ID, p.ToolUse.Name, string(p.ToolUse.Input))
			return
		case p.ToolResult != nil:
			result(p.ToolResult.ID, p.ToolResult.Content)
			return
		case p.CachePoint != nil:
			return
		}
		switch p.Type {
		case "tool_use":
			call(p.ID, p.Name, string(p.Input))
		case "function_call":
			call(p.CallID, p.Name, p.Arguments)
		case "tool_result":
			result(p.ToolUseID, p.Content)
		case "function_call_output":
			result(p.CallID, p.Output)
		default:
			other()
		}
	}
	for _, p := range r.Input {
		take(p)
	}
	for _, m := range r.Messages {
		var parts []part
		switch {
		case m.Role == "tool":
			result(m.ToolCallID, m.Content)
			continue
		case json.Unmarshal(m.Content, &parts) != nil || len(parts) == 0: // a string, or null
			other()
		}
		for _, p := range parts {
			take(p)
		}
		for _, c := range m.ToolCalls {
			call(c.ID, c.Function.Name, c.Function.Arguments)
		}
	}
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			switch {
			case p.FunctionCall != nil:
				call(p.FunctionCall.ID, p.FunctionCall.Name, string(p.FunctionCall.Args))
			case p.FunctionResponse != nil:
				result(p.FunctionResponse.ID, p.FunctionResponse.Response)
			default:
				other()
			}
		}
	}
	other()
	return all
}

// geminiPart is a part of a message to Gemini.
type geminiPart struct {
	FunctionCall *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID       string
		Response json.RawMessage
	}
}

// ending returns the end of a request, which differs from the others: they all begin
// with the tools.
func ending(body string) string { return body[max(0, len(body)-3000):] }

// isRead reports an error for each call of a request that is not a successful read
// of a.go.
func isRead(t testing.TB, s *fakemodel.Recorded, body string, calls int) {
	t.Helper()
	got := callsIn(t, body)
	if len(got) != calls {
		t.Errorf("%s got %d calls, want %d:\n%s", s.Model, len(got), calls, ending(body))
	}
	for i, c := range got {
		if c.name != "read" || c.input != `{"path":"a.go"}` || !strings.Contains(c.result, "package alpha") {
			t.Errorf("%s got call %d as %+v", s.Model, i, c)
		}
	}
}

// TestWireTurn runs a turn with each kind of provider: a tool call, its result, a
// thought and a last text.
func TestWireTurn(t *testing.T) {
	for name, w := range fakemodel.Wires {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewRecorded(t, w, "call", "thoughts")
			e := (&ide{}).begin(t, configured(map[string]*fakemodel.Recorded{name: p}, name))
			e.file(filepath.Join(e.dir, "a.go"), "package alpha\n")
			s := e.session()
			e.prompt(s, "what is in a.go?")
			if got := line.Join(e.Text(s)); got != "I look.Hello!" && got != "I look. Hello!" {
				t.Errorf("the user sees %q", got)
			}
			thought := ""
			for _, u := range e.Seen(s) {
				if c := u.AgentThoughtChunk; c != nil && c.Content.Text != nil {
					thought += c.Content.Text.Text
				}
			}
			if thought != "The user greets; so greet back." {
				t.Errorf("the user sees the thought %q", thought)
			}
			if got := e.Results(s); len(got) != 1 || !strings.Contains(fakeide.ShownText(got[0].Content), "package alpha") {
				t.Errorf("the results are %+v", got)
			}
			e.prompt(s, "thanks")
			all := p.Requests()
			if len(all) != 3 {
				t.Fatalf("%d requests, want 3", len(all))
			}
			for i, calls := range []int{0, 1, 1} {
				isRead(t, p, all[i], calls)
			}
			if !strings.Contains(all[2], w.Thoughts) || !strings.Contains(all[2], "what is in a.go?") || !strings.Contains(all[2], "Hello!") {
				t.Errorf("the model lost an earlier message:\n%s", ending(all[2]))
			}
		})
	}
}

// TestWireSwitch switches from provider to provider during a conversation. Each gets
// all calls, and no data that belongs to another provider alone.
func TestWireSwitch(t *testing.T) {
	of := map[string]*fakemodel.Recorded{}
	order := []string{"claude", "openai", "gemini", "chat", "lab", "bedrock", "azure"}
	for _, name := range order {
		of[name] = fakemodel.NewRecorded(t, fakemodel.Wires[name])
	}
	a := launch(t, configured(of, order...))
	a.file(filepath.Join(a.dir, "a.go"), "package alpha\n")
	a.initialize()
	s := a.open()
	for i, name := range append(order, "claude", "gemini", "openai", "bedrock", "azure") {
		p := of[name]
		if i > 0 {
			a.set(t, s, "model", p.Model)
		}
		before, question := len(p.Requests()), fmt.Sprint("question ", i)
		p.Then("call", "thoughts")
		a.runTurn(s, question)
		bodies := p.Requests()[before:]
		if len(bodies) != 2 {
			t.Fatalf("%s was asked %d times", name, len(bodies))
		}
		for j, body := range bodies {
			isRead(t, p, body, i+j)
			if !strings.Contains(body, `question 0"`) || !strings.Contains(body, question+`"`) || strings.Count(body, "Hello!") != i {
				t.Errorf("%s lost an earlier message:\n%s", name, ending(body))
			}
			for other, o := range of {
				if o.Thoughts != "" && strings.Contains(body, o.Thoughts) != (other == name && before > 0) {
					t.Errorf("%s wrongly has, or lacks, the thoughts of %s:\n%s", name, other, ending(body))
				}
			}
			// Only Gemini requires signatures on the calls of each answer.
			own, foreign := strings.Count(body, "EjQKMgEMOdbHJChLX75QUCJjyYlm"), strings.Count(body, "skip_thought_signature_validator")
			if mine := before/2 + j; name == "gemini" && (own != mine || foreign != i-before/2) || name != "gemini" && own+foreign > 0 {
				t.Errorf("%s got %d signatures of its own and %d placeholders:\n%s", name, own, foreign, ending(body))
			}
		}
	}
}

// TestWireBadKey refuses each key. The message names the key's variable.
//
// Statement 87.
func TestWireBadKey(t *testing.T) {
	for name, w := range fakemodel.Wires {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewRecorded(t, w, "401")
			e := (&ide{}).begin(t, configured(map[string]*fakemodel.Recorded{name: p}, name))
			s := e.session()
			f := codeOf(within(t, patience, "answer", e.startPrompt(s, "hi")).err)
			hint := "(check the key in " + w.KeyEnv + ", or run zeph-acp login)"
			if w.KeyEnv == "" {
				hint = "(name the variable of its key with api_key_env)"
			}
			if f.Code != -32000 || !strings.HasPrefix(f.Message, name+":") || !strings.Contains(f.Message, " answered 401: ") || !strings.HasSuffix(f.Message, hint) {
				t.Errorf("%d %q, want %s", f.Code, f.Message, hint)
			}
			if n := len(p.Requests()); n != 1 {
				t.Errorf("%d requests: a refused key must not be tried again", n)
			}
			e.prompt(s, "hi again") // now with a valid key
		})
	}
}
