package quantity

import "testing"

func TestCount(t *testing.T) {
	for noun, want := range map[string][2]string{
		"line": {"1 line", "2 lines"}, "entry": {"1 entry", "2 entries"}, "day": {"1 day", "2 days"}, "match": {"1 match", "2 matches"},
		"process": {"1 process", "2 processes"}, "more directory": {"1 more directory", "2 more directories"}, "suffix": {"1 suffix", "2 suffixes"},
		"key": {"1 key", "2 keys"},
	} {
		if got := [2]string{Count(1, noun), Count(int64(2), noun)}; got != want {
			t.Errorf("%s: %q, want %q", noun, got, want)
		}
	}
	if got := Count(0, "line"); got != "0 lines" {
		t.Errorf("0: %q", got)
	}
}

func TestCheck(t *testing.T) {
	if err := Check(Least{"offset", 0, 0}, Least{"limit", 3, 1}); err != nil {
		t.Error(err)
	}
	if err := Check(Least{"offset", 0, 0}, Least{"limit", -1, 0}); err == nil || err.Error() != "limit must be at least 0, got -1" {
		t.Errorf("got %v", err)
	}
}
