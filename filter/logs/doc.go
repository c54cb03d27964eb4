// Package logs holds the strategy dedup, which folds the records that a log
// repeats.
//
// Records are compared without times, addresses, ids and numbers. Records that
// report errors are folded only if their numbers are equal too.
package logs

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"dedup": newDedup,
}
