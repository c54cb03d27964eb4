package search

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
)

// reference is grep, line by line and file by file, in the simplest form.
type reference struct {
	re            *regexp.Regexp
	context, most int
	room          int

	out  strings.Builder
	hits int
	more bool
}

func (r *reference) file(name string, data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	data = bytes.TrimPrefix(data, []byte(executors.ByteOrderMark))
	var lines [][]byte
	for len(data) > 0 {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		lines = append(lines, bytes.TrimSuffix(line, []byte("\r")))
	}
	written := 0
	show := func(n int, mark byte, loc []int) {
		at := 0
		if loc != nil {
			at = loc[0]
		}
		fmt.Fprintf(&r.out, "%s%c%d%c %s\n", name, mark, n+1, mark, cutAround(lines[n], at))
		written = n + 1
	}
	after, first := 0, r.hits > 0
	for n, line := range lines {
		loc := r.re.FindIndex(line)
		switch {
		case loc != nil && (r.hits == r.most || r.out.Len() > r.room):
			r.more = true
			return false
		case loc != nil:
			from := max(written, n-r.context)
			if r.context > 0 && (first || written > 0 && from > written) {
				r.out.WriteString("--\n")
			}
			first = false
			for ; from < n; from++ {
				show(from, '-', nil)
			}
			show(n, ':', loc)
			r.hits++
			after = r.context
		case after > 0:
			show(n, '-', nil)
			after--
		}
	}
	return true
}

func (r *reference) text(pattern string) string {
	m := Matches{Hits: r.hits, More: r.more}
	m.out.WriteString(r.out.String())
	return m.Text(pattern)
}

func FuzzGrep(f *testing.F) {
	for _, seed := range []struct {
		pattern, text string
		context, most uint8
		fold          bool
	}{
		{"foo", "a foo\nb\nfoo\r\n\x01\xEF\xBB\xBFfoo\x01x\x00foo", 1, 2, false},
		{`foo|ba[rz]+`, "xbar\nfoo\n\n\nbaz", 2, 9, true},
		{"\uFFFD", "a\xffb\n\uFFFD\nx", 0, 9, false},
		{"kss", "\u212Aſs\nKSS\nkss", 0, 9, true},
		{`^$|\Aa\z`, "\n\na\r\n\r\nab", 1, 9, false},
		{`[^a]*x`, "\n\nb\nax\n", 0, 9, false},
		{`(a{2,}b)+?c?`, "aab\naaabc", 3, 1, false},
		{`\bfoo\B`, "foo foox\nxfoo", 0, 3, true},
		{"a\nb", "a\nb\n", 0, 3, false},
		{`(?i)K\x{e9}s`, "k\u00c9s", 0, 3, false},
	} {
		f.Add(seed.pattern, []byte(seed.text), seed.context, seed.most, seed.fold)
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte, lines, most uint8, fold bool) {
		flags := "(?m)"
		if fold {
			flags = "(?mi)"
		}
		if _, err := regexp.Compile(pattern); err != nil || len(pattern) > 200 {
			return
		}
		re, err := regexp.Compile(flags + pattern)
		if err != nil {
			return
		}
		s, err := New(flags+pattern, Limits{Context: int(lines % 5), Matches: 1 + int(most%9), Bytes: 300})
		if err != nil {
			return
		}
		want := &reference{re: re, context: s.context, most: s.maxMatches, room: s.maxBytes}
		got := &Matches{Searcher: s}
		var b Buffer
		never := func() bool { return false }
		for i, data := range bytes.Split(text, []byte{1}) {
			name := fmt.Sprint("f", i)
			if re.Match(data) && !s.MayMatch(data) && !bytes.ContainsRune(data, '\n') {
				t.Errorf("%q: %q is not even tried", pattern, data)
			}
			if !want.file(name, data) {
				for i < len(bytes.Split(text, []byte{1})) && s.MayMatch(data) && got.Add(s.File(&b, name, data, never)) {
					t.Fatal("goes on where the reference stops")
				}
				break
			}
			if s.MayMatch(data) && !got.Add(s.File(&b, name, data, never)) {
				break
			}
		}
		if diff := cmp.Diff(want.text("p"), got.Text("p")); diff != "" {
			t.Errorf("%q in %q (-want +got)\n%s", pattern, text, diff)
		}
	})
}

// A regex that takes minutes on a long line stops soon after the cancel. Its states
// are too many for an automaton.
func TestGrepIsStopped(t *testing.T) {
	s, err := New(`(?s)[ab].{900}[YZ]`, Limits{Matches: 10, Bytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 5<<20)
	for i := range data {
		data[i] = "abcd"[random.IntN(4)]
	}
	lines := bytes.Clone(data)
	for i := 1000; i < len(lines); i += 1000 {
		lines[i] = '\n'
	}
	for name, text := range map[string][]byte{"one line": data, "many lines": lines} {
		looks := 0
		found := s.File(&Buffer{}, "a", text, func() bool { looks++; return looks >= 3 })
		if len(found.ends) > 0 || looks < 3 || looks > 6 {
			t.Errorf("%s: %d matches, %d looks", name, len(found.ends), looks)
		}
	}
}

// BenchmarkNoLiteral searches source text for regexes that have no needle.
func BenchmarkNoLiteral(b *testing.B) {
	line := "\tif err := request.validate(session, config); err != nil { return the_error } // quick brown fox jumps\n"
	data := bytes.Repeat([]byte(line), 1<<20/len(line))
	for name, expr := range map[string]string{
		"class": `[a-z]{4}[A-Z]`, "words": `\b\w{14,}\b`, "anchor": `^\s*[A-Z]`, "case": `(?i)[x-z][x-z]`, "frequent": `[a-z]_[a-z]`,
	} {
		b.Run(name, func(b *testing.B) {
			s, err := New(expr, Limits{Matches: 1 << 30, Bytes: 1 << 30})
			if err != nil {
				b.Fatal(err)
			}
			var buf Buffer
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				s.File(&buf, "a.go", data, func() bool { return false })
			}
		})
	}
}
