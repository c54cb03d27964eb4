package llm

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

const (
	defaultMaxTokens = 32_000
	// deepMaxTokens leaves room for the thoughts of the highest efforts, which
	// count as output.
	deepMaxTokens = 64_000
	// maxRetries is how often a request is sent again after 408, 409, 429, 5xx or
	// a broken connection, before any of the answer has come.
	maxRetries = 2
	// maxRetryAfter bounds the wait that a server may ask for before a retry;
	// longer than that is the user's to decide.
	maxRetryAfter = 30 * time.Second
	// maxSilence is how long a server may send nothing at all; while a model
	// thinks, it sends pings.
	maxSilence = 10 * time.Minute
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
	cfg     ClaudeConfig
	model   claudeModel
	silence time.Duration // see maxSilence
	retries int           // see maxRetries
	client  func() *anthropic.Client
}

// NewClaude makes a Claude. It connects to nothing yet.
func NewClaude(cfg ClaudeConfig) *Claude {
	if cfg.Name == "" {
		cfg.Name = TypeClaude
	}
	if cfg.Model == "" {
		cfg.Model = DefaultClaude
	}
	if cfg.KeyEnv == "" {
		cfg.KeyEnv = anthropicKey
	}
	c := &Claude{cfg: cfg, model: claudeModelOf(cfg.Model), silence: maxSilence, retries: maxRetries}
	c.client = sync.OnceValue(c.connect)
	return c
}

func newClaude(p Provider, getenv func(string) string) *Claude {
	cfg := ClaudeConfig{Name: p.name(), Model: p.model(), BaseURL: p.BaseURL, KeyEnv: p.keyEnv(),
		MaxTokens: p.MaxTokens, Window: p.ContextWindow, Blind: p.Images == imagesNo, Price: p.Price}
	if cfg.BaseURL == "" {
		cfg.BaseURL = getenv(anthropicURL)
	}
	cfg.APIKey = func() string { return getenv(cfg.KeyEnv) }
	return NewClaude(cfg)
}

// Name is "provider:model".
func (c *Claude) Name() string { return c.cfg.Name + ":" + c.cfg.Model }

// Window is the configured one, else that of the model.
func (c *Claude) Window() int {
	if c.cfg.Window > 0 {
		return c.cfg.Window
	}
	return c.model.window
}

// Levels lists the thought levels that the model is known to take.
func (c *Claude) Levels() []string { return c.model.offers() }

// Sees is true unless the configuration says that the endpoint takes no images.
func (c *Claude) Sees() bool { return !c.cfg.Blind }

// LargestImage is in bytes: the API takes 5 MiB of base64.
func (c *Claude) LargestImage() int { return (5 << 20) / 4 * 3 }

// Prices are the configured ones.
func (c *Claude) Prices() Price { return c.cfg.Price }

// Ready gives an *Error with Auth if there is no key.
func (c *Claude) Ready() error {
	if c.key() == "" {
		return &Error{Provider: c.cfg.Name, Message: "there is no API key", Auth: true,
			Hint: "run zeph-acp login, or set " + c.cfg.KeyEnv + " in the environment that starts the agent"}
	}
	return nil
}

func (c *Claude) key() string {
	if c.cfg.APIKey == nil {
		return ""
	}
	return strings.TrimSpace(c.cfg.APIKey()) // a line break from a file is no part of it
}

func (c *Claude) connect() *anthropic.Client {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(c.retries),
		option.WithMiddleware(boundRetryAfter),
		// A redirect would send key and conversation to an address that nobody
		// configured.
		option.WithHTTPClient(&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}),
	}
	if c.cfg.BaseURL != "" {
		base := strings.TrimSuffix(strings.TrimRight(c.cfg.BaseURL, "/"), "/v1") // the SDK adds it
		opts = append(opts, option.WithBaseURL(base))
	}
	client := anthropic.NewClient(opts...)
	return &client
}

// boundRetryAfter keeps the SDK from waiting as long as a server likes.
func boundRetryAfter(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if res != nil && retryAfter(res) > maxRetryAfter {
		res.Header.Set("X-Should-Retry", "false")
	}
	return res, err
}

var errSilence = errors.New("silence")

// Stream asks for the next answer. A tool call whose arguments are not JSON
// comes with a JSON string of what the model wrote instead of an object, so that
// no tool takes it; one that was cut off by StopMaxTokens does not come at all.
func (c *Claude) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := c.Ready(); err != nil {
			yield(Event{}, err)
			return
		}
		callCtx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		watch := time.AfterFunc(c.silence, func() { cancel(errSilence) })
		defer watch.Stop()
		fail := func(err error) {
			switch {
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case context.Cause(callCtx) == errSilence:
				err = &Error{Provider: c.cfg.Name, Message: "sent nothing for " + c.silence.String(), Hint: "try again"}
			default:
				err = c.wireError(err)
			}
			yield(Event{}, err)
		}

		res, err := c.open(callCtx, req)
		if err != nil {
			fail(err)
			return
		}
		defer res.Body.Close()
		sse := ssestream.NewDecoder(res)
		var answer claudeAnswer
		answer.provider = c.Name()
		for sse.Next() {
			watch.Reset(c.silence)
			done, err := answer.take(sse.Event().Data, func(e Event) bool { return yield(e, nil) })
			if err != nil {
				fail(err)
				return
			}
			if done {
				return
			}
		}
		if err := sse.Err(); err != nil {
			fail(err)
			return
		}
		fail(errBrokenOff)
	}
}

// open sends the request and gives the response with its stream of events.
func (c *Claude) open(ctx context.Context, req Request) (*http.Response, error) {
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
	return res, err
}

func (c *Claude) post(ctx context.Context, req Request, messages []Message) (*http.Response, error) {
	var res *http.Response
	err := c.client().Post(ctx, "v1/messages", c.params(req, messages), &res,
		option.WithAPIKey(c.key()), option.WithJSONSet("stream", true))
	if err != nil {
		return nil, err
	}
	kind := res.Header.Get("Content-Type")
	if res.StatusCode != http.StatusOK || strings.Contains(kind, "html") || strings.Contains(kind, "json") {
		res.Body.Close()
		return nil, notAStream{res.StatusCode, kind}
	}
	return res, nil
}
