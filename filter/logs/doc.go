// Package logs holds the strategy dedup, which folds the records that a log repeats.
//
// Records are compared without times, addresses, ids and numbers. A record that
// reports an error is folded only with those of the same numbers.
package logs

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family, by the type that rules name.
var Strategies = map[string]strategy.Constructor{
	"dedup": newDedup,
}
