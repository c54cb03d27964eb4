package provider

import (
	"context"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

// served is a model of Anthropic's protocol at a server nearby, such as llama.cpp, vLLM or Ollama. These servers speak the
// other protocols too, and state the facts about their models there.
type served struct {
	*anthropic.Model
	asked *openai.Model
}

// Learn implements [llm.Learner].
func (s served) Learn(ctx context.Context) bool { return s.asked.Learn(ctx) }

// Facts implements [llm.Facted].
func (s served) Facts() (f llm.Facts, known bool) { return s.asked.Facts() }

// Recall implements [llm.Facted].
func (s served) Recall(f llm.Facts) { s.asked.Recall(f) }

// LacksTools reports whether the model cannot be offered tools, according to its server.
func (s served) LacksTools() bool { return s.asked.LacksTools() }
