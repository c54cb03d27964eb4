// Package openai is the adapter of OpenAI's Responses API and of Chat Completions: at
// OpenAI, at Google for Gemini, and at compatible servers.
//
// Start with [New]. It promises that a feature that a server has refused is not sent again, and
// that nothing is stored at the provider. It makes one attempt at each request, but immediately
// repeats it without a refused feature.
package openai

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

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// Config describes a model.
type Config struct {
	Type    string        // ServerOpenAI, ServerCompatible or ServerGemini; empty means ServerOpenAI
	Name    string        // of the provider; empty means the type
	Model   string        // empty means the default of the type; ServerCompatible has none
	API     string        // APIResponses or APIChat; empty means the default of the type
	BaseURL string        // with its path, such as "/v1"; the type's path is added if there is none
	APIKey  func() string // called before each request, so that a later login takes effect; nil means that there is no key
	KeyEnv  string        // the environment variable named in messages; empty means that no key is needed

	Source *wire.Source // of the credential, instead of APIKey; it may be nil

	KeyOptional bool // the server may need no key

	KeyHeader string // see wire.Endpoint
	ModelsURL string // the address of the list of models; empty means models below BaseURL

	Embedding       string // the model for embeddings; empty means that there is none
	EmbeddingPrefix string // before each text to embed

	MaxTokens int       // of one answer; 0 leaves it to the server
	Window    int       // tokens; 0 means the known window of the model, if any
	NoImages  bool      // the model accepts no images
	Price     llm.Price // the zero value means unknown

	FirstByte time.Duration // see wire.Endpoint

	// UsualWindow is the window of the model at its own provider, in tokens. It applies
	// where no other is known.
	UsualWindow int

	Memory *wire.Memory // of the server; nil means one of its own
}

// The kinds of server that speak OpenAI's protocols.
const (
	ServerOpenAI     = "openai"
	ServerGemini     = "gemini"     // Google's endpoint for Chat Completions
	ServerCompatible = "compatible" // any other
)

// The protocols that OpenAI's models speak.
const (
	APIResponses = "responses" // https://developers.openai.com/api/reference/resources/responses
	APIChat      = "chat"      // https://developers.openai.com/api/reference/resources/chat
)

// Model is a model behind OpenAI's Responses API or Chat Completions, or behind one of
// the many servers that speak the latter. Only its Config decides the address and the
// key, never the environment variables that OpenAI's SDK reads.
//
// Why not the SDK's types? They have no fields for the extensions of servers (thoughts, signatures,
// odd calls), and decoding a chunk into them takes ten times as long. The SDK also made the binary
// larger and its build slower.
//
// Nothing is stored at the provider: thoughts to send back arrive encrypted. The levels
// are the API's efforts, where the model's are known.
type Model struct {
	endpoint        wire.Endpoint
	cfg             Config
	base            string // the address below which the paths of requests are, with a slash at its end
	facts           modelFacts
	client          wire.Client
	refusedTools    wire.RefusedTools
	refusedFeatures atomic.Uint32 // the features that the server has refused
}

// New returns a model. It does not connect yet.
func New(cfg Config) *Model {
	cfg.Type = cmp.Or(cfg.Type, ServerOpenAI)
	cfg.Name = cmp.Or(cfg.Name, cfg.Type)
	cfg.Memory = cmp.Or(cfg.Memory, new(wire.Memory))
	cfg.Model = cmp.Or(cfg.Model, defaultModels[cfg.Type])
	if cfg.API == "" {
		cfg.API = APIChat
		if cfg.Type == ServerOpenAI {
			cfg.API = APIResponses
		}
	}
	o := &Model{cfg: cfg, base: baseOf(cfg), facts: factsOf(cfg.Type, cfg.Model),
		endpoint: wire.Endpoint{
			Provider: cfg.Name, Model: cfg.Model, APIKey: cfg.APIKey, KeyEnv: cfg.KeyEnv, FirstByte: cfg.FirstByte, KeyOptional: cfg.KeyOptional,
			Source: cfg.Source, KeyHeader: cfg.KeyHeader, Address: cfg.BaseURL, Kinds: statusOfKind,
		},
	}
	o.client = o.endpoint.Client()
	o.endpoint.Advise = func(f *llm.Error, err error) {
		o.learnWindow(f)
		if refusesContent(err) {
			f.Hint, f.Retryable = "the content filter of the resource refuses the prompt: say it in other words, or start a new session", false
		}
	}
	return o
}

// refusesContent reports whether Azure's filter has refused a prompt.
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter
func refusesContent(err error) bool {
	e, ok := errors.AsType[*wire.StatusError](err)
	return ok && e.Kind == "content_filter"
}

// statusOfKind is the HTTP status of each kind of error in a stream.
// https://developers.openai.com/api/docs/guides/error-codes
var statusOfKind = map[string]int{
	"invalid_request_error":   400,
	"invalid_prompt":          400,
	"context_length_exceeded": 400,
	"BadRequestError":         400,
	"invalid_api_key":         401,
	"authentication_error":    401,
	"permission_error":        403,
	"model_not_found":         404,
	"insufficient_quota":      429,
	"rate_limit_exceeded":     429,
	"rate_limit_error":        429,
	"server_error":            500,
	"internal_error":          500,
	"InternalServerError":     500,
	"slow_down":               503,
	"server_is_overloaded":    503,
	"overloaded":              503,
}

