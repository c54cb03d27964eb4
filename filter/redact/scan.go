// Package redact finds credentials in text and masks their values.
//
// Start with a [Scanner]; its zero value finds all kinds of [Credentials].
// [Scanner.Mask] masks a text in memory. [Scanner.Visible] also finds
// credentials that control characters hide. [Scanner.Copy] masks a text of any
// length, and a [Stream] masks the lines of one output as they come.
//
// Only values are masked: names and the text around them stay. A mask is never
// longer than the value, and masking again changes nothing. References and
// placeholders are not masked.
package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Scanner finds credentials and masks their values: the kinds of [Credentials]
// and the user's own patterns. It is safe for concurrent use and must not be
// copied.
//
// Why not regular expressions alone? One pass over a line stops only at the few bytes that a
// credential must have. An expression of rules.toml runs where its keyword occurs.
type Scanner struct {
	anchors      atomic.Pointer[anchors] // nil means those of every scanner
	userPatterns []*text.Pattern

	learning sync.Mutex
	learned  [][]byte // without white space

	session *sessionMemory // nil: the scanner is not of one session
}

// NewScanner returns a scanner that also finds patterns. If an expression has a
// group, the match of the first group is the value.
func NewScanner(patterns []string) (*Scanner, error) {
	s := &Scanner{}
	for _, expr := range patterns {
		p, err := CheckPattern(expr)
		if err != nil {
			return nil, err
		}
		s.userPatterns = append(s.userPatterns, p)
	}
	return s, nil
}

// CheckPattern compiles a pattern of the user. The error describes its fault.
func CheckPattern(expr string) (*text.Pattern, error) {
	p, err := text.Compile(expr)
	if err != nil {
		return nil, err
	}
	if p.Regexp.MatchString("") {
		return nil, fmt.Errorf("the pattern %q matches the empty text", expr)
	}
	return p, nil
}

// minLearned is the shortest value, in bytes, that can be learned. Shorter
// values occur in too many texts.
const minLearned = 8

// Learn makes the scanner mask values wherever they occur, such as the
// process's own keys. It ignores values shorter than 8 bytes.
func (s *Scanner) Learn(values ...string) {
	s.learning.Lock()
	defer s.learning.Unlock()
	anchors := s.anchors.Load()
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) >= minLearned && !strings.ContainsAny(v, "\r\n") {
			anchors = anchors.clone()
			anchors.add(wholeAnchor([]byte(v), namedSecret))
			s.learned = append(s.learned, bytes.Join(bytes.Fields([]byte(v)), nil))
		}
	}
	s.anchors.Store(anchors)
	s.session.forget()
}

// Finding counts the values found of one kind.
type Finding struct {
	Kind  string
	Count int // masked values
}

// Warning describes the findings in one line without a line feed. It returns ""
// if there are no findings.
func Warning(found []Finding) string {
	n := 0
	var secretKinds []string
	for _, f := range found {
		n += f.Count
		if f.Count > 1 {
			f.Kind = fmt.Sprintf("%s x%d", f.Kind, f.Count)
		}
		secretKinds = append(secretKinds, f.Kind)
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "[security] 1 credential masked: " + secretKinds[0]
	}
	return fmt.Sprintf("[security] %s masked: %s", quantity.Count(n, "credential"), strings.Join(secretKinds, ", "))
}

// Mask masks the credentials in a text and returns the findings. A text without
// credentials stays unchanged. A nil Scanner finds nothing.
func (s *Scanner) Mask(text string) (masked string, found []Finding) {
	if s == nil || len(text) < minValue || s.session.isMasked(text, asWritten) {
		return text, nil
	}
	w := maskBufferPool.Get().(*maskBuffers)
	defer w.release()
	w.out = w.out[:0]
	w.reset(s)
	for rest := text; ; {
		line, more, cut := strings.Cut(rest, "\n")
		w.in = append(w.in[:0], strings.TrimSuffix(line, "\r")...)
		w.Line(w.in)
		if !cut {
			break
		}
		rest = more
	}
	if found = w.End(); len(found) > 0 {
		text = withReturns(string(w.out[:len(w.out)-1]), text)
	}
	s.session.add(text, asWritten)
	return text, found
}

// withReturns restores the carriage returns at the ends of lines.
func withReturns(masked, text string) string {
	if !strings.Contains(text, "\r\n") && !strings.HasSuffix(text, "\r") {
		return masked
	}
	lines, original := strings.Split(masked, "\n"), strings.Split(text, "\n")
	for i := range lines {
		if strings.HasSuffix(original[i], "\r") {
			lines[i] += "\r"
		}
	}
	return strings.Join(lines, "\n")
}

// maskBuffers holds the buffers for masking a text in memory, for reuse.
type maskBuffers struct {
	Stream
	in, out []byte
}

var maskBufferPool = sync.Pool{New: func() any {
	w := &maskBuffers{}
	w.next = func(line []byte) { w.out = append(append(w.out, line...), '\n') }
	return w
}}

func (w *maskBuffers) release() {
	const large = 1 << 20
	if cap(w.in)+cap(w.out) < large {
		maskBufferPool.Put(w)
	}
}

const (
	maskBegin = "[REDACTED"
	maskShort = maskBegin + "]"
	maskStars = "*********" // for values shorter than maskShort
)

// appendMask appends the mask of a value of n bytes, at most n bytes long.
func appendMask(out []byte, k credKind, n int) []byte {
	switch {
	case n >= len(rules().masks[k]):
		return append(out, rules().masks[k]...)
	case n >= len(maskShort):
		return append(out, maskShort...)
	}
	return append(out, maskStars[:n]...)
}

// isMask reports whether a value is a mask or begins with one.
func isMask(v []byte) bool {
	return bytes.HasPrefix(v, []byte(maskBegin)) || len(bytes.Trim(v, "*")) == 0
}

// Sum returns the sum of two lists of findings.
func Sum(all, more []Finding) []Finding {
	for _, f := range more {
		i := slices.IndexFunc(all, func(o Finding) bool { return o.Kind == f.Kind })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Count += f.Count
	}
	return all
}
