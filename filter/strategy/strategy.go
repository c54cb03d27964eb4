// Package strategy is the contract between the filter and its strategies.
//
// A [Constructor] makes a [Strategy] from the parameters of a rule. The filter
// begins a [Pass] for each output, sends it the lines, and ends it. The
// [Confidence] of the pass decides whether its result counts.
//
// Why may a pass return [Fallback]? A summary of an output that is not a test
// run would lose everything. So a strategy that does not recognise its input
// returns Fallback, and the output stays unchanged.
package strategy

import "github.com/zeph-acp/zeph-acp/filter/text"

// Confidence is how well a strategy recognised an output.
type Confidence uint8

// The levels. If several rules filter an output, the worst confidence counts,
// which is the largest.
const (
	Full     Confidence = iota // the output was recognised
	Partial                    // a heuristic: useful lines may be missing
	Fallback                   // the output was not recognised and stays unchanged
)

// String returns the name used in metrics.
func (c Confidence) String() string { return [...]string{"full", "partial", "fallback"}[c] }

// Run describes the command whose output a strategy filters.
type Run struct {
	Command string   // the segment that the rule matched, without wrappers, pipes and redirections
	Exit    int      // exit code of the whole script; -1 if a signal ended it or the code is unknown
	Mixed   bool     // other commands of the script may have written too: keep unrecognised lines
	Others  []string // those commands, the last one first; at most a few
	Alone   bool     // no other rule filters the output

	// A later command of the pipeline selected the lines, as in "make | grep gcc": no kind of line
	// is noise.
	Selected bool

	// Inner filters a part of the output that another command wrote by the rules of this
	// command. It returns the part itself if no rule recognises it.
	Inner func(run Run, part *text.Lines) (*text.Lines, Confidence, error)
}

// Strategy is the method of a rule, with its parameters. It is immutable and
// used for many outputs concurrently.
type Strategy interface {
	// Begin starts the filtering of one output.
	Begin(run Run, out *text.Lines) Pass
}

// Pass filters the lines of one output.
type Pass interface {
	// Line handles the next line, sanitised, masked and without its line feed.
	// Blank lines are empty. The pass must not change or keep l.
	Line(l []byte)
	// End writes the rest. If it returns Fallback, the written text is
	// discarded and the input stays unchanged.
	End() Confidence
}

// Constructor makes a strategy of its parameters. The error names the invalid
// parameter.
type Constructor func(p Params) (Strategy, error)
