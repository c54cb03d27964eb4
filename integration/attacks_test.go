package integration

import "testing"

// attacks logs, when a test has ended, how many of its n attacks were held: all, or none if the
// test failed. The page docs/benchmarks.md has the sum: "integration/cmd/bench -peers" adds it up.
func attacks(t testing.TB, n int) {
	t.Helper()
	t.Cleanup(func() {
		held := n
		if t.Failed() {
			held = 0
		}
		t.Logf("attacks held: %d of %d", held, n)
	})
}
