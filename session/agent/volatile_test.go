package agent

import (
	"regexp"
	"strings"
	"testing"
)

// volatile is the expression that withoutVolatile documents.
var volatile = regexp.MustCompile(`[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}` +
	`|\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d(?:\.\d+)?` +
	`|\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s)\b`)

func FuzzWithoutVolatile(f *testing.F) {
	for _, text := range []string{
		"", "ok  \tpkg\t0.31s at 12:00:01.5", "2026-11-22T21:56:32Z", "1:02:03", "123:45:67", "x12345-01-02", "2024-01-0234ms",
		"id 0123abcd-0123-ABCD-ffff-0123456789ab.", "a1.2.5ms", "1.ms 1 ms 1  ms", "3s 3sec 3s_ 3sé 3µs 3us", "12:34:567s", "7\ns 7\vs",
		"0123abcd-0123-ABCD-ffff-0123456789a5s", "deadbeef12s", "12345678901234567890s", "00:00:00:00:00s", "1.5.5s", "0000-00-00-00",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := withoutVolatile(text), volatile.ReplaceAllString(text, "#"); got != want {
			t.Errorf("withoutVolatile(%q) = %q, want %q", text, got, want)
		}
	})
}

func BenchmarkWithoutVolatile(b *testing.B) {
	text := strings.Repeat("   1\tfunc name12_3() { return } // took 1.5ms\n", 200)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		withoutVolatile(text)
	}
}
