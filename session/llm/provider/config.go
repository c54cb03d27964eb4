package provider

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/links/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/failover"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

// The provider types that a Provider can have.
const (
	TypeClaude     = "claude"                // Anthropic's Messages API, here or at a compatible address
	TypeOpenAI     = openai.ServerOpenAI     // OpenAI's Responses API or Chat Completions
	TypeGemini     = openai.ServerGemini     // Gemini at Google's endpoint for Chat Completions
	TypeOllama     = "ollama"                // Ollama's own API
	TypeCompatible = openai.ServerCompatible // any other server that speaks Chat Completions
	TypeDirect     = "direct"                // see local.Direct
	TypeScript     = "script"                // see local.Script
)

// providerTypes lists the types in the order of error messages.
var providerTypes = []string{TypeClaude, TypeOpenAI, TypeGemini, TypeOllama, TypeCompatible, TypeDirect, TypeScript}

// embeddingTypes have models for embeddings; Anthropic has none.
var embeddingTypes = []string{TypeOpenAI, TypeGemini, TypeOllama, TypeCompatible}

// publicTypes need no configuration but a key. This is the order in which the
// environment is searched.
var publicTypes = []Key{{TypeClaude, anthropicKey}, {TypeOpenAI, openAIKey}, {TypeGemini, geminiKey}}

// Config is the table [llm].
type Config struct {
	// Providers are the language models to choose from. If empty, the environment
	// decides; see Select.
	Providers []Provider `toml:"providers"`
	// FindOllama says whether an Ollama at its default address on this machine is used
	// when nothing else is configured. Default true.
	FindOllama bool `toml:"find_ollama"`
	// ListModels says whether providers are asked for their models, at most once a day.
	// Default true.
	ListModels bool `toml:"list_models"`
	// Fallback are the models that answer in turn, as "provider" or "provider:model",
	// after the picked model has failed permanently: the first that has its key and a
	// large enough window. Empty by default.
	Fallback []string `toml:"fallback"`
	// Retry limits the attempts before that.
	Retry backoff.Limits `toml:"retry"`
}

// Provider is one [[llm.providers]].
type Provider struct {
	// Name is the name in "name:model"; unique, without colon and space. Empty means
	// the type.
	Name string `toml:"name"`
	// Type is claude, openai, gemini, ollama, compatible, direct or script.
	Type string `toml:"type"`
	// Model is the provider's name of the model, or the file of a script. Empty means
	// the type's default model, for ollama the first of the server's list; compatible
	// and script must have one.
	Model string `toml:"model"`
	// API is the protocol of openai and compatible: APIResponses, the default of
	// openai, or APIChat, that of compatible.
	API string `toml:"api"`
	// BaseURL is the address of the API, with or without "/v1". Empty means
	// ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else the public one; for ollama
	// OLLAMA_HOST, else http://127.0.0.1:11434. Compatible must have one.
	BaseURL string `toml:"base_url"`
	// APIKeyEnv is the environment variable of the key. Empty means ANTHROPIC_API_KEY,
	// OPENAI_API_KEY or GEMINI_API_KEY by type, OLLAMA_API_KEY at ollama.com, and no
	// key for other servers.
	APIKeyEnv string `toml:"api_key_env"`
	// MaxTokens bounds one answer, in tokens, thoughts included; 0 leaves it to the
	// server. For claude 0 means 32,000, 64,000 at the thought levels xhigh and max,
	// or less where the model allows less. For ollama it means no limit but the
	// window.
	MaxTokens int `toml:"max_tokens"`
	// ContextWindow is the size of the context window, in tokens. 0 means the known
	// window of the model, else 200,000 for claude and no limit for others. An ollama
	// is asked for that window; 0 means the one in the Modelfile, else at most 32,768.
	ContextWindow int `toml:"context_window"`
	// EmbeddingModel is the provider's name of the model for embeddings. Empty means
	// none; claude, direct and script have none.
	EmbeddingModel string `toml:"embedding_model"`
	// ToolUse says how models call tools: native, text (see textcalls.Wrap) or auto,
	// the default: native, and text after a model has refused tools. It does not apply
	// to direct.
	ToolUse string `toml:"tool_use"`
	// Images says whether models accept images: yes, no or auto, the default: yes, except for
	// direct. A model that does not accept images gets a line of text for each image.
	Images string `toml:"images"`
	// Price is the price of the model's tokens; unknown by default.
	Price llm.Price `toml:"price"`
	// Default makes it the provider of new sessions; otherwise that is the first.
	Default bool `toml:"default"`
}

// The values of ToolUse and Images other than auto.
const (
	toolsNative = "native"
	toolsText   = "text"

	imagesYes = "yes"
	imagesNo  = "no"
)

// Defaults returns a configuration without providers.
func Defaults() Config {
	return Config{FindOllama: true, ListModels: true, Retry: failover.Defaults()}
}

var (
	envName      = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	providerName = lazyregexp.New(`^[^\s:]+$`)
)

// Validate returns the mistakes, by key, such as "providers[1].type".
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	names := map[string]bool{}
	defaults := 0
	for i, p := range c.Providers {
		for key, what := range p.validate() {
			wrong[fmt.Sprintf("providers[%d].%s", i, key)] = what
		}
		if names[p.name()] {
			wrong[fmt.Sprintf("providers[%d].name", i)] = fmt.Sprintf("%q is the name of an earlier provider; names must differ", p.name())
		}
		names[p.name()] = true
		if p.Default {
			defaults++
		}
		if p.Default && defaults > 1 {
			wrong[fmt.Sprintf("providers[%d].default", i)] = "an earlier provider is the default already; only one can be"
		}
	}
	for i, name := range c.Fallback {
		key := fmt.Sprintf("fallback[%d]", i)
		if name == "" {
			wrong[key] = "must be PROVIDER or PROVIDER:MODEL, is empty"
			continue
		}
		switch p, err := chooseProvider(c.Providers, name); {
		case err != nil:
			wrong[key] = err.Error()
		case p.Type == TypeDirect:
			wrong[key] = fmt.Sprintf("%q is no model: it answers to spelt out tool calls only", name)
		}
	}
	for key, what := range c.Retry.Validate() {
		wrong["retry."+key] = what
	}
	return wrong
}

