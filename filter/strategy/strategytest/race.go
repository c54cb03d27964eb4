//go:build race

package strategytest

// Racing reports whether the race detector is on, which makes tests ten times as
// slow. Tests that start no goroutines try fewer cases then.
const Racing = true
