// Package strategytest makes and runs strategies for the tests of their packages.
package strategytest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Check tests the promises of all strategies on one text: the result is not
// larger, is valid UTF-8, and does not change when it is filtered again.
func Check(t *testing.T, s strategy.Strategy, body string) {
	t.Helper()
	body = string(text.Sanitize([]byte(body)))
	for _, run := range []strategy.Run{{}, {Exit: 1}, {Mixed: true}} {
		got := Pass(t, s, run, body)
		if len(got) > len(body) {
			t.Errorf("%+v: grew from %d to %d bytes", run, len(body), len(got))
		}
		if again := Pass(t, s, run, got); again != got {
			t.Errorf("%+v: %s\nfirst:\n%s\nagain:\n%s", run, Difference(got, again), got, again)
		}
		if string(bytes.ToValidUTF8([]byte(got), nil)) != got {
			t.Errorf("%+v: no UTF-8: %q", run, got)
		}
	}
}

// Pass returns a text after one strategy. The text stays unchanged if it would
// not get shorter.
func Pass(t testing.TB, s strategy.Strategy, run strategy.Run, body string) string {
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
	if p.End() == strategy.Fallback || out.Size() >= in.Size() {
		return Text(t, in)
	}
	return Text(t, out)
}

// Benchmark runs a strategy alone over a text.
func Benchmark(b *testing.B, s strategy.Strategy, run strategy.Run, body []byte) {
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

// SampleDirs returns the directories of samples: dir, and the one that
// FILTER_SAMPLES_DIR names.
func SampleDirs(dir string) []string {
	dirs := []string{dir}
	if more := os.Getenv("FILTER_SAMPLES_DIR"); more != "" {
		dirs = append(dirs, more)
	}
	return dirs
}

// Text returns the contents of l.
func Text(t testing.TB, l *text.Lines) string {
	t.Helper()
	b, err := io.ReadAll(l.Spool().Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Difference describes the first difference between two texts.
func Difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("different at byte %d: %q, not %q", i, b[i:min(len(b), i+80)], a[i:min(len(a), i+80)])
}

// Make makes a strategy. The parameters are TOML on one line, separated by
// commas.
func Make(t testing.TB, build strategy.Constructor, parameters string) strategy.Strategy {
	t.Helper()
	s, err := Build(build, parameters)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Build is Make for parameters that may be invalid.
func Build(build strategy.Constructor, parameters string) (strategy.Strategy, error) {
	var table struct{ Strategy strategy.Params }
	if err := toml.Unmarshal([]byte("strategy = { "+parameters+" }"), &table); err != nil {
		return nil, err
	}
	return build(table.Strategy)
}

// Filter returns a text after one strategy, and the strategy's confidence.
func Filter(t testing.TB, s strategy.Strategy, run strategy.Run, body string) (string, strategy.Confidence) {
	t.Helper()
	out := text.NewLines()
	defer out.Close()
	p := s.Begin(run, out)
	for line := range strings.Lines(body) {
		p.Line([]byte(strings.TrimSuffix(line, "\n")))
	}
	c := p.End()
	if c == strategy.Fallback {
		return body, c
	}
	return Text(t, out), c
}

// Numbered returns lines with the numbers from from to to.
func Numbered(from, to int) string { return NumberedAs("line %d\n", from, to) }

// NumberedAs formats each number from from to to.
func NumberedAs(format string, from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}
