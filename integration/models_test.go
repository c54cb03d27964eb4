package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestSwitchProviders switches from one provider to another and back during a
// conversation. Each gets the whole history in its own form, with tool calls and
// results.
func TestSwitchProviders(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	o := fakemodel.NewOllama(t,
		`{"role":"assistant","content":"","thinking":"Look at b.","tool_calls":[{"function":{"name":"read","arguments":{"path":"b.txt"}}}]}`,
		`{"role":"assistant","content":"Bravo."}`)
	a := launch(t, start{env: p.Env(), config: fmt.Sprintf(`
[[llm.providers]]
type = "claude"

[[llm.providers]]
name = "lab"
type = "ollama"
model = "qwen3:8b"
base_url = %q
`, o.URL)})
	a.file(filepath.Join(a.dir, "a.txt"), "alpha\n")
	a.file(filepath.Join(a.dir, "b.txt"), "bravo\n")
	a.initialize()
	s := a.open()
	p.Then(fakemodel.Answer(fakemodel.Think("Look at a.", "signed-by-claude"), fakemodel.Call("toolu_1", "read", map[string]any{"path": "a.txt"})),
		fakemodel.Answer(fakemodel.Say("Alpha.")))
	a.runTurn(s, "what is in a?")

	a.set(t, s, "model", "lab:qwen3:8b")
	a.runTurn(s, "and in b?")
	for _, want := range []string{
		`what is in a?"`, `"tool_calls":[{"id":"toolu_1","function":{"index":0,"name":"read","arguments":{"path":"a.txt"}}}]`,
		`"tool_name":"read","tool_call_id":"toolu_1"`, "alpha", `"content":"Alpha."`, `"content":"and in b?"`, `"num_ctx":32768`,
	} {
		if !strings.Contains(o.Chat(0), want) {
			t.Errorf("Ollama did not get %s:\n%s", want, o.Chat(0))
		}
	}
	if strings.Contains(o.Chat(0), "signed-by-claude") || strings.Contains(o.Chat(0), "Look at a.") {
		t.Errorf("Ollama got Claude's thoughts:\n%s", o.Chat(0))
	}
	if !strings.Contains(o.Chat(1), `"thinking":"Look at b."`) || !strings.HasPrefix(o.Chat(1), strings.TrimSuffix(o.Chat(0), "]}")) {
		t.Errorf("the second request does not begin with the first:\n%s\n%s", o.Chat(0), o.Chat(1))
	}

	a.set(t, s, "model", "claude:claude-opus-5-5")
	p.Then(fakemodel.Answer(fakemodel.Say("Both read.")))
	a.runTurn(s, "both?")
	body := p.Requests()[2]
	for _, want := range []string{`"toolu_1"`, `"call_1"`, "alpha", "bravo", "Bravo.", "claude-opus-5-5"} {
		if !strings.Contains(body, want) {
			t.Errorf("Claude did not get %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "Look at b.") {
		t.Errorf("Claude got the thoughts of Ollama's model:\n%s", body)
	}
}

// TestModelList starts with an Ollama and no configuration. The session opens
// before the server is asked, and gets the list of models and the levels of its own
// model when they arrive. The next process has the list at once.
func TestModelList(t *testing.T) {
	o := fakemodel.NewOllama(t, `{"role":"assistant","content":"Here."}`)
	root := home(t)
	env := []string{"OLLAMA_HOST=" + strings.TrimPrefix(o.URL, "http://"), "ZEPH_LLM_LIST_MODELS=true"}
	a := connect(t, start{env: env, root: root})
	s := a.open()
	var model, level option
	a.await("the models", func(f frame) bool {
		if u, _ := f.update(); u.Kind != "config_option_update" {
			return false
		}
		var p struct{ Update json.RawMessage }
		if err := json.Unmarshal(f.Params, &p); err != nil {
			t.Fatal(err)
		}
		all := optionsOf(t, p.Update)
		model, level = all["model"], all["thought_level"]
		return len(model.Options) == 2 && level.ID != ""
	})
	if want := []string{"ollama", "ollama:qwen3:8b"}; !slices.Equal(model.values(), want) || model.CurrentValue != "ollama" {
		t.Errorf("the models are %q, and the current one is %q", model.values(), model.CurrentValue)
	}
	if want := []string{"default", "off", "on"}; !slices.Equal(level.values(), want) {
		t.Errorf("the levels are %q", level.values())
	}
	a.set(t, s, "thought_level", "off")
	a.runTurn(s, "hi")
	if body := o.Chat(0); !strings.Contains(body, `"model":"qwen3:8b"`) || !strings.Contains(body, `"think":false`) {
		t.Errorf("Ollama got %s", body)
	}
	file := filepath.Join(a.home, "models.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	a.stop()
	o.Close()

	b := connect(t, start{env: env, root: root})
	b.request("1", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, b.dir))
	f := b.answer("1")
	if got := optionsOf(t, f.Result)["model"].values(); !slices.Equal(got, []string{"ollama", "ollama:qwen3:8b"}) {
		t.Errorf("the next process lists %q", got)
	}
	var opened struct{ SessionID string }
	if err := json.Unmarshal(f.Result, &opened); err != nil {
		t.Fatal(err)
	}
	b.set(t, opened.SessionID, "model", "ollama:another:1b") // an unlisted name
}

// TestWireModels offers the models of all providers in one option: the configured
// ones first, then the listed ones, without those that cannot converse.
func TestWireModels(t *testing.T) {
	of := map[string]*fakemodel.Recorded{}
	order := []string{"claude", "openai", "chat", "lab", "gemini", "bedrock", "azure"}
	var want, listed []string
	for _, name := range order {
		of[name] = fakemodel.NewRecorded(t, fakemodel.Wires[name])
		want, listed = append(want, of[name].Model), append(listed, of[name].Listed...)
	}
	want = append(want, listed...)
	how := configured(of, order...)
	how.env = append(how.env, "ZEPH_LLM_LIST_MODELS=true")
	a := launch(t, how)
	a.initialize()
	s := a.open()
	var got []string
	a.await("the models of all", func(f frame) bool {
		if u, _ := f.update(); u.Kind != "config_option_update" {
			return false
		}
		var p struct{ Update json.RawMessage }
		if err := json.Unmarshal(f.Params, &p); err != nil {
			t.Fatal(err)
		}
		got = optionsOf(t, p.Update)["model"].values()
		return len(got) >= len(want)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the models (-want +got)\n%s", diff)
	}
	a.set(t, s, "model", "openai:gpt-6-luna")
	a.runTurn(s, "hi")
	if all := of["openai"].Requests(); len(all) != 1 || !strings.Contains(all[0], `"model":"gpt-6-luna"`) {
		t.Errorf("OpenAI got %s", all)
	}
}
