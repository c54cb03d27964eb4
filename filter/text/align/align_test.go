package align

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCommon(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"", "", ""},
		{"abc", "", ""},
		{"abc", "abc", "abc"},
		{"abc", "xbc", "bc"},
		{"abcd", "axd", "ad"},
		{"xaybz", "paqbr", "ab"},
		{"aaab", "aab", "aab"},
	} {
		if got := paired(t, tt.a, tt.b); got != tt.want {
			t.Errorf("Common(%q, %q) pairs %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// Two long sequences are paired by their unique elements.
func TestCommonLong(t *testing.T) {
	var a, b []string
	for i := range 20_000 {
		line := fmt.Sprint("line ", i)
		if i%3 == 0 {
			line = "}"
		}
		a = append(a, line)
		if i%100 == 50 {
			line = "changed"
		}
		b = append(b, line)
	}
	if got, want := len(Common(a, b)), 20_000-200; got != want {
		t.Errorf("Common pairs %d lines, want %d", got, want)
	}
}

func FuzzCommon(f *testing.F) {
	f.Add("abcabba", "cbabac")
	f.Add(strings.Repeat("ab", 1000), strings.Repeat("ba", 1000)+"c")
	f.Fuzz(func(t *testing.T, a, b string) { paired(t, a, b) })
}

// paired returns the bytes that Common pairs, and checks the pairs.
func paired(t *testing.T, a, b string) string {
	var out []byte
	last := Pair{-1, -1}
	for _, p := range Common([]byte(a), []byte(b)) {
		if p[0] <= last[0] || p[1] <= last[1] || a[p[0]] != b[p[1]] {
			t.Fatalf("Common(%q, %q): pair %v after %v", a, b, p, last)
		}
		out, last = append(out, a[p[0]]), p
	}
	return string(out)
}

// BenchmarkCommon pairs the lines of texts that have nothing in common but many repeated lines.
func BenchmarkCommon(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	x, y := make([]int, 200_000), make([]int, 200_000)
	for i := range x {
		x[i], y[i] = random.IntN(1000), random.IntN(1000)
	}
	for b.Loop() {
		Common(x, y)
	}
}
