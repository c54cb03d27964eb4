package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ollama plays an Ollama server: it has one model that thinks and has tools, one
// that embeds, and a script of answers.
type ollama struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	script []string // messages, each the JSON of one whole answer
	chats  []string // bodies of requests
}

func newOllama(t testing.TB, script ...string) *ollama {
	o := &ollama{t: t, script: script}
	o.Server = httptest.NewServer(o)
	t.Cleanup(func() { o.CloseClientConnections(); o.Close() })
	return o
}

func (o *ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent went away
	}
	reply := func(text string) { _, _ = io.WriteString(w, text) }
	switch r.URL.Path {
	case "/api/tags":
		reply(`{"models":[{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},{"name":"qwen3:8b","details":{"family":"qwen3"}}]}`)
	case "/api/show":
		reply(`{"details":{"family":"qwen3"},"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`)
	case "/api/chat":
		o.mu.Lock()
		o.chats = append(o.chats, string(body))
		message := `{"role":"assistant","content":"The script has ended."}`
		if len(o.script) > 0 {
			message, o.script = o.script[0], o.script[1:]
		}
		o.mu.Unlock()
		w.Header().Set("Content-Type", "application/x-ndjson")
		reply(`{"model":"qwen3:8b","message":` + message + `,"done":false}` + "\n")
		reply(`{"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":12}` + "\n")
	default:
		o.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
}

// chat gives the body of the nth request.
func (o *ollama) chat(n int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n >= len(o.chats) {
		o.t.Fatalf("Ollama was asked %d times, want %d", len(o.chats), n+1)
	}
	return o.chats[n]
}

// TestSwitchProviders goes from one provider to another and back in the middle of
// a conversation. Each gets the whole history, tool calls and results included, in
// its own form.
func TestSwitchProviders(t *testing.T) {
	p := newProvider(t)
	o := newOllama(t,
		`{"role":"assistant","content":"","thinking":"Look at b.","tool_calls":[{"function":{"name":"read","arguments":{"path":"b.txt"}}}]}`,
		`{"role":"assistant","content":"Bravo."}`)
	a := launch(t, start{env: p.env(), config: fmt.Sprintf(`
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
	ask := func(id, text string) {
		t.Helper()
		a.request(id, "session/prompt", promptParams(s, text))
		a.ends(id)
	}
	p.then(answer(think("Look at a.", "signed-by-claude"), call("toolu_1", "read", map[string]any{"path": "a.txt"})), answer(say("Alpha.")))
	ask("1", "what is in a?")

	a.set(t, s, "model", "lab:qwen3:8b")
	ask("2", "and in b?")
	for _, want := range []string{
		`what is in a?"`, `"tool_calls":[{"id":"toolu_1","function":{"index":0,"name":"read","arguments":{"path":"a.txt"}}}]`,
		`"tool_name":"read","tool_call_id":"toolu_1"`, "alpha", `"content":"Alpha."`, `"content":"and in b?"`, `"num_ctx":32768`,
	} {
		if !strings.Contains(o.chat(0), want) {
			t.Errorf("Ollama is not told %s:\n%s", want, o.chat(0))
		}
	}
	if strings.Contains(o.chat(0), "signed-by-claude") || strings.Contains(o.chat(0), "Look at a.") {
		t.Errorf("Ollama is told what Claude thought:\n%s", o.chat(0))
	}
	if !strings.Contains(o.chat(1), `"thinking":"Look at b."`) || !strings.HasPrefix(o.chat(1), strings.TrimSuffix(o.chat(0), "]}")) {
		t.Errorf("the second request does not go on from the first:\n%s\n%s", o.chat(0), o.chat(1))
	}

	a.set(t, s, "model", "claude:claude-opus-5-5")
	p.then(answer(say("Both read.")))
	ask("3", "both?")
	body := p.requests()[2]
	for _, want := range []string{`"toolu_1"`, `"call_1"`, "alpha", "bravo", "Bravo.", "claude-opus-5-5"} {
		if !strings.Contains(body, want) {
			t.Errorf("Claude is not told %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "Look at b.") {
		t.Errorf("Claude is told what Ollama's model thought:\n%s", body)
	}
}

// TestModelList starts with an Ollama and no configuration. The session is open
// before anything is asked, and gets the list of models and the levels of the one
// in use when they come. The next process has the list at once.
func TestModelList(t *testing.T) {
	o := newOllama(t, `{"role":"assistant","content":"Here."}`)
	root := home(t)
	env := []string{"OLLAMA_HOST=" + strings.TrimPrefix(o.URL, "http://"), "ZEPH_LLM_LIST_MODELS=true"}
	a := launch(t, start{env: env, root: root})
	a.initialize()
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
		t.Errorf("the models are %q, of which it is %q", model.values(), model.CurrentValue)
	}
	if want := []string{"default", "off", "on"}; !slices.Equal(level.values(), want) {
		t.Errorf("the levels are %q", level.values())
	}
	a.set(t, s, "thought_level", "off")
	a.request("1", "session/prompt", promptParams(s, "hi"))
	a.ends("1")
	if body := o.chat(0); !strings.Contains(body, `"model":"qwen3:8b"`) || !strings.Contains(body, `"think":false`) {
		t.Errorf("Ollama is asked %s", body)
	}
	file := filepath.Join(a.home, "models.json")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	a.stop()
	o.Close()

	b := launch(t, start{env: env, root: root})
	b.initialize()
	b.request("1", "session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, b.dir))
	f := b.answer("1")
	if got := optionsOf(t, f.Result)["model"].values(); !slices.Equal(got, []string{"ollama", "ollama:qwen3:8b"}) {
		t.Errorf("the next process knows %q", got)
	}
	var opened struct{ SessionID string }
	if err := json.Unmarshal(f.Result, &opened); err != nil {
		t.Fatal(err)
	}
	b.set(t, opened.SessionID, "model", "ollama:another:1b") // a name that nobody listed
}
