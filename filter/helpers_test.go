package filter

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// checkStrategy holds a strategy to what all of them promise, on any text.
func checkStrategy(t *testing.T, s Strategy, body string) {
	t.Helper()
	body = string(text.Sanitize([]byte(body)))
	for _, run := range []Run{{}, {Exit: 1}, {Mixed: true}} {
		got := passed(t, s, run, body)
		if len(got) > len(body) {
			t.Errorf("%+v: grew from %d to %d bytes", run, len(body), len(got))
		}
		if again := passed(t, s, run, got); again != got {
			t.Errorf("%+v: %s\nfirst:\n%s\nagain:\n%s", run, firstDifference(got, again), got, again)
		}
		if string(bytes.ToValidUTF8([]byte(got), nil)) != got {
			t.Errorf("%+v: no UTF-8: %q", run, got)
		}
	}
}

// passed is a text after one rule, which keeps it where it would not get shorter.
func passed(t testing.TB, s Strategy, run Run, body string) string {
	t.Helper()
	in, out := text.NewLines(), text.NewLines()
	defer in.Close()
	defer out.Close()
	p := s.Begin(run, out)
	for line := range strings.Lines(body) {
		in.WriteString(strings.TrimSuffix(line, "\n"))
	}
	if err := in.Each(p.Line); err != nil {
		t.Fatal(err)
	}
	if p.End() == Fallback || out.Size() >= in.Size() {
		return textOf(t, in)
	}
	return textOf(t, out)
}

// benchmarkStrategy runs a strategy alone over the outputs of a rule.
func benchmarkStrategy(b *testing.B, s Strategy, run Run, body []byte) {
	lines := bytes.Split(bytes.TrimSuffix(body, []byte{'\n'}), []byte{'\n'})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		out := text.NewLines()
		p := s.Begin(run, out)
		for _, l := range lines {
			p.Line(l)
		}
		p.End()
		out.Close()
	}
	b.ReportMetric(float64(len(lines)), "lines/op")
}

// sampleDirs are where samples are: the project's own, and more where an
// environment variable names a directory.
func sampleDirs() []string {
	dirs := []string{"testdata/samples"}
	if more := os.Getenv("FILTER_SAMPLES_DIR"); more != "" {
		dirs = append(dirs, more)
	}
	return dirs
}

// textOf reads all of a Lines.
func textOf(t testing.TB, l *text.Lines) string {
	t.Helper()
	b, err := io.ReadAll(l.Spool().Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("different at byte %d: %q, not %q", i, b[i:min(len(b), i+80)], a[i:min(len(a), i+80)])
}

// made makes a strategy of parameters in TOML, on a line, divided by commas.
func made(t testing.TB, build Constructor, parameters string) Strategy {
	t.Helper()
	s, err := built(build, parameters)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// built is made for parameters that may be wrong.
func built(build Constructor, parameters string) (Strategy, error) {
	var table struct{ Strategy params }
	if err := toml.Unmarshal([]byte("strategy = { "+parameters+" }"), &table); err != nil {
		return nil, err
	}
	return build(table.Strategy)
}

// filtered puts a text through one strategy.
func filtered(t testing.TB, s Strategy, run Run, body string) (string, Confidence) {
	t.Helper()
	out := text.NewLines()
	defer out.Close()
	p := s.Begin(run, out)
	for line := range strings.Lines(body) {
		p.Line([]byte(strings.TrimSuffix(line, "\n")))
	}
	c := p.End()
	if c == Fallback {
		return body, c
	}
	return textOf(t, out), c
}

// numbered are n lines.
func numbered(from, to int) string { return numberedAs("line %d\n", from, to) }

// numberedAs writes a format once for each number.
func numberedAs(format string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
