package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// The models that providers have without anyone picking one.
const (
	DefaultOpenAI = "gpt-6.1-sol"
	DefaultGemini = "gemini-3.8-flash"
)

// openAIDefaults are the models of the servers that have a default.
var openAIDefaults = map[string]string{ServerOpenAI: DefaultOpenAI, ServerGemini: DefaultGemini}

// Efforts, as sets of models take them.
var (
	o3Efforts     = []string{"low", "medium", "high"}
	gpt5Efforts   = []string{"minimal", "low", "medium", "high"}
	gpt51Efforts  = []string{"none", "low", "medium", "high"}
	codexEfforts  = []string{"low", "medium", "high", "xhigh"}
	gpt52Efforts  = []string{"none", "low", "medium", "high", "xhigh"}
	gpt56Efforts  = []string{"none", "low", "medium", "high", "xhigh", "max"}
	gpt6Efforts   = []string{"low", "medium", "high", "xhigh", "max"}
	gemini3Levels = []string{"minimal", "low", "medium", "high"}
)

// openAIModel is what a request depends on.
type openAIModel struct {
	prefix string
	window int      // tokens; 0 where it is not known
	levels []string // nil where it is not known what the model takes
	plain  bool     // does not think
}

// openAIModels is asked from the top; the first prefix that fits counts. A model
// that is not in it thinks, as all new ones do, with a window that is not known.
//
//	https://developers.openai.com/api/docs/models
//	https://developers.openai.com/api/docs/guides/reasoning
var openAIModels = []openAIModel{
	{"gpt-6.2-astra", 1_050_000, gpt6Efforts, false},
	{"gpt-6.1-sol", 1_050_000, gpt6Efforts, false},
	{"gpt-6-astra", 1_050_000, gpt6Efforts, false},
	{"gpt-6-sol", 1_050_000, gpt56Efforts, false},
	{"gpt-6-luna", 1_050_000, gpt56Efforts, false},
	{"gpt-6", 1_050_000, nil, false},
	{"gpt-5.6-sol", 1_050_000, gpt56Efforts, false},
	{"gpt-5.6-terra", 1_050_000, gpt56Efforts, false},
	{"gpt-5.6-luna", 1_050_000, gpt56Efforts, false},
	{"gpt-5.6", 1_050_000, gpt56Efforts, false},
	{"gpt-5.5-pro", 1_050_000, nil, false},
	{"gpt-5.5", 1_050_000, gpt52Efforts, false},
	{"gpt-5.4-mini", 400_000, gpt52Efforts, false},
	{"gpt-5.4-nano", 400_000, gpt52Efforts, false},
	{"gpt-5.4-pro", 1_050_000, nil, false},
	{"gpt-5.4", 1_050_000, gpt52Efforts, false},
	{"gpt-5.3-codex", 400_000, codexEfforts, false},
	{"gpt-5.3-chat", 128_000, nil, true},
	{"gpt-5.2-codex", 400_000, codexEfforts, false},
	{"gpt-5.2-chat", 128_000, nil, true},
	{"gpt-5.2-pro", 400_000, nil, false},
	{"gpt-5.2", 400_000, gpt52Efforts, false},
	{"gpt-5.1-codex-max", 400_000, codexEfforts, false},
	{"gpt-5.1-codex", 400_000, o3Efforts, false},
	{"gpt-5.1-chat", 128_000, nil, true},
	{"gpt-5.1", 400_000, gpt51Efforts, false},
	{"gpt-5-codex", 400_000, o3Efforts, false},
	{"gpt-5-chat", 128_000, nil, true},
	{"gpt-5-pro", 400_000, nil, false},
	{"gpt-5-mini", 400_000, gpt5Efforts, false},
	{"gpt-5-nano", 400_000, gpt5Efforts, false},
	{"gpt-5", 400_000, gpt5Efforts, false},
	{"gpt-4.1", 1_047_576, nil, true},
	{"gpt-4o", 128_000, nil, true},
	{"chatgpt-4o", 128_000, nil, true},
	{"gpt-4-turbo", 128_000, nil, true},
	{"gpt-4", 8_192, nil, true},
	{"gpt-3.5", 16_385, nil, true},
	{"o4-mini", 200_000, o3Efforts, false},
	{"o3-mini", 200_000, o3Efforts, false},
	{"o3", 200_000, o3Efforts, false},
	{"o1", 200_000, o3Efforts, false},
}

// geminiModels likewise. Those of the third generation have levels, those before
// budgets; see thinkingConfig.
//
//	https://ai.google.dev/gemini-api/docs/models
//	https://ai.google.dev/gemini-api/docs/thinking
var geminiModels = []openAIModel{
	{"gemini-3.8-flash", 1_048_576, o3Efforts, false},
	{"gemini-3.6-flash", 1_048_576, gemini3Levels, false},
	{"gemini-3.5-flash-lite", 1_048_576, gemini3Levels, false},
	{"gemini-3.5-flash", 1_048_576, gemini3Levels, false},
	{"gemini-3.1-flash-lite", 1_048_576, gemini3Levels, false},
	{"gemini-3.1-pro", 1_048_576, o3Efforts, false},
	{"gemini-3-flash", 1_048_576, gemini3Levels, false},
	{"gemini-3-pro", 1_048_576, []string{"low", "high"}, false},
	{"gemini-3", 1_048_576, nil, false},
	{"gemini-2.5-pro", 1_048_576, o3Efforts, false},
	{"gemini-2.5-flash", 1_048_576, gpt51Efforts, false},
	{"gemini-2", 1_048_576, nil, true},
	{"gemma", 0, nil, true},
}

