package filter

import "testing"

// The built-in rules are valid.
func TestBuiltin(t *testing.T) {
	all, warnings := readRules("built in", builtinRules)
	for _, w := range all {
		if _, err := w.compile(); err != nil {
			t.Errorf("rule %q: %v", w.Name, err)
		}
	}
	f, more := New("")
	if warnings = append(warnings, more...); len(warnings) > 0 {
		t.Errorf("the built-in rules cause warnings: %q", warnings)
	}
	seen := map[string]bool{}
	for _, r := range f.Rules() {
		if seen[r.Name] || r.Match == "" || strategies[r.Strategy] == nil {
			t.Errorf("%+v is a second rule of its name, or has no match or an unknown strategy", r)
		}
		seen[r.Name] = true
	}
}

// The first session waits for New.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		New("")
	}
}
