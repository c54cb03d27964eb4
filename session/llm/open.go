package llm

import (
	"cmp"
	"sync/atomic"
)

func newClaude(p Provider, getenv func(string) string) *Claude {
	cfg := ClaudeConfig{Name: p.name(), Model: p.model(), BaseURL: p.BaseURL, KeyEnv: p.keyEnv(),
		MaxTokens: p.MaxTokens, Window: p.ContextWindow, Blind: p.Images == imagesNo, Price: p.Price}
	if cfg.BaseURL == "" {
		cfg.BaseURL = getenv(anthropicURL)
	}
	cfg.APIKey = func() string { return getenv(cfg.KeyEnv) }
	return NewClaude(cfg)
}

func newOpenAI(p Provider, getenv func(string) string, memory *Memory) *OpenAI {
	cfg := OpenAIConfig{Type: p.Type, Name: p.name(), Model: p.model(), API: p.API, BaseURL: p.BaseURL, KeyEnv: p.keyEnv(),
		Embedding: p.EmbeddingModel, MaxTokens: p.MaxTokens, Window: p.ContextWindow, Blind: p.Images == imagesNo, Price: p.Price, Memory: memory}
	if p.Type == TypeCompatible {
		cfg.UsualWindow = usualWindow(cfg.Model)
	}
	if cfg.BaseURL == "" && p.Type == TypeOpenAI {
		cfg.BaseURL = getenv(openAIURL)
	}
	if env := cfg.KeyEnv; env != "" {
		cfg.APIKey = func() string { return getenv(env) }
	}
	return NewOpenAI(cfg)
}

func newOllama(p Provider, getenv func(string) string, memory *Memory) *Ollama {
	cfg := OllamaConfig{Name: p.name(), Model: p.Model, Address: cmp.Or(p.BaseURL, getenv(ollamaHost)), KeyEnv: p.APIKeyEnv,
		Embedding: p.EmbeddingModel, MaxTokens: p.MaxTokens, Window: p.ContextWindow, Images: p.Images, Price: p.Price, Memory: memory}
	if cfg.KeyEnv == "" && isOllamaCom(ollamaAddress(cfg.Address)) {
		cfg.KeyEnv = ollamaKey // which nobody else is to see
	}
	if cfg.KeyEnv != "" {
		cfg.APIKey = func() string { return getenv(cfg.KeyEnv) }
	}
	return NewOllama(cfg)
}

// refusedTools is whether a model has refused tools.
type refusedTools struct{ atomic.Bool }

// withTools wraps the model so that it calls tools as configured.
func (p Provider) withTools(m Model, memory *Memory) Model {
	switch p.ToolUse {
	case toolsNative:
		return m
	case toolsText:
		return Text(m)
	}
	return Auto(m, &Recall[refusedTools](memory, p.BaseURL, m.Name()).Bool)
}
