// Package fetch holds the strategies for what comes over HTTP: fetch drops progress,
// headers and page layout of curl and wget, and json drops items that resemble
// others in a long list.
package fetch

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family, by the type that rules name.
var Strategies = map[string]strategy.Constructor{
	"fetch": newFetch,
	"json":  newJSON,
}
