package openai

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini/models"
)

// DefaultModel is the model of a provider without a configured one.
const DefaultModel = "gpt-6.1-sol"

// defaultModels are the models of the servers that have a default.
var defaultModels = map[string]string{ServerOpenAI: DefaultModel, ServerGemini: models.Default}

// The efforts that sets of models accept.
var (
	o3Efforts    = []string{"low", "medium", "high"}
	gpt5Efforts  = []string{"minimal", "low", "medium", "high"}
	gpt51Efforts = []string{"none", "low", "medium", "high"}
	codexEfforts = []string{"low", "medium", "high", "xhigh"}
	gpt52Efforts = []string{"none", "low", "medium", "high", "xhigh"}
	gpt56Efforts = []string{"none", "low", "medium", "high", "xhigh", "max"}
	gpt6Efforts  = []string{"low", "medium", "high", "xhigh", "max"}
)

// modelFacts are the properties of a model that shape a request.
type modelFacts struct {
	prefix     string
	window     int      // tokens; 0 if unknown
	levels     []string // nil if unknown
	noThoughts bool     // does not think
}

// openAIModels is searched from the top; the first matching prefix counts. An unlisted
// model is assumed to think, as all new ones do, and its window is unknown.
//
//	https://developers.openai.com/api/docs/models
//	https://developers.openai.com/api/docs/guides/reasoning
var openAIModels = []modelFacts{
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

// pinned matches the rest of a known model's name that does not make it another model:
// a date, or a word for a preview.
var pinned = lazyregexp.New(`^(-20[0-9]{2}-[0-9]{2}-[0-9]{2}|-preview(-[0-9-]+)?|-latest)?$`)

// factsOf returns the known properties of a model at a server of that kind. A
// compatible server has none, since its efforts are unknown.
func factsOf(kind, name string) modelFacts {
	switch kind {
	case ServerCompatible:
		return modelFacts{noThoughts: true}
	case ServerGemini:
		f := models.Of(name)
		return modelFacts{f.Prefix, f.Window, f.Levels, f.NoThoughts}
	}
	for _, m := range openAIModels {
		rest, ok := strings.CutPrefix(name, m.prefix)
		if !ok {
			continue
		}
		if !pinned.MatchString(rest) {
			m.levels = nil
		}
		return m
	}
	return modelFacts{}
}

// WindowOf returns the context window of a model of OpenAI or Google, in tokens, or 0
// for others.
func WindowOf(model string) int {
	for _, m := range openAIModels {
		if strings.HasPrefix(model, m.prefix) {
			return m.window
		}
	}
	return models.Of(model).Window
}
