package textcalls

import (
	"slices"
	"strings"
	"sync"
)

// form is a way in which models write a call outside of a code block: an opener, a name, arguments
// and a closer. The forms are those of the models' own templates, which reach us where a server
// does not parse them.
type form struct {
	open string // what begins a call
	// name lists what may follow the name; nil means that the name is in the JSON of the arguments.
	name []string
	// param describes a parameter that is written as tags; empty: the arguments are JSON.
	param params
	close []string // what may end a call; the end of its JSON does, too
	line  bool     // counts only at the beginning of a line
}

// params are the tags of a parameter: before its name, after its name, and after its value.
type params struct{ open, named, end string }

var (
	qwenParam  = params{"<parameter=", ">", "</parameter>"}
	glmParam   = params{"<arg_key>", "<arg_value>", "</arg_value>"}
	namedParam = params{`parameter name="`, ">", "parameter>"} // with the prefix of a namespace
)

// forms are all forms. Of several with the same opener, the first that fits counts.
var forms = []form{
	// Hermes, Qwen 2.5 and 3, Granite 4; Qwen 2.5 Coder also writes <tools>.
	{open: "<tool_call>", close: []string{"</tool_call>"}},
	{open: "<tools>", close: []string{"</tools>"}},
	{open: "<function_call>", close: []string{"</function_call>"}},
	{open: "<tool_calls>", close: []string{"</tool_calls>"}}, // Hunyuan
	{open: "<TOOLCALL>", close: []string{"</TOOLCALL>"}},     // Nemotron
	// GLM.
	{open: "<tool_call>", name: []string{"<arg_key>", "</tool_call>", "\n"}, param: glmParam, close: []string{"</tool_call>"}},
	// Qwen 3 Coder, Seed-OSS; Llama 3.1 and Functionary write JSON inside.
	{open: "<function=", name: []string{">"}, param: qwenParam, close: []string{"</function>"}},
	// MiniMax, Step, Claude's earlier models; DeepSeek's DSML is the same in other letters.
	{open: `<invoke name="`, name: []string{`">`}, param: namedParam, close: []string{"</invoke>"}},
	{open: `<steptml:invoke name="`, name: []string{`">`}, param: namedParam, close: []string{"</steptml:invoke>"}},
	{open: `<｜DSML｜invoke name="`, name: []string{`">`}, param: namedParam, close: []string{"</｜DSML｜invoke>"}},
	{open: `<｜｜DSML｜｜invoke name="`, name: []string{`">`}, param: namedParam, close: []string{"</｜｜DSML｜｜invoke>"}},
	{open: `<‖DSML‖invoke name="`, name: []string{`">`}, param: namedParam, close: []string{"</‖DSML‖invoke>"}},
	{open: `<|DSML|invoke name="`, name: []string{`">`}, param: namedParam, close: []string{"</|DSML|invoke>"}},
	// DeepSeek V3 and R1, then V3.1.
	{open: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>", name: []string{"\n", "```"}, close: []string{"<｜tool▁call▁end｜>"}},
	{open: "<｜tool▁call▁begin｜>", name: []string{"<｜tool▁sep｜>"}, close: []string{"<｜tool▁call▁end｜>"}},
	// Kimi.
	{open: "<|tool_call_begin|>", name: []string{"<|tool_call_argument_begin|>"}, close: []string{"<|tool_call_end|>"}},
	// gpt-oss; some servers drop its special tokens.
	{open: "<|channel|>commentary to=", name: []string{"<|message|>"}, close: []string{"<|call|>", "<|end|>"}},
	{open: "<|channel|>analysis to=", name: []string{"<|message|>"}, close: []string{"<|call|>", "<|end|>"}},
	{open: "<|start|>assistant to=", name: []string{"<|message|>"}, close: []string{"<|call|>", "<|end|>"}},
	{open: "commentary to=functions.", name: []string{"{"}, line: true},
	{open: "assistantcommentary to=functions.", name: []string{"{"}, line: true},
	// Mistral, before and since version 11 of its tokenizer; LM Studio.
	{open: "[TOOL_CALLS]"},
	{open: "[TOOL_CALLS]", name: []string{"[ARGS]", "[CALL_ID]", "{"}},
	{open: "[TOOL_REQUEST]", close: []string{"[END_TOOL_REQUEST]"}},
	// Llama 3 and 4, LFM2, Phi 4, Granite 3, Command R, Apertus, InternLM.
	{open: "<|python_tag|>", close: []string{"<|eom_id|>"}},
	{open: "<|python_start|>", close: []string{"<|python_end|>"}},
	{open: "<|tool_call_start|>", close: []string{"<|tool_call_end|>"}},
	{open: "<|tool_call|>", close: []string{"<|/tool_call|>"}},
	{open: "<|START_ACTION|>", close: []string{"<|END_ACTION|>"}},
	{open: "<|tools_prefix|>", close: []string{"<|tools_suffix|>"}},
	{open: "<|action_start|><|plugin|>", close: []string{"<|action_end|>"}},
	{open: "functools", line: true},
	// Our own block without its fence, as small models write it.
	{open: toolCallTag + "\n", line: true},
	// Functionary 3.2.
	{open: ">>>", name: []string{"\n"}, line: true},
	// Gemma.
	{open: "<|tool_call>call:", name: []string{"{"}, close: []string{"<tool_call|>"}},
	{open: "<start_function_call>call:", name: []string{"{"}, close: []string{"<end_function_call>"}},
}

// wrappers surround calls. Before a call they begin it; after one they are dropped.
var wrappers = []string{
	"<tool_call>", "<function_calls>", "<tool_calls>", "<minimax:tool_call>", "<seed:tool_call>", "<function_calls>", "<calls>",
	"<｜DSML｜function_calls>", "<｜DSML｜tool_calls>", "<｜｜DSML｜｜tool_calls>",
	"<‖DSML‖tool_calls>", "<|DSML|tool_calls>", "<|DSML|function_calls>",
}

// wrapperEnds are the closing tags of wrappers. They mean nothing without calls.
func wrapperEnds() []string {
	var ends []string
	for _, w := range wrappers {
		ends = append(ends, "</"+w[1:])
	}
	for _, f := range forms {
		ends = append(ends, f.close...)
	}
	return slices.DeleteFunc(ends, func(s string) bool { return !strings.HasPrefix(s, "<") && !strings.HasPrefix(s, "[") })
}

// specialTokens are tokens of templates that mean nothing in an answer. Servers leave them in the text where a
// template does not fit the model.
var specialTokens = []string{
	"<|im_end|>", "<|im_start|>assistant", "<|im_start|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|begin_of_text|>",
	"<|start_header_id|>assistant<|end_header_id|>", "<end_of_turn>", "<start_of_turn>model", "<start_of_turn>", "<turn|>", "<|turn>model",
	"<|end|>", "<|return|>", "<|call|>", "<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>commentary<|message|>",
	"<|channel|>final <|constrain|>json<|message|>",
	"<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜Assistant｜>",
	"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|END_OF_TURN_TOKEN|>", "<|END_RESPONSE|>", "<|START_RESPONSE|>",
	"<|assistant|>", "<|observation|>", "<|eot|>", "<|python_end|>", "<|tool_call_end|>", "[e~[",
}

// tokenKind is the meaning of a token in an answer.
type tokenKind int

const (
	opener   tokenKind = iota // of a call
	ending                    // of a call or a wrapper
	special                   // dropped
	thinking                  // begins reasoning in the middle of an answer, which stays text
	thought                   // ends reasoning that had no opening tag
)

// token is a text that ends the plain text before it.
type token struct {
	text string
	kind tokenKind
	line bool // counts only at the beginning of a line
}

// tokens are all tokens, the longest first, by their first byte.
var tokens = sync.OnceValue(func() map[byte][]token {
	var all []token
	for _, f := range forms {
		all = append(all, token{f.open, opener, f.line})
	}
	for _, w := range wrappers {
		all = append(all, token{w, opener, false})
	}
	for _, e := range wrapperEnds() {
		if slices.Contains(specialTokens, e) {
			continue
		}
		all = append(all, token{e, ending, false})
	}
	for _, s := range specialTokens {
		all = append(all, token{s, special, false})
	}
	for _, tags := range thinkTags {
		if strings.HasPrefix(tags[1], "</") {
			all = append(all, token{tags[0], thinking, false}, token{tags[1], thought, false})
		}
	}
	slices.SortStableFunc(all, func(a, b token) int { return len(b.text) - len(a.text) })
	byFirst := map[byte][]token{}
	for _, t := range all {
		byFirst[t.text[0]] = append(byFirst[t.text[0]], t)
	}
	return byFirst
})

// tokenAt returns the token that a text begins with. partial means that the text is the beginning of one, and more
// text decides.
func tokenAt(text string, lineStart bool) (t token, found, partial bool) {
	for _, t := range tokens()[text[0]] {
		switch {
		case t.line && !lineStart:
		case strings.HasPrefix(text, t.text):
			return t, true, partial
		case strings.HasPrefix(t.text, text):
			partial = true
		}
	}
	return token{}, false, partial
}

// withoutSpecial removes the special tokens from reasoning.
var withoutSpecial = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, s := range specialTokens {
		pairs = append(pairs, s, "")
	}
	return strings.NewReplacer(pairs...)
})
