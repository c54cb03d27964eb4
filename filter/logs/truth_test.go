package logs

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

var (
	rangeMark  = regexp.MustCompile(` \((\d+) similar(: [^)]*)?\)( … \S+)?$`)
	extremMark = regexp.MustCompile(` \[((min|max|last)[^]]*)\]$`)
	equalMark  = regexp.MustCompile(` \(x(\d+)\)( … \S+)?$`)
)

// TestDedupTruth filters random logs: the extremes of each measure stay, lines are those of the log and in its
// order, and the counts are the log's.
func TestDedupTruth(t *testing.T) {
	s := strategytest.Make(t, Strategies["dedup"], "")
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var lines []string
		loss := map[string][]float64{}
		number := 100 + rng.IntN(900)
		for i := range number {
			stamp := fmt.Sprintf("2026-11-21 %02d:%02d:%02d", i/3600, i/60%60, i%60)
			switch kind := rng.IntN(8); {
			case kind < 5:
				name := []string{"train", "test", "eval"}[kind%3]
				v := float64(rng.IntN(100_000)) / 1000
				loss[name] = append(loss[name], v)
				lines = append(lines, fmt.Sprintf("%s INFO %s step %d loss=%.3f took %dms", stamp, name, i+10, v, 10+rng.IntN(500)))
			case kind < 7:
				lines = append(lines, fmt.Sprintf("%s INFO request %016x done", stamp, rng.Uint64()))
			default:
				lines = append(lines, fmt.Sprintf("%s ERROR batch %d failed", stamp, 10+rng.IntN(40)))
			}
		}
		got, confidence := strategytest.Filter(t, s, strategy.Run{}, strings.Join(lines, "\n")+"\n")
		if confidence == strategy.Fallback {
			t.Fatalf("seed %d: nothing was joined", seed)
		}
		checkLog(t, seed, lines, got)
		for name, values := range loss {
			for _, v := range []float64{slices.Min(values), slices.Max(values)} {
				if !strings.Contains(got, fmt.Sprintf(" %s step ", name)) || !strings.Contains(got, fmt.Sprintf("loss=%.3f took", v)) {
					t.Errorf("seed %d: %s has no record with loss=%.3f:\n%s", seed, name, v, got)
				}
			}
		}
	}
}

// checkLog checks that each line is one of the log, in its order, and that the counts add up.
func checkLog(t *testing.T, seed uint64, lines []string, got string) {
	t.Helper()
	rest, sum := lines, 0
	for l := range strings.Lines(got) {
		l = strings.TrimSuffix(l, "\n")
		count := 1
		if m := rangeMark.FindStringSubmatch(l); m != nil {
			count, _ = strconv.Atoi(m[1])
			l = strings.TrimSuffix(l, m[0])
		} else if m := equalMark.FindStringSubmatch(l); m != nil {
			count, _ = strconv.Atoi(m[1])
			l = strings.TrimSuffix(l, m[0])
		} else if m := extremMark.FindStringSubmatch(l); m != nil {
			count = 0
			l = strings.TrimSuffix(l, m[0])
		}
		if at, ok := strings.CutPrefix(l, "... ("); ok {
			n, _, _ := strings.Cut(at, " ")
			count, _ = strconv.Atoi(n)
		} else if strings.HasSuffix(l, fmt.Sprintf("(%d total lines)", len(lines))) {
			count = 0
		} else if at := slices.Index(rest, l); at >= 0 {
			rest = rest[at+1:]
		} else {
			t.Errorf("seed %d: %q is not a line of the log after the one before:\n%s", seed, l, got)
		}
		sum += count
	}
	if sum != len(lines) {
		t.Errorf("seed %d: the counts are %d of %d lines:\n%s", seed, sum, len(lines), got)
	}
}
