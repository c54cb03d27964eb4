package agent

import (
	"regexp"
	"sync"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// doomLimit is how many rounds in a row may have the same outcome.
const doomLimit = 3

// doom notices a model that goes in circles.
type doom struct {
	last  string
	count int
}

// repeats takes the outcome of a round and reports whether it was the same too
// often.
func (d *doom) repeats(outcome string) bool {
	if outcome != d.last {
		d.last, d.count = outcome, 0
	}
	d.count++
	return d.count >= doomLimit
}

// volatile is what differs between two runs of the same command.
var volatile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}` + // UUIDs
		`|\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d(?:\.\d+)?` + // dates and times
		`|\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s)\b`) // durations
})

// quiet are outputs that say nothing about whether a call got anywhere: different
// commands have them.
const quiet = 16 // bytes

// outcomeOf is what a call came to, as far as going in circles is concerned: its
// output without what is volatile. The call itself counts only where there is
// hardly any output.
func outcomeOf(c llm.ToolCall, output string) string {
	output = volatile().ReplaceAllString(output, "#") + "\x00"
	if len(output) <= quiet {
		return c.Name + string(c.Input) + "\x00" + output
	}
	return output
}
