package provider

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// The wrappers that handle failures keep the capabilities of the model.
func TestCapabilitiesShow(t *testing.T) {
	cfg := Config{Retry: setting.Default[Config]().Retry, Fallback: []string{"direct2", "claude"}, Providers: []Provider{
		{Name: "a", Type: TypeClaude, Model: "claude-opus-5-5", APIKeyEnv: "KEY", ToolUse: toolsText, Price: llm.Price{Input: 1}},
		{Name: "direct2", Type: TypeClaude, Model: "x"},
	}}
	m, err := Select(cfg, func(string) string { return "" }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	_, _, priced := llm.Cost(m, llm.Usage{Input: 1})
	e, ok := errors.AsType[*llm.Error](llm.Ready(m))
	if !ok || e.Provider != "a" || len(llm.Levels(m)) == 0 || !llm.AcceptsImages(m) || !priced || !llm.CallsInText(m) || m.Name() != "a:claude-opus-5-5" ||
		m.Window() == 0 {
		t.Errorf("ready %v, levels %v, sees %v, priced %v, text %v, %s, window %d", llm.Ready(m), llm.Levels(m), llm.AcceptsImages(m), priced, llm.CallsInText(m),
			m.Name(), m.Window())
	}
}

func TestSelect(t *testing.T) {
	script := filepath.Join(t.TempDir(), "m.jsonl")
	if err := os.WriteFile(script, []byte(`{"text": "a"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	some := Config{Providers: []Provider{
		{Name: "work", Type: "claude", Model: "claude-opus-5-5", ContextWindow: 5, APIKeyEnv: "WORK"},
		{Type: "direct"},
		{Name: "replay", Type: "script", Model: script, Default: true},
	}}
	key := map[string]string{"ANTHROPIC_API_KEY": "k"}
	for name, tt := range map[string]struct {
		cfg    Config
		env    map[string]string
		want   string
		model  string
		window int
		err    string
	}{
		"nothing":        {model: "direct"},
		"key":            {env: key, model: "claude:claude-sonnet-5-5", window: 1_000_000},
		"key, another":   {env: key, want: "direct", model: "direct"},
		"no key, claude": {want: "claude:claude-haiku-4-5", model: "claude:claude-haiku-4-5", window: 200_000},
		"other keys": {env: map[string]string{"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k", "OLLAMA_HOST": "h"}, model: "openai:gpt-6.1-sol",
			window: 1_050_000},
		"the second key": {env: map[string]string{"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}, want: "gemini", model: "gemini:gemini-3.8-flash",
			window: 1_048_576},
		"no key, openai": {want: "openai:gpt-5", model: "openai:gpt-5", window: 400_000},
		"an address that is none": {env: map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "127.0.0.1:8080"},
			err: `provider "openai": OPENAI_BASE_URL must be an address such as https://api.openai.com/v1/`},
		"no address": {want: "compatible:x",
			err: `model "compatible:x" needs an address: name the server in [[llm.providers]] with type = "compatible" and base_url`},
		"a script":               {want: "script:" + script, model: "script:" + script},
		"default":                {cfg: some, env: key, model: "replay:" + script},
		"first":                  {cfg: Config{Providers: some.Providers[:2]}, model: "work:claude-opus-5-5", window: 5},
		"by name":                {cfg: some, want: "work", model: "work:claude-opus-5-5", window: 5},
		"by name and model":      {cfg: some, want: "work:claude-opus-5-5", model: "work:claude-opus-5-5", window: 5},
		"by name, another model": {cfg: some, want: "work:x:y", model: "work:x:y", window: 200_000},
		"by type":                {cfg: some, want: "claude:m", model: "work:m", window: 200_000},
		"unknown": {cfg: some, want: "mistral:x",
			err: `no provider "mistral" for model "mistral:x"; want PROVIDER:MODEL, such as replay:` + script + `, work:claude-opus-5-5, direct`},
		"a model alone":             {want: "claude-opus-5", model: "claude:claude-opus-5", window: 1_000_000},
		"a model alone, configured": {cfg: some, want: "claude-opus-5-5", model: "work:claude-opus-5-5", window: 5},
		"a word":                    {want: "opus", model: "claude:claude-opus-5-5", window: 1_000_000},
		"a word, configured":        {cfg: some, want: "opus", model: "work:claude-opus-5-5", window: 5},
		"a word of another line":    {cfg: some, want: "haiku", model: "work:claude-haiku-5-5", window: 1_000_000},
		"a model of the list":       {want: "gpt-5", model: "openai:gpt-5", window: 400_000},
		"a number":                  {want: "5", err: `no provider "5" for model "5"; want PROVIDER:MODEL, such as direct, claude:claude-sonnet-5-5`},
		"no such model": {want: "claude-opus-99",
			err: `no provider "claude-opus-99" for model "claude-opus-99"; want PROVIDER:MODEL, such as direct, claude:claude-sonnet-5-5`},
		"no model":        {cfg: some, want: "work:", err: `model "work:" lacks the part after "work"; want PROVIDER:MODEL`},
		"no file":         {want: "script", err: `model "script" lacks the part after "script"; want PROVIDER:MODEL`},
		"direct has none": {want: "direct:x", err: `provider "direct" has no models to choose from; want "direct" alone`},
		"type": {cfg: Config{Providers: []Provider{{Name: "a", Type: "b"}}},
			err: `provider "a": type "b" is not known; the types are ` + kindNames(anyKind)},
	} {
		t.Run(name, func(t *testing.T) {
			getenv := func(k string) string { return tt.env[k] }
			m, err := Select(tt.cfg, getenv, nil, tt.want)
			if tt.err != "" || err != nil {
				if err == nil || err.Error() != tt.err {
					t.Fatalf("Select: %v\n   want: %s", err, tt.err)
				}
				return
			}
			if m.Name() != tt.model || m.Window() != tt.window {
				t.Errorf("Select: %s, window %d", m.Name(), m.Window())
			}
		})
	}
	if _, err := Select(Config{}, os.Getenv, nil, "script:/no/such/file"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such script: %v", err)
	}
	getenv := func(k string) string { return key[k] }
	if diff := cmp.Diff([]string{"replay:" + script, "work:claude-opus-5-5", "direct"}, modelNames(some, getenv)); diff != "" {
		t.Errorf("Names (-want +got)\n%s", diff)
	}
	for _, name := range modelNames(some, getenv) {
		if m, err := Select(some, getenv, nil, name); err != nil || m.Name() != name {
			t.Errorf("Select(%s): %v", name, err)
		}
	}
}

// The key and the address come only from Select's arguments.
func TestSelectEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1/")
	s := llmtest.ServeAnthropic(t, llmtest.SSE(t, "../anthropic/testdata/text.sse"))
	env := map[string]string{"ANTHROPIC_BASE_URL": s.URL}
	m, err := Select(Config{Providers: []Provider{{Name: "a", Type: "claude"}}}, func(k string) string { return env[k] }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := errors.AsType[*llm.Error](llm.Ready(m)); !ok || !e.Auth || e.Provider != "a" {
		t.Errorf("Ready without a key: %v", llm.Ready(m))
	}
	env["ANTHROPIC_API_KEY"] = "k"
	if _, err := llmtest.Collect(m, t.Context(), llmtest.Hello()); err != nil || s.Headers[0].Get("X-Api-Key") != "k" {
		t.Errorf("Stream: %v", err)
	}
	if err := llm.Ready(local.Direct{}); err != nil {
		t.Errorf("Ready of the built-in model: got %v, want nil", err)
	}
}

func TestValidate(t *testing.T) {
	cfg := Config{Providers: []Provider{
		{Name: "ok", Type: "claude", BaseURL: "http://127.0.0.1:80/v1", APIKeyEnv: "MY_KEY", MaxTokens: 5, ContextWindow: 6, ToolUse: "auto", Images: "no",
			Price: llm.Price{Input: 1, Currency: "EUR"}, Default: true},
		{Name: "ok", Type: "direct"},
		{Name: "a:b", Type: "mistral", API: "soap", BaseURL: "localhost:80", APIKeyEnv: "sk-ant-1", MaxTokens: -1, ContextWindow: -2, ToolUse: "none",
			Images: "true", Price: llm.Price{Input: -1}, Default: true},
		{Type: "script"},
		{Name: "n", MaxTokens: 9, ContextWindow: 9},
		{Name: "d", Type: "direct", Images: "yes", Price: llm.Price{Input: 1}},
		{Type: "compatible", API: "responses"},
		{Type: "gemini", API: "responses"},
		{Name: "ol", Type: "ollama", BaseURL: "ftp://gpu"},
		{Name: "o1", Type: "ollama", BaseURL: "gpu:11434"},
		{Name: "o2", Type: "ollama", BaseURL: ":11434"},
		{Name: "lab", Type: "compatible", Model: "m", BaseURL: "localhost:1234"},
	}}
	want := map[string]string{
		"providers[1].name":        `"ok" is the name of an earlier provider; names must differ`,
		"providers[2].name":        `must have no colon and no space, got "a:b"`,
		"providers[2].api":         "only these types have a choice: openai, gemini, compatible, azure",
		"providers[2].type":        `"mistral" is not known; the types are ` + kindNames(anyKind),
		"providers[2].base_url":    "must be an address such as https://api.anthropic.com",
		"providers[2].api_key_env": `must be the name of an environment variable, not the key itself, which "zeph-acp login" stores`,
		"providers[2].max_tokens": "-1 is less than 0; 0: the server's limit, for compatible the rest of the window, " +
			"for claude at most 32,000 (64,000 at xhigh and max)",
		"providers[2].context_window": "-2 is less than 0; 0: the known size of the model",
		"providers[2].tool_use":       `"none" is not one of auto, native, text`,
		"providers[2].images":         `"true" is not one of yes, no, auto`,
		"providers[2].price.input":    "-1 is not from 0 to 1000000",
		"providers[2].default":        "an earlier provider is the default already; only one can be",
		"providers[3].model":          "must name the script's file",
		"providers[4].type":           "is missing; the types are " + kindNames(anyKind),
		"providers[4].max_tokens":     "must be less than context_window",
		"providers[5].images":         "direct takes none",
		"providers[5].price":          "direct costs nothing",
		"providers[6].model":          "must name the server's model",
		"providers[6].base_url":       "must be the server's address, such as http://127.0.0.1:1234/v1",
		"providers[7].api":            `must be gemini or chat, got "responses"`,
		"providers[8].base_url":       "must be an address such as http://127.0.0.1:11434",
		"providers[11].base_url":      "must be an address such as http://127.0.0.1:1234/v1",
	}
	if diff := cmp.Diff(want, setting.Check(cfg)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) != 0 {
		t.Errorf("defaults: %v", wrong)
	}
}

// modelNames returns the Name of each available model, the default first.
func modelNames(cfg Config, getenv func(string) string) []string {
	var names []string
	for _, p := range availableProviders(cfg, getenv) {
		names = append(names, p.id())
	}
	return names
}

func TestUsualWindow(t *testing.T) {
	for model, want := range map[string]int{
		"openai/gpt-5": 400_000, "google/gemini-2.5-pro": 1_048_576, "anthropic/claude-opus-5": 1_000_000, "claude-x": 200_000, "qwen3-8b": 0,
	} {
		if got := usualWindow(model); got != want {
			t.Errorf("%s: %d, want %d", model, got, want)
		}
	}
}