// Name returns "provider:model".
func (o *Model) Name() string { return o.endpoint.Name() }

// Ready returns an *Error with Auth if there is no key where one is needed.
func (o *Model) Ready() error { return o.endpoint.Ready() }

// KeyAtHand and FetchKey are those of [wire.Endpoint].
func (o *Model) KeyAtHand() bool                    { return o.endpoint.KeyAtHand() }
func (o *Model) FetchKey(ctx context.Context) error { return o.endpoint.FetchKey(ctx) }

// Window returns the configured window, else the server's, else the known or usual one
// of the model.
func (o *Model) Window() int {
	if o.cfg.Window > 0 {
		return o.cfg.Window
	}
	served, _ := o.Facts()
	return cmp.Or(served.Window, o.facts.window, o.cfg.UsualWindow)
}

// Levels returns the thought levels that the model is known to accept.
func (o *Model) Levels() []string { return slices.Clone(o.facts.levels) }

// AcceptsImages returns true unless the configuration or the server says that the model accepts
// no images.
func (o *Model) AcceptsImages() bool { return !o.cfg.NoImages && o.supports(withImages) }

// LargestImage returns a size in bytes: a request to Gemini may have 20 MB in base64,
// and no server accepts more.
// https://ai.google.dev/gemini-api/docs/image-understanding
func (o *Model) LargestImage() int { return 14 << 20 }

// RefusedTools returns why tools are left out, by name: the server refuses their schemas.
func (o *Model) RefusedTools() map[string]string { return o.refusedTools.Tools() }

// Prices returns the configured prices.
func (o *Model) Prices() llm.Price { return o.cfg.Price }

// Unpaid reports whether a compatible server runs on this machine and no prices are configured.
func (o *Model) Unpaid() bool {
	u, err := url.Parse(o.base)
	return o.cfg.Type == ServerCompatible && o.cfg.Price == (llm.Price{}) && err == nil && wire.IsLoopback(u.Hostname())
}

// defaultPaths are the paths that are added to addresses without one.
var defaultPaths = map[string]string{ServerOpenAI: "/v1/", ServerCompatible: "/v1/", ServerGemini: "/v1beta/openai/"}

// baseOf returns the address that ends with a slash, before the paths of requests.
func baseOf(cfg Config) string {
	base, _ := wire.SplitQuery(cfg.BaseURL)
	base, whole := wire.TrimEndpoint(base)
	if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" && !whole {
		u.Path = defaultPaths[cfg.Type]
		return u.String()
	}
	return strings.TrimRight(base, "/") + "/"
}

// Stream asks for the next answer. A tool call whose arguments are not JSON gets the
// model's text as a JSON string, which no tool accepts. A call that StopMaxTokens cut
// off is dropped.
func (o *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	names := o.offered().names.Get("", req.Tools, wire.NewToolNames)
	open := func(ctx context.Context) (*http.Response, error) {
		return o.refusedTools.Open(&o.endpoint, req, func(req llm.Request) (*http.Response, error) { return o.open(ctx, req, names) })
	}
	begin := func() wire.Answer {
		if o.cfg.API == APIResponses {
			return &responsesReader{model: o.Name(), names: names, plain: o.cfg.Type == ServerCompatible}
		}
		return &chatReader{model: o.Name(), names: names}
	}
	return o.endpoint.Stream(ctx, open, wire.JSONOrSSE, begin)
}

// open sends the request and returns the response with its stream of events. Features
// that the server refuses are left out from then on.
func (o *Model) open(ctx context.Context, req llm.Request, names wire.ToolNames) (*http.Response, error) {
	thoughtless := false
	var last, tried feature // the feature that only this attempt leaves out; all that any attempt left out
	for {
		d := o.dialect(names)
		messages := llm.Merge(llm.Repair(llm.WithoutRefusedImages(o, req.Messages)))
		if o.cfg.API == APIChat {
			messages = llm.WithProject(messages, req.Project)
		}
		if thoughtless || !d.supports(withThoughts) {
			messages, _ = llm.WithoutOpaque(messages)
		}
		res, err := o.post(ctx, d.body(req, messages))
		if last != 0 && last.refusedBy(err) { // refused without it too: the feature was not the reason
			o.refusedFeatures.And(^uint32(last))
		}
		last = 0
		switch refused := refusedFeature(err, messages, d.refusedFeatures|tried); {
		case refused == withThoughts && o.cfg.Type != ServerCompatible && !thoughtless:
			thoughtless = true // thoughts of another key or after a changed prefix; later ones may be accepted
		case refused != 0:
			o.refusedFeatures.Or(uint32(refused))
			last, tried = refused, tried|refused
		default:
			return res, err
		}
	}
}

func (o *Model) post(ctx context.Context, body wire.Body) (*http.Response, error) {
	if o.cfg.API == APIResponses {
		return o.send(ctx, http.MethodPost, "responses", body...)
	}
	return o.send(ctx, http.MethodPost, "chat/completions", body...)
}

// send sends a request to a path below the address.
func (o *Model) send(ctx context.Context, method, path string, body ...[]byte) (*http.Response, error) {
	return o.client.Send(ctx, method, o.base+path, http.Header{"Accept": {"application/json"}}, body...)
}
