package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// factsTimeout bounds each request for the facts about a model. A list may be long.
const factsTimeout = 3 * time.Second

// serverFacts are the facts of a compatible server about a model. All models of one name at one
// address share them.
type serverFacts struct {
	begin  sync.Once
	asking chan struct{} // held while asking the server; made by begin
	mu     sync.Mutex
	facts  llm.Facts
	known  bool // the facts are the server's, from this process or an earlier one
	asked  bool // by this process
}

func (o *Model) serverFacts() *serverFacts {
	s := wire.Recall[serverFacts](o.cfg.Memory, o.base, o.endpoint.Model)
	s.begin.Do(func() { s.asking = make(chan struct{}, 1) })
	return s
}

// Facts implements [llm.Facted].
func (o *Model) Facts() (f llm.Facts, known bool) {
	s := o.serverFacts()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts, s.known
}

// Recall implements [llm.Facted].
func (o *Model) Recall(f llm.Facts) {
	s := o.serverFacts()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.known {
		s.facts, s.known = f, true
	}
}

// LacksTools reports whether the model cannot be offered tools, according to its server.
func (o *Model) LacksTools() bool {
	f, _ := o.Facts()
	return f.LacksTools
}

// MayDropTools reports whether the server may ignore the tools of a request without an error.
func (o *Model) MayDropTools() bool { return o.cfg.Type == ServerCompatible }

// Learn asks a compatible server about the model, once. A server that does not answer is asked again
// the next time.
func (o *Model) Learn(ctx context.Context) bool {
	if o.cfg.Type != ServerCompatible || o.Ready() != nil {
		return false
	}
	s := o.serverFacts()
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return false
	}
	s.mu.Lock()
	asked, before := s.asked, s.facts
	s.mu.Unlock()
	if asked {
		return false
	}
	window := o.Window()
	f, ok := o.askFacts(ctx)
	if !ok {
		return false // the request itself will report the failure
	}
	s.mu.Lock()
	s.facts, s.known, s.asked = f, true, true
	s.mu.Unlock()
	return o.Window() != window || f.LacksTools != before.LacksTools
}

// learnWindow remembers the window that a compatible server states when it refuses a request.
func (o *Model) learnWindow(f *llm.Error) {
	if o.cfg.Type != ServerCompatible || f.Window == 0 {
		return
	}
	s := o.serverFacts()
	s.mu.Lock()
	s.facts.Window, s.known = f.Window, true
	s.mu.Unlock()
	f.Hint = "type /compact, or start the server with a larger window: -c of llama.cpp, --max-model-len of vLLM"
}

// maxTokens returns the limit of an answer; 0 leaves it to the server. At a compatible server that is
// what the request leaves of the window, since some models do not end.
func (o *Model) maxTokens(req llm.Request) int {
	limit, window := o.cfg.MaxTokens, o.Window()
	if o.cfg.Type != ServerCompatible || window == 0 || req.Size == 0 {
		return limit
	}
	left := wire.AnswerTokens(window, req.Size)
	if limit == 0 {
		return left
	}
	return min(limit, left)
}

// askFacts asks for the facts in the ways of llama.cpp, of most servers, and of Ollama. ok is false
// if the server did not answer.
func (o *Model) askFacts(ctx context.Context) (f llm.Facts, ok bool) {
	var props serverProps
	err := o.askFor(ctx, http.MethodGet, o.root()+"props", nil, &props)
	if err != nil && !hasAnswered(err) {
		return f, false
	}
	f = llm.Facts{Window: int(props.Settings.Window), LacksTools: props.lackTools(), TellsProgress: props.Settings.Window > 0}
	if f.Window == 0 {
		listCtx, cancel := context.WithTimeout(ctx, factsTimeout)
		defer cancel()
		list, err := o.fetchModels(listCtx)
		if err != nil && !hasAnswered(err) {
			return f, false
		}
		f.Window = windowIn(list, o.endpoint.Model)
	}
	if f.Window == 0 {
		var show wire.ShowResponse
		if o.askFor(ctx, http.MethodPost, o.root()+"api/show", plainjson.MustMarshal(wire.ShowRequest{Model: o.endpoint.Model}), &show) == nil {
			f.Window, f.LacksTools = cmp.Or(show.WindowParameter(), show.TrainedWindow()), f.LacksTools || show.Lacks("tools")
		}
	}
	return f, true
}

// root returns the address of the server without the path of the API.
func (o *Model) root() string { return strings.TrimSuffix(o.base, "v1/") }

// askFor sends one request whose answer is a JSON object.
func (o *Model) askFor(ctx context.Context, method, address string, body []byte, out any) error {
	ctx, cancel := context.WithTimeout(ctx, factsTimeout)
	defer cancel()
	var parts [][]byte
	if body != nil {
		parts = append(parts, body)
	}
	res, err := o.client.Send(ctx, method, address, http.Header{"Accept": {"application/json"}}, parts...)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := wire.ReadJSON(res, &raw); err != nil {
		return errOther
	}
	return wire.Decode(raw, out)
}

// errOther is returned for an answer that is not JSON, such as a web page.
var errOther = errors.New("it answered something else")

// hasAnswered reports whether a failed request has reached the server, which has no such path.
func hasAnswered(err error) bool {
	_, status := errors.AsType[*wire.StatusError](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	return status || syntax || errors.Is(err, errOther)
}

// serverProps are the properties of a llama.cpp server.
// https://github.com/ggml-org/llama.cpp/tree/master/tools/server#get-props-get-server-global-properties
type serverProps struct {
	Settings struct {
		Window wire.TokenCount `json:"n_ctx"` // of one slot
	} `json:"default_generation_settings"`
	ToolTemplate  string        `json:"chat_template_tool_use"`
	Capabilities  templateTools `json:"chat_template_caps"`
	templateTools               // of some versions
}

type templateTools struct {
	Supported *bool `json:"supports_tools"`
}

// lackTools reports whether the template of the model has no place for tools. The server drops them
// without an error.
func (p serverProps) lackTools() bool {
	supported := cmp.Or(p.Capabilities.Supported, p.Supported)
	return supported != nil && !*supported && p.ToolTemplate == ""
}
