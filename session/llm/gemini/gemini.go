// Package gemini is the adapter of Google's own protocol for Gemini, generateContent.
//
// Start with [New]. It promises that the signatures of thoughts are sent back unchanged, and only to the model that made
// them. It makes one attempt at each request, but immediately repeats it without a part that the server has refused.
package gemini

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// KeyEnv is the environment variable that holds the key of the Gemini API.
const KeyEnv = "GEMINI_API_KEY"

// Config describes a model.
type Config struct {
	Name    string        // of the provider; empty means "gemini"
	Model   string        // empty means models.Default
	BaseURL string        // with its path, such as "/v1beta", which is added if there is none
	APIKey  func() string // called before each request, so that a later login takes effect
	KeyEnv  string        // the environment variable named in messages

	Source *wire.Source // of the credential, instead of APIKey; it may be nil

	KeyOptional bool // the server may need no key

	Embedding       string // the model for embeddings; empty means that there is none
	EmbeddingPrefix string // before each text to embed

	MaxTokens int       // of one answer; 0 leaves it to the server
	Window    int       // in tokens; 0 means the known window of the model, else the one that the server states
	NoImages  bool      // the model accepts no images
	Price     llm.Price // the zero value means unknown

	FirstByte time.Duration // see wire.Endpoint

	// Vertex says that BaseURL is the publisher google at Vertex AI, where requests have a bearer token.
	Vertex bool
	// Advise adds hints to a failure; it may be nil.
	Advise func(f *llm.Error, err error)

	Memory *wire.Memory // of the server; nil means one of its own
}

// Model is a model behind generateContent. Only its Config decides the address and the key, never the environment variables
// that Google's SDK reads.
//
// The system prompt, the tools and the history are sent in the same bytes each time, so that Google's implicit cache has them.
// The levels are the API's thinking levels, or budgets for models of the second generation.
type Model struct {
	endpoint     wire.Endpoint
	cfg          Config
	base         string // the address below which the paths of requests are, with a slash at its end
	facts        models.Facts
	client       wire.Client
	refusedTools wire.RefusedTools
	refused      atomic.Uint32 // the features that the server has refused
}

// statusOfKind is the HTTP status of each kind of error in a stream, and of the reasons for which Google ends an answer that is no
// answer. A request with a status of 400 is not repeated.
var statusOfKind = map[string]int{
	"INVALID_ARGUMENT":          400,
	"FAILED_PRECONDITION":       400,
	"UNAUTHENTICATED":           401,
	"PERMISSION_DENIED":         403,
	"NOT_FOUND":                 404,
	"RESOURCE_EXHAUSTED":        429,
	"CANCELLED":                 499,
	"INTERNAL":                  500,
	"UNAVAILABLE":               503,
	"DEADLINE_EXCEEDED":         504,
	"TOO_MANY_TOOL_CALLS":       400,
	"MISSING_THOUGHT_SIGNATURE": 400,
}

// New returns a model. It does not connect yet.
func New(cfg Config) *Model {
	cfg.Name = cmp.Or(cfg.Name, "gemini")
	cfg.Model = models.ID(cmp.Or(cfg.Model, models.Default))
	cfg.Memory = cmp.Or(cfg.Memory, new(wire.Memory))
	keyHeader := ""
	if !cfg.Vertex {
		cfg.KeyEnv, keyHeader = cmp.Or(cfg.KeyEnv, KeyEnv), "X-Goog-Api-Key"
	}
	g := &Model{cfg: cfg, base: baseOf(cfg.BaseURL), facts: models.Of(cfg.Model),
		endpoint: wire.Endpoint{
			Provider: cfg.Name, Model: cfg.Model, APIKey: cfg.APIKey, KeyEnv: cfg.KeyEnv, FirstByte: cfg.FirstByte, KeyOptional: cfg.KeyOptional,
			Source: cfg.Source, KeyHeader: keyHeader, Address: cfg.BaseURL, Kinds: statusOfKind,
		},
	}
	g.endpoint.Advise = func(f *llm.Error, err error) {
		if f.Status == http.StatusBadRequest && strings.Contains(f.Message, "User location is not supported") {
			f.Hint = "the Gemini API is not offered where you are; type vertex has the same models in many regions"
		}
		if cfg.Advise != nil {
			cfg.Advise(f, err)
		}
	}
	g.client = g.endpoint.Client()
	return g
}

// DefaultAddress is the address of the Gemini API.
const DefaultAddress = "https://generativelanguage.googleapis.com/v1beta/"

// pastedEnd matches the end of the URL of a request, which people copy whole.
var pastedEnd = lazyregexp.New(`/models(/[^/]*)?/?$`)

// baseOf returns the address that ends with a slash, before the paths of requests.
func baseOf(address string) string {
	base, _ := wire.SplitQuery(cmp.Or(address, DefaultAddress))
	base = strings.TrimRight(pastedEnd.ReplaceAllString(base, ""), "/")
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		u.Path = "/v1beta"
		base = u.String()
	}
	return base + "/"
}

