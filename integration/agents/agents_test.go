package agents

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	want := []string{"tools bash", "system be brief", "other go", "calls bash ls", "results a.go", "other fine"}
	for name, body := range map[string]string{
		"messages": `{"tools":[{"name":"bash","cache_control":{}}],"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"go"},
			{"role":"assistant","content":[{"type":"tool_use","name":"bash","input":"ls"}]},
			{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a.go"}]},{"type":"text","text":"fine"}]}]}`,
		"chat": `{"tools":[{"type":"function","function":{"name":"bash"}}],"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"go"},
			{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"bash","arguments":"ls"}}]},{"role":"tool","content":"a.go"},
			{"role":"user","content":[{"type":"text","text":"fine"}]}]}`,
		"responses": `{"tools":[{"type":"function","name":"bash"}],"instructions":"be brief","input":[{"role":"user","content":[{"type":"input_text","text":"go"}]},
			{"type":"function_call","name":"bash","arguments":"ls"},{"type":"function_call_output","output":"a.go"},
			{"type":"message","role":"user","content":"fine"}]}`,
		"gemini": `{"tools":[{"functionDeclarations":[{"name":"bash"}]}],"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[
			{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":"bash ls"}]},
			{"role":"user","parts":[{"functionResponse":{"response":{"a.go":1}}},{"text":"fine"}]}]}`,
	} {
		r, err := Parse([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, it := range r.Items {
			text := it.Text
			if it.Part == PartTools {
				text = strings.Join(r.Tools, " ")
			}
			got = append(got, string(it.Part)+" "+strings.Trim(text, `"`))
		}
		if !slices.Equal(got, want) || r.Bytes != len(body) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestModel(t *testing.T) {
	for _, p := range protocols {
		m, err := NewModel()
		if err != nil {
			t.Fatal(err)
		}
		m.Script(1, func(int) ToolCall { return ToolCall{"bash", Object{"command": "ls"}} })
		var got []string
		for range 2 {
			res, err := http.Post(m.Base+"/v1/x"+p.suffix, "application/json", strings.NewReader(`{"stream":true,"tools":[{"name":"bash"}]}`))
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := res.Write(&text); err != nil {
				t.Fatal(err)
			}
			got = append(got, text.String())
		}
		if !strings.Contains(got[0], "bash") || strings.Contains(got[0], "Done.") || !strings.Contains(got[1], "Done.") {
			t.Errorf("%s: %q", p.suffix, got)
		}
		if absent := m.Received().Absent; len(absent) > 0 {
			t.Errorf("%s: absent tools %q", p.suffix, absent)
		}
		m.Script(1, func(int) ToolCall { return ToolCall{"grep", Object{}} })
		if _, err := http.Post(m.Base+"/v1/x"+p.suffix, "application/json", strings.NewReader(`{"tools":[{"name":"bash"}]}`)); err != nil {
			t.Fatal(err)
		}
		if got := m.Received(); !slices.Equal(got.Absent, []string{"grep"}) || len(got.Requests) != 1 {
			t.Errorf("%s: absent tools %q of %d requests", p.suffix, got.Absent, len(got.Requests))
		}
		if err := m.Quit(); err != nil {
			t.Error(err)
		}
	}
}
