package tighten

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeys(t *testing.T) {
	set := map[string]bool{"on": true, "off": true, "low": true, "high": true, "equal": true}
	k := New(func(key string) bool { return set[key] })
	on, off, absent := false, true, true
	low, high, equal := 5, 5, 5
	k.Enable("on", &on, true)
	k.Enable("off", &off, false)
	k.Enable("absent", &absent, false)
	Lower(k, "low", &low, 3)
	Lower(k, "high", &high, 7)
	Lower(k, "equal", &equal, 5)
	if !on || !off || !absent || low != 3 || high != 5 || equal != 5 {
		t.Error(on, off, absent, low, high, equal)
	}
	if diff := cmp.Diff([]string{"off", "high"}, k.Ignored()); diff != "" {
		t.Error(diff)
	}
}
