package anthropic

import (
	"testing"
)

// The table has every offered model, with its levels.
func TestCurrentClaude(t *testing.T) {
	for _, line := range Current {
		if m := factsOf(line.Model); m.levels == nil || m.window != 1_000_000 {
			t.Errorf("%s: %+v", line.Model, m)
		}
	}
}
