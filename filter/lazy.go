package filter

import (
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// lazyStrategy makes the strategy of a built-in rule at its first output. A session
// uses few of the rules, and making all of them would delay its start.
type lazyStrategy struct{ build func() strategy.Strategy }

func (l lazyStrategy) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return l.build().Begin(run, out)
}

// compileLazily is compile for a rule that is known to be valid.
func (w writtenRule) compileLazily() (rule, error) {
	m, err := compileMatch(w.Match)
	strategyType, _ := w.Strategy["type"].(string)
	return rule{w.Name, m, lazyStrategy{sync.OnceValue(func() strategy.Strategy {
		r, err := w.compile()
		if err != nil {
			return unusableStrategy{} // a test checks that this never happens
		}
		return r.strategy
	})}, strategyType, w.Unless}, err
}

// unusableStrategy recognises no output.
type unusableStrategy struct{}

func (unusableStrategy) Begin(strategy.Run, *text.Lines) strategy.Pass { return unusableStrategy{} }
func (unusableStrategy) Line([]byte)                                   {}
func (unusableStrategy) End() strategy.Confidence                      { return strategy.Fallback }
