package provider

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// opening is a provider whose name, model, key and address are spelt out.
type opening struct {
	Provider
	getenv func(string) string
	memory *wire.Memory
	// keyOptional means that the server is asked without a key if there is none.
	keyOptional bool
	typeSource  func(opening) *wire.Source // of the kind; may be nil
}

// key returns a function that looks up the key.
func (p opening) key(env string) func() string {
	if env == "" {
		return nil
	}
	return func() string { return p.getenv(env) }
}

// usualKeyTTL is how long the key of a command is used, in seconds.
const usualKeyTTL = 300

// source returns the source of the credential: the command of the key, else the type's own; nil if a variable holds
// the key.
func (p opening) source() *wire.Source {
	if len(p.APIKeyCmd) == 0 && p.typeSource != nil {
		return p.typeSource(p)
	}
	return p.memory.Credentials.Command(p.APIKeyCmd, time.Duration(cmp.Or(p.APIKeyCmdTTLSecs, usualKeyTTL))*time.Second)
}

// firstByte returns how long the server may send nothing before its answer begins; 0 means the default.
func (p opening) firstByte() time.Duration { return time.Duration(p.FirstByteSecs) * time.Second }

// openAnthropic returns the model of a provider of the type claude.
func openAnthropic(p opening) (llm.Model, error) {
	cfg := anthropic.Config{Name: p.Name, Model: p.Model, BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(), KeyOptional: p.keyOptional,
		FirstByte: p.firstByte(), MaxTokens: p.MaxTokens, Window: p.ContextWindow, NoImages: p.Images == imagesNo, Price: p.Price}
	if !wire.IsNearby(p.BaseURL) || strings.HasPrefix(p.Model, "claude-") { // what is known about Claude holds behind a proxy too
		return anthropic.New(cfg), nil
	}
	asked := openai.New(openai.Config{Type: openai.ServerCompatible, Name: p.Name, Model: p.Model, BaseURL: p.BaseURL, APIKey: cfg.APIKey, Source: cfg.Source, KeyOptional: true, Memory: p.memory})
	cfg.Served = func() int {
		f, _ := asked.Facts()
		return f.Window
	}
	return served{anthropic.New(cfg), asked}, nil
}

// openOpenAI returns the function that opens the model of a provider with OpenAI's protocols,
// at a kind of server such as [openai.ServerCompatible].
func openOpenAI(server string) func(p opening) (llm.Model, error) {
	return func(p opening) (llm.Model, error) {
		return openai.New(p.openAIConfig(server)), nil
	}
}

// openAIConfig returns the configuration of a model with OpenAI's protocols.
func (p opening) openAIConfig(server string) openai.Config {
	cfg := openai.Config{Type: server, Name: p.Name, Model: p.Model, API: p.API, BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(), KeyOptional: p.keyOptional,
		Embedding: p.EmbeddingModel, EmbeddingPrefix: p.embeddingPrefix(), FirstByte: p.firstByte(), MaxTokens: p.MaxTokens, Window: p.ContextWindow, NoImages: p.Images == imagesNo, Price: p.Price, Memory: p.memory}
	if server == openai.ServerCompatible {
		cfg.UsualWindow = usualWindow(cfg.Model)
	}
	return cfg
}

// apiGemini is the name of Gemini's own protocol.
const apiGemini = "gemini"

// openGemini returns the model of a provider of the type gemini: with its own protocol, or with Chat Completions if the
// configuration or the end of the address says so.
func openGemini(p opening) (llm.Model, error) {
	base, _ := wire.SplitQuery(p.BaseURL)
	base, whole := wire.TrimEndpoint(base)
	if p.API == openai.APIChat || p.API == "" && (whole || strings.HasSuffix(strings.TrimRight(base, "/"), "/openai")) {
		if p.BaseURL == gemini.DefaultAddress {
			p.BaseURL += "openai/"
		}
		return openOpenAI(openai.ServerGemini)(p)
	}
	return gemini.New(gemini.Config{Name: p.Name, Model: p.Model, BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(), KeyOptional: p.keyOptional,
		Embedding: p.EmbeddingModel, EmbeddingPrefix: p.embeddingPrefix(), FirstByte: p.firstByte(), MaxTokens: p.MaxTokens, Window: p.ContextWindow, NoImages: p.Images == imagesNo, Price: p.Price, Memory: p.memory}), nil
}

// openOllama returns the model of a provider of the type ollama.
func openOllama(p opening) (llm.Model, error) {
	if p.APIKeyEnv == "" && len(p.APIKeyCmd) == 0 && ollama.IsHosted(ollama.ParseAddress(p.BaseURL)) {
		p.APIKeyEnv = ollamaKey // other servers must not see it
	}
	return ollama.New(ollama.Config{Name: p.Name, Model: p.Model, Address: p.BaseURL, KeyEnv: p.APIKeyEnv, APIKey: p.key(p.APIKeyEnv), Source: p.source(),
		Embedding: p.EmbeddingModel, EmbeddingPrefix: p.embeddingPrefix(), FirstByte: p.firstByte(), MaxTokens: p.MaxTokens, Window: p.ContextWindow, Images: p.Images, Price: p.Price, Memory: p.memory}), nil
}

// Memory keeps the facts that were learned about model servers. The app has one for all
// sessions.
type Memory = wire.Memory

// Credentials fetches the credentials of providers. The app has one for all sessions.
type Credentials = wire.Credentials

// DefaultOllama is the address at which an Ollama is looked for.
const DefaultOllama = ollama.DefaultAddress

// FindOllama reports whether an Ollama with a model that can chat answers at
// [DefaultOllama] before ctx is done.
func FindOllama(ctx context.Context) bool { return ollama.Find(ctx) }

// withTools wraps the model so that it calls tools as configured.
func (p Provider) withTools(m llm.Model, memory *wire.Memory) llm.Model {
	switch p.ToolUse {
	case toolsNative:
		return textcalls.Clean(m)
	case toolsText:
		return textcalls.Wrap(m)
	}
	return textcalls.Auto(m, wire.Recall[textcalls.ToolUse](memory, p.BaseURL, m.Name()))
}
