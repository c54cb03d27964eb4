package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// The probe looks for an Ollama only on demand, and reuses its result for a
// while.
func TestOllamaProbe(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	asked, found := 0, false
	p := &ollamaProbe{now: func() time.Time { return now }, ask: func(ctx context.Context) bool {
		if until, ok := ctx.Deadline(); !ok || time.Until(until) > probeTimeout {
			t.Error("the probe is not bounded")
		}
		asked++
		return found
	}}
	env := map[string]string{"ANTHROPIC_API_KEY": "k"}
	getenv := p.getenv(func(name string) string { return env[name] })
	model := func() string {
		m, err := provider.Select(setting.Default[provider.Config](), getenv, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		return m.Name()
	}
	for _, step := range []struct {
		name  string
		does  func()
		want  string
		asked int
	}{
		{"a key goes before", func() {}, "claude:" + anthropic.DefaultModel, 0},
		{"nobody there", func() { delete(env, "ANTHROPIC_API_KEY") }, "direct", 1},
		{"still nobody", func() { now, found = now.Add(probeMissed-1), true }, "direct", 1},
		{"started", func() { now = now.Add(1) }, "ollama", 2},
		{"still there", func() { now, found = now.Add(probeFound-1), false }, "ollama", 2},
		{"gone", func() { now = now.Add(1) }, "direct", 3},
		{"a clock that went back", func() { now, found = now.Add(-time.Hour), true }, "ollama", 4},
		{"a host that is set", func() { env[ollamaHost] = "192.0.2.1"; now = now.Add(time.Hour) }, "ollama", 4},
	} {
		step.does()
		if got := model(); got != step.want || asked != step.asked {
			t.Errorf("%s: %s after %d questions, want %s after %d", step.name, got, asked, step.want, step.asked)
		}
	}
}

// The probe does not look where a provider is configured, or where it is
// switched off.
func TestNoOllamaProbe(t *testing.T) {
	for name, text := range map[string]string{
		"switched off": "[llm]\nfind_ollama = false\n",
		"configured":   "[[llm.providers]]\ntype = 'direct'\n",
	} {
		l, err := config.Load(config.Options{File: write(t, t.TempDir(), "config.toml", text), Environ: []string{"HOME=/"}})
		if err != nil {
			t.Fatal(err)
		}
		l.Config.LLM.ListModels = false
		a := New(l, slog.New(slog.DiscardHandler))
		a.Now = func() time.Time { t.Errorf("%s: the probe looks at the clock", name); return time.Now() }
		if got := a.Getenv(ollamaHost); got != os.Getenv(ollamaHost) {
			t.Errorf("%s: the host is %q, want %q from the environment", name, got, os.Getenv(ollamaHost))
		}
		if a.catalogue != nil {
			t.Errorf("%s: there is a catalogue", name)
		}
		if err := a.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}

// A file of the user caches the lists. A file that cannot be read counts as
// empty, and is written again.
func TestModelsFile(t *testing.T) {
	home := filepath.Join(t.TempDir(), "zeph")
	l, err := config.Load(config.Options{Environ: []string{"ZEPH_HOME=" + home}})
	if err != nil {
		t.Fatal(err)
	}
	a := New(l, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { a.Close() })
	c := a.newCatalogue(l)
	if data, err := c.Load(); data != nil || err != nil {
		t.Errorf("before the first list: %q, %v, want nothing", data, err)
	}
	if err := c.Save([]byte("[]")); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, listsFile)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file of lists is %v, %v, want one that only the user can read", info, err)
	}
	if data, err := c.Load(); string(data) != "[]" || err != nil {
		t.Errorf("loaded %q, %v, want []", data, err)
	}
}
