package filter

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// sample is the output of a real command: a directory RULE/CASE with the files
// cmd, output, exit and must_keep (one a line, alternatives separated by " |||
// "). Samples of credentials also have expect_warning and secrets.
type sample struct {
	dir, rule, name string
	cmd             string
	output          []byte
	exit            int
	mustKeep        []string
	secrets         []string
	warns           string // yes or no; empty means no expectation
}

// builtin returns a filter with the built-in rules.
func builtin(t testing.TB) *Filter {
	t.Helper()
	f, warnings := New("")
	if len(warnings) > 0 {
		t.Fatalf("the built-in rules cause warnings: %q", warnings)
	}
	return f
}

func samples(t testing.TB, root string) []sample {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(root, "*", "*", "output"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sample
	for _, path := range dirs {
		dir := filepath.Dir(path)
		text := func(name string) string {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			return string(b)
		}
		s := sample{dir: dir, rule: filepath.Base(filepath.Dir(dir)), name: filepath.Base(dir), cmd: strings.TrimRight(text("cmd"), "\n"),
			output: []byte(text("output")), warns: strings.TrimSpace(text("expect_warning"))}
		if s.exit, err = strconv.Atoi(strings.TrimSpace(text("exit"))); err != nil {
			t.Fatalf("%s: exit: %v", dir, err)
		}
		for _, line := range strings.Split(text("must_keep"), "\n") {
			if strings.TrimSpace(line) != "" {
				s.mustKeep = append(s.mustKeep, line)
			}
		}
		for _, line := range strings.Split(text("secrets"), "\n") {
			if strings.TrimSpace(line) != "" {
				s.secrets = append(s.secrets, strings.TrimSpace(line))
			}
		}
		all = append(all, s)
	}
	return all
}

// plainText normalises a text for the search of must_keep.
func plainText(s string) string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(s, "\r", "\n")) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// missing returns the lines of must_keep that are not in a text.
func (s sample) missing(text string) (lost []string) {
	text = plainText(text)
	for _, line := range s.mustKeep {
		if !slices.ContainsFunc(strings.Split(line, " ||| "), func(alternative string) bool {
			return strings.Contains(text, strings.Join(strings.Fields(alternative), " "))
		}) {
			lost = append(lost, line)
		}
	}
	return lost
}

// TestSamples filters real outputs. Lines that must be kept stay, most others
// go, nothing grows, and filtering again changes nothing.
func TestSamples(t *testing.T) {
	f := builtin(t)
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		t.Run(filepath.Base(root), func(t *testing.T) {
			in, out := map[string]int{}, map[string]int{}
			facts, lost := 0, 0
			for _, s := range samples(t, root) {
				o, err := f.Apply(s.cmd, s.exit, bytes.NewReader(s.output))
				if err != nil {
					t.Fatal(err)
				}
				noPanic(t, o)
				text, full := strategytest.Text(t, o.Text), strategytest.Text(t, o.Full)
				facts += len(s.mustKeep)
				for _, line := range s.missing(text) {
					lost++
					t.Errorf("%s/%s lost %q", s.rule, s.name, line)
				}
				if len(text) > len(full) {
					t.Errorf("%s/%s grew from %d to %d bytes", s.rule, s.name, len(full), len(text))
				}
				if again, err := f.Apply(s.cmd, s.exit, strings.NewReader(text)); err != nil {
					t.Fatal(err)
				} else {
					noPanic(t, again)
					if got := strategytest.Text(t, again.Text); got != text {
						t.Errorf("%s/%s: filtered again it is %s", s.rule, s.name, strategytest.Difference(text, got))
					}
					again.Close()
				}
				if s.warns != "" && (len(o.Found) > 0) != (s.warns == "yes") {
					t.Errorf("%s/%s: found %v, want a warning: %s", s.rule, s.name, o.Found, s.warns)
				}
				for _, secret := range s.secrets {
					if strings.Contains(text, secret) || strings.Contains(full, secret) {
						t.Errorf("%s/%s shows a secret: %s", s.rule, s.name, secret)
					}
				}
				if testing.Verbose() {
					t.Logf("%-18s %-28s %7d -> %6d bytes  %s %v", s.rule, s.name, len(s.output), len(text), o.Confidence, o.Rules)
				}
				if s.rule != "credentials" {
					in[s.rule] += len(s.output)
					out[s.rule] += len(text)
				}
				o.Close()
			}
			t.Logf("facts kept: %d of %d", facts-lost, facts) // integration/cmd/bench reads it
			report(t, in, out)
		})
	}
}

// report logs how much was removed by each rule, and checks the totals.
func report(t *testing.T, in, out map[string]int) {
	t.Helper()
	var b strings.Builder
	allIn, allOut, sum := 0, 0, 0.0
	for _, rule := range slices.Sorted(maps.Keys(in)) {
		gone := 100 * (1 - float64(out[rule])/float64(in[rule]))
		fmt.Fprintf(&b, "\n%-18s %8d -> %7d bytes  %5.1f %%", rule, in[rule], out[rule], gone)
		allIn, allOut, sum = allIn+in[rule], allOut+out[rule], sum+gone
	}
	if len(in) == 0 {
		t.Fatal("no samples")
	}
	total, mean := 100*(1-float64(allOut)/float64(allIn)), sum/float64(len(in))
	t.Logf("%s\nall bytes: %.1f %% gone; mean of the rules: %.1f %%", &b, total, mean)
	if total < 80 || mean < 65 {
		t.Errorf("%.1f %% of all bytes are gone, want 80; %.1f %% in the mean of the rules, want 65", total, mean)
	}
}

// TestStopped filters real outputs as if a signal had ended the command: the last line stays, or that of a decoded report.
func TestStopped(t *testing.T) {
	f := builtin(t)
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, s := range samples(t, root) {
			o, err := f.Apply(s.cmd, 137, bytes.NewReader(s.output))
			if err != nil {
				t.Fatal(err)
			}
			noPanic(t, o)
			text, full := strategytest.Text(t, o.Text), strategytest.Text(t, o.Full)
			if o.Text != o.Full {
				full = decodeReports(full)
			}
			full = strings.TrimSpace(full)
			if last := full[strings.LastIndexByte(full, '\n')+1:]; !strings.Contains(plainText(text), plainText(last)) {
				t.Errorf("%s/%s lost its last line %q", s.rule, s.name, last)
			}
			o.Close()
		}
	}
}
