// Package search finds the lines of texts that match a regex, as grep does.
//
// Start with [New]. [Searcher.File] searches one text, [Matches] collects the
// results of many.
//
// It promises the matches of package regexp on each line without its line
// ending. Limits apply in the order of the files, so they do not depend on
// scheduling. A stopped search ends quickly. Binaries are not searched. The
// package neither reads files nor chooses them.
//
// Why needles? Package regexp examines each byte. Most patterns contain a
// literal text, and a search for its rarest byte is many times faster.
package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/pattern"
)

// MaxLine bounds the bytes shown of a matching line.
const MaxLine = 300

// Searcher searches the lines of files for a regex. It writes a matching line as
// "path:line: text" and a line around it as "path-line- text". It may be used
// concurrently.
type Searcher struct {
	re         *pattern.Pattern
	needles    needles // at least one is in each line that re matches; nil: unknown
	blockwise  bool    // re matches a text if it matches one of its lines
	context    int     // lines shown before and after a match
	maxMatches int     // matches shown
	maxBytes   int     // bytes shown
}

// Limits bound the result of a search.
type Limits struct {
	Context int // lines before and after each match
	Matches int
	Bytes   int // no further match is shown after these
}

// New compiles a regex. It returns the errors of [pattern.Compile].
func New(expr string, l Limits) (*Searcher, error) {
	re, err := pattern.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &Searcher{
		re:         re,
		needles:    needlesOf(expr),
		blockwise:  !anchoredToText(expr),
		context:    l.Context,
		maxMatches: l.Matches,
		maxBytes:   l.Bytes,
	}, nil
}

// anchoredToText reports whether a regex has an anchor to the beginning or the
// end of the text. Such an anchor matches differently in a line than in a whole
// file.
func anchoredToText(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	return err != nil || hasTextAnchor(re)
}

func hasTextAnchor(re *syntax.Regexp) bool {
	return re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText || slices.ContainsFunc(re.Sub, hasTextAnchor)
}

// Found is the result of a search in one file.
type Found struct {
	Line int    // 1-based, of the first match; 0 means no match
	text string // the matches with the lines around them
	ends []int  // in text, of each match with the lines around it
	more bool   // there are more matches than the limits allow
}

// Size returns the approximate size of f in bytes.
func (f Found) Size() int { return len(f.text) }

// Buffer is memory to search one file after the other. The zero value is ready to
// use; it must not be used concurrently.
type Buffer struct {
	Data []byte // for the caller, to read files into; a search does not change it
	out  []byte
	ends []int
}

// MayMatch reports whether data can hold a match. It is much faster than a search.
func (s *Searcher) MayMatch(data []byte) bool { return s.needles == nil || s.needles.foundIn(data) }

// NeedsASCII reports whether each match contains one of several ASCII strings. MayMatch is then also right for text in an
// encoding that has ASCII as it is.
func (s *Searcher) NeedsASCII() bool {
	return s.needles != nil && !slices.ContainsFunc(s.needles, func(n needle) bool { return !isASCII(n.text) })
}

func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf })
}

// File searches data, the content of a file that is shown as name. It finds
// nothing in a binary. It may end early, with any result, once stopped returns
// true.
func (s *Searcher) File(b *Buffer, name string, data []byte, stopped func() bool) Found {
	b.out, b.ends = b.out[:0], b.ends[:0]
	sc := scan{Searcher: s, Buffer: b, name: name, data: bytes.TrimPrefix(data, []byte(executors.ByteOrderMark)), stopped: stopped}
	var complete bool
	if s.needles != nil {
		complete = sc.byNeedles()
	} else {
		complete = sc.byBlocks()
	}
	if complete {
		sc.writeTrailing(len(sc.data))
	}
	if len(b.ends) == 0 {
		return Found{}
	}
	b.ends[len(b.ends)-1] = len(b.out)
	return Found{text: string(b.out), ends: append([]int(nil), b.ends...), Line: sc.firstLine, more: sc.more}
}
