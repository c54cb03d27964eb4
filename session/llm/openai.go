package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// OpenAIConfig is what an OpenAI needs to know.
type OpenAIConfig struct {
	Type    string        // ServerOpenAI, ServerCompatible or ServerGemini; empty means ServerOpenAI
	Name    string        // of the provider; empty means the type
	Model   string        // empty means the default of the type; ServerCompatible has none
	API     string        // APIResponses or APIChat; empty means the default of the type
	BaseURL string        // with its path, such as "/v1"; without a path that of the type is added. Empty means the public one
	APIKey  func() string // asked before each request, so that a later login counts; nil means that there is none
	KeyEnv  string        // the variable that the user should set, for messages; empty means that no key is needed

	Embedding string // the model that embeds; empty means that there is none

	MaxTokens int   // of one answer; 0 leaves it to the server
	Window    int   // 0 means what is known of the model, which may be nothing
	Blind     bool  // takes no images
	Price     Price // the zero value means unknown

	// UsualWindow is the window that the model has elsewhere. It counts where no
	// other is known.
	UsualWindow int

	Memory *Memory // of the server; nil means one of its own
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

// OpenAI is a model behind OpenAI's Responses API or Chat Completions, or behind
// one of the many servers that speak the latter. Nothing but its config decides
// where it connects and with which key: the environment variables that the SDK
// would look at are not.
//
// The SDK sends the requests and parts the stream into events. Requests are
// written and events are read by types of our own: what servers add to the
// protocol (thoughts, signatures, odd calls) has no place in the SDK's, and one
// chunk costs them ten times as much.
//
// Why is the SDK v3.60.0? Later versions add up to 15 MiB to the binary.
//
// Nothing is stored at the provider: what it wants back of its thoughts comes
// encrypted. The levels are the API's efforts, where it is known which ones the
// model takes.
type OpenAI struct {
	endpoint endpoint
	cfg      OpenAIConfig
	knows    openAIModel
	client   func() *openai.Client
	lacks    atomic.Uint32 // of features: what the server has refused
}

// NewOpenAI makes an OpenAI. It connects to nothing yet.
func NewOpenAI(cfg OpenAIConfig) *OpenAI {
	cfg.Type = cmp.Or(cfg.Type, ServerOpenAI)
	cfg.Name = cmp.Or(cfg.Name, cfg.Type)
	cfg.Memory = cmp.Or(cfg.Memory, new(Memory))
	cfg.Model = cmp.Or(cfg.Model, openAIDefaults[cfg.Type])
	if cfg.API == "" {
		cfg.API = APIChat
		if cfg.Type == ServerOpenAI {
			cfg.API = APIResponses
		}
	}
	o := &OpenAI{cfg: cfg, knows: openAIModelOf(cfg.Type, cfg.Model),
		endpoint: endpoint{provider: cfg.Name, model: cfg.Model, apiKey: cfg.APIKey, keyEnv: cfg.KeyEnv, address: cfg.BaseURL, kinds: openAIKinds}}
	o.client = sync.OnceValue(o.connect)
	return o
}

// openAIKinds is the HTTP status that errors in a stream would have had.
// https://developers.openai.com/api/docs/guides/error-codes
var openAIKinds = map[string]int{
	"invalid_request_error": 400, "invalid_prompt": 400, "context_length_exceeded": 400, "BadRequestError": 400,
	"invalid_api_key": 401, "authentication_error": 401, "permission_error": 403, "model_not_found": 404,
	"insufficient_quota": 429, "rate_limit_exceeded": 429, "rate_limit_error": 429,
	"server_error": 500, "internal_error": 500, "InternalServerError": 500,
	"slow_down": 503, "server_is_overloaded": 503, "overloaded": 503,
}

// Name is "provider:model".
func (o *OpenAI) Name() string { return o.endpoint.Name() }

// Ready returns an *Error with Auth if there is no key where one is needed.
func (o *OpenAI) Ready() error { return o.endpoint.Ready() }

// Window is the configured one, else what the server said, else that of the model if
// it is known.
func (o *OpenAI) Window() int {
	if o.cfg.Window > 0 {
		return o.cfg.Window
	}
	served, _ := o.served()
	return cmp.Or(served, o.knows.window, o.cfg.UsualWindow)
}

// Levels lists the thought levels that the model is known to take.
func (o *OpenAI) Levels() []string { return slices.Clone(o.knows.levels) }

// Sees is true unless the configuration or the server says that it takes no images.
func (o *OpenAI) Sees() bool { return !o.cfg.Blind && o.has(withImages) }

// LargestImage is in bytes: a request to Gemini may have 20 MB in base64, and no
// server wants more.
// https://ai.google.dev/gemini-api/docs/image-understanding
func (o *OpenAI) LargestImage() int { return 14 << 20 }

// Prices are the configured ones.
func (o *OpenAI) Prices() Price { return o.cfg.Price }

// The public addresses, and what follows the host where an address has no path.
var (
	openAIBases = map[string]string{
		ServerOpenAI: "https://api.openai.com/v1/",
		ServerGemini: "https://generativelanguage.googleapis.com/v1beta/openai/",
	}
	openAIPaths = map[string]string{ServerOpenAI: "/v1/", ServerCompatible: "/v1/", ServerGemini: "/v1beta/openai/"}
)

func (o *OpenAI) base() string {
	base, _ := splitQuery(cmp.Or(o.cfg.BaseURL, openAIBases[o.cfg.Type]))
	base, whole := withoutEndpoint(base)
	if u, err := url.Parse(base); err == nil && strings.Trim(u.Path, "/") == "" && !whole {
		u.Path = openAIPaths[o.cfg.Type]
		return u.String()
	}
	return strings.TrimRight(base, "/") + "/"
}

func (o *OpenAI) connect() *openai.Client {
	// Not NewClient, which looks at the environment.
	return &openai.Client{Options: []option.RequestOption{
		option.WithMaxRetries(0),
		option.WithHTTPClient(newWireClient(o.cfg.BaseURL)),
		option.WithBaseURL(o.base()),
	}}
}

// Stream asks for the next answer. A tool call whose arguments are not JSON
// comes with a JSON string of what the model wrote instead of an object, so that
// no tool takes it; one that was cut off by StopMaxTokens does not come at all.
func (o *OpenAI) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	names := wireNames(req.Tools)
	open := func(ctx context.Context) (*http.Response, error) { return o.open(ctx, req, names) }
	begin := func() answer {
		if o.cfg.API == APIResponses {
			return &responsesAnswer{model: o.Name(), names: names, plain: o.cfg.Type == ServerCompatible}
		}
		return &chatAnswer{model: o.Name(), names: names}
	}
	return o.endpoint.stream(ctx, open, jsonOrSSE, begin)
}

