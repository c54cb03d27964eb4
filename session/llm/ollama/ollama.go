// Package ollama is the adapter of Ollama's own API, which unlike the compatible one
// sets the size of the context window with each request.
//
// Start with [New]; [Find] reports whether a server runs on this machine. It promises that a prompt
// that is too long is an error; it is never truncated silently. It makes one attempt at each
// request.
package ollama

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Config describes a model.
type Config struct {
	Name    string        // of the provider; empty means "ollama"
	Model   string        // empty means the first of the server's list that can chat
	Address string        // in any form of OLLAMA_HOST; empty means DefaultAddress
	APIKey  func() string // called before each request; nil means that there is no key
	KeyEnv  string        // the environment variable of the key; empty means that no key is needed

	Source *wire.Source // of the credential, instead of APIKey; it may be nil

	Embedding       string // the model for embeddings; empty means that there is none
	EmbeddingPrefix string // before each text to embed

	MaxTokens int       // of one answer; 0 means no limit but the window
	Window    int       // window to request; 0 means the one in the Modelfile, else at most 32,768
	Images    string    // "yes" or "no"; otherwise the server's facts decide
	Price     llm.Price // the zero value means unknown

	FirstByte time.Duration // see wire.Endpoint

	Memory *wire.Memory // of the server; nil means one of its own
}

// Model is a model behind Ollama's own API, which unlike the compatible one accepts the
// size of the context window with a request.
//
// The server is asked about the model (window, thoughts, images) before the first request;
// [llm.Learn] asks earlier. Until then Window returns the largest window that would be requested,
// and there are no Levels. A prompt that does not fit is an error: the request forbids the server
// to drop its beginning.
//
// Why not Ollama's api package? Its client accepts a broken stream, or a line of more than 8 MB, as
// a complete answer, and allocates 8 MB for each stream. It follows redirects. It signs requests to
// ollama.com with a key in the user's home directory, even if another key is configured. Its types
// drop unknown members of a schema, and round long numbers in arguments. Downloading its module
// takes 23 MB.
type Model struct {
	endpoint     wire.Endpoint
	cfg          Config
	base         *url.URL
	client       wire.Client
	refusedTools wire.RefusedTools

	mu    sync.Mutex
	first string // the model, where none is configured; empty until it is known
}

// New returns a model. It does not connect yet.
func New(cfg Config) *Model {
	cfg.Name = cmp.Or(cfg.Name, "ollama")
	cfg.Memory = cmp.Or(cfg.Memory, new(wire.Memory))
	base := ParseAddress(cfg.Address)
	_, query := wire.SplitQuery(cfg.Address)
	o := &Model{cfg: cfg, base: base,
		endpoint: wire.Endpoint{
			Provider: cfg.Name, Model: cfg.Model, APIKey: cfg.APIKey, KeyEnv: cfg.KeyEnv, FirstByte: cfg.FirstByte, Source: cfg.Source,
			Address: base.String() + "?" + query,
		},
	}
	o.client = o.endpoint.Client()
	o.endpoint.Advise = o.hintFor
	return o
}

// Name returns "provider:model", or the provider alone where no model is configured.
func (o *Model) Name() string {
	if o.cfg.Model == "" {
		return o.cfg.Name
	}
	return o.endpoint.Name()
}

// Ready returns an *Error with Auth if there is no key where one is needed.
func (o *Model) Ready() error { return o.endpoint.Ready() }

// KeyAtHand and FetchKey are those of [wire.Endpoint].
func (o *Model) KeyAtHand() bool                    { return o.endpoint.KeyAtHand() }
func (o *Model) FetchKey(ctx context.Context) error { return o.endpoint.FetchKey(ctx) }

// Window returns the window that the server is asked for, at most the model's own.
func (o *Model) Window() int {
	f := o.facts()
	return f.windowFor(o.cfg.Window)
}

// Levels returns "off" and "on" for a model that thinks, or "low", "medium" and "high"
// for one whose thinking cannot be turned off.
func (o *Model) Levels() []string {
	f := o.facts()
	return slices.Clone(f.levels)
}

// AcceptsImages returns the configured value, else the server's; true until the server was
// asked.
func (o *Model) AcceptsImages() bool {
	if o.cfg.Images == "yes" || o.cfg.Images == "no" {
		return o.cfg.Images == "yes"
	}
	f := o.facts()
	return !f.noImages
}

// RefusedTools returns why tools are left out, by name: the server refuses their schemas.
func (o *Model) RefusedTools() map[string]string { return o.refusedTools.Tools() }

// Prices returns the configured prices.
func (o *Model) Prices() llm.Price { return o.cfg.Price }

// Unpaid reports whether the server runs on this machine and no prices are configured.
func (o *Model) Unpaid() bool {
	return o.cfg.Price == (llm.Price{}) && wire.IsLoopback(o.base.Hostname())
}

// Stream asks for the next answer. Its calls arrive whole; a call without an ID gets
// one that is unique in the answer.
func (o *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	open := func(ctx context.Context) (*http.Response, error) {
		model, err := o.resolveModel(ctx)
		if err != nil {
			return nil, err
		}
		o.learn(ctx, model)
		res, err := o.refusedTools.Open(&o.endpoint, req, func(req llm.Request) (*http.Response, error) {
			return o.send(ctx, http.MethodPost, "api/chat", "application/x-ndjson", o.body(model, req)...)
		})
		if err != nil {
			return nil, err
		}
		return res, wire.RefusePage(res)
	}
	return o.endpoint.Stream(ctx, open, NDJSON, func() wire.Answer {
		return NewAnswer(o.Name(), func() int { return llm.Tokens(o.Name(), req) })
	})
}

// resolveModel returns the model to ask: the configured one, else the first of the server's
// list that can chat.
func (o *Model) resolveModel(ctx context.Context) (string, error) {
	if o.cfg.Model != "" {
		return o.cfg.Model, nil
	}
	if first := o.modelName(); first != "" {
		return first, nil
	}
	list, err := o.fetchModels(ctx)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", errNoModels
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.first = list[0].Name
	return o.first, nil
}

// modelName returns the model that is asked; it is empty if still unknown.
func (o *Model) modelName() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return cmp.Or(o.cfg.Model, o.first)
}
