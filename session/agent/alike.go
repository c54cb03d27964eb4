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
	alikeLimit = 8
	// longestCycle is the number of different rounds that a model may repeat in turn.
	longestCycle = 3
)

// alikeRounds detects a model that counts: it makes calls that differ only in numbers or in
// what their failures repeat of them, such as a read with one offset after the other behind the
// end of a file, or it makes a write, an edit and a read in turn.
type alikeRounds struct {
	last []string // the forms of the last rounds, at most alikeLimit+longestCycle
}

// observe records a round and returns how many rounds in a row were alike or in a cycle.
func (a *alikeRounds) observe(round []outcome) int {
	form := ""
	for _, o := range round {
		if o.alike == "" { // the command still runs
			a.last = nil
			return 0
		}
		form += o.alike + "\x00"
	}
	if len(a.last) == alikeLimit+longestCycle {
		a.last = slices.Delete(a.last, 0, 1)
	}
	a.last = append(a.last, form)
	longest := 0
	for cycle := 1; cycle <= longestCycle; cycle++ {
		n := cycle
		for i := len(a.last) - 1; i >= cycle && a.last[i] == a.last[i-cycle]; i-- {
			n++
		}
		if n >= 2*cycle {
			longest = max(longest, n-n%cycle)
		}
	}
	return longest
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
// the parameters that it repeats. What succeeds counts with its parameters, for a read without
// those that are numbers, such as an offset.
func alikeForm(c llm.ToolCall, tool executors.Tool, res executors.Result) string {
	text := res.ForModel()
	switch {
	case res.Failed:
		text = withoutNumbers(withoutEchoes(text, c.Input))
	case tool.Effect.Has(executors.Mutates) && !res.Unchanged:
		text = string(plainjson.Canonical(c.Input)) + "\x00" + withoutNumbers(text)
	case isQuiet(text, tool, false):
		text = withoutNumberParams(c.Input) + "\x00" + withoutNumbers(text)
	default: // numbers in a longer result are data
		text = withoutNumberParams(c.Input) + "\x00" + withoutVolatile(text)
	}
	return short(c.Name + "\x00" + text)
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
