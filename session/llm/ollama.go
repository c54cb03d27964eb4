package llm

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// OllamaConfig is what an Ollama needs to know.
type OllamaConfig struct {
	Name    string        // of the provider; empty means "ollama"
	Model   string        // empty means the first of the server's list that can chat
	Address string        // in any form that OLLAMA_HOST has; empty means 127.0.0.1:11434
	APIKey  func() string // asked before each request; nil means that there is none
	KeyEnv  string        // the variable that must hold a key; empty means that none is needed

	Embedding string // the model that embeds; empty means that there is none
	MaxTokens int    // of one answer; 0 means no limit but the window
	Window    int    // that the server is to use; 0 means what the model was made with, else at most 32,768
	Images    string // yes, no, or what the server says of the model
	Price     Price  // the zero value means unknown

	Memory *Memory // of the server; nil means one of its own
}

// Ollama is a model behind Ollama's own API, which unlike the compatible one
// takes the size of the context window with a request.
//
// What the server knows of the model (window, thoughts, images) is asked before
// the first request, and [Learn] asks it earlier; until then Window is what would
// be asked for at most, and there are no Levels. A prompt that does not fit is an
// error: the server is told not to drop its beginning in silence.
//
// Why not the client of the api package? It takes a stream that breaks off, or a
// line of more than 8 MB, for a complete answer, allocates that much for each
// stream, follows redirects, and signs what goes to ollama.com with a key in the
// user's home directory whatever key is configured. Its types are used.
type Ollama struct {
	endpoint endpoint
	cfg      OllamaConfig
	base     *url.URL
	client   wireClient

	mu    sync.Mutex
	first string // the model, where none is configured; empty until it is known
}

// NewOllama makes an Ollama. It connects to nothing yet.
func NewOllama(cfg OllamaConfig) *Ollama {
	cfg.Name = cmp.Or(cfg.Name, "ollama")
	cfg.Memory = cmp.Or(cfg.Memory, new(Memory))
	base := ollamaAddress(cfg.Address)
	_, query := splitQuery(cfg.Address)
	o := &Ollama{cfg: cfg, base: base, client: newWireClient(cfg.Address),
		endpoint: endpoint{provider: cfg.Name, model: cfg.Model, apiKey: cfg.APIKey, keyEnv: cfg.KeyEnv, address: base.String() + "?" + query}}
	o.endpoint.advise = o.hintFor
	return o
}

// Name is "provider:model", or the provider alone where no model is configured.
func (o *Ollama) Name() string {
	if o.cfg.Model == "" {
		return o.cfg.Name
	}
	return o.endpoint.Name()
}

// Ready returns an *Error with Auth if there is no key where one is needed.
func (o *Ollama) Ready() error { return o.endpoint.Ready() }

// Window is what the server is asked for, and no more than what the model has.
func (o *Ollama) Window() int {
	f, _ := o.known()
	return f.use(o.cfg.Window)
}

// Levels are "off" and "on" of a model that thinks; those that cannot be turned
// off have "low", "medium" and "high".
func (o *Ollama) Levels() []string {
	f, _ := o.known()
	return slices.Clone(f.levels)
}

// Sees is what the configuration says, else the server; true until it was asked.
func (o *Ollama) Sees() bool {
	if o.cfg.Images == "yes" || o.cfg.Images == "no" {
		return o.cfg.Images == "yes"
	}
	f, _ := o.known()
	return !f.blind
}

// Prices are the configured ones.
func (o *Ollama) Prices() Price { return o.cfg.Price }

// Stream asks for the next answer. Its calls come whole; those without an ID get
// one that is unique in the answer.
func (o *Ollama) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	open := func(ctx context.Context) (*http.Response, error) {
		model, err := o.pick(ctx)
		if err != nil {
			return nil, err
		}
		o.learn(ctx, model)
		res, err := o.post(ctx, "api/chat", o.request(model, req), "application/x-ndjson")
		if err != nil {
			return nil, err
		}
		return res, noPage(res)
	}
	return o.endpoint.stream(ctx, open, ndjsonChunks, func() answer {
		return NewOllamaAnswer(o.Name(), func() int { return Tokens(req) })
	})
}

// pick gives the model to ask: the configured one, else the first of the server's
// list that can chat.
func (o *Ollama) pick(ctx context.Context) (string, error) {
	if o.cfg.Model != "" {
		return o.cfg.Model, nil
	}
	if first := o.picked(); first != "" {
		return first, nil
	}
	list, err := o.tags(ctx)
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

// picked is the model that is asked; empty if that is not known yet.
func (o *Ollama) picked() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return cmp.Or(o.cfg.Model, o.first)
}
