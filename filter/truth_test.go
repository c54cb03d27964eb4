package filter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/reports"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

var (
	place = regexp.MustCompile(`[\w/-]+\.([a-z]{1,3}|java|html|scss|json|yaml|toml|swift|dart):\d+`)
	token = regexp.MustCompile(`\b[0-9a-f]{7,40}\b|\pL[\pL_]*|\d+`)
	// leftOut are the marks that count lines that are not written, and tests that passed
	leftOut = regexp.MustCompile(`\((\d+) noise lines? removed\)|\.\.\. \((?:\+\d+ -\d+, )?(\d+) |\((\d+) similar|\(x(\d+)\)|, (\d+) more|` +
		`(\d+) (?:[a-z0-9]+ ){0,6}left out|^\(?(\d+) more |` +
		`(\d+) (?:tests? )?pass(?:ed|ing)|\((\d+) (?:issue|match|path|error|warning|note|entr)[a-z]*[):]`)
	// advice of git about its own commands, which git_status drops
	advice = regexp.MustCompile(`^\(.*"git .*\)$`)
	// lines of source that tools quote: before a line of carets, and with a number in a margin
	carets = regexp.MustCompile(`^\s*[\^~]+\s*$`)
	margin = regexp.MustCompile(`^(> )?\d+( \d+)? [|│]( |$)`)
	// what the head of npm's part in a monorepo says already, and biome's tag beside a fix
	said  = regexp.MustCompile(`^(\S+: )?npm error (path|workspace|location|command) `)
	fixes = regexp.MustCompile(` FIXABLE ━+$`)
	// sums of several runs of cargo test
	runs = regexp.MustCompile(` \((\d+) runs\)$`)
)

// markWords are the words of all marks.
var markWords = func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`above also and are as before bytes command committed date directories directory ends entries entry error errors file files
		for grouped help in info installed issue issues items kernel last left line lines listing matches max merge messages min more name names noise not notes of
		omitted one or otherwise out over packages paths patterns pnpm processes pseudo removed rows rule rules runs said set similar size smaller sockets
		such systems tags tests the them this threads total turbo unique warning warnings when where with x
		it was stopped test progress`) {
		set[w] = true
	}
	return set
}()

// TestTruth filters real outputs and compares the results with them; see [truth].
func TestTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("six hundred outputs on one goroutine: nothing for the race detector")
	}
	f := builtin(t)
	for _, root := range strategytest.SampleDirs("testdata/samples") {
		for _, s := range samples(t, root) {
			t.Run(filepath.Join(s.rule, s.name), func(t *testing.T) {
				o, err := f.Apply(s.cmd, s.exit, bytes.NewReader(s.output))
				if err != nil {
					t.Fatal(err)
				}
				defer o.Close()
				full, got := strategytest.Text(t, o.Full), strategytest.Text(t, o.Text)
				if slices.ContainsFunc(f.allRules(), func(r rule) bool {
					return readsReports[r.strategyType] && slices.ContainsFunc(o.Rules, func(by Applied) bool { return by.Rule == r.name })
				}) {
					full = decodeReports(full)
				}
				if full != got {
					for _, wrong := range newTruth(full, got, noiseOf(t, o.Rules)).check() {
						t.Error(wrong)
					}
				}
			})
		}
	}
}

// decodeReports returns an output with its reports as lines, without times before them. Tests of package reports compare the two.
func decodeReports(output string) string {
	var b strings.Builder
	d := reports.Decoder{Emit: func(l []byte) { b.Write(append(bytes.Clone(l), '\n')) }}
	stamps := reports.Stamps{Emit: d.Line}
	for l := range strings.SplitSeq(strings.TrimSuffix(output, "\n"), "\n") {
		stamps.Line([]byte(l))
	}
	stamps.End()
	d.End()
	return b.String()
}

// truth compares a result with the whole output. Three things must hold:
//
//   - A line with a failure or a place, or with the least or greatest value of its column, is in the result, or all its
//     words are in a group there, or the result counts it among the lines that it leaves out.
//   - A line of the result is a line of the output, or has its words and numbers, apart from marks.
//   - The counts of lines left out are not more than the lines that are missing.
type truth struct {
	full, got []string // lines with single blanks
	raw, out  []string // full and got, with all blanks
	plain     string   // got
	tokens    map[string]bool
	stated    int                    // lines left out, by the marks
	joined    int                    // of them those that a similar or an equal line stands for
	isNoise   func(line string) bool // reports whether a rule declares a line as noise, by a pattern in filters.toml
}

func newTruth(full, got string, isNoise func(string) bool) *truth {
	tr := &truth{
		full: strings.Split(plainText(full), "\n"), got: strings.Split(plainText(got), "\n"), plain: plainText(got),
		raw: strings.Split(full, "\n"), out: strings.Split(got, "\n"), tokens: map[string]bool{}, isNoise: isNoise,
	}
	for _, w := range token.FindAllString(got, -1) {
		tr.tokens[w] = true
	}
	for _, l := range tr.got {
		for _, m := range leftOut.FindAllStringSubmatch(l, -1) {
			n, _ := strconv.Atoi(strings.Join(m[1:], ""))
			if tr.stated += n; strings.HasSuffix(m[0], " similar") || strings.HasPrefix(m[0], "(x") {
				tr.joined += n
			}
		}
	}
	return tr
}

