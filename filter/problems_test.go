package filter

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// An output that is too long keeps the lines in its middle that report problems,
// with the lines around them, each problem once.
func TestLinkKeepsProblems(t *testing.T) {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "step %d took %d ms\n", i, i%90)
		switch i {
		case 1700:
			b.WriteString("Traceback (most recent call last):\n  File \"/app/sync.py\", line 88, in pull\nConnectionError: mirror-3 refused\nnext of 1700\n")
		case 2500, 2600:
			fmt.Fprintf(&b, "ERROR: batch %d has no schema\n", i)
		}
	}
	l := testLink(t)
	const limit = 8000
	res := executors.Result{Notes: []string{"[exit 1]"}, Long: spoolOf(t, b.String()), Output: &executors.Output{}}
	got, err := l.Middleware(tool{res: res}).Execute(t.Context(), &executors.Call{Card: executors.Card{Script: command.Parse("./sync-all", command.Shell{})}})
	if err != nil {
		t.Fatal(err)
	}
	got.Bound(limit)
	defer got.Full.Close()
	shown := got.ForModel()
	for _, want := range []string{"step 0 took", "\nstep 1700 took", "sync.py\", line 88", "ConnectionError: mirror-3 refused\nnext of 1700\n", "[… 1,",
		"ERROR: batch 2500 has no schema\nstep 2501 ", "step 3999 took"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "batch 2600") {
		t.Error("a problem that differs only in a number is shown twice")
	}
	if n := utf8.RuneCountInString(shown); n > limit || n < limit/2 {
		t.Errorf("%d characters, want from %d to %d", n, limit/2, limit)
	}
	if allOf(t, got.Full) != b.String() {
		t.Error("the full text differs")
	}
}

// Whatever the lines are, the limit holds, lines that stay are in their order, and
// the marks count the others.
func FuzzKeepProblems(f *testing.F) {
	f.Add(strings.Repeat("line\nerror: a\n\nfailed 1\n", 400), 2000)
	f.Add(strings.Repeat("x", 5000)+"\nerror: b\n"+strings.Repeat("ä\n", 3000), 2400)
	f.Fuzz(func(t *testing.T, body string, limit int) {
		limit = min(max(limit, 0), 1<<16)
		lines := text.NewLines()
		defer lines.Close()
		for _, l := range strings.Split(string(text.Sanitize([]byte(body))), "\n") {
			lines.WriteString(l)
		}
		var all []string
		if err := lines.Each(func(l []byte) { all = append(all, string(l)) }); err != nil {
			t.Fatal(err)
		}
		if utf8.RuneCountInString(strings.Join(all, "\n"))+1 <= limit {
			return
		}
		shown, ok := keepProblems(lines.Spool().Reader(), limit)
		if !ok {
			return
		}
		if n := utf8.RuneCountInString(shown); n > limit {
			t.Errorf("%d runes, limit %d", n, limit)
		}
		rest := all
		for l := range strings.Lines(shown) {
			l = strings.TrimSuffix(l, "\n")
			if at := slices.Index(rest, l); at >= 0 {
				rest = rest[at+1:]
			} else if !strings.HasPrefix(l, "[… ") {
				t.Fatalf("%q is not a line of the text after the one before", l)
			}
		}
	})
}