// Name returns "provider:model".
func (g *Model) Name() string { return g.endpoint.Name() }

// Ready returns an *Error with Auth if there is no key where one is needed.
func (g *Model) Ready() error { return g.endpoint.Ready() }

// KeyAtHand and FetchKey are those of [wire.Endpoint].
func (g *Model) KeyAtHand() bool                    { return g.endpoint.KeyAtHand() }
func (g *Model) FetchKey(ctx context.Context) error { return g.endpoint.FetchKey(ctx) }

// Window returns the configured window, else the known one of the model, else the server's.
func (g *Model) Window() int {
	return cmp.Or(g.cfg.Window, g.facts.Window, g.served().get())
}

// Levels returns the thought levels that the model is known to accept.
func (g *Model) Levels() []string { return slices.Clone(g.facts.Levels) }

// AcceptsImages returns true unless the configuration says that the model accepts no images.
func (g *Model) AcceptsImages() bool { return !g.cfg.NoImages }

// LargestImage returns a size in bytes: a request may have 20 MB, in base64.
// https://ai.google.dev/gemini-api/docs/image-understanding
func (g *Model) LargestImage() int { return 14 << 20 }

// RefusedTools returns why tools are left out, by name: the server refuses their schemas.
func (g *Model) RefusedTools() map[string]string { return g.refusedTools.Tools() }

// Prices returns the configured prices.
func (g *Model) Prices() llm.Price { return g.cfg.Price }

// Stream asks for the next answer. A tool call whose arguments are no object gets the model's text as a JSON string, which no
// tool accepts.
func (g *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	names := g.offered().names.Get("", req.Tools, wire.NewToolNames)
	open := func(ctx context.Context) (*http.Response, error) {
		return g.refusedTools.Open(&g.endpoint, req, func(req llm.Request) (*http.Response, error) { return g.open(ctx, req, names) })
	}
	return g.endpoint.Stream(ctx, open, wire.JSONOrSSE, func() wire.Answer { return &answerReader{model: g.Name(), names: names} })
}

// feature is a part of requests that some models refuse.
type feature uint32

const (
	withSystem   feature = 1 << iota // a system prompt; else it is the beginning of the first prompt
	withThinking                     // how much to think
)

// The messages by which the server refuses a part of a request, and signatures, such as signatures of another key.
var (
	refusesSystem    = lazyregexp.New(`(?i)(developer|system) ?instruction is not (enabled|supported)`)
	refusesThinking  = lazyregexp.New(`(?i)\bthinking[ _]?(config|level|budget)?\b.{0,60}\b(not (enabled|supported|valid)|unsupported|invalid|only)|unable to .{0,20}thinking`)
	refusesSignature = lazyregexp.New(`(?i)thought[ _]?signature`)
)

// refusedFeature returns the feature that made a request fail, or 0.
func refusedFeature(message string) feature {
	switch {
	case refusesSystem.MatchString(message):
		return withSystem
	case refusesThinking.MatchString(message):
		return withThinking
	}
	return 0
}

// open sends the request and returns the response with its stream of events. Features that the server refuses are left out
// from then on.
func (g *Model) open(ctx context.Context, req llm.Request, names wire.ToolNames) (*http.Response, error) {
	messages := llm.Merge(llm.Repair(llm.WithoutRefusedImages(g, req.Messages)))
	for {
		d := dialect{g, names, feature(g.refused.Load())}
		res, err := g.post(ctx, d.body(req, messages))
		e, ok := errors.AsType[*wire.StatusError](err)
		if !ok || e.Status != http.StatusBadRequest {
			return res, err
		}
		if refused := refusedFeature(e.Message); refused != 0 && d.refused&refused == 0 {
			g.refused.Or(uint32(refused))
			continue
		}
		// A signature is refused if it is another account's, or if something before it has changed. The conversation
		// continues without the old ones.
		bare, had := llm.WithoutOpaque(messages)
		if !had || !refusesSignature.MatchString(e.Message) {
			return res, err
		}
		messages, req.Cache = bare, nil // the cache keeps them, since later ones may be accepted
	}
}

// post sends a request for an answer.
func (g *Model) post(ctx context.Context, body wire.Body) (*http.Response, error) {
	return g.send(ctx, http.MethodPost, g.path()+":streamGenerateContent?alt=sse", body)
}

// path returns the path of the model. Tuned models have their own collection.
func (g *Model) path() string {
	if name := g.cfg.Model; strings.HasPrefix(name, "tunedModels/") {
		return "tunedModels/" + url.PathEscape(strings.TrimPrefix(name, "tunedModels/"))
	}
	return "models/" + url.PathEscape(g.cfg.Model)
}

// send sends a request to a path below the address.
func (g *Model) send(ctx context.Context, method, path string, body wire.Body) (*http.Response, error) {
	return g.client.Send(ctx, method, g.base+path, http.Header{"Accept": {"application/json"}}, body...)
}
