// Package strategy is the contract between the filter and its strategies.
//
// A [Constructor] makes a [Strategy] of the parameters of a rule. The filter begins
// a [Pass] for each output, sends it the lines, and ends it. The [Confidence] of the
// pass says whether its result counts.
//
// Why may a pass say [Fallback]? A summary of something that is not a test run
// would lose everything, so a strategy that does not recognise its input returns
// Fallback and the output stays as it was.
package strategy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Confidence says how sure a filter is of what it did.
type Confidence uint8

// The levels; of several rules the worst, which is the largest, counts.
const (
	Full     Confidence = iota // it knows this output
	Partial                    // a heuristic: something of use may be gone
	Fallback                   // the output did not look as expected, and stays as it is
)

// String gives the name as metrics and people read it.
func (c Confidence) String() string { return [...]string{"full", "partial", "fallback"}[c] }

// Run is what a strategy may know of the command whose output it gets.
type Run struct {
	Command string // the segment that the rule matched, without wrappers, pipes and redirections
	Exit    int    // exit code of the whole line; -1 means that a signal ended it, or nobody knows
	Mixed   bool   // other commands of the line may have written too: what is not recognised stays
}

// Strategy is how a rule works, with its parameters. It does not change, and is
// used for many outputs at once.
type Strategy interface {
	// Begin begins one output.
	Begin(run Run, out *text.Lines) Pass
}

// Pass takes the lines of one output.
type Pass interface {
	// Line takes the next line, sanitised, masked and without its end. It must
	// not change it, and the line is the caller's after Line returned. Blank ones
	// are empty.
	Line(l []byte)
	// End writes what is left. With Fallback all that was written is thrown
	// away, and the input goes on as it is.
	End() Confidence
}

// Constructor makes a strategy of its parameters. The error says which one is
// wrong, and why.
type Constructor func(p Params) (Strategy, error)

// Params are the parameters of a strategy, as a rule sets them.
type Params map[string]any

// Decode decodes the parameters into a struct that holds the defaults. A name
// that the struct does not have is an error.
func (p Params) Decode(into any) error {
	text, err := toml.Marshal(map[string]any(p))
	if err != nil {
		return err
	}
	return Strict(text, into)
}

// Strict decodes TOML into a struct that must have all of its keys.
func Strict(text []byte, into any) error {
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(into)
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		return fmt.Errorf("there is no %q", strings.Join(strict.Errors[0].Key(), "."))
	}
	if e, ok := errors.AsType[*toml.DecodeError](err); ok {
		return fmt.Errorf("%s: %w", strings.Join(e.Key(), "."), err)
	}
	return err
}
