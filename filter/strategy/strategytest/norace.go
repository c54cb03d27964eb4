//go:build !race

package strategytest

// Racing is documented in race.go.
const Racing = false
