// Package streams holds the strategy streams. It divides the output of a program that
// runs others, such as turbo or concurrently, into one text for each of them. Each text
// is filtered by the rules of the command that wrote it.
package streams

import "github.com/zeph-acp/zeph-acp/filter/strategy"

// Strategies are the constructors of this family by type.
var Strategies = map[string]strategy.Constructor{"streams": newStreams}
