//go:build !race

package filter

// racing is as in race_test.go.
const racing = false
