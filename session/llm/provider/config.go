package provider

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/google"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Config is the table [llm].
type Config struct {
	// Providers are the language models to choose from. If empty, the environment
	// decides; see Select.
	Providers  []Provider `toml:"providers" doc:"the providers"`
	FindOllama bool       `toml:"find_ollama" default:"true" doc:"without configured providers, use an Ollama that answers on this machine"`
	ListModels bool       `toml:"list_models" default:"true" doc:"ask the providers for their models, at most once a day"`
	// Fallback answer in turn: the first one that has its key and a large enough window.
	Fallback []string `toml:"fallback" doc:"models that answer when the chosen one has failed, provider or provider:model; see keys.md"`
	// Retry limits the attempts before that.
	Retry backoff.Limits `toml:"retry" default:"max_attempts=4 base_ms=1000 max_ms=20000 budget_secs=60"`
}

// Provider is one [[llm.providers]].
type Provider struct {
	// Name has neither colon nor space.
	Name string `toml:"name" doc:"the name to choose it by, unique; default: the type"`
	Type string `toml:"type" doc:"the kind; see models.md"`
	// Model is the type's default model if empty, for ollama the first of the server's list.
	Model string `toml:"model" doc:"the provider's name for the model; for script: a file"`
	API   string `toml:"api" doc:"protocol: responses, chat or gemini; default: responses for openai, gemini for gemini, else chat"`
	// BaseURL is with or without "/v1". Empty means ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else
	// the public one; for ollama OLLAMA_HOST, else http://127.0.0.1:11434.
	BaseURL string `toml:"base_url" doc:"address of the API; default: the public one; required for compatible"`
	// APIKeyEnv defaults to the type's variable, OLLAMA_API_KEY at ollama.com, and none for
	// other servers.
	APIKeyEnv string `toml:"api_key_env" doc:"the variable with the key"`
	// APIKeyCmd runs without a shell, when a request needs the key.
	APIKeyCmd        []string `toml:"api_key_cmd" zero:"none" doc:"the program, and its arguments, that prints the key; instead of api_key_env"`
	APIKeyCmdTTLSecs int      `toml:"api_key_cmd_ttl_secs" default:"0" range:"0..86400" zero:"300" unit:"seconds" doc:"for which the printed key is used, unless the provider refuses it"`
	// Region, AWSProfile, Project and Metadata say whose credentials a cloud gets, and where its models run.
	Region     string `toml:"region" zero:"AWS_REGION or GOOGLE_CLOUD_LOCATION, else the profile's or global" doc:"of the cloud; for bedrock and vertex"`
	AWSProfile string `toml:"aws_profile" zero:"AWS_PROFILE, else default" doc:"profile in ~/.aws with the credentials; for bedrock"`
	// APIVersion makes the addresses of requests those before version 1, with the deployment in the path.
	APIVersion string `toml:"api_version" zero:"the API v1, which has no versions" doc:"version of an older API, such as 2024-10-21; for azure"`
	Project    string `toml:"project" zero:"GOOGLE_CLOUD_PROJECT, else the one in the credentials file" doc:"ID of the project; for vertex"`
	Metadata   bool   `toml:"metadata" default:"false" doc:"use the role that the metadata service gives to the container or machine that runs the agent"`
	MaxTokens  int    `toml:"max_tokens" default:"0" range:"0.." zero:"the server's limit, for compatible the rest of the window, for claude at most 32,000 (64,000 at xhigh and max)" unit:"tokens" doc:"per answer, thoughts included"`
	// ContextWindow of 0 is 200,000 for unknown models of claude, and no limit for others. An
	// ollama is asked for that window; 0 means the one in the Modelfile, else at most 32,768.
	ContextWindow int `toml:"context_window" default:"0" range:"0.." zero:"the known size of the model" unit:"tokens" doc:"of the context window; ollama gets this size"`
	// FirstByteSecs of 0 is 120, and an hour for a server on this machine or in the local network, which may read a long request for that long.
	FirstByteSecs  int    `toml:"first_byte_secs" default:"0" range:"0..3600" zero:"120, for a server on this machine or in the local network 3600" unit:"seconds" doc:"without a byte of an answer, after which the request is sent once more"`
	EmbeddingModel string `toml:"embedding_model" zero:"no embeddings" doc:"model for embeddings; models.md lists the types that have them"`
	// EmbeddingPrefix stands before each text to embed.
	EmbeddingPrefix string `toml:"embedding_prefix" default:"auto" doc:"words before each text to embed; auto: those that the model wants, by its name"`
	// ToolUse of auto is native, and text after a model has refused tools or written a call as JSON; see textcalls.
	ToolUse string `toml:"tool_use" oneof:"auto,native,text" doc:"how its models call tools"`
	// Images of auto is yes, except for direct. A model that accepts none gets a line of text
	// for each image.
	Images  string    `toml:"images" oneof:"yes,no,auto" doc:"whether its models accept images"`
	Price   llm.Price `toml:"price" doc:"per million tokens"`
	Default bool      `toml:"default" default:"false" doc:"true: new sessions use it; without a default, the first one"`
}

