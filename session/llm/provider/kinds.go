package provider

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/aws"
	"github.com/zeph-acp/zeph-acp/session/llm/bedrock"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/google"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// The provider types that a Provider can have.
const (
	TypeClaude     = "claude"                // Anthropic's Messages API, here or at a compatible address
	TypeOpenAI     = openai.ServerOpenAI     // OpenAI's Responses API or Chat Completions
	TypeGemini     = "gemini"                // Gemini's own API, or Chat Completions at Google
	TypeOllama     = "ollama"                // Ollama's own API
	TypeCompatible = openai.ServerCompatible // any other server that speaks Chat Completions
	TypeBedrock    = "bedrock"               // the Converse API of Amazon Bedrock
	TypeAzure      = "azure"                 // OpenAI's protocols at a resource of Azure
	TypeVertex     = "vertex"                // Gemini and Claude at Google's Vertex AI
	TypeDirect     = "direct"                // see local.Direct
	TypeScript     = "script"                // see local.Script
)

// kind is what is known about all providers of a type.
type kind struct {
	name  string
	open  func(p opening) (llm.Model, error)
	model string // the default model; empty: there is none
	// needs are the keys that a provider must have, with the messages if they are missing.
	needs              map[string]string
	keyEnv, addressEnv string // variables of the key and of the address; may be empty
	public             bool   // needs no configuration but a key
	address            string // the default address; where needs has base_url, an example of one
	// addressOf returns the default address where it depends on the provider, or "". It may be nil.
	addressOf   func(p Provider, getenv func(string) string) string
	bareAddress bool                   // an address may lack its scheme
	latest      string                 // the tag that a name of a model without a tag means
	offline     bool                   // asks no server
	noModels    bool                   // has no models to choose from
	apis        []string               // the protocols to choose from; the first one is the default
	embeds      bool                   // has models for embeddings
	isCloud     bool                   // its account has other credentials than a key
	isRegion    func(name string) bool // reports whether a name has the form of a region of the cloud; nil where there is none
	// describe returns the title and the description of the model in a menu; nil means the name
	// of the model.
	describe func(model string) (title, about string)
	// source returns the source of the credential where no command prints a key. It may be nil, and return nil.
	source  func(p opening) *wire.Source
	builtIn func(address string) []string // the models that are known without asking
}

// kinds are all types, in the order of messages; those that are public, in the order in
// which the environment is searched.
var kinds = []kind{
	{
		name: TypeClaude, open: openAnthropic, model: anthropic.DefaultModel, keyEnv: anthropic.KeyEnv, addressEnv: "ANTHROPIC_BASE_URL",
		public: true, address: "https://api.anthropic.com", builtIn: currentClaude,
	},
	{
		name: TypeOpenAI, open: openOpenAI(openai.ServerOpenAI), model: openai.DefaultModel, keyEnv: "OPENAI_API_KEY", addressEnv: "OPENAI_BASE_URL",
		public: true, address: "https://api.openai.com/v1/", apis: []string{openai.APIResponses, openai.APIChat}, embeds: true,
	},
	{
		name: TypeGemini, open: openGemini, model: models.Default, keyEnv: gemini.KeyEnv,
		public: true, address: gemini.DefaultAddress, apis: []string{apiGemini, openai.APIChat}, embeds: true,
	},
	{
		name: TypeOllama, open: openOllama, addressEnv: "OLLAMA_HOST", address: "http://" + ollama.DefaultAddress,
		bareAddress: true, latest: ":latest", embeds: true,
		describe: func(model string) (title, about string) {
			if model == "" {
				return "Ollama", "The newest model that the Ollama server has"
			}
			return strings.TrimSuffix(model, ":latest"), ""
		},
	},
	{
		name: TypeCompatible, open: openOpenAI(openai.ServerCompatible), address: "http://127.0.0.1:1234/v1", apis: []string{openai.APIChat, openai.APIResponses}, embeds: true,
		needs: map[string]string{
			"model": "must name the server's model", "base_url": "must be the server's address, such as http://127.0.0.1:1234/v1",
		},
	},
	{
		name: TypeBedrock, open: openBedrock, source: awsSource, addressOf: bedrockAddress, keyEnv: bedrock.KeyEnv, addressEnv: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", isCloud: true, isRegion: aws.ValidRegion,
		needs: map[string]string{"model": "must name a model or an inference profile, such as us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
	},
	{
		name: TypeAzure, open: openAzure, source: entraSource, keyEnv: azureKey, isCloud: true, address: "https://RESOURCE.openai.azure.com",
		apis: []string{openai.APIResponses, openai.APIChat}, embeds: true,
		needs: map[string]string{
			"model": "must name a deployment", "base_url": "must be the address of the resource, such as https://RESOURCE.openai.azure.com",
		},
	},
	{
		name: TypeVertex, open: openVertex, source: googleSource, model: models.Default, address: "https://aiplatform.googleapis.com", addressOf: vertexAddress,
		isCloud: true, isRegion: google.ValidLocation, embeds: true,
	},
	{
		name: TypeDirect, open: openDirect, offline: true, noModels: true,
		describe: func(string) (title, about string) {
			return "Direct", "No model: runs the tool calls that you spell out"
		},
	},
	{
		name: TypeScript, open: openScript, offline: true, needs: map[string]string{"model": "must name the script's file"},
		describe: func(model string) (title, about string) {
			return filepath.Base(model), "Replays the answers in " + model
		},
	},
}

// kind returns the kind of a provider; ok is false for an unknown type.
func (p Provider) kind() (k kind, ok bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == p.Type })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// kindNames returns the names of the types with a property, for messages.
func kindNames(has func(kind) bool) string {
	var names []string
	for _, k := range kinds {
		if has(k) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, ", ")
}

// isCloud is the property of the types with an account.
func isCloud(k kind) bool { return k.isCloud }

// anyKind is the property that all types have.
func anyKind(kind) bool { return true }

// currentClaude returns the current generation of models at Anthropic's own address.
func currentClaude(address string) (models []string) {
	if !anthropic.AtAnthropic(address) {
		return nil
	}
	for _, line := range anthropic.Current {
		models = append(models, line.Model)
	}
	return models
}

// openDirect returns the model that runs spelt out tool calls.
func openDirect(p opening) (llm.Model, error) { return local.Direct{Provider: p.Name}, nil }

// openScript returns the model that replays a file.
func openScript(p opening) (llm.Model, error) {
	s, err := local.LoadScript(p.Model)
	if err != nil {
		return nil, err
	}
	s.Provider, s.ContextWindow, s.NoImages, s.Price = p.Name, p.ContextWindow, p.Images == imagesNo, p.Price
	return s, nil
}
