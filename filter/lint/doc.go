// Package lint holds the strategy group_by_rule, which states once what each rule of
// a linter or compiler complains of and lists all places.
//
// Errors of compilers stay as they were written.
package lint

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family, by the type that rules name.
var Strategies = map[string]strategy.Constructor{
	"group_by_rule": newGroupByRule,
}
