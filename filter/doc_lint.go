// Package lint holds the strategy group_by_rule, which states once what each rule of
// a linter or compiler complains of and lists all places.
//
// Errors of compilers stay as they were written.
package filter

// lintStrategies are the constructors of this family, by the type that rules name.
var lintStrategies = map[string]Constructor{
	"group_by_rule": newGroupByRule,
}
