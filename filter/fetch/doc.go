// Package fetch holds the strategies for HTTP clients. fetch drops progress,
// headers and page layout from the output of curl and wget. json drops items
// that resemble others from a long list.
package fetch

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{
	"fetch": newFetch,
	"json":  newJSON,
}
