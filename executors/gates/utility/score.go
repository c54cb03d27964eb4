package utility

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// score holds the parts of a call's score, each from 0 to 1.
type score struct {
	gain        float64 // the expected value of the result
	cost        float64 // the estimated size of the result, as a share of the largest one
	redundancy  float64 // 1 if the turn has made the same call
	exploration float64 // 1 if the tool was not used lately
}

const (
	recentCalls   = 10     // calls that count for the exploration bonus
	largestResult = 50_000 // bytes of the largest usual result
	guessedSize   = 2_000  // bytes of a result of a tool that was not called yet
)

// total returns the weighted sum.
func (s score) total(cfg Config) float64 {
	return cfg.GainWeight*s.gain - cfg.CostWeight*s.cost - cfg.RedundancyWeight*s.redundancy + cfg.UncertaintyBonus*s.exploration
}

// String returns the parts for the audit log.
func (s score) String() string {
	return fmt.Sprintf("gain %.2f, cost %.2f, redundancy %.2f, exploration %.2f", s.gain, s.cost, s.redundancy, s.exploration)
}

// score computes the parts for a call.
func (g *Gate) score(call *executors.Call) score {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := score{gain: g.gain(call)}
	size := guessedSize
	if m := g.sizes[call.Tool]; m.n > 0 {
		size = m.sum / m.n
	}
	s.cost = min(float64(size+len(call.Input))/largestResult, 1)
	if g.callsThisTurn[keyOf(call)] {
		s.redundancy = 1
	}
	used := 0
	for _, name := range g.recent {
		if name == call.Tool {
			used++
		}
	}
	s.exploration = 1 - float64(used)/recentCalls
	return s
}

const (
	otherGain = 0.5
	highGain  = 0.75 // of HighGainTools
)

func (g *Gate) gain(call *executors.Call) float64 {
	if g.highGainTools[plainName(call.Tool)] {
		return highGain
	}
	return cmp.Or(float64(call.Spec.Gain), otherGain)
}

// requestPattern matches words of a user that ask for a call.
var requestPattern = lazyregexp.New(`(?i)\busing a tool\b|\bshow me the (?:result|output) of\b|(?:^|\s)(?:run|execute):|\bwhat (?:does|would|is) the output of\b|` + "`[^`\n]*[|><$;&][^`\n]*`")

// userAsked reports whether the user asked for a call: by typing it, or in words. Only the
// user's own words count.
func userAsked(call *executors.Call) bool {
	if call.Origin == executors.User {
		return true
	}
	words := strings.ToLower(call.UserWords)
	for _, verb := range []string{"call", "use", "run", "invoke", "execute"} {
		if strings.Contains(words, verb+" the "+call.Tool+" tool") || strings.Contains(words, verb+" the tool "+call.Tool) {
			return true
		}
	}
	return requestPattern.MatchString(call.UserWords)
}
