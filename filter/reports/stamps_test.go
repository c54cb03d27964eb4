package reports

import (
	"fmt"
	"strings"
	"testing"
)

func TestStamps(t *testing.T) {
	const lines = 12
	for name, tt := range map[string]struct {
		stamp, from string // before each line; the time that is written once, "" if the lines stay
	}{
		"GitHub":        {"2026-11-29T10:00:%02d.1234567Z ", "2026-11-29T10:00:00.1234567Z"},
		"GitLab":        {"2026-11-29T10:00:%02d.123456Z 01O ", "2026-11-29T10:00:00.123456Z 01O"},
		"Jenkins":       {"[2026-11-29T10:00:%02d.123Z] ", "[2026-11-29T10:00:00.123Z]"},
		"zone":          {"2026-11-29 10:00:%02d+02:00 ", "2026-11-29 10:00:00+02:00"},
		"no time":       {"line %02d ", ""},
		"another clock": {"10:00:%02d ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in, want := "", ""
			for i := range lines {
				line := fmt.Sprintf(" text %d\n", i)
				in += fmt.Sprintf(tt.stamp, i) + line
				if tt.from != "" {
					want += line
				}
			}
			if in += "later\n"; tt.from != "" {
				want = "from " + tt.from + "\n" + want + "later\n"
			} else {
				want = in
			}
			if got := unstamp(in); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
	// Lines of a program's own log among others, and few lines, stay.
	own := strings.Repeat("2026-11-29 10:00:00 INFO a\n", stampedLines-1)
	for _, in := range []string{own, own + "collected 3 items\n" + own + own, "\n" + own + own} {
		if got := unstamp(in); got != in {
			t.Errorf("got\n%swant\n%s", got, in)
		}
	}
}

func unstamp(output string) string {
	var b strings.Builder
	s := Stamps{Emit: func(l []byte) { fmt.Fprintf(&b, "%s\n", l) }}
	for l := range strings.SplitSeq(strings.TrimSuffix(output, "\n"), "\n") {
		s.Line([]byte(l))
	}
	s.End()
	return b.String()
}
