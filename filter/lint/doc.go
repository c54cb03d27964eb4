// Package lint holds the strategy group_by_rule, which writes each message of a
// linter or compiler once, grouped by rule, with all its places.
//
// Errors of compilers stay unchanged.
package lint

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"group_by_rule": newGroupByRule,
}
