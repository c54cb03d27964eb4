package integration

import "testing"

// special has nothing to do where files have no other kinds.
func special(testing.TB, string) {}
