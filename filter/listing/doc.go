// Package listing holds the strategies for lists. listing joins paths by
// directory, group_matches joins search results by file, and table keeps the
// largest rows of df, du, ps and similar programs.
package listing

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"listing":       newListing,
	"group_matches": newGroupMatches,
	"table":         newTable,
}
