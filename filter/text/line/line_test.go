package line

import "testing"

func TestTruncate(t *testing.T) {
	for _, tt := range []struct {
		s                      string
		n                      int
		prefix, bytes, byRunes string
	}{
		{"", 3, "", "", ""},
		{"abc", 3, "abc", "abc", "abc"},
		{"abcd", 3, "abc", "abc…", "abc…"},
		{"aöü", 3, "aö", "aö…", "aöü"},
		{"aöüx", 2, "a", "a…", "aö…"},
		{"öa", 0, "", "…", "…"},
	} {
		if got := Prefix(tt.s, tt.n); got != tt.prefix {
			t.Errorf("Prefix(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.prefix)
		}
		if got := Truncate(tt.s, tt.n); got != tt.bytes {
			t.Errorf("Truncate(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.bytes)
		}
		if got := TruncateRunes(tt.s, tt.n); got != tt.byRunes {
			t.Errorf("TruncateRunes(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.byRunes)
		}
	}
}

func TestJoin(t *testing.T) {
	if got := Join(" a \n\tb  c\r\n"); got != "a b c" {
		t.Errorf("Join: got %q, want %q", got, "a b c")
	}
	if got := First("\n  first \nsecond"); got != "first " {
		t.Errorf("First: got %q, want %q", got, "first ")
	}
}
