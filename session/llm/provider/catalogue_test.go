package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
)

// shelf stores the lists of catalogues in memory.
type shelf struct{ data []byte }

func (k *shelf) catalogue(now func() time.Time) *Catalogue {
	return &Catalogue{Now: now,
		Load: func() ([]byte, error) { return slices.Clone(k.data), nil },
		Save: func(data []byte) error { k.data = data; return nil }}
}

func choiceNames(choices []llm.Choice) string {
	var names []string
	for _, c := range choices {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// A list is requested once a day by all processes together, and shown
// afterwards.
func TestCatalogueLists(t *testing.T) {
	var asked atomic.Int32
	answer := `{"models":[{"name":"a:1b"},{"name":"b:latest"}]}`
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/api/tags" || answer == "" {
			w.WriteHeader(500)
		}
		io.WriteString(w, answer)
	})
	env := map[string]string{"LAB": "very-secret-key"}
	getenv := func(k string) string { return env[k] }
	cfg := Config{Providers: []Provider{
		{Name: "lab", Type: "ollama", BaseURL: strings.Replace(s.URL, "http://", "http://user:password@", 1), APIKeyEnv: "LAB"},
		{Type: "direct"}, {Name: "locked", Type: "claude"},
	}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	var file shelf

	// round opens a catalogue, refreshes it, and returns the models before and
	// after, the number of change notices, and the number of requests.
	round := func() string {
		c := file.catalogue(clock)
		changed := 0
		c.Changed = func() { changed++ }
		n := asked.Load()
		before := choiceNames(c.Models(cfg, getenv))
		c.Refresh(cfg, getenv)
		c.Refresh(cfg, getenv) // while a request is pending
		c.running.Wait()
		c.Refresh(cfg, getenv) // and after
		c.running.Wait()
		after := choiceNames(c.Models(cfg, getenv))
		c.Close()
		return fmt.Sprintf("%s; %s; changed %d, asked %d", before, after, changed, asked.Load()-n)
	}
	const bare, both = "lab direct locked:claude-sonnet-5-5", "lab direct locked:claude-sonnet-5-5 lab:a:1b lab:b:latest"
	claude := func(list string) string {
		return list + " locked:claude-opus-5-5 locked:claude-fable-5-1 locked:claude-haiku-5-5"
	}
	for _, step := range []struct {
		name  string
		after time.Duration
		does  func()
		want  string
	}{
		{"never fetched", 0, nil, claude(bare) + "; " + claude(both) + "; changed 1, asked 1"},
		{"fresh", 23 * time.Hour, nil, claude(both) + "; " + claude(both) + "; changed 0, asked 0"},
		{"old, the same", 2 * time.Hour, nil, claude(both) + "; " + claude(both) + "; changed 0, asked 1"},
		{"a failure keeps it", 25 * time.Hour, func() { answer = "" }, claude(both) + "; " + claude(both) + "; changed 0, asked 1"},
		{"another", 0, func() { answer = `{"models":[{"name":"c"},{"name":"evil\u001b[2J"}]}` },
			claude(both) + "; " + claude(bare+" lab:c") + "; changed 1, asked 1"},
		{"a clock that went back", -48 * time.Hour, nil, claude(bare+" lab:c") + "; " + claude(bare+" lab:c") + "; changed 0, asked 1"},
		{"a broken file", time.Hour, func() { file.data = []byte(`[{"provider":`) }, claude(bare) + "; " + claude(bare+" lab:c") + "; changed 1, asked 1"},
	} {
		now = now.Add(step.after)
		if step.does != nil {
			step.does()
		}
		if got := round(); got != step.want {
			t.Errorf("%s:\n got %s\nwant %s", step.name, got, step.want)
		}
	}
	if text := string(file.data); strings.Contains(text, "secret") || strings.Contains(text, "password") || !strings.Contains(text, `"name": "c"`) {
		t.Errorf("kept:\n%s", text)
	}
}

// The lists that two processes save at the same time are both kept.
func TestCatalogueOfTwo(t *testing.T) {
	var file shelf
	a := llmtest.ServeOllama(t, "", `{"models":[{"name":"a"}]}`)
	b := llmtest.ServeOllama(t, "", `{"models":[{"name":"b"}]}`)
	getenv := func(string) string { return "" }
	one, two := file.catalogue(time.Now), file.catalogue(time.Now)
	ofA := Config{Providers: []Provider{{Name: "a", Type: "ollama", BaseURL: a.URL}}}
	ofB := Config{Providers: []Provider{{Name: "b", Type: "ollama", BaseURL: b.URL}}}
	one.Models(ofA, getenv)
	two.Models(ofB, getenv)
	one.Refresh(ofA, getenv)
	one.running.Wait()
	two.Refresh(ofB, getenv)
	two.running.Wait()
	all := Config{Providers: append(ofA.Providers, ofB.Providers...)}
	if got := choiceNames(file.catalogue(time.Now).Models(all, getenv)); got != "a b a:a b:b" {
		t.Errorf("kept: %s", got)
	}
}

// silent is a provider that never answers.
type silent struct{ local.Direct }

