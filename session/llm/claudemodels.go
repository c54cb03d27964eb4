package llm

import (
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
)

// DefaultClaude is the model that a Claude provider has without anyone picking
// one.
const DefaultClaude = anthropic.ModelClaudeSonnet5_5

// claudeModel is what a request depends on, of
// https://platform.claude.com/docs/en/about-claude/models/overview
type claudeModel struct {
	prefix   string
	window   int  // tokens
	output   int  // most tokens of an answer
	adaptive bool // takes thinking of type adaptive; the others would reject it
}

// claudeModels is asked from the top; the first prefix that fits counts.
var claudeModels = []claudeModel{
	{"claude-haiku-4-5", 200_000, 64_000, false},
	{"claude-sonnet-4-5", 200_000, 64_000, false},
	{"claude-opus-4-5", 200_000, 64_000, false},
	{"claude-sonnet-4-6", 1_000_000, 128_000, true},
	{"claude-opus-4-6", 1_000_000, 128_000, true},
	{"claude-opus-4-7", 1_000_000, 128_000, true},
	{"claude-opus-4-8", 1_000_000, 128_000, true},
	{"claude-sonnet-4", 200_000, 64_000, false},
	{"claude-opus-4", 200_000, 32_000, false},
	{"claude-haiku-5", 1_000_000, 128_000, true},
	{"claude-sonnet-5", 1_000_000, 128_000, true},
	{"claude-opus-5", 1_000_000, 128_000, true},
	{"claude-fable-5", 1_000_000, 128_000, true},
	{"claude-mythos", 200_000, 64_000, true},
	{"claude-3", 200_000, 4_096, false},
	{"", 200_000, 64_000, false}, // anything else that speaks the same protocol
}

func claudeModelOf(name string) claudeModel {
	for _, m := range claudeModels {
		if strings.HasPrefix(name, m.prefix) {
			return m
		}
	}
	return claudeModel{}
}
