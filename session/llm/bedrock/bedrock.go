// Package bedrock is the adapter of the Converse API of Amazon Bedrock.
//
// Start with [New]. It promises that system prompt, tools and history are marked for the cache of models that have one, and
// that signed thoughts are sent back only to the model that made them. A feature that a model has refused is not sent to it
// again. It makes one attempt at each request, but immediately repeats it without a refused feature.
package bedrock

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// KeyEnv is the variable of a key for Bedrock alone, which is used instead of the credentials of an account.
// https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
const KeyEnv = "AWS_BEARER_TOKEN_BEDROCK"

// Service is the name of the service in signatures.
const Service = "bedrock"

// Config describes a model.
type Config struct {
	Name    string // of the provider; empty means "bedrock"
	Model   string // the ID of a model or of an inference profile, or an ARN
	BaseURL string // empty means that the region is unknown
	// Region returns why the region is unknown, with advice.
	Region func() error
	APIKey func() string // the key in KeyEnv; called before each request
	KeyEnv string        // empty means that only Source authorises requests
	Source *wire.Source  // of the account's signatures, where there is no key

	MaxTokens int // of one answer; 0 means the usual one of a Claude, else the model's own
	Window    int // tokens; 0 means unknown
	NoImages  bool
	Price     llm.Price
	FirstByte time.Duration
	// Claude returns how the Claude of a name is asked to think.
	Claude func(name string) Thinking
}

// Thinking is how a family of models is asked to think.
type Thinking interface {
	// Levels returns the thought levels, from least to most.
	Levels() []string
	// Limit returns the limit of an answer at a level, in tokens; 0 leaves it to the model.
	Limit(level string) int
	// Fields returns the members that ask for a level. Thoughtless reports that the answers before the last results began
	// without a thought.
	Fields(level string, limit int, thoughtless bool) map[string]any
}

// Model is a model at Bedrock.
type Model struct {
	endpoint     wire.Endpoint
	cfg          Config
	thinking     Thinking // nil means that there is no choice
	client       wire.Client
	refusedTools wire.RefusedTools
	refused      atomic.Uint32 // the features that the model has refused
}

// statusOfKind is the HTTP status of each exception in a stream. The failure of a model in the middle of its answer counts as the
// service's, since the next attempt may pass.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
var statusOfKind = map[string]int{
	"validationException":         http.StatusBadRequest,
	"throttlingException":         http.StatusTooManyRequests,
	"modelTimeoutException":       http.StatusRequestTimeout,
	"modelStreamErrorException":   http.StatusInternalServerError,
	"internalServerException":     http.StatusInternalServerError,
	"serviceUnavailableException": http.StatusServiceUnavailable,
}

// New returns a model. It does not connect yet.
func New(cfg Config) *Model {
	if cfg.Name == "" {
		cfg.Name = "bedrock"
	}
	b := &Model{cfg: cfg,
		endpoint: wire.Endpoint{
			Provider: cfg.Name, Model: cfg.Model, APIKey: cfg.APIKey, KeyEnv: cfg.KeyEnv, Source: cfg.Source, FirstByte: cfg.FirstByte,
			Address: cfg.BaseURL, Kinds: statusOfKind, Advise: advise,
		},
	}
	b.client = b.endpoint.Client()
	b.thinking = b.howToThink()
	if !b.mayCache() {
		b.refused.Store(uint32(caching))
	}
	return b
}

// Name returns "provider:model".
func (b *Model) Name() string { return b.endpoint.Name() }

// Ready returns an *llm.Error if a key or the region is missing.
func (b *Model) Ready() error {
	if err := b.endpoint.Ready(); err != nil {
		return err
	}
	if b.cfg.BaseURL != "" {
		return nil
	}
	err := b.cfg.Region()
	if err == nil {
		err = wire.Advised(errors.New("the region was set after the model was chosen"), "choose the model again")
	}
	return &llm.Error{Provider: b.cfg.Name, Message: "the address is unknown: " + err.Error(), Hint: wire.Advice(err)}
}

// KeyAtHand and FetchKey are those of [wire.Endpoint].
func (b *Model) KeyAtHand() bool                    { return b.endpoint.KeyAtHand() }
func (b *Model) FetchKey(ctx context.Context) error { return b.endpoint.FetchKey(ctx) }

// Window returns the window of the model in tokens; 0 means unknown.
func (b *Model) Window() int { return b.cfg.Window }

// Levels returns the thought levels that the model is known to accept.
func (b *Model) Levels() []string {
	if b.thinking == nil {
		return nil
	}
	return b.thinking.Levels()
}

// AcceptsImages returns true unless the configuration says that the model accepts no images, or the model has refused one.
func (b *Model) AcceptsImages() bool { return !b.cfg.NoImages && !b.refuses(images) }