// The values of ToolUse and Images other than auto.
const (
	toolsNative = "native"
	toolsText   = "text"

	imagesYes = "yes"
	imagesNo  = "no"
)

var (
	envName      = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	apiVersion   = lazyregexp.New(`^[A-Za-z0-9.-]{1,40}$`)
	providerName = lazyregexp.New(`^[^\s:]+$`)
)

// Validate returns the mistakes, by key, such as "providers[1].type".
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	names := map[string]bool{}
	defaults := 0
	for i, p := range c.Providers {
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
			wrong[key] = fmt.Sprintf("%q is not a language model; it only runs typed tool calls", name)
		}
	}
	return wrong
}

// Validate returns a message for each invalid value, by key.
func (p Provider) Validate() map[string]string {
	wrong := map[string]string{}
	check := func(ok bool, key, format string, args ...any) {
		if !ok {
			wrong[key] = fmt.Sprintf(format, args...)
		}
	}
	check(p.Name == "" || providerName.MatchString(p.Name), "name", "must have no colon and no space, got %q", p.Name)
	k, known := p.kind()
	switch {
	case p.Type == "":
		wrong["type"] = "is missing; the types are " + kindNames(anyKind)
	case !known:
		wrong["type"] = fmt.Sprintf("%q is not known; the types are %s", p.Type, kindNames(anyKind))
	}
	for key, value := range map[string]string{"model": p.Model, "base_url": p.BaseURL} {
		check(value != "" || k.needs[key] == "", key, "%s", k.needs[key])
	}
	if p.API != "" {
		if len(k.apis) == 0 {
			wrong["api"] = "only these types have a choice: " + kindNames(func(k kind) bool { return len(k.apis) > 0 })
		} else {
			check(slices.Contains(k.apis, p.API), "api", "must be %s, got %q", strings.Join(k.apis, " or "), p.API)
		}
	}
	if address := p.BaseURL; address != "" {
		if k.bareAddress && !strings.Contains(address, "://") {
			address = "http://" + address
		}
		check(isWebAddress(address), "base_url", "must be an address such as %s", cmp.Or(k.address, kinds[0].address))
	}
	// Do not show the value: people put the key itself here.
	check(p.APIKeyEnv == "" || envName.MatchString(p.APIKeyEnv), "api_key_env",
		`must be the name of an environment variable, not the key itself, which "zeph-acp login" stores`)
	if text := p.keyCmdFault(); text != "" {
		wrong["api_key_cmd"] = text
	}
	check(p.Region == "" || k.isRegion != nil, "region", "only these types have a region: %s", kindNames(func(k kind) bool { return k.isRegion != nil }))
	check(p.Region == "" || k.isRegion == nil || k.isRegion(p.Region), "region", "must be the name of a region, such as us-east-1 at AWS or us-east5 at Google")
	check(p.AWSProfile == "" || p.Type == TypeBedrock, "aws_profile", "only type %s has a profile", TypeBedrock)
	check(p.APIVersion == "" || p.Type == TypeAzure, "api_version", "only type %s has versions", TypeAzure)
	check(p.APIVersion == "" || apiVersion.MatchString(p.APIVersion), "api_version", "must be a version such as 2024-10-21 or 2025-04-01-preview")
	check(p.APIVersion == "" || p.EmbeddingModel == "", "embedding_model", "needs the API v1: remove api_version")
	check(p.Project == "" || p.Type == TypeVertex, "project", "only type %s has a project", TypeVertex)
	check(p.Project == "" || google.ValidProject(p.Project), "project", "must be the ID of a project")
	check(!p.Metadata || k.isCloud, "metadata", "only these types ask a metadata service: %s", kindNames(isCloud))
	check(p.ContextWindow <= 0 || p.MaxTokens < p.ContextWindow, "max_tokens", "must be less than context_window")
	check(p.EmbeddingModel == "" || k.embeds, "embedding_model", "type %q has no embeddings", p.Type)
	check(!k.noModels || p.Images != imagesYes, "images", "direct takes none")
	check(!k.noModels || p.Price == llm.Price{}, "price", "direct costs nothing")
	return wrong
}

