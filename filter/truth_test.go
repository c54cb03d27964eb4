package filter

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/reports"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

var (
	place = regexp.MustCompile(`[\w/-]+\.[a-z]{1,4}:\d+`)
	// counts of what is left out, in all marks
	statedSum = regexp.MustCompile(`\b(\d[\d,]*) (?:more|similar|noise|lines?|paths?|names?|entr|match|bytes|commits?|files?|errors?|warnings?|issues?|` +
		`notes?|passed|grouped|times|items?|director|rows?|of |[a-z ]+ left out)|\(x(\d+)`)
	// lines without facts that strategies drop: advice, usage, a server that answered, decoded JSON
	boilerplate = regexp.MustCompile(`^((\S+: )?npm error (path|workspace|location|command) |\(fix conflicts |\* Host \S+ was resolved|Reusing existing |` +
		`\{"Time":|warning \S+@\S+: use |warns$)`)
	streamName = regexp.MustCompile(`^@?[\w/-]+:\w+: `)
	wordOfText = regexp.MustCompile(`\pL[\pL_]+`)
)

// markWords are the words of all marks.
var markWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`above also and are as before bytes command committed date directories directory ends entries entry error errors file files
		for grouped help in info installed issues items kernel last left line lines listing matches max merge messages min more name names noise not notes of
		omitted one or otherwise out packages paths patterns pnpm processes pseudo removed rule rules runs said set similar size smaller sockets such systems
		tags the them this threads total turbo unique warning warnings where with
		when it was stopped test tests progress`) {
		set[w] = true
	}
	return set
}()

// TestTruth filters real outputs: a line that reports a problem or names a place stays, or its words are
// in the lines that stay, or the lines state at least as many others. No line has words that
// the output does not have, apart from marks.
func TestTruth(t *testing.T) {
	f := builtin(t)
	isNoise := isDeclaredNoise(t)
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, s := range samples(t, root) {
			if s.rule == "git-diff" { // the heads of hunks count the context
				continue
			}
			t.Run(filepath.Join(s.rule, s.name), func(t *testing.T) {
				o, err := f.Apply(s.cmd, s.exit, bytes.NewReader(s.output))
				if err != nil {
					t.Fatal(err)
				}
				defer o.Close()
				checkTruth(t, isNoise, decodeReports(strategytest.Text(t, o.Full)), strategytest.Text(t, o.Text))
			})
		}
	}
}

// decodeReports returns an output with its reports as lines. Tests of package reports compare the two.
func decodeReports(output string) string {
	var b strings.Builder
	d := reports.Decoder{Emit: func(l []byte) { b.Write(append(bytes.Clone(l), '\n')) }}
	for l := range strings.SplitSeq(strings.TrimSuffix(output, "\n"), "\n") {
		d.Line([]byte(l))
	}
	d.End()
	return b.String()
}

// isDeclaredNoise returns which lines a rule declares as noise, by a pattern in filters.toml.
func isDeclaredNoise(t *testing.T) func(line string) bool {
	all, warnings := readRules("built in", builtinRules)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	set := &text.Patterns{}
	add := func(expr any) {
		if expr, ok := expr.(string); ok {
			p, err := text.Compile(expr)
			if err != nil {
				t.Fatal(err)
			}
			set.Add(p)
		}
	}
	for _, w := range all {
		if w.Strategy["type"] == "keep_matching" {
			continue
		}
		for _, key := range []string{"patterns", "noise", "last", "lead", "heads"} {
			list, _ := w.Strategy[key].([]any)
			for _, expr := range list {
				add(expr)
			}
		}
	}
	return func(line string) bool { return set.Match([]byte(line)) }
}

func checkTruth(t *testing.T, isNoise func(string) bool, full, got string) {
	t.Helper()
	if full == got {
		return
	}
	plain := plainText(got)
	shown := map[string]bool{}
	for _, w := range wordOfText.FindAllString(got, -1) {
		shown[w] = true
	}
	stated := 0
	for _, m := range statedSum.FindAllStringSubmatch(got, -1) {
		n, _ := strconv.Atoi(strings.ReplaceAll(strings.Join(m[1:], ""), ",", ""))
		stated += n
	}
	var lost []string
	withoutHelp, _, _ := strings.Cut(full, "npm error Usage:\n")
	seen := map[string]bool{}
	for line := range strings.Lines(plainText(withoutHelp)) {
		line = strings.TrimSpace(line)
		if line == "" || boilerplate.MatchString(line) || isNoise(streamName.ReplaceAllString(line, "")) || seen[line] ||
			!text.Important([]byte(line)) && !place.MatchString(line) || strings.Contains(plain, line) {
			continue
		}
		seen[line] = true
		for _, w := range wordOfText.FindAllString(line, -1) {
			if !shown[w] {
				lost = append(lost, line)
				break
			}
		}
	}
	for line := range strings.Lines(got) {
		for _, w := range wordOfText.FindAllString(line, -1) {
			if !markWords[w] && !strings.Contains(full, w) {
				t.Errorf("%q is not in the output: %q", w, line)
			}
		}
	}
	if len(lost) > stated {
		t.Errorf("%d lines are lost, and the result states %d:\n%s", len(lost), stated, strings.Join(lost[:min(len(lost), 12)], "\n"))
	}
}
