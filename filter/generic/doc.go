// Package generic holds the strategies that work on any output. strip_noise
// drops lines, keep_matching keeps them, and truncate cuts the middle of a long
// output. strip_annotated drops and cuts, and puts a summary first.
//
// Lines that report problems survive a cut.
package generic

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"strip_noise":     newStripNoise,
	"truncate":        newTruncate,
	"keep_matching":   newKeepMatching,
	"strip_annotated": newStripAnnotated,
}
