package filter

import (
	"bytes"
	"cmp"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// benchSize is the size of one filtered output, in bytes.
const benchSize = 10 << 20

// repeated returns at least size bytes of repeated outputs.
func repeated(outputs [][]byte, size int) []byte {
	var b bytes.Buffer
	for b.Len() < size {
		for _, o := range outputs {
			b.Write(o)
			if !bytes.HasSuffix(o, []byte("\n")) {
				b.WriteByte('\n')
			}
		}
	}
	return b.Bytes()
}

// BenchmarkFilter filters 10 MiB through each built-in rule, including
// sanitising and scanning: "mix" is all samples, "own" the rule's own samples.
// FILTER_SAMPLES_DIR adds samples. At the end it names the slowest rule.
func BenchmarkFilter(b *testing.B) {
	f := builtin(b)
	commands, outputs := map[string]string{}, map[string][][]byte{}
	var all [][]byte
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, s := range samples(b, root) {
			if commands[s.rule] == "" {
				commands[s.rule] = s.cmd
			}
			outputs[s.rule] = append(outputs[s.rule], s.output)
			all = append(all, s.output)
		}
	}
	mix := repeated(all, benchSize)
	var slowest speed
	for _, r := range f.allRules() {
		command := command.OutputsOf(cmp.Or(commands[r.name], r.name)).Command
		one := &Filter{rules: compiledRules(rule{name: r.name, match: matcher{exact: command}, strategy: r.strategy, strategyType: r.strategyType}), scan: f.scan}
		b.Run("mix/"+r.name, func(b *testing.B) { slowest.note(r.name, benchFilter(b, one, command, mix)) })
		if len(outputs[r.name]) > 0 {
			own := repeated(outputs[r.name], benchSize)
			b.Run("own/"+r.name, func(b *testing.B) { benchFilter(b, one, command, own) })
		}
	}
	b.Run("mix/none", func(b *testing.B) { benchFilter(b, f, "true", mix) })
	if slowest.rule != "" { // on a line of its own, which is easy to find
		b.Run("slowest/"+slowest.rule, func(b *testing.B) {
			for b.Loop() {
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(slowest.rate, "best-MB/s")
		})
	}
}

// speed is the rule with the lowest rate so far, in MB/s of real time.
type speed struct {
	rule string
	rate float64
}

func (s *speed) note(rule string, rate float64) {
	if rate > 0 && (s.rule == "" || rate < s.rate) {
		s.rule, s.rate = rule, rate
	}
}

// cpuTime returns the processor time of the process, which is steadier than
// real time on a busy machine. It is nil if it is not supported.
var cpuTime func() time.Duration

// benchFilter returns the rate of the best round in MB/s, since slower ones
// measure other load. It reports the best rates by real time and by processor
// time.
func benchFilter(b *testing.B, f *Filter, command string, text []byte) (best float64) {
	lines := bytes.Count(text, []byte("\n"))
	b.SetBytes(int64(len(text)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu := func() time.Duration { return 0 }
	if cpuTime != nil {
		cpu = cpuTime
	}
	n, bestCPU := 0, 0.0
	for b.Loop() {
		began, used := time.Now(), cpu()
		o, err := f.Apply(command, 0, bytes.NewReader(text))
		if err != nil {
			b.Fatal(err)
		}
		o.Close()
		best = max(best, float64(len(text))/1e6/time.Since(began).Seconds())
		if used = cpu() - used; used > 0 {
			bestCPU = max(bestCPU, float64(len(text))/1e6/used.Seconds())
		}
		n++
	}
	if bestCPU > 0 {
		b.ReportMetric(bestCPU, "best-MB/cpu-s")
	}
	b.ReportMetric(best, "best-MB/s")
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(n*lines), "allocs/line")
	return best
}

// BenchmarkScan masks text without credentials, in a stream and in memory.
func BenchmarkScan(b *testing.B) {
	var all [][]byte
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, s := range samples(b, root) {
			all = append(all, text.Sanitize(s.output))
		}
	}
	mix := repeated(all, benchSize)
	s := &redact.Scanner{}
	b.Run("mix", func(b *testing.B) {
		b.SetBytes(int64(len(mix)))
		b.ReportAllocs()
		for b.Loop() {
			m := s.Stream(func([]byte) {}, nil)
			for rest := mix; len(rest) > 0; {
				end := bytes.IndexByte(rest, '\n')
				m.Line(rest[:end])
				rest = rest[end+1:]
			}
			m.End()
		}
	})
	small := "Read /home/dev/project/main.go (lines 1-40)"
	b.Run("small", func(b *testing.B) {
		b.SetBytes(int64(len(small)))
		b.ReportAllocs()
		for b.Loop() {
			s.Mask(small)
		}
	})
}

// BenchmarkSanitize sanitises the samples' mix.
func BenchmarkSanitize(b *testing.B) {
	var all [][]byte
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, s := range samples(b, root) {
			all = append(all, s.output)
		}
	}
	mix := repeated(all, benchSize)
	b.SetBytes(int64(len(mix)))
	b.ReportAllocs()
	for b.Loop() {
		s := text.Sanitizer{Emit: func([]byte) {}}
		_, _ = s.Write(mix)
		s.End()
	}
}

