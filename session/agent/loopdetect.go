package agent

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A model that repeats itself gets a note once, and is then stopped.
const (
	// loopLimit is the number of repetitions that stop the turn: rounds in a row with the
	// same outcome, or equal calls with the same result and no news in between.
	loopLimit = 3
	// callLimit is the number of equal calls with any result and no news in
	// between that stop the turn.
	callLimit = 5
)

// loopDetector detects a model that repeats itself within one turn: by equal rounds, by the same
// call, or by a cycle of several calls.
//
// News restarts the count of calls: a new call that changes something or has a
// new result, or a command that still runs. Text next to the calls is not news,
// since models announce each attempt. Retries by a link of the chain are not
// counted.
type loopDetector struct {
	last   string // the outcome of the last round
	rounds int    // in a row with that outcome
	known  map[string]bool
	calls  map[string]repeats // since the last news
	alike  alikeRounds
	likes  int // rounds in a row that are alike
}

// repeats counts how often a call was made.
type repeats struct {
	times   int
	same    int // in a row with outcome
	outcome string
}

// outcome is the outcome of a call in the form that detects repetition.
type outcome struct {
	call    string // equal for equal calls
	text    string // equal for equal results
	running bool   // the command has not ended yet
	changed bool   // something was changed, or may have been
	edited  bool   // the tool itself reports the change
	alike   string // equal for results that differ only in numbers; empty while the command runs
}

// observe records the outcomes of a round. It returns the message to stop the
// turn with, or "".
func (d *loopDetector) observe(round []outcome) string {
	if d.known == nil {
		d.known, d.calls = map[string]bool{}, map[string]repeats{}
	}
	var all strings.Builder
	fresh, again := false, true
	for _, o := range round {
		all.WriteString(o.text)
		again = again && !o.running && !o.edited
		fresh = fresh || o.running || !d.known["call "+o.call] && (o.changed || !d.known["text "+o.text])
		d.known["call "+o.call], d.known["text "+o.text] = true, true
	}
	if text := all.String(); text != d.last || !again {
		d.last, d.rounds = text, 0
	}
	d.rounds++
	d.likes = d.alike.observe(round)
	if fresh {
		clear(d.calls)
	}
	stuck, counted := len(round) > 0, map[string]bool{}
	for _, o := range round {
		if !counted[o.call] { // equal concurrent calls are one attempt
			counted[o.call] = true
			d.calls[o.call] = d.calls[o.call].with(o)
		}
		r := d.calls[o.call]
		stuck = stuck && (r.same >= loopLimit || r.times >= callLimit)
	}
	const advice = "so the agent is repeating itself. Tell it what to do differently."
	switch {
	case d.rounds >= loopLimit:
		return fmt.Sprintf("Stopped: the last %d rounds of tool calls had the same outcome, %s", loopLimit, advice)
	case d.likes >= alikeLimit:
		return fmt.Sprintf("Stopped: the last %s of tool calls differ only in numbers and names, %s", quantity.Count(d.likes, "round"), advice)
	case stuck:
		return "Stopped: the model makes the same tool calls again and again without new results, " + advice
	}
	return ""
}

// forget restarts the count of calls: the model may repeat a call whose result
// it no longer sees.
func (d *loopDetector) forget() { clear(d.calls) }

func (r repeats) with(o outcome) repeats {
	r.times++
	if o.text != r.outcome {
		r.same, r.outcome = 0, o.text
	}
	r.same++
	return r
}

// nudge returns a note for the model after the result of a repeated call. It
// changes nothing, so concurrent calls may use it.
func (d *loopDetector) nudge(o outcome) string {
	r := d.calls[o.call].with(o)
	often := ""
	switch {
	case o.running:
	case r.same >= loopLimit-1:
		often = fmt.Sprintf("%s with the same outcome", quantity.Count(r.same, "time"))
	case r.times >= callLimit-1:
		often = quantity.Count(r.times, "time")
	}
	if often == "" {
		return alikeNotes(d.likes)
	}
	return fmt.Sprintf("\n\n[repeat] You made this call %s, and nothing new came in between. Do something else, or tell the user what is in the way.", often)
}

// Outputs up to this length, in bytes, do not show progress: different calls have the
// same short outputs.
const (
	quiet     = 16
	quietLine = 200 // of a successful read, such as "No matches for: x"
)

// isQuiet reports whether an output does not show progress.
func isQuiet(text string, tool executors.Tool, failed bool) bool {
	if failed || tool.Effect.Has(executors.Mutates) {
		return len(text) <= quiet
	}
	return len(text) <= quietLine && !strings.Contains(strings.TrimSpace(text), "\n")
}

// outcomeOf returns the outcome of a call: its output without the volatile
// parts. The call itself counts only if there is hardly any output.
func outcomeOf(c llm.ToolCall, tool executors.Tool, res executors.Result) outcome {
	o := outcome{call: c.Name + "\x00" + string(plainjson.Canonical(c.Input))}
	o.text = withoutVolatile(res.ForModel()) + "\x00"
	if isQuiet(o.text, tool, res.Failed) {
		o.text = o.call + "\x00" + o.text
	}
	o.text = short(o.text)
	if o.running = !res.Failed && res.Output != nil && res.Output.Partial; !o.running {
		o.alike = alikeForm(c, tool, res)
	}
	o.changed = !res.Failed && !res.Unchanged && tool.Effect.Has(executors.Mutates)
	o.edited = o.changed && tool.Kind != executors.KindExecute // a command's output does not report its changes
	return o
}

// short returns a text that is kept for the rest of the turn: itself, or its hash.
func short(text string) string {
	if len(text) <= sha256.Size {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}