func (tr *truth) check() (wrong []string) {
	wrong = append(wrong, tr.lost()...)
	wrong = append(wrong, tr.invented()...)
	wrong = append(wrong, tr.hunks()...)
	return append(wrong, tr.counts()...)
}

// shows reports whether the result has a line, its end, or all its words. The beginning may be the name of
// a stream or a step, which heads the part of it. Of a JSON event it is enough to have the texts.
func (tr *truth) shows(line string) bool {
	if strings.Contains(tr.plain, line) || tr.hasWords(line) {
		return true
	}
	var event map[string]any
	if json.Unmarshal([]byte(line), &event) == nil {
		texts := 0
		for key, v := range event {
			if v, ok := v.(string); ok && key != "Time" && key != "Action" {
				if texts++; !strings.Contains(tr.plain, strings.TrimSpace(plainText(v))) && !tr.hasWords(v) {
					return false
				}
			}
		}
		return texts > 0
	}
	for i := 1; i < min(len(line)-3, 100); i++ {
		if rest := line[i:]; !text.IsLetter(line[i-1]) && (isFact(rest) || !isFact(line)) && (strings.Contains(tr.plain, rest) || tr.hasWords(rest)) {
			return true
		}
	}
	return false
}

// hasWords reports whether the result has all words and numbers of a line.
func (tr *truth) hasWords(line string) bool {
	for _, w := range token.FindAllString(line, -1) {
		if !tr.tokens[w] {
			return false
		}
	}
	return true
}

// isFact reports whether a line must not get lost.
func isFact(line string) bool { return text.Important([]byte(line)) || place.MatchString(line) }

func (tr *truth) lost() (wrong []string) {
	var lost []string
	seen := map[string]bool{}
	var at diffAt
	for i, l := range tr.full {
		context := at.advance(tr.raw[i])
		l = fixes.ReplaceAllString(strings.TrimSpace(l), "")
		quoted := margin.MatchString(l) || i+1 < len(tr.full) && carets.MatchString(tr.full[i+1])
		if l == "" || seen[l] || context || quoted || !isFact(l) || tr.isNoise(tr.raw[i]) || advice.MatchString(l) || said.MatchString(l) || tr.shows(l) {
			continue
		}
		seen[l] = true
		lost = append(lost, l)
	}
	var extremes []string
	for _, l := range tr.extremes() {
		ranged := strings.HasSuffix(l, ":") && strings.Contains(tr.plain, " similar: ") // a record of several lines has a range alone
		if !strings.Contains(tr.plain, l) && !ranged && !tr.isNoise(l) {
			extremes = append(extremes, l)
		}
	}
	if n := tr.stated - tr.joined; len(extremes) > n { // similar records show theirs
		wrong = append(wrong, fmt.Sprintf("%d extremes are lost, and the result states %d:\n%s", len(extremes), n, firstOf(extremes)))
	}
	if len(lost) > tr.stated {
		wrong = append(wrong, fmt.Sprintf("%d lines are lost, and the result states %d:\n%s", len(lost), tr.stated, firstOf(lost)))
	}
	return wrong
}

func firstOf(lines []string) string { return strings.Join(lines[:min(len(lines), 12)], "\n") }

// extremes returns the lines with the least and the greatest value of a column in lines that are alike, if the
// result has any of these lines: progress is dropped as a whole.
func (tr *truth) extremes() (lines []string) {
	type column struct {
		least, most         float64
		leastLine, mostLine string
		records             int
		shown               bool
	}
	columns := map[string]*column{}
	var order []*column
	for _, l := range tr.full {
		key, all := text.NormalizeColumns(nil, []byte(l), nil)
		for i, c := range all {
			c = text.Describe([]byte(l), c)
			v, ok := text.Value([]byte(l[c.Start:min(c.End, len(l))]))
			if c.Kind != text.Measure || !ok {
				continue
			}
			k := fmt.Sprint(i, string(key))
			x := columns[k]
			if x == nil {
				x = &column{least: v, most: v, leastLine: l, mostLine: l}
				columns[k] = x
				order = append(order, x)
			}
			if x.records++; !x.shown && strings.Contains(tr.plain, l) {
				x.shown = true
			}
			if v < x.least {
				x.least, x.leastLine = v, l
			}
			if v > x.most {
				x.most, x.mostLine = v, l
			}
		}
	}
	for _, x := range order {
		if x.shown && x.least < x.most {
			lines = append(lines, x.leastLine, x.mostLine)
		}
	}
	return lines
}

