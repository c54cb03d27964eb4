package app

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

func TestIdle(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(i *idle, step func(string) func())
		want string
	}{
		"a pause": {func(i *idle, step func(string) func()) {
			i.plan(step("a"), step("b"))
			i.begin()
			time.Sleep(2 * pause)
		}, "a b"},
		"nothing planned": {func(i *idle, _ func(string) func()) {
			i.begin()
			time.Sleep(2 * pause)
		}, ""},
		"a request at once": {func(i *idle, step func(string) func()) {
			i.plan(step("a"))
			i.begin()
			time.Sleep(pause / 2)
			i.end()
			time.Sleep(2 * pause)
			i.begin()
			time.Sleep(2 * pause)
		}, ""},
		"a request meanwhile": {func(i *idle, step func(string) func()) {
			i.plan(step("a"), i.end, step("b"))
			i.begin()
			time.Sleep(2 * pause)
		}, "a"},
		"the next pause": {func(i *idle, step func(string) func()) {
			i.plan(step("a"))
			i.begin()
			time.Sleep(2 * pause)
			i.end()
			i.plan(step("b"))
			i.begin()
			time.Sleep(2 * pause)
		}, "a b"},
		"closed meanwhile": {func(i *idle, step func(string) func()) {
			i.plan(func() { time.Sleep(pause); step("slow")() }, step("b"))
			i.begin()
			time.Sleep(pause + pause/2)
			i.close()
		}, "slow"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var i idle
				var done []string
				tt.do(&i, func(name string) func() { return func() { done = append(done, name) } })
				i.close()
				if want := strings.Fields(tt.want); !slices.Equal(done, want) {
					t.Errorf("did %v, want %v", done, want)
				}
			})
		})
	}
}

// The work before the first prompt asks no model, prints no warning and keeps nothing: a file
// that is written after it is in the system prompt.
func TestBeforePrompt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked %s", r.URL) }))
	defer server.Close()
	for name, m := range map[string]llm.Model{
		"chat":      openai.New(openai.Config{Type: openai.ServerCompatible, Model: "m", BaseURL: server.URL}),
		"responses": openai.New(openai.Config{Model: "m", BaseURL: server.URL}),
		"anthropic": anthropic.New(anthropic.Config{Model: "m", BaseURL: server.URL}),
		"ollama":    ollama.New(ollama.Config{Model: "m", Address: server.URL}),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			roots, err := workspace.New(dir)
			if err != nil {
				t.Fatal(err)
			}
			a := &App{Log: slog.New(slog.DiscardHandler), shared: shared{filters: newFilters(&config.Loaded{})}}
			dirs, _, err := a.sessionDirs(setting.Default[config.Config](), roots)
			if err != nil {
				t.Fatal(err)
			}
			rules := filepath.Join(dir, "AGENTS.md")
			if err := os.WriteFile(rules, []byte("old\x00"), 0o600); err != nil {
				t.Fatal(err)
			}
			warnings := 0
			s := session.Host{Warn: func(string) { warnings++ }, Model: func() llm.Model { return m }}
			b := &sessionBuilder{app: a, session: s, cfg: setting.Default[config.Config](), dirs: dirs}
			f := &sessionFeatures{system: b.systemPrompt(&skills.Set{}, nil), list: []Feature{memoryFeature(&memory.Memory{})}}
			b.beforePrompt(&agent.Agent{Chain: executors.Chain(native.New())}, f)
			a.idle.run()
			if err := os.WriteFile(rules, []byte("new rules"), 0o600); err != nil {
				t.Fatal(err)
			}
			if text := f.system.text(); warnings > 0 || !strings.Contains(text, "new rules") {
				t.Errorf("%d warnings, and the prompt\n%s", warnings, text)
			}
		})
	}
}

// The parts of the work depend on each other, so only one of two pauses that end together
// does it.
func TestIdleKeepsOrder(t *testing.T) {
	var i idle
	begun, goOn, order := make(chan struct{}), make(chan struct{}), ""
	i.plan(func() { close(begun); <-goOn; order += "1" }, func() { order += "2" })
	ended := make(chan struct{})
	go func() { i.run(); close(ended) }()
	<-begun
	i.run()
	close(goOn)
	<-ended
	if order != "12" {
		t.Errorf("the order is %q", order)
	}
	i.plan(func() { order += "3" })
	if i.run(); order != "123" {
		t.Errorf("the order is %q", order)
	}
}
