package provider

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// printing returns commands that print "KEY-1", "KEY-2" and so on.
func printing(key string) *Credentials {
	runs := 0
	return &Credentials{Run: func(context.Context, []string) (string, error) {
		runs++
		return key + "-" + string(rune('0'+runs)), nil
	}}
}

func TestKeyCommandMistakes(t *testing.T) {
	for name, tt := range map[string]struct {
		p    Provider
		want string // a part of the message; empty for none
	}{
		"a name":             {Provider{Type: "claude", APIKeyCmd: []string{"op", "read", "op://x/y"}}, ""},
		"the home directory": {Provider{Type: "claude", APIKeyCmd: []string{"~/bin/key"}}, ""},
		"with api_key_env":   {Provider{Type: "claude", APIKeyEnv: "K", APIKeyCmd: []string{"op"}}, "has no effect with api_key_env"},
		"no key is needed":   {Provider{Type: "direct", APIKeyCmd: []string{"op"}}, `type "direct" needs no key`},
		"no program":         {Provider{Type: "claude", APIKeyCmd: []string{" ", "x"}}, "must begin with the name of a program"},
		"a line":             {Provider{Type: "claude", APIKeyCmd: []string{"op read op://x/y"}}, "must be a list of words"},
		"of the project":     {Provider{Type: "claude", APIKeyCmd: []string{"./key"}}, "an absolute path"},
		"NUL":                {Provider{Type: "claude", APIKeyCmd: []string{"op", "a\x00"}}, "a word contains NUL"},
	} {
		got := setting.Check(Config{Providers: []Provider{tt.p}})
		text := got["providers[0].api_key_cmd"]
		if (text == "") != (tt.want == "") || !strings.Contains(text, tt.want) || strings.Contains(text, "x/y") {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// The printed key is sent in the way of each protocol, by every kind of request. The variables of keys are not used.
func TestKeyCommandHeaders(t *testing.T) {
	var mu sync.Mutex
	var sent []http.Header
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, r.Header)
		w.WriteHeader(http.StatusForbidden)
	})
	for _, kind := range []string{TypeClaude, TypeOpenAI, TypeGemini, TypeOllama, TypeCompatible} {
		p := Provider{Name: "p", Type: kind, Model: "m", BaseURL: s.URL, APIKeyCmd: []string{"op"}}
		m, err := Select(Config{Providers: []Provider{p}}, func(string) string { return "of-the-environment" }, &Memory{Credentials: printing("printed-key")}, "")
		if err != nil {
			t.Fatal(err)
		}
		sent = nil
		if err := llm.Ready(m); err != nil || llm.KeyAtHand(m) {
			t.Errorf("%s: Ready is %v before the command has run, want nil, and no key", kind, err)
		}
		_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
		l, _ := llm.As[modelLister](m)
		_, listErr := l.List(t.Context())
		if err == nil || listErr == nil || !llm.KeyAtHand(m) {
			t.Errorf("%s: got %v, %v, want that the server forbids it", kind, err, listErr)
		}
		if len(sent) == 0 {
			t.Errorf("%s sent nothing", kind)
		}
		for _, h := range sent {
			if got := h.Get("X-Api-Key") + h.Get("X-Goog-Api-Key") + strings.TrimPrefix(h.Get("Authorization"), "Bearer "); got != "printed-key-1" {
				t.Errorf("%s: a request has the key %q, want printed-key-1", kind, got)
			}
		}
	}
}

// A provider with a command needs no stored key, under no name, and the others do as before.
func TestKeysWithCommands(t *testing.T) {
	cfg := Config{Providers: []Provider{{Name: "work", Type: "claude", APIKeyCmd: []string{"op", "x"}}, {Name: "home", Type: "openai"}}}
	want := []Key{{"home", "OPENAI_API_KEY"}, {"openai", "OPENAI_API_KEY"}, {"gemini", "GEMINI_API_KEY"}}
	if got := Keys(cfg); !slices.Equal(got, want) {
		t.Errorf("Keys: got %v, want %v", got, want)
	}
	if got := WithKeyCommand(cfg); !slices.Equal(got, []string{"work"}) {
		t.Errorf("WithKeyCommand: got %v, want work", got)
	}
	for name, want := range map[string]int{"work": 2, "claude": 2, "work:claude-opus-5-5": 2, "": 2, "home": 0, "openai": 0, "none": 0} {
		if got := KeyCommand(cfg, name); len(got) != want {
			t.Errorf("KeyCommand(%q): got %q, want %d words", name, got, want)
		}
	}
}

// What is asked in the background starts no command: nobody has asked for anything yet.
func TestNoKeyCommandInBackground(t *testing.T) {
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(`{"data":[{"id":"m"}]}`)) })
	keys := printing("k")
	cfg := Config{Providers: []Provider{{Name: "p", Type: TypeCompatible, Model: "m", BaseURL: s.URL, APIKeyCmd: []string{"op"}}}}
	listed := make(chan struct{}, 1)
	c := &Catalogue{Memory: &wire.Memory{Credentials: keys}, Now: time.Now, Changed: func() { listed <- struct{}{} }}
	defer c.Close()
	getenv := func(string) string { return "" }
	m, err := Select(cfg, getenv, c.Memory, "")
	if err != nil {
		t.Fatal(err)
	}
	c.Refresh(cfg, getenv)
	c.Learn(cfg, getenv, m)
	if known := keys.Known(); known != nil {
		t.Errorf("the command ran: %q", known)
	}
	if err := llm.FetchKey(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	c.Refresh(cfg, getenv)
	<-listed
}
