// Package anthropic is the adapter of Anthropic's Messages API, at Anthropic and at
// servers that are compatible with it.
//
// Start with [New]. It promises that system prompt, tools and history are marked for the
// provider's cache. Signed thoughts are sent back only to the model that made them. It
// makes one attempt at each request.
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// AtAnthropic reports whether an address, which may be empty, is Anthropic's own.
func AtAnthropic(base string) bool {
	u, err := url.Parse(base)
	return base == "" || err == nil && u.Hostname() == "api.anthropic.com"
}

const (
	defaultMaxTokens = 32_000
	// deepMaxTokens leaves room for the thoughts of the highest efforts, which count as
	// output.
	deepMaxTokens = 64_000
)

// Config describes a model.
type Config struct {
	Name    string        // of the provider; empty means "claude"
	Model   string        // empty means DefaultModel
	BaseURL string        // with or without "/v1"
	APIKey  func() string // called before each request, so that a later login takes effect
	KeyEnv  string        // the environment variable named in messages

	Source *wire.Source // of the credential, instead of APIKey; it may be nil

	KeyOptional bool // the server may need no key

	MaxTokens int // of one answer; 0 means 32,000, 64,000 at the levels xhigh and max, or less where the model allows less
	Window    int // tokens; 0 means the known window of the model, else 200,000
	// Served returns the window that the server states, in tokens; 0 means that it is unknown. It may be nil.
	Served   func() int
	NoImages bool      // the model accepts no images
	Price    llm.Price // the zero value means unknown

	FirstByte time.Duration // see wire.Endpoint

	// Vertex says that BaseURL is the publisher anthropic at Google's Vertex AI, which has the same protocol on another path.
	Vertex bool
	// Advise adds hints to a failure; it may be nil.
	Advise func(f *llm.Error, err error)
}

// Model is a model behind Anthropic's Messages API. Only its Config decides the address
// and the key, never the environment variables that Anthropic's SDK reads.
//
// System prompt, tools and the history up to the last message are marked for the provider's cache.
// Models with adaptive thinking are asked for a summary of their thoughts. Their levels are the
// API's efforts, and "off" where that is possible. Older models, which get a budget, have "off",
// "low", "medium" and "high".
type Model struct {
	endpoint      wire.Endpoint
	cfg           Config
	facts         modelFacts
	client        wire.Client
	refusedTools  wire.RefusedTools
	fillsThoughts atomic.Bool // adds a thought to calls without one, which the server has refused
}

// KeyEnv is the environment variable that holds the key of Anthropic's API.
const KeyEnv = "ANTHROPIC_API_KEY"

// statusOfKind is the HTTP status of each kind of error in a stream.
// https://platform.claude.com/docs/en/api/errors
var statusOfKind = map[string]int{
	"invalid_request_error": 400,
	"authentication_error":  401,
	"billing_error":         402,
	"permission_error":      403,
	"not_found_error":       404,
	"request_too_large":     413,
	"rate_limit_error":      429,
	"api_error":             500,
	"timeout_error":         504,
	"overloaded_error":      529,
}

// New returns a model. It does not connect yet.
func New(cfg Config) *Model {
	cfg.Name = cmp.Or(cfg.Name, "claude")
	cfg.Model = cmp.Or(cfg.Model, DefaultModel)
	keyHeader := ""
	if !cfg.Vertex { // which gets a bearer token
		cfg.KeyEnv, keyHeader = cmp.Or(cfg.KeyEnv, KeyEnv), "X-Api-Key"
	}
	c := &Model{cfg: cfg, facts: factsOf(cfg.Model),
		endpoint: wire.Endpoint{
			Provider: cfg.Name, Model: cfg.Model, APIKey: cfg.APIKey, KeyEnv: cfg.KeyEnv, FirstByte: cfg.FirstByte, KeyOptional: cfg.KeyOptional,
			Source: cfg.Source, KeyHeader: keyHeader, Address: cfg.BaseURL, Kinds: statusOfKind, Advise: cfg.Advise,
		},
	}
	c.client = c.endpoint.Client()
	return c
}

// Name returns "provider:model".
func (c *Model) Name() string { return c.endpoint.Name() }

// Ready returns an *Error with Auth if there is no key where one is needed.
func (c *Model) Ready() error { return c.endpoint.Ready() }

// KeyAtHand and FetchKey are those of [wire.Endpoint].
func (c *Model) KeyAtHand() bool                    { return c.endpoint.KeyAtHand() }
func (c *Model) FetchKey(ctx context.Context) error { return c.endpoint.FetchKey(ctx) }

// Window returns the configured window, else the server's, else the model's.
func (c *Model) Window() int {
	return cmp.Or(c.cfg.Window, c.served(), c.facts.window)
}

// served returns the window that the server states; 0 means that it is unknown.
func (c *Model) served() int {
	if c.cfg.Served == nil {
		return 0
	}
	return c.cfg.Served()
}

