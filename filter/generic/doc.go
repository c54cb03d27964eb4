// Package generic holds the strategies that work on any output: strip_noise drops
// lines, keep_matching keeps them, truncate cuts the middle of a long output, and
// strip_annotated does the first and the last with a summary on top.
//
// Lines that report errors stay in what is cut.
package generic

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family, by the type that rules name.
var Strategies = map[string]strategy.Constructor{
	"strip_noise":     newStripNoise,
	"truncate":        newTruncate,
	"keep_matching":   newKeepMatching,
	"strip_annotated": newStripAnnotated,
}
