package commands

import "testing"

// Scale returns the number of scripts that a test checks: n, or a tenth of it under
// -short. That is for the race detector, which makes checking ten times as slow, and
// scripts are checked one after the other.
func Scale(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// Sample returns Scale(len(list)) members of the list, evenly spread.
func Sample[S any](list []S) []S {
	few := make([]S, Scale(len(list)))
	for i := range few {
		few[i] = list[i*len(list)/len(few)]
	}
	return few
}
