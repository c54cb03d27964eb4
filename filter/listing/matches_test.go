package listing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

func TestGroupMatches(t *testing.T) {
	var many, single, inOne, zeros, denied strings.Builder
	for i := range 60 {
		fmt.Fprintf(&single, "./pkg%d/x.go:1:call(the same word, %d)\n", i, i)
		for j := range 10 {
			fmt.Fprintf(&many, "./pkg%d/x.go:%d:call(%d)\n", i, j, i)
		}
		fmt.Fprintf(&inOne, "a.go:%d:x\na.go:%d:y\n", i, i)
		fmt.Fprintf(&zeros, "src/f%d.go:0\n", i)
		fmt.Fprintf(&denied, "grep: /secret/%d: Permission denied\n", i)
	}
	for name, tt := range map[string]struct {
		command, parameters, in string
		want, gone              []string
	}{
		"one match a file": {"grep -rn x .", "", "a.go:1:x\nb.go:2:x\n", []string{"a.go:1:x", "b.go:2:x"}, nil},
		"by file": {"grep -rn x .", "", "dir/a.go:1:x\ndir/a.go:22:x y\nb.go:2:x\n", []string{"dir/a.go:1:x", " 22:x y", "b.go:2:x"},
			[]string{"dir/a.go:22"}},
		"without numbers": {"grep -r x .", "", "dir/a.go:x\ndir/a.go:x y\nb.go:2:x\n", []string{"dir/a.go:x", " x y"}, []string{"dir/a.go:x y"}},
		"a path with dashes": {"grep -rn -C1 x .", "", "d/2026-02-a.md-11-p\nd/2026-02-a.md:12:x\nd/2026-02-a.md-13-q\n--\nd/2026-02-a.md-20-r\n",
			[]string{"d/2026-02-a.md-11-p", " 12:x", " 13-q", "--", " 20-r"}, nil},
		"windows":    {"rg -n x", "", "C:\\a\\b.go:1:x\nC:\\a\\b.go:2:x\n", []string{"C:\\a\\b.go:1:x", " 2:x"}, nil},
		"every file": {"grep -rn call .", "", many.String(), []string{"./pkg0/x.go:0:call(0)", " 9:call(3)", "./pkg59/x.go (10 matches)"}, []string{"59)"}},
		"one of each": {"grep -rn call .", "max_matches = 20", single.String(),
			[]string{"./pkg0/x.go:1:call(", "./pkg19/x.go:1:call(", "./pkg20/x.go (1 matches)", "./pkg59/x.go (1 matches)"}, []string{", 20)"}},
		"very many in one": {"grep -n x a.go b.go", "max_per_file = 30", inOne.String(), []string{"a.go:0:x", " ... (90 more matches in this file) ..."}, nil},
		"numbers of files": {"grep -rc x .", "", zeros.String() + "src/y.go:7\n", []string{"src/f0.go:0", "src/y.go:7", "... (40 more files with 0 matches)"}, nil},
		"complaints": {"grep -r x /", "", denied.String() + "a/b.go:x\n",
			[]string{"grep: /secret/3: Permission denied", "a/b.go:x", "... (50 more complaints matches)"}, nil},
		"binary": {"grep -r x .", "", "a/x.go:1\na/x.go:2\ngrep: bin/app: binary file matches\nBinary file y matches\n",
			[]string{"grep: bin/app: binary file matches", "Binary file y matches"}, nil},
		"a long line": {"grep -rn needle .", "",
			"a.js:1:" + strings.Repeat("var a;", 900) + "needle();" + strings.Repeat("var b;", 900) + "\nb.js:1:needle\n", []string{"a.js:1:var a;"}, nil},
		"a long line alone": {"grep -rhl x .", "max_matches = 2", strings.Repeat("a\n", 3) + strings.Repeat("b", 900) + "\n", []string{"a\na\na\nbbb"}, nil},
		"logs":              {"grep ERROR app.log", "", "12:03:01 ERROR x\n12:03:02 ERROR y\n", []string{"12:03:01 ERROR x", "12:03:02 ERROR y"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["group_matches"], tt.parameters)
			got := strategytest.Pass(t, s, strategy.Run{Command: tt.command}, tt.in)
			for _, want := range tt.want {
				if !strings.Contains("\n"+got, "\n"+want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, gone := range tt.gone {
				if strings.Contains(got, gone) {
					t.Errorf("still %q in\n%s", gone, got)
				}
			}
			if again := strategytest.Pass(t, s, strategy.Run{Command: tt.command}, got); again != got {
				t.Errorf("filtered again, the result became\n%s", again)
			}
			if name == "a long line" && (!strings.Contains(got, "needle();") || len(got) > 600) {
				t.Errorf("the match is lost: %s", got)
			}
		})
	}
}

func FuzzGroupMatches(f *testing.F) {
	f.Add("grep -rn x .", "a.go:1:x\na.go:2:y\nb.go-3-z\nb.go:4:x\n--\nc.go:1:x\n")
	f.Add("grep -rc x .", strings.Repeat("a/b.go:0\nc/d.go:0\n", 20))
	f.Add("rg x", "a/b.go:0\n 0:x\ngrep: x: Permission denied\nBinary file x matches\n")
	f.Add("rg x", strings.Repeat("a/b.go:0\na/b.go:1:x\n", 20)+strings.Repeat("one two\n", 20))
	f.Fuzz(func(t *testing.T, command, text string) {
		checkCommand(t, strategytest.Make(t, Strategies["group_matches"], "max_matches = 9, max_per_file = 4, width = 200"), command, text)
	})
}

// checkCommand is [strategytest.Check] for one command.
func checkCommand(t *testing.T, s strategy.Strategy, command, body string) {
	t.Helper()
	body = string(text.Sanitize([]byte(body)))
	run := strategy.Run{Command: command}
	got := strategytest.Pass(t, s, run, body)
	if len(got) > len(body) {
		t.Errorf("grew from %d to %d bytes", len(body), len(got))
	}
	if again := strategytest.Pass(t, s, run, got); again != got {
		t.Errorf("%s\nfirst:\n%s\nagain:\n%s", strategytest.Difference(got, again), got, again)
	}
}

func BenchmarkGroupMatches(b *testing.B) {
	var text []byte
	for i := 0; len(text) < 4<<20; i++ {
		text = fmt.Appendf(text, "./src/part%d/node%d/file_%c.go:%d:\tif err := call(%d); err != nil {\n", i/50%97, i/10%13, 'a'+i/5%26, i, i)
	}
	strategytest.Benchmark(b, strategytest.Make(b, Strategies["group_matches"], ""), strategy.Run{Command: "grep -rn call ."}, text)
}