// LargestImage returns a size in bytes.
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ImageBlock.html
func (b *Model) LargestImage() int { return 3_750_000 }

// RefusedTools returns why tools are left out, by name: the model refuses their schemas.
func (b *Model) RefusedTools() map[string]string { return b.refusedTools.Tools() }

// Prices returns the configured prices.
func (b *Model) Prices() llm.Price { return b.cfg.Price }

// howToThink returns how the model is asked to think, or nil.
func (b *Model) howToThink() Thinking {
	family := Family(b.cfg.Model)
	if name := ClaudeName(b.cfg.Model); name != "" && b.cfg.Claude != nil {
		return b.cfg.Claude(name)
	}
	for prefix, t := range efforts {
		if strings.HasPrefix(family, prefix) {
			return t
		}
	}
	return nil
}

// version matches the end of an ID: the version of the model at Bedrock, and the size of its window.
var version = lazyregexp.New(`-v[0-9]+(:[0-9]+)?(:[0-9]+k)?$`)

// ClaudeName returns Anthropic's name of the Claude that an ID names, or "".
func ClaudeName(id string) string {
	name, ok := strings.CutPrefix(Family(id), "anthropic.")
	if !ok {
		return ""
	}
	return version.ReplaceAllString(name, "")
}

// Family returns the part of a model's ID that names its maker, without the geography before it: "anthropic.claude-…" of
// "us.anthropic.claude-…" or of the ARN of either. It is empty where only the account knows the model.
func Family(id string) string {
	id = id[strings.LastIndexByte(id, '/')+1:]
	for _, maker := range []string{"anthropic.", "amazon.", "meta.", "mistral.", "openai.", "deepseek.", "cohere.", "ai21.", "qwen."} {
		if i := strings.Index(id, maker); i == 0 || i > 0 && id[i-1] == '.' {
			return id[i:]
		}
	}
	return ""
}

// mayCache reports whether the model may have a cache: Claude and Nova have one. Who names an unknown model by an ARN hears of it
// from the service.
// https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
func (b *Model) mayCache() bool {
	f := Family(b.cfg.Model)
	return f == "" || strings.HasPrefix(f, "anthropic.") || strings.HasPrefix(f, "amazon.nova")
}

// send sends a request to a path below an address.
func (b *Model) send(ctx context.Context, base, method, path, accept string, body ...[]byte) (*http.Response, error) {
	base, _ = wire.SplitQuery(base)
	return b.client.Send(ctx, method, strings.TrimRight(base, "/")+"/"+path, http.Header{"Accept": {accept}}, body...)
}

// Stream asks for the next answer. A tool call whose arguments are not JSON gets the model's text as a JSON string, which no tool
// accepts. A call that StopMaxTokens cut off is dropped.
func (b *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	if err := b.Ready(); err != nil {
		return func(yield func(llm.Event, error) bool) { yield(llm.Event{}, err) }
	}
	names := wire.NewToolNames(req.Tools)
	open := func(ctx context.Context) (*http.Response, error) {
		return b.refusedTools.Open(&b.endpoint, req, func(req llm.Request) (*http.Response, error) { return b.open(ctx, req, names) })
	}
	return b.endpoint.Stream(ctx, open, Frames, func() wire.Answer { return &answerReader{model: b.Name(), names: names} })
}

// open sends the request and returns the response with its stream of events. Features that the model refuses are left out from
// then on.
func (b *Model) open(ctx context.Context, req llm.Request, names wire.ToolNames) (*http.Response, error) {
	thoughtless := false
	for {
		without := feature(b.refused.Load())
		messages := llm.Repair(llm.WithoutRefusedImages(b, req.Messages))
		had := false
		if thoughtless {
			messages, _ = llm.WithoutOpaque(messages)
			req.Cache = nil // it keeps the thoughts, since later ones may be accepted
		}
		for _, m := range messages {
			for _, block := range m.Blocks {
				had = had || block.Opaque != nil
			}
		}
		res, err := b.post(ctx, without, b.body(req, messages, names, without))
		switch f := refusedFeature(err); {
		case f == thoughts && had && !thoughtless: // of another account, or after a changed prefix
			thoughtless = true
		case f != 0 && f != thoughts && without&f == 0:
			b.refused.Or(uint32(f))
		default:
			return res, err
		}
	}
}

// post asks for an answer.
func (b *Model) post(ctx context.Context, without feature, body wire.Body) (*http.Response, error) {
	// The slashes and colons of an ARN are escaped; the signature escapes the path once more.
	path := "model/" + httpbinding.EscapePath(b.cfg.Model, true)
	if without&streaming != 0 {
		return b.send(ctx, b.cfg.BaseURL, http.MethodPost, path+"/converse", "application/json", body...)
	}
	return b.send(ctx, b.cfg.BaseURL, http.MethodPost, path+"/converse-stream", streamType, body...)
}
