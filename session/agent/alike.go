package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Rounds that are only alike may be slow progress, so more of them are needed than of equal
// ones until the model gets a note, and until the turn stops.
const (
	alikeNote  = 5
	alikeLimit = 7
)

// alikeRounds detects a model that counts: it makes calls that differ only in numbers or in
// what their failures repeat of them, such as a read with one offset after the other behind the
// end of a file. It may make two or three such calls in turn, in any order.
type alikeRounds struct {
	last []string // the forms of the last rounds, at most alikeLimit
}

// observe records a round and returns how many of the last rounds bring nothing new: each of them is like another one
// of them.
func (a *alikeRounds) observe(round []outcome) int {
	form := ""
	for _, o := range round {
		if o.alike == "" { // the command still runs
			a.last = nil
			return 0
		}
		form += o.alike + "\x00"
	}
	a.last = append(a.last, form)
	a.last = a.last[max(0, len(a.last)-alikeLimit):]
	for n := len(a.last); n >= alikeNote; n-- {
		if isRepeated(a.last[len(a.last)-n:]) {
			return n
		}
	}
	return 0
}

// isRepeated reports whether each form occurs more than once.
func isRepeated(forms []string) bool {
	times := map[string]int{}
	for _, f := range forms {
		times[f]++
	}
	for _, n := range times {
		if n == 1 {
			return false
		}
	}
	return true
}

// alikeNotes returns the note for the model after so many rounds.
func alikeNotes(rounds int) string {
	if rounds < alikeNote {
		return ""
	}
	return fmt.Sprintf("\n\n[repeat] The last %d rounds of tool calls differ only in numbers and names and bring nothing new. "+
		"Do something else, or tell the user what is in the way.", rounds)
}

// alikeForm returns a text that is equal for outcomes that are alike. What fails counts without
// the parameters and the lines that it repeats. What succeeds counts with its parameters, for a read without
// those that are numbers, such as an offset.
func alikeForm(c llm.ToolCall, tool executors.Tool, res executors.Result) string {
	text := res.ForModel()
	switch {
	case res.Failed:
		text = onceEach(withoutNumbers(withoutEchoes(text, c.Input)))
	case tool.Effect.Has(executors.Mutates) && !res.Unchanged:
		text = string(plainjson.Canonical(c.Input)) + "\x00" + withoutNumbers(text)
	case isQuiet(text, tool, false):
		text = withoutNumberParams(c.Input) + "\x00" + withoutNumbers(text)
	default: // numbers in a longer result are data
		text = withoutNumberParams(c.Input) + "\x00" + withoutVolatile(text)
	}
	return short(c.Name + "\x00" + text)
}

// onceEach returns each line once: a model that runs what failed before as a command gets one more line each time.
func onceEach(text string) string {
	seen := map[string]bool{}
	var out []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !seen[line] {
			seen[line] = true
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// withoutNumberParams returns the parameters with "#" for each number.
func withoutNumberParams(input json.RawMessage) string {
	var params map[string]any
	if json.Unmarshal(input, &params) != nil {
		return string(input)
	}
	for name, v := range params {
		if _, ok := v.(float64); ok {
			params[name] = "#"
		}
	}
	out, err := json.Marshal(params)
	if err != nil {
		return string(input)
	}
	return string(out)
}

// withoutNumbers returns a text with "#" for each run of digits.
func withoutNumbers(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case !isDigit(text[i]):
			out.WriteByte(text[i])
		case i == 0 || !isDigit(text[i-1]):
			out.WriteByte('#')
		}
	}
	return out.String()
}

// shortestEcho is the length of the shortest parameter that is looked for in a result.
const shortestEcho = 3

// withoutEchoes returns a text without the texts of the call's parameters.
func withoutEchoes(text string, input json.RawMessage) string {
	var values any
	if json.Unmarshal(input, &values) != nil {
		return text
	}
	var echoes []string
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case string:
			if len(v) >= shortestEcho {
				echoes = append(echoes, v)
			}
		case []any:
			for _, e := range v {
				collect(e)
			}
		case map[string]any:
			for _, e := range v {
				collect(e)
			}
		}
	}
	collect(values)
	slices.SortFunc(echoes, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, e := range echoes {
		text = strings.ReplaceAll(text, e, "")
	}
	return text
}