// endless repeats a text up to a size, with other digits each time.
type endless struct {
	text []byte
	left int
	at   int
	peak *uint64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), e.left)], e.text[e.at:])
	if e.at += n; e.at == len(e.text) {
		e.at = 0
		for i, b := range e.text {
			if b >= '0' && b <= '9' {
				e.text[i] = '0' + byte(rand.IntN(10))
			}
		}
	}
	if e.left>>23 != (e.left-n)>>23 { // every 8 MiB
		*e.peak = max(*e.peak, liveHeap())
	}
	e.left -= n
	return n, nil
}

// manyOf filters endless repeats of an output up to a size. It returns the
// growth of the heap.
func manyOf(t testing.TB, f *Filter, s sample, size int) (grown uint64) {
	t.Helper()
	before, peak := liveHeap(), uint64(0)
	o, err := f.Apply(s.cmd, s.exit, &endless{text: repeated([][]byte{s.output}, len(s.output)), left: size, peak: &peak})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	peak = max(peak, liveHeap())
	return peak - min(peak, before)
}

// liveHeap returns the bytes in use after a collection. Without one, the heap also has garbage, up to the size of
// all that is live in the process, and more on a busy machine.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// firstOfRules returns a sample of each rule.
func firstOfRules(t testing.TB) (first []sample) {
	for _, s := range samples(t, "testdata/samples") {
		if len(s.output) >= 256 && (len(first) == 0 || first[len(first)-1].rule != s.rule) {
			first = append(first, s)
		}
	}
	return first
}

// TestFilterMemory checks that the heap stays small for 100 MiB of samples, of
// all rules if FILTER_SAMPLES_DIR is set. BenchmarkMemory measures all rules.
func TestFilterMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("100 MiB for each rule")
	}
	size := 100 << 20
	if strategytest.Racing {
		size = 8 << 20
	}
	const most = 32 << 20
	f := builtin(t)
	for _, s := range firstOfRules(t) {
		if os.Getenv("FILTER_SAMPLES_DIR") == "" && !slices.Contains([]string{"go-test", "log-dedup", "make"}, s.rule) {
			continue
		}
		start := time.Now()
		grown := manyOf(t, f, s, size)
		t.Logf("%-20s peak heap %5.1f MiB, %s", s.rule, float64(grown)/(1<<20), time.Since(start).Round(time.Millisecond))
		if grown > most {
			t.Errorf("%s: the heap grew by %d bytes", s.rule, grown)
		}
	}
}

// BenchmarkMemory filters 100 MiB of a sample of each rule and reports the
// largest growth of the heap.
func BenchmarkMemory(b *testing.B) {
	f := builtin(b)
	worst, of := uint64(0), ""
	for _, s := range firstOfRules(b) {
		b.Run(s.rule, func(b *testing.B) {
			grown := uint64(0)
			for b.Loop() {
				grown = max(grown, manyOf(b, f, s, 100<<20))
			}
			b.SetBytes(100 << 20)
			b.ReportMetric(float64(grown)/(1<<20), "heap-MiB")
			if grown > worst {
				worst, of = grown, s.rule
			}
		})
	}
	b.Logf("most: %.1f MiB (%s)", float64(worst)/(1<<20), of)
}

// Only the samples of credentials have any.
func TestSamplesHaveNoCredentials(t *testing.T) {
	s := &redact.Scanner{}
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, c := range samples(t, root) {
			if strings.HasPrefix(c.rule, "credentials") {
				continue
			}
			if _, found := s.Mask(string(text.Sanitize(c.output))); found != nil {
				t.Errorf("%s/%s has no credential, but: %s", c.rule, c.name, redact.Warning(found))
			}
		}
	}
}

// BenchmarkGroupByRule filters the output of compilers and linters.
func BenchmarkGroupByRule(b *testing.B) {
	f := builtin(b)
	for _, name := range []string{"cargo-clippy", "lint", "make", "gcc", "mypy"} {
		dirs, err := filepath.Glob(filepath.Join("testdata/samples", name, "*", "output"))
		if err != nil || len(dirs) == 0 {
			b.Fatal(name, err)
		}
		var lines [][]byte
		size := 0
		for size < 1<<20 {
			for _, path := range dirs {
				body, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				body = text.Sanitize(body)
				size += len(body)
				lines = append(lines, bytes.Split(bytes.TrimSuffix(body, []byte("\n")), []byte("\n"))...)
			}
		}
		cmd, err := os.ReadFile(filepath.Join(filepath.Dir(dirs[0]), "cmd"))
		if err != nil {
			b.Fatal(err)
		}
		seg := command.OutputsOf(string(cmd)).Command
		var s strategy.Strategy
		for _, r := range f.allRules() {
			if r.match.matches(seg) && r.strategyType == "group_by_rule" {
				s = r.strategy
			}
		}
		if s == nil {
			b.Fatalf("no rule for %q", seg)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				out := text.NewLines()
				p := s.Begin(strategy.Run{Exit: 1}, out)
				for _, l := range lines {
					p.Line(l)
				}
				p.End()
				out.Close()
			}
			b.ReportMetric(float64(len(lines)), "lines/op")
		})
	}
}
