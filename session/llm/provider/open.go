package provider

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// newAnthropic returns the model of a provider of the type claude.
func newAnthropic(p Provider, getenv func(string) string) *anthropic.Model {
	cfg := anthropic.Config{Name: p.name(), Model: p.model(), BaseURL: p.BaseURL, KeyEnv: p.keyEnv(),
		MaxTokens: p.MaxTokens, Window: p.ContextWindow, NoImages: p.Images == imagesNo, Price: p.Price}
	if cfg.BaseURL == "" {
		cfg.BaseURL = getenv(anthropicURL)
	}
	cfg.APIKey = func() string { return getenv(cfg.KeyEnv) }
	return anthropic.New(cfg)
}

// newOpenAI returns the model of a provider of the types openai, gemini and compatible.
func newOpenAI(p Provider, getenv func(string) string, memory *wire.Memory) *openai.Model {
	cfg := openai.Config{Type: p.Type, Name: p.name(), Model: p.model(), API: p.API, BaseURL: p.BaseURL, KeyEnv: p.keyEnv(),
		Embedding: p.EmbeddingModel, MaxTokens: p.MaxTokens, Window: p.ContextWindow, NoImages: p.Images == imagesNo, Price: p.Price, Memory: memory}
	if p.Type == TypeCompatible {
		cfg.UsualWindow = usualWindow(cfg.Model)
	}
	if cfg.BaseURL == "" && p.Type == TypeOpenAI {
		cfg.BaseURL = getenv(openAIURL)
	}
	if env := cfg.KeyEnv; env != "" {
		cfg.APIKey = func() string { return getenv(env) }
	}
	return openai.New(cfg)
}

// newOllama returns the model of a provider of the type ollama.
func newOllama(p Provider, getenv func(string) string, memory *wire.Memory) *ollama.Model {
	cfg := ollama.Config{Name: p.name(), Model: p.Model, Address: cmp.Or(p.BaseURL, getenv(ollamaHost)), KeyEnv: p.APIKeyEnv,
		Embedding: p.EmbeddingModel, MaxTokens: p.MaxTokens, Window: p.ContextWindow, Images: p.Images, Price: p.Price, Memory: memory}
	if cfg.KeyEnv == "" && ollama.IsHosted(ollama.ParseAddress(cfg.Address)) {
		cfg.KeyEnv = ollamaKey // other servers must not see it
	}
	if cfg.KeyEnv != "" {
		cfg.APIKey = func() string { return getenv(cfg.KeyEnv) }
	}
	return ollama.New(cfg)
}

// Memory keeps the facts that were learned about model servers. The app has one for all
// sessions.
type Memory = wire.Memory

// DefaultOllama is the address at which an Ollama is looked for.
const DefaultOllama = ollama.DefaultAddress

// FindOllama reports whether an Ollama with a model that can chat answers at
// [DefaultOllama] before ctx is done.
func FindOllama(ctx context.Context) bool { return ollama.Find(ctx) }

// refusedTools records whether a model has refused tools.
type refusedTools struct{ atomic.Bool }

// withTools wraps the model so that it calls tools as configured.
func (p Provider) withTools(m llm.Model, memory *wire.Memory) llm.Model {
	switch p.ToolUse {
	case toolsNative:
		return m
	case toolsText:
		return textcalls.Wrap(m)
	}
	return textcalls.Auto(m, &wire.Recall[refusedTools](memory, p.BaseURL, m.Name()).Bool)
}
