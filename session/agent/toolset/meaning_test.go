package toolset

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

// With a real model for embeddings the filter offers the tool that a prompt needs.
func TestToolFilterByMeaning(t *testing.T) {
	m := patient{openai.New(openai.Config{Type: openai.ServerCompatible, Model: "none", BaseURL: llmtest.ServeE5(t), Embedding: "multilingual-e5-small-q4"})}
	tools := typicalTools(t)
	cfg := Config{Filter: setting.Default[Filter]()}
	cfg.Filter.Enabled = On
	offered := map[string]int{}
	vectors := &Vectors{}
	text, err := os.ReadFile("testdata/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSpace(line), " | ")
		kind, prompt, want := row[0], row[1], row[2]
		set := New(cfg, vectors, slog.New(slog.DiscardHandler))
		set.Begin(t.Context(), m, prompt, nil, tools)
		got := set.Offer(m)
		if len(got) == len(tools) {
			t.Fatalf("%s: all tools are offered", prompt)
		}
		if slices.ContainsFunc(got, func(tool llm.Tool) bool { return tool.Name == want }) {
			offered[kind]++
		} else {
			t.Logf("%s: %s is not offered", prompt, want)
		}
	}
	t.Logf("offered %v of 24 each", offered)
	if offered["usual"] < 24 || offered["roundabout"] < 17 {
		t.Errorf("the tool is offered for %d of 24 usual prompts and %d of 24 roundabout ones, want 24 and 17", offered["usual"], offered["roundabout"])
	}
}

// patient is a model whose embedder may take longer than a turn waits, as on a slow machine.
type patient struct{ *openai.Model }

func (p patient) Embedder() llm.Embedder { return patientEmbedder{p.Model.Embedder()} }

type patientEmbedder struct{ llm.Embedder }

func (e patientEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return e.Embedder.Embed(context.WithoutCancel(ctx), texts)
}
