package filter

import (
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// lazily makes the strategy of a built-in rule at its first output. A session
// uses few of the rules, and making all of them would delay its start.
type lazily struct{ get func() strategy.Strategy }

func (l lazily) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return l.get().Begin(run, out)
}

// later is compile for a rule that is known to be valid.
func (w written) later() (rule, error) {
	m, err := compileMatch(w.Match)
	kind, _ := w.Strategy["type"].(string)
	return rule{w.Name, m, lazily{sync.OnceValue(func() strategy.Strategy {
		r, err := w.compile()
		if err != nil {
			return unusable{} // a test makes sure that this does not happen
		}
		return r.strategy
	})}, kind, w.Unless}, err
}

// unusable recognises no output.
type unusable struct{}

func (unusable) Begin(strategy.Run, *text.Lines) strategy.Pass { return unusable{} }
func (unusable) Line([]byte)                                   {}
func (unusable) End() strategy.Confidence                      { return strategy.Fallback }
