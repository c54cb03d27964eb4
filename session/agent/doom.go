package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// A model that goes in circles is told so once, and then stopped.
const (
	// doomLimit is how many rounds in a row may have the same outcome, and how
	// often a call may be made that comes to the same, when nothing new came in
	// between.
	doomLimit = 3
	// callLimit is how often a call may be made whatever it comes to, when nothing
	// new came in between.
	callLimit = 5
)

// doom notices a model that goes in circles, within one turn: rounds that come to
// the same, a call that is made again and again, or several in turn.
//
// What is new, so that the calls are counted anew: a call that was not made before
// and that changes something or comes to something not seen before, and a command
// that still runs. Text next to the calls is not: models announce
// each attempt. Calls that a link tries again by itself never come here.
type doom struct {
	last   string // what the last round came to
	rounds int    // in a row that came to it
	known  map[string]bool
	calls  map[string]repeats // since something new came
}

// repeats is how often a call was made.
type repeats struct {
	times   int
	same    int // in a row that came to outcome
	outcome string
}

// outcome is what a call came to, as far as going in circles is concerned.
type outcome struct {
	call    string // the same for the same call
	text    string // the same for the same result
	running bool   // a command that has not ended yet
	changed bool   // something was changed, or may have been
	edited  bool   // and that by a tool whose own word it is
}

// observe notes the outcomes of a round. It returns the message for the user if the
// model has to be stopped, else "".
func (d *doom) observe(round []outcome) string {
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
	if fresh {
		clear(d.calls)
	}
	stuck, counted := len(round) > 0, map[string]bool{}
	for _, o := range round {
		if !counted[o.call] { // side by side they are one attempt
			counted[o.call] = true
			d.calls[o.call] = d.calls[o.call].and(o)
		}
		r := d.calls[o.call]
		stuck = stuck && (r.same >= doomLimit || r.times >= callLimit)
	}
	const advice = "so the agent is going in circles. Tell it what to do differently."
	switch {
	case d.rounds >= doomLimit:
		return fmt.Sprintf("Stopped: the last %d rounds of tool calls had the same outcome, %s", doomLimit, advice)
	case stuck:
		return "Stopped: the model makes the same tool calls again and again and nothing new comes of them, " + advice
	}
	return ""
}

// forget counts the calls anew: what the model no longer sees it may ask for again.
func (d *doom) forget() { clear(d.calls) }

func (r repeats) and(o outcome) repeats {
	r.times++
	if o.text != r.outcome {
		r.same, r.outcome = 0, o.text
	}
	r.same++
	return r
}

// nudge returns a note for the model after the result of a call that it has made
// before to no avail. It changes nothing, so parallel calls may use it.
func (d *doom) nudge(o outcome) string {
	r := d.calls[o.call].and(o)
	often := ""
	switch {
	case o.running:
	case r.same >= doomLimit-1:
		often = fmt.Sprintf("%d times with the same outcome", r.same)
	case r.times >= callLimit-1:
		often = fmt.Sprintf("%d times", r.times)
	}
	if often == "" {
		return ""
	}
	return fmt.Sprintf("\n\n[repeat] You made this call %s, and nothing new came in between. Do something else, or tell the user what is in the way.", often)
}

// volatile is what differs between two runs of the same command.
var volatile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}` + // UUIDs
		`|\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d(?:\.\d+)?` + // dates and times
		`|\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s)\b`) // durations
})

// Outputs up to this length, in bytes, say nothing about whether a call got
// anywhere: different calls have them.
const (
	quiet     = 16
	quietLine = 200 // of what only looked, and found, such as "No matches for: x", nothing much
)

// isQuiet reports whether an output is of that kind.
func isQuiet(text string, tool executors.Tool, failed bool) bool {
	if failed || tool.Effect.Has(executors.Mutates) {
		return len(text) <= quiet
	}
	return len(text) <= quietLine && !strings.Contains(strings.TrimSpace(text), "\n")
}

// outcomeOf is what a call came to: its output without what is volatile. The call
// itself counts only where there is hardly any output.
func outcomeOf(c llm.ToolCall, tool executors.Tool, res executors.Result) outcome {
	o := outcome{call: c.Name + "\x00" + canonical(c.Input)}
	o.text = volatile().ReplaceAllString(res.ForModel(), "#") + "\x00"
	if isQuiet(o.text, tool, res.Failed) {
		o.text = o.call + "\x00" + o.text
	}
	o.running = !res.Failed && res.Output != nil && res.Output.Partial
	o.changed = !res.Failed && tool.Effect.Has(executors.Mutates)
	o.edited = o.changed && tool.Kind != executors.KindExecute // the output of a command is not ours
	return o
}

// canonical is the same for inputs that mean the same: without spaces, members in
// order, numbers as they are written.
func canonical(input json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(input)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(input)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(input)
	}
	return string(out)
}