// open sends the request and gives the response with its stream of events. What
// the server refuses of it is left out from then on; see feature.
func (o *OpenAI) open(ctx context.Context, req Request, names toolNames) (*http.Response, error) {
	thoughtless := false
	var last, tried feature // what was left out: of this attempt for the first time, and of any
	for {
		lacks := feature(o.lacks.Load()) // another request may change it meanwhile
		messages := merged(Repair(shown(o, req.Messages)))
		if thoughtless || !o.has(withThoughts) {
			messages, _ = withoutThoughts(messages)
		}
		res, err := o.post(ctx, req, messages, names)
		if last != 0 && last.refusedBy(err) { // all the same: it was something else
			o.lacks.And(^uint32(last))
		}
		last = 0
		switch refused := refusedOf(err, messages, lacks|tried); {
		case refused == withThoughts && o.cfg.Type != ServerCompatible && !thoughtless:
			thoughtless = true // those of another key, or of a prefix that has changed; later ones may be taken
		case refused != 0:
			o.lacks.Or(uint32(refused))
			last, tried = refused, tried|refused
		default:
			return res, err
		}
	}
}

func (o *OpenAI) post(ctx context.Context, req Request, messages []Message, names toolNames) (*http.Response, error) {
	path, body := "chat/completions", any(o.chat(req, messages, names))
	if o.cfg.API == APIResponses {
		path, body = "responses", o.responses(req, messages, names)
	}
	raw, err := wireJSON(body)
	if err != nil {
		return nil, err
	}
	var res *http.Response
	err = o.client().Post(ctx, path, nil, &res, append(o.auth(), option.WithRequestBody("application/json", raw))...)
	if err != nil {
		return nil, err
	}
	return res, nil
}

func (o *OpenAI) auth() []option.RequestOption {
	key := o.endpoint.key()
	if key == "" {
		return nil
	}
	return []option.RequestOption{option.WithHeader("Authorization", "Bearer "+key)}
}

// wireJSON writes a request: the same bytes for the same request, and characters
// as they are.
func wireJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}