// keyCmdFault returns what is wrong with the command of the key, or "". It quotes nothing, since people put the key itself there.
func (p Provider) keyCmdFault() string {
	if len(p.APIKeyCmd) == 0 {
		return ""
	}
	name := p.APIKeyCmd[0]
	words := strings.Fields(name)
	switch k, _ := p.kind(); {
	case p.APIKeyEnv != "":
		return "has no effect with api_key_env: remove one of them"
	case k.offline:
		return fmt.Sprintf("type %q needs no key", p.Type)
	case len(words) == 0:
		return "must begin with the name of a program"
	case slices.ContainsFunc(p.APIKeyCmd, func(word string) bool { return strings.ContainsRune(word, 0) }):
		return "a word contains NUL"
	case len(p.APIKeyCmd) == 1 && len(words) > 1 && !strings.ContainsAny(words[0], `/\`):
		return `must be a list of words, such as ["op", "read", "op://Work/key"]: no shell splits it`
	case strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) && !strings.HasPrefix(name, "~/"):
		return "must begin with a program in PATH, an absolute path, or one that begins with ~/"
	}
	return ""
}

// isWebAddress reports whether text is the URL of a server.
func isWebAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// embeddingPrefix returns the configured prefix, or the one of the model for embeddings.
func (p Provider) embeddingPrefix() string {
	if p.EmbeddingPrefix == "auto" {
		return wire.EmbeddingPrefix(p.EmbeddingModel)
	}
	return p.EmbeddingPrefix
}

func (p Provider) name() string { return cmp.Or(p.Name, p.Type) }

// model returns the configured model, else the type's default.
func (p Provider) model() string {
	k, _ := p.kind()
	return cmp.Or(p.Model, k.model)
}

// usualWindow returns the context window, in tokens, of a model that a compatible
// server names, such as "openai/gpt-5" or "claude-opus-5"; 0 means unknown.
func usualWindow(model string) int {
	model = model[strings.LastIndex(model, "/")+1:]
	if strings.HasPrefix(model, "claude-") {
		return anthropic.WindowOf(model)
	}
	return openai.WindowOf(model)
}

// baseURL returns the configured address, else the address in the environment, else the type's
// default.
func (p Provider) baseURL(getenv func(string) string) string {
	k, _ := p.kind()
	address := p.BaseURL
	if address == "" && k.addressEnv != "" {
		address = getenv(k.addressEnv)
	}
	if address == "" && k.addressOf != nil {
		address = k.addressOf(p, getenv)
	}
	if k.needs["base_url"] == "" {
		address = cmp.Or(address, k.address)
	}
	return address
}

// host returns the name of the server, or "" if the address is not a URL.
func (p Provider) host() string {
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// onThisMachine reports whether the configured address is on this machine.
func (p Provider) onThisMachine() bool {
	return wire.IsLoopback(p.host())
}

// keyEnv returns the variable of the key, or "" if there is no key, or a command gives it.
func (p Provider) keyEnv() string {
	if len(p.APIKeyCmd) > 0 {
		return ""
	}
	if p.Type == TypeOllama && p.APIKeyEnv == "" && p.BaseURL != "" && ollama.IsHosted(ollama.ParseAddress(p.BaseURL)) {
		return ollamaKey
	}
	k, _ := p.kind()
	return cmp.Or(p.APIKeyEnv, k.keyEnv)
}

// id returns the Name of the provider's model.
func (p Provider) id() string {
	if k, _ := p.kind(); k.noModels || p.model() == "" {
		return p.name()
	}
	return p.name() + ":" + p.model()
}