func (silent) List(ctx context.Context) ([]llm.Choice, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func TestCatalogueTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said error
		c := &Catalogue{Now: time.Now, Log: func(err error) { said = err }}
		begin := time.Now()
		c.ask(Provider{Name: "p", Type: TypeOllama}, "p x", silent{})
		c.running.Wait()
		if took := time.Since(begin); took != listTimeout || !errors.Is(said, context.DeadlineExceeded) {
			t.Errorf("took %s: %v", took, said)
		}
		time.Sleep(listAgain)
		c.ask(Provider{Name: "p", Type: TypeOllama}, "p x", silent{})
		c.Close()
		if took := time.Since(begin); took != listTimeout+listAgain || !errors.Is(said, context.Canceled) {
			t.Errorf("closing took %s: %v", took, said)
		}
		c.ask(Provider{Name: "q", Type: TypeOllama}, "q x", silent{}) // a closed catalogue sends no request
		c.running.Wait()
	})
}

// No list is longer than a menu, and none crowds out another.
func TestManyModels(t *testing.T) {
	long := func(p Provider) (list []llm.Choice) {
		for i := range 400 {
			list = append(list, llm.Choice{Name: fmt.Sprintf("%s:m%d", p.name(), i), Title: fmt.Sprint("M", i/2), Open: true})
		}
		return list
	}
	cfg := Config{Providers: []Provider{{Name: "a", Type: TypeOllama}, {Name: "b", Type: TypeOllama, Model: "m3"}}}
	got := listChoices(cfg, func(string) string { return "" }, long)
	if len(got) != maxOffered+2 || got[1].Name != "b:m3" || got[2].Name != "a:m0" || got[len(got)-1].Name != "b:m50" {
		t.Errorf("%d: %s", len(got), choiceNames(got))
	}
	titles := map[string]bool{}
	for _, c := range got {
		if titles[c.Title] {
			t.Errorf("two are called %s", c.Title)
		}
		titles[c.Title] = true
	}
}

func TestNoCatalogue(t *testing.T) {
	var c *Catalogue
	c.Refresh(Config{}, func(string) string { return "" })
	c.Learn(Config{}, func(string) string { return "" }, local.Direct{})
	c.Close()
	if got := choiceNames(c.Models(Config{}, func(string) string { return "" })); got != "direct" {
		t.Errorf("Models: %s", got)
	}
}

func TestCatalogueLearns(t *testing.T) {
	s := llmtest.ServeOllama(t, llmtest.QwenShow, "")
	changed := 0
	c := &Catalogue{Now: time.Now, Changed: func() { changed++ }}
	m := ollama.New(ollama.Config{Model: "m", Address: s.URL})
	for range 2 {
		c.Learn(Config{}, func(string) string { return "" }, m)
		c.running.Wait()
	}
	if !slices.Equal(llm.Levels(m), []string{"off", "on"}) || changed != 1 {
		t.Errorf("levels %v, changed %d", llm.Levels(m), changed)
	}
}

func TestClaudeList(t *testing.T) {
	var asked []string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+"?"+r.URL.Query().Get("after_id"))
		if r.Header.Get("X-Api-Key") != llmtest.AnthropicKey {
			llmtest.Status(401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key `+llmtest.AnthropicKey+`"}}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("after_id") == "" {
			io.WriteString(w, `{"data":[{"type":"model","id":"claude-next","display_name":"Claude Next","created_at":"2026-10-01T00:00:00Z"},
				{"type":"model","id":"claude-opus-5-5","display_name":"Opus","created_at":"2026-08-01T00:00:00Z"}],"first_id":"claude-next","has_more":true,"last_id":"claude-opus-5-5"}`)
			return
		}
		io.WriteString(w, `{"data":[{"type":"model","id":"claude-old","display_name":"Claude Old","created_at":"2025-01-01T00:00:00Z"}],"first_id":"claude-old","has_more":false,"last_id":"claude-old"}`)
	})
	key := llmtest.AnthropicKey
	m := anthropic.New(anthropic.Config{Name: "work", BaseURL: s.URL, APIKey: func() string { return key }})
	got, err := m.List(t.Context())
	want := []llm.Choice{
		{Name: "work:claude-next", Title: "Claude Next", Description: "Model of provider work", Open: true},
		{Name: "work:claude-opus-5-5", Title: "Claude Opus 5.5", Description: "More capable: for long and difficult tasks", Open: true},
		{Name: "work:claude-old", Title: "Claude Old", Description: "Model of provider work", Open: true},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("List: %v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"GET /v1/models?", "GET /v1/models?claude-opus-5-5"}, asked); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	key = "sk-ant-other"
	if _, err = m.List(t.Context()); err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "check the key in ANTHROPIC_API_KEY") {
		t.Errorf("a wrong key: %v", err)
	}
}

func FuzzParseLists(f *testing.F) {
	f.Add([]byte(`[{"provider":"a","address":"http://x","at":"2026-01-01T00:00:00Z","models":[{"name":"m","title":"M"},{"name":""}]}]`))
	f.Add([]byte(`[{"models":null}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		lists, err := parseLists(data)
		if err != nil && lists != nil {
			t.Errorf("parseLists returned the error %v and %d lists, want none", err, len(lists))
		}
		for _, l := range lists {
			for _, m := range l.Models {
				if !m.isShowable() {
					t.Errorf("%+v", m)
				}
			}
		}
	})
}