// validate returns a message for each invalid value, by key.
func (p Provider) validate() map[string]string {
	wrong := map[string]string{}
	check := func(ok bool, key, format string, args ...any) {
		if !ok {
			wrong[key] = fmt.Sprintf(format, args...)
		}
	}
	check(p.Name == "" || providerName.MatchString(p.Name), "name", "must have no colon and no space, got %q", p.Name)
	switch p.Type {
	case TypeClaude, TypeOpenAI, TypeGemini, TypeOllama, TypeDirect:
	case TypeCompatible:
		check(p.Model != "", "model", "must name the server's model")
		check(p.BaseURL != "", "base_url", "must be the server's address, such as %s", p.exampleURL())
	case TypeScript:
		check(p.Model != "", "model", "must name the script's file")
	case "":
		wrong["type"] = "is missing; the types are " + strings.Join(providerTypes, ", ")
	default:
		wrong["type"] = fmt.Sprintf("%q is not known; the types are %s", p.Type, strings.Join(providerTypes, ", "))
	}
	if p.API != "" {
		check(p.Type == TypeOpenAI || p.Type == TypeCompatible, "api", "only openai and compatible have a choice")
		check(slices.Contains([]string{openai.APIResponses, openai.APIChat}, p.API), "api", "must be responses or chat, got %q", p.API)
	}
	if p.BaseURL != "" {
		address := p.BaseURL
		if p.Type == TypeOllama && !strings.Contains(address, "://") {
			address = "http://" + address // as ollama.ParseAddress reads it
		}
		check(isWebAddress(address), "base_url", "must be an address such as %s", p.exampleURL())
	}
	// Do not show the value: people put the key itself here.
	check(p.APIKeyEnv == "" || envName.MatchString(p.APIKeyEnv), "api_key_env",
		`must be the name of an environment variable, not the key itself, which "zeph-acp login" stores`)
	check(p.MaxTokens >= 0, "max_tokens", "must be 0 or more tokens, got %d", p.MaxTokens)
	check(p.ContextWindow >= 0, "context_window", "must be 0 or more tokens, got %d", p.ContextWindow)
	check(p.ContextWindow <= 0 || p.MaxTokens < p.ContextWindow, "max_tokens", "must be less than context_window")
	check(slices.Contains([]string{"", "auto", toolsNative, toolsText}, p.ToolUse), "tool_use", "must be auto, native or text, got %q", p.ToolUse)
	check(slices.Contains([]string{"", "auto", imagesYes, imagesNo}, p.Images), "images", "must be auto, yes or no, got %q", p.Images)
	check(p.EmbeddingModel == "" || slices.Contains(embeddingTypes, p.Type), "embedding_model", "type %q has no embeddings", p.Type)
	check(p.Type != TypeDirect || p.Images != imagesYes, "images", "direct takes none")
	check(p.Type != TypeDirect || p.Price == llm.Price{}, "price", "direct costs nothing")
	for key, what := range p.Price.Validate() {
		wrong["price."+key] = what
	}
	return wrong
}

// isWebAddress reports whether text is the URL of a server.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// exampleURL returns a possible base_url of the provider.
func (p Provider) exampleURL() string {
	switch p.Type {
	case TypeCompatible:
		return "http://127.0.0.1:1234/v1"
	case TypeOllama:
		return "http://" + ollama.DefaultAddress
	}
	return cmp.Or(openai.PublicURLs[p.Type], "https://api.anthropic.com")
}

func (p Provider) name() string { return cmp.Or(p.Name, p.Type) }

// model returns the configured model, else the type's default.
func (p Provider) model() string { return cmp.Or(p.Model, defaultModels[p.Type]) }

// defaultModels are the models of the types that have a default.
var defaultModels = map[string]string{TypeClaude: anthropic.DefaultModel, TypeOpenAI: openai.DefaultModel, TypeGemini: openai.DefaultGemini}

// usualWindow returns the context window, in tokens, of a model that a compatible
// server names, such as "openai/gpt-5" or "claude-opus-5"; 0 means unknown.
func usualWindow(model string) int {
	model = model[strings.LastIndex(model, "/")+1:]
	if strings.HasPrefix(model, "claude-") {
		return anthropic.WindowOf(model)
	}
	return openai.WindowOf(model)
}

// baseEnv returns the variable of the address, or "" if none is read.
func (p Provider) baseEnv() string {
	switch {
	case p.BaseURL != "":
		return ""
	case p.Type == TypeClaude:
		return anthropicURL
	case p.Type == TypeOpenAI:
		return openAIURL
	}
	return ""
}

// keyEnv returns the variable of the key, or "" if there is no key.
func (p Provider) keyEnv() string {
	if p.APIKeyEnv != "" {
		return p.APIKeyEnv
	}
	if p.Type == TypeOllama && p.BaseURL != "" && ollama.IsHosted(ollama.ParseAddress(p.BaseURL)) {
		return ollamaKey
	}
	for _, k := range publicTypes {
		if k.Provider == p.Type {
			return k.Env
		}
	}
	return ""
}

// id returns the Name of the provider's model.
func (p Provider) id() string {
	if p.Type == TypeDirect || p.Type == TypeOllama && p.Model == "" {
		return p.name()
	}
	return p.name() + ":" + p.model()
}