// pinned is what may follow a known model's name without making it another one:
// a date, or the word for what is not final.
var pinned = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-20[0-9]{2}-[0-9]{2}-[0-9]{2}|-preview(-[0-9-]+)?|-latest|-[0-9]{3})?$`)
})

// openAIModelOf returns the facts about a model at a server of that kind. They are
// empty for a compatible server, whose efforts are unknown.
func openAIModelOf(kind, name string) openAIModel {
	if kind == ServerCompatible {
		return openAIModel{plain: true}
	}
	models := openAIModels
	if kind == ServerGemini {
		models, name = geminiModels, strings.TrimPrefix(name, "models/")
	}
	for _, m := range models {
		rest, ok := strings.CutPrefix(name, m.prefix)
		if !ok {
			continue
		}
		if !pinned().MatchString(rest) {
			m.levels = nil
		}
		return m
	}
	return openAIModel{}
}

// WindowOf returns the context window of a model of OpenAI or Google, in tokens, or 0
// for others.
func WindowOf(model string) int {
	for _, m := range slices.Concat(openAIModels, geminiModels) {
		if strings.HasPrefix(model, m.prefix) {
			return m.window
		}
	}
	return 0
}

// noChat matches the models that OpenAI and Google list besides those to talk to
// in text.
var noChat = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`embed|tts|whisper|dall-e|image|imagen|veo|sora|audio|realtime|transcribe|moderation|` +
		`instruct|babbage|davinci|computer-use|deep-research|search|live|aqa|lyria|banana|robotics|translate`)
})

// List asks the provider for its models. OpenAI and Gemini list those alone that
// are known to be for conversations, as far as their names tell.
func (o *OpenAI) List(ctx context.Context) ([]Choice, error) {
	if err := o.Ready(); err != nil {
		return nil, err
	}
	list, err := o.models(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, o.endpoint.failure(err)
	}
	var choices []Choice
	for _, m := range list {
		id := m.ID
		if o.cfg.Type == ServerGemini {
			id = strings.TrimPrefix(id, "models/")
		}
		if id == "" || o.cfg.Type != ServerCompatible && noChat().MatchString(id) {
			continue
		}
		choices = append(choices, Choice{Name: o.endpoint.provider + ":" + id, Title: id, Description: "Model of provider " + o.endpoint.provider, Open: true})
	}
	return choices, nil
}

// servedModel is a model as a server lists it. Many name its window, each by another
// name: vLLM, Groq, OpenRouter and Together, Mistral, llama.cpp.
type servedModel struct {
	ID               string     `json:"id"`
	MaxModelLen      tokenCount `json:"max_model_len"`
	ContextWindow    tokenCount `json:"context_window"`
	ContextLength    tokenCount `json:"context_length"`
	MaxContextLength tokenCount `json:"max_context_length"`
	Meta             struct {
		NCtx tokenCount `json:"n_ctx"`
	} `json:"meta"`
}

func (m servedModel) window() int {
	return int(cmp.Or(m.Meta.NCtx, m.MaxModelLen, m.ContextWindow, m.ContextLength, m.MaxContextLength))
}

// models asks for the list of models, which is one of its own at Together, and
// remembers the windows.
func (o *OpenAI) models(ctx context.Context) ([]servedModel, error) {
	var res *http.Response
	if err := o.client().Get(ctx, "models", nil, &res, o.auth()...); err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := noPage(res); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Data []servedModel `json:"data"`
	}
	if json.Unmarshal(body, &whole.Data) != nil {
		if err := decode(body, &whole); err != nil {
			return nil, fmt.Errorf("reading its answer: %w", err)
		}
	}
	for _, m := range whole.Data {
		Recall[servedWindow](o.cfg.Memory, o.base(), m.ID).Store(m.window())
	}
	return whole.Data, nil
}

// servedWindow is the window that a server reports for a model.
type servedWindow struct {
	asked  atomic.Bool
	tokens atomic.Int64 // 0 where the server does not report one
}

func (w *servedWindow) Store(tokens int) {
	w.tokens.Store(int64(tokens))
	w.asked.Store(true)
}

// served returns the window that the server reports for the model; ok is false if the
// server was not asked yet.
func (o *OpenAI) served() (window int, ok bool) {
	w := Recall[servedWindow](o.cfg.Memory, o.base(), o.endpoint.model)
	return int(w.tokens.Load()), w.asked.Load()
}

// Learn asks a server for the window of a model that nothing else tells.
func (o *OpenAI) Learn(ctx context.Context) bool {
	if _, asked := o.served(); asked || o.Window() > 0 || o.cfg.Type != ServerCompatible || o.Ready() != nil {
		return false
	}
	if _, err := o.models(ctx); err != nil {
		return false // what is wrong the request itself will tell
	}
	return o.Window() > 0
}
