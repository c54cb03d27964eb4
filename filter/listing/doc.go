// Package listing holds the strategies for lists: listing joins paths by directory,
// group_matches lists search results below their file, and table keeps the largest
// rows of df, du, ps and the like.
package listing

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family, by the type that rules name.
var Strategies = map[string]strategy.Constructor{
	"listing":       newListing,
	"group_matches": newGroupMatches,
	"table":         newTable,
}
