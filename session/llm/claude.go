package llm

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

const (
	defaultMaxTokens = 32_000
	// deepMaxTokens leaves room for the thoughts of the highest efforts, which
	// count as output.
	deepMaxTokens = 64_000
)

// ClaudeConfig is what a Claude needs to know.
type ClaudeConfig struct {
	Name    string        // of the provider; empty means "claude"
	Model   string        // empty means DefaultClaude
	BaseURL string        // with or without "/v1"; empty means Anthropic's own
	APIKey  func() string // asked before each request, so that a later login counts
	KeyEnv  string        // the variable that the user should set, for messages

	MaxTokens int   // of one answer; 0 means 32,000, 64,000 at the levels xhigh and max, or less where the model allows less
	Window    int   // 0 means what is known of the model, else 200,000
	Blind     bool  // takes no images
	Price     Price // the zero value means unknown
}

// Claude is a model behind Anthropic's Messages API. Nothing but its config
// decides where it connects and with which key: the environment variables that
// the SDK would look at are not.
//
// System prompt, tools and the history up to the last message are marked for the
// provider's cache. Models that decide themselves how much to think are asked to
// show a summary of it. Their levels are "off", where they can do without, and
// the API's efforts; those of older models, which get a budget, are "off", "low",
// "medium" and "high".
type Claude struct {
	endpoint endpoint
	cfg      ClaudeConfig
	knows    claudeModel
	client   func() *anthropic.Client
	fills    atomic.Bool // calls get a thought that lack one: the server has refused them
}

// ClaudeKeyEnv is the environment variable that holds the key of Anthropic's API.
const ClaudeKeyEnv = "ANTHROPIC_API_KEY"

// claudeKinds is the HTTP status that the kinds of error would have had.
// https://platform.claude.com/docs/en/api/errors
var claudeKinds = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504,
	"overloaded_error": 529,
}

// NewClaude makes a Claude. It connects to nothing yet.
func NewClaude(cfg ClaudeConfig) *Claude {
	cfg.Name = cmp.Or(cfg.Name, "claude")
	cfg.Model = cmp.Or(cfg.Model, DefaultClaude)
	cfg.KeyEnv = cmp.Or(cfg.KeyEnv, ClaudeKeyEnv)
	c := &Claude{cfg: cfg, knows: claudeModelOf(cfg.Model),
		endpoint: endpoint{provider: cfg.Name, model: cfg.Model, apiKey: cfg.APIKey, keyEnv: cfg.KeyEnv, address: cfg.BaseURL, kinds: claudeKinds}}
	c.client = sync.OnceValue(c.connect)
	return c
}

// Name is "provider:model".
func (c *Claude) Name() string { return c.endpoint.Name() }

// Ready returns an *Error with Auth if there is no key where one is needed.
func (c *Claude) Ready() error { return c.endpoint.Ready() }

// Window is the configured one, else that of the model.
func (c *Claude) Window() int {
	if c.cfg.Window > 0 {
		return c.cfg.Window
	}
	return c.knows.window
}

// Levels lists the thought levels that the model is known to take.
func (c *Claude) Levels() []string { return c.knows.offers() }

// Sees is true unless the configuration says that the endpoint takes no images.
func (c *Claude) Sees() bool { return !c.cfg.Blind }

// LargestImage is in bytes: the API takes 5 MiB of base64.
func (c *Claude) LargestImage() int { return (5 << 20) / 4 * 3 }

// Prices are the configured ones.
func (c *Claude) Prices() Price { return c.cfg.Price }

func (c *Claude) connect() *anthropic.Client {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0),
		option.WithHTTPClient(newWireClient(c.cfg.BaseURL)),
	}
	if c.cfg.BaseURL != "" {
		base, _ := splitQuery(c.cfg.BaseURL)
		base, _ = withoutEndpoint(base)
		opts = append(opts, option.WithBaseURL(strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1"))) // the SDK adds it
	}
	client := anthropic.NewClient(opts...)
	return &client
}

// Stream asks for the next answer. A tool call whose arguments are not JSON
// comes with a JSON string of what the model wrote instead of an object, so that
// no tool takes it; one that was cut off by StopMaxTokens does not come at all.
func (c *Claude) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	open := func(ctx context.Context) (*http.Response, error) { return c.open(ctx, req) }
	return c.endpoint.stream(ctx, open, jsonOrSSE, func() answer {
		return &claudeAnswer{provider: c.Name(), unsigned: !atAnthropic(c.cfg.BaseURL)}
	})
}

// open sends the request and gives the response with its stream of events.
func (c *Claude) open(ctx context.Context, req Request) (*http.Response, error) {
	filled := c.fills.Load() // another request may change it meanwhile
	messages := Repair(shown(c, req.Messages))
	res, err := c.post(ctx, req, messages)
	// A signed thought is refused when anything before it has changed, such as
	// the system prompt, or when the key belongs to another account. The
	// conversation goes on without the old thoughts then.
	// https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
	if refusesThoughts(err) {
		if bare, had := withoutThoughts(messages); had {
			return c.post(ctx, req, bare)
		}
	}
	// DeepSeek and Kimi take no calls without the thoughts that led to them, which
	// those of other models lack.
	if !atAnthropic(c.cfg.BaseURL) && wantsThoughts(err) && !filled {
		c.fills.Store(true)
		return c.post(ctx, req, messages)
	}
	return res, err
}

func (c *Claude) post(ctx context.Context, req Request, messages []Message) (*http.Response, error) {
	var res *http.Response
	err := c.client().Post(ctx, "v1/messages", c.params(req, messages), &res,
		option.WithAPIKey(c.endpoint.key()), option.WithJSONSet("stream", true))
	if err != nil {
		return nil, err
	}
	return res, nil
}

// wantsThoughts tells whether a request failed for thoughts that are not in it.
func wantsThoughts(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == http.StatusBadRequest && (strings.Contains(e.message, "thinking") || strings.Contains(e.message, "reasoning_content")) &&
		(strings.Contains(e.message, "is missing") || strings.Contains(e.message, "must be passed back"))
}

// refusesThoughts tells whether a request failed for the thoughts in it.
func refusesThoughts(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == http.StatusBadRequest && strings.Contains(e.message, "thinking") &&
		(strings.Contains(e.message, "signature") || strings.Contains(e.message, "block"))
}