// Levels returns the thought levels that the model is known to accept.
func (c *Model) Levels() []string { return c.facts.selectableLevels() }

// AcceptsImages returns true unless the configuration says that the endpoint accepts no images.
func (c *Model) AcceptsImages() bool { return !c.cfg.NoImages }

// LargestImage returns a size in bytes: the API accepts 5 MiB of base64.
func (c *Model) LargestImage() int { return (5 << 20) / 4 * 3 }

// RefusedTools returns why tools are left out, by name: the server refuses their schemas.
func (c *Model) RefusedTools() map[string]string { return c.refusedTools.Tools() }

// MayDropTools reports whether the server may ignore the tools of a request without an error.
func (c *Model) MayDropTools() bool { return !c.isAnthropics() }

// isAnthropics reports whether the server is Anthropic's own, or one that Anthropic runs its models on.
func (c *Model) isAnthropics() bool { return c.cfg.Vertex || AtAnthropic(c.cfg.BaseURL) }

// Prices returns the configured prices.
func (c *Model) Prices() llm.Price { return c.cfg.Price }

// apiVersion is the version of the protocol that requests name in their header. At Vertex AI they name vertexVersion in their body.
//
//	https://platform.claude.com/docs/en/api/versioning
//	https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
const (
	apiVersion    = "2023-06-01"
	vertexVersion = "vertex-2023-10-16"
)

// send sends a request to a path below the address.
func (c *Model) send(ctx context.Context, method, path string, body wire.Body) (*http.Response, error) {
	header := http.Header{"Accept": {"application/json"}}
	if !c.cfg.Vertex {
		header.Set("Anthropic-Version", apiVersion)
	}
	return c.client.Send(ctx, method, c.base()+path, header, body...)
}

// base returns the address below which all paths begin with "v1/", at Vertex AI with "models/".
func (c *Model) base() string {
	base, _ := wire.SplitQuery(c.cfg.BaseURL)
	if c.cfg.Vertex {
		return strings.TrimRight(base, "/") + "/"
	}
	base, _ = wire.TrimEndpoint(base)
	return strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1") + "/"
}

// Stream asks for the next answer. A tool call whose arguments are not JSON gets the
// model's text as a JSON string, which no tool accepts. A call that StopMaxTokens cut
// off is dropped.
func (c *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	open := func(ctx context.Context) (*http.Response, error) {
		return c.refusedTools.Open(&c.endpoint, req, func(req llm.Request) (*http.Response, error) { return c.open(ctx, req) })
	}
	return c.endpoint.Stream(ctx, open, wire.JSONOrSSE, func() wire.Answer {
		return &answerReader{provider: c.Name(), unsigned: !c.isAnthropics()}
	})
}

// open sends the request and returns the response with its stream of events.
func (c *Model) open(ctx context.Context, req llm.Request) (*http.Response, error) {
	filled := c.fillsThoughts.Load() // a concurrent request may change it
	messages := llm.Repair(llm.WithoutRefusedImages(c, req.Messages))
	res, err := c.post(ctx, req, messages)
	// A signed thought is refused when anything before it has changed, such as the system prompt,
	// or when the key belongs to another account. The conversation then continues without the old
	// thoughts. https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
	if refusesThoughts(err) {
		if bare, had := llm.WithoutOpaque(messages); had {
			req.Cache = nil // it keeps the thoughts, since later ones may be accepted
			return c.post(ctx, req, bare)
		}
	}
	// DeepSeek and Kimi refuse calls without the thoughts that led to them, which calls
	// of other models lack.
	if !c.isAnthropics() && wantsThoughts(err) && !filled {
		c.fillsThoughts.Store(true)
		return c.post(ctx, req, messages)
	}
	return res, err
}

func (c *Model) post(ctx context.Context, req llm.Request, messages []llm.Message) (*http.Response, error) {
	path := "v1/messages"
	if c.cfg.Vertex {
		path = "models/" + url.PathEscape(c.cfg.Model) + ":streamRawPredict"
	}
	return c.send(ctx, http.MethodPost, path, c.body(req, messages))
}

// wantsThoughts reports whether a request failed because thoughts are missing.
func wantsThoughts(err error) bool {
	e, ok := errors.AsType[*wire.StatusError](err)
	return ok && e.Status == http.StatusBadRequest &&
		(strings.Contains(e.Message, "thinking") || strings.Contains(e.Message, "reasoning_content")) &&
		(strings.Contains(e.Message, "is missing") || strings.Contains(e.Message, "must be passed back"))
}

// refusesThoughts reports whether a request failed because of its thoughts.
func refusesThoughts(err error) bool {
	e, ok := errors.AsType[*wire.StatusError](err)
	return ok && e.Status == http.StatusBadRequest && strings.Contains(e.Message, "thinking") &&
		(strings.Contains(e.Message, "signature") || strings.Contains(e.Message, "block"))
}