// invented returns what is wrong with lines of the result that are not in the output.
func (tr *truth) invented() (wrong []string) {
	known := map[string]bool{}
	for _, l := range tr.full {
		known[l] = true
		for _, w := range token.FindAllString(l, -1) {
			known[w] = true
			if n := strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", w); len(w) == 3 && n >= 0 { // git log
				known[fmt.Sprintf("%02d", n/3+1)] = true
			}
			if len(w) == 1 {
				known["0"+w] = true
			}
		}
	}
	for _, l := range tr.got {
		if known[l] || strings.HasPrefix(l, "@@ ") || runs.MatchString(l) {
			continue
		}
		at := token.FindAllStringIndex(l, -1)
		for i, span := range at {
			w := l[span[0]:span[1]]
			isMark := markWords[strings.ToLower(w)]
			if w[0] <= '9' { // a number before a word of a mark
				isMark = i+1 < len(at) && markWords[l[at[i+1][0]:at[i+1][1]]] || strings.HasPrefix(l[span[1]:], ")") ||
					strings.HasSuffix(l[:span[0]], "... (") || strings.Contains(l, " paths: ") || strings.HasSuffix(l, "left out)")
			}
			if !known[w] && !isMark && !(len(w) > 6 && isHash(w, known)) {
				wrong = append(wrong, fmt.Sprintf("%q is not in the output: %q", w, l))
				break
			}
		}
	}
	return wrong
}

// isHash reports whether a word begins one of the output, as short hashes do.
func isHash(w string, known map[string]bool) bool {
	for k := range known {
		if strings.HasPrefix(k, w) || strings.HasSuffix(k, w) {
			return true
		}
	}
	return false
}

// counts returns the counts that do not add up.
func (tr *truth) counts() (wrong []string) {
	missing := map[string]int{}
	alike := map[string]int{} // lines by their normal form
	sums := map[string][]int{}
	left := 0
	for _, l := range tr.full {
		missing[strings.TrimSpace(l)]++
		left++
		key := string(text.Normalize(nil, []byte(l)))
		alike[key]++
		numbers := token.FindAllString(l, -1)
		for i, w := range numbers {
			n, _ := strconv.Atoi(w)
			if sums[key] = slices.Grow(sums[key], len(numbers))[:len(numbers)]; n > 0 {
				sums[key][i] += n
			}
		}
	}
	counted, dropped := 0, 0 // by all marks, by the last line
	for _, l := range tr.got {
		// Below the number of lines left out may be some of them: what ran when the command was stopped.
		if l = strings.TrimSpace(l); missing[l] > 0 && dropped == 0 {
			missing[l]--
			left--
		}
		if m := noiseMark.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(strings.Join(m[1:], ""))
			counted += n
			if strings.HasSuffix(m[0], "removed)") {
				dropped += n
			}
		}
		if m := joinedMark.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			if have := alike[string(text.Normalize(nil, []byte(strings.TrimSuffix(l, m[0]))))]; have > 0 && n > have {
				wrong = append(wrong, fmt.Sprintf("%q stands for %d lines", l, have))
			}
		}
		if m := runs.FindStringSubmatch(l); m != nil {
			n, _ := strconv.Atoi(m[1])
			all := strings.TrimSuffix(l, m[0])
			key := text.Normalize(nil, []byte(all))
			for i, w := range token.FindAllString(all, -1) {
				if sum, err := strconv.Atoi(w); err == nil && alike[string(key)] == n && sums[string(key)][i] != sum {
					wrong = append(wrong, fmt.Sprintf("%q: want %d instead of %d", l, sums[string(key)][i], sum))
				}
			}
		}
	}
	if counted > left {
		wrong = append(wrong, fmt.Sprintf("the result states that %d lines are left out; %d are missing", counted, left))
	}
	return wrong
}

var (
	noiseMark  = regexp.MustCompile(`\((\d+) noise lines? removed\)|\.\.\. \((?:\+\d+ -\d+, )?(\d+) lines? omitted\)`)
	joinedMark = regexp.MustCompile(` \((?:x(\d+)|\d+ similar[^)]*)\)( … \S+)*$`)
)

// noiseOf returns a function that reports whether one of these rules declares a line as noise.
func noiseOf(t *testing.T, applied []Applied) func(line string) bool {
	all, warnings := readRules("built in", builtinRules)
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	set, keep := &text.Patterns{}, &text.Patterns{}
	for _, w := range all {
		if !slices.ContainsFunc(applied, func(by Applied) bool { return by.Rule == w.Name || by.Rule == dividingRule }) || w.Strategy["type"] == "keep_matching" {
			continue
		}
		for _, key := range []string{"patterns", "noise", "last", "lead", "heads", "keep"} {
			list, _ := w.Strategy[key].([]any)
			for _, expr := range list {
				if expr, ok := expr.(string); ok {
					p, err := text.Compile(expr)
					if err != nil {
						t.Fatal(err)
					}
					if key == "keep" {
						keep.Add(p)
					} else {
						set.Add(p)
					}
				}
			}
		}
	}
	return func(line string) bool {
		for range 4 { // the line, and its end after the names of streams and steps
			if keep.Match([]byte(line)) {
				return false
			}
			if set.Match([]byte(line)) {
				return true
			}
			_, line, _ = strings.Cut(line, " ")
		}
		return false
	}
}
