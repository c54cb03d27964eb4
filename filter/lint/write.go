package lint

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// flush writes the groups so far.
func (s *findingStore) flush() {
	if s.errorText == nil {
		s.errorText, s.otherText = text.NewLines(), text.NewLines()
	}
	for _, g := range s.order {
		if g.sev == isError {
			g.write(s.errorText, s)
		} else {
			g.write(s.otherText, s)
		}
	}
	s.groups, s.order, s.seen, s.knownFiles, s.size = nil, nil, nil, nil, 0
}

// write writes the diagnostics of a rule.
func (g *ruleGroup) write(to *text.Lines, s *findingStore) {
	if g.count == 0 {
		return
	}
	if g.rule != "" && (g.ruleNotShown || g.count >= 10 || g.count >= 4 && len(g.entries) > 1) {
		head := append([]byte(g.rule), " ("...)
		head = strconv.AppendInt(head, int64(g.count), 10)
		head = append(append(head, ' '), g.sev.plural(g.count)...)
		to.Write(append(head, "):"...))
	}
	for _, e := range g.entries {
		if e.count == 0 {
			continue
		}
		writeLines(to, e.lines)
		for _, n := range e.notes {
			to.Write(n.line[:len(n.line)-1])
			if len(n.places) > 0 {
				writeLines(to, append(n.places, '\n'))
			}
		}
		if len(e.places) > 0 {
			writeLines(to, append(s.shortenFileNames(e.places), '\n'))
		}
	}
}

// write writes all groups and their totals.
func (s *findingStore) write(to *text.Lines) error {
	if s.grouped() == 0 {
		return nil
	}
	s.flush()
	if err := s.errorText.Each(to.Write); err != nil {
		return err
	}
	if err := s.otherText.Each(to.Write); err != nil {
		return err
	}
	to.Write(s.totalLine())
	return nil
}

func (s *findingStore) close() {
	if s.errorText != nil {
		s.errorText.Close()
		s.otherText.Close()
	}
}

// shortMark precedes a file name that may be shortened. It is a control character, so no
// line contains it.
const shortMark = 1

// shortenFileNames removes the common directory from marked file names, except its last
// part.
func (s *findingStore) shortenFileNames(lines []byte) []byte {
	if bytes.IndexByte(lines, shortMark) < 0 {
		return lines
	}
	root := bytes.TrimRight(s.commonDir, "/")
	root = s.commonDir[:bytes.LastIndexByte(root, '/')+1]
	if len(root) > 1 {
		lines = bytes.ReplaceAll(lines, append([]byte{shortMark}, root...), nil)
	}
	return bytes.ReplaceAll(lines, []byte{shortMark}, nil)
}

// totalLine returns the line that counts all diagnostics, and those in groups.
func (s *findingStore) totalLine() []byte {
	var b []byte
	for sev, n := range s.counts {
		if n > 0 {
			if len(b) > 0 {
				b = append(b, ", "...)
			}
			b = strconv.AppendInt(b, int64(n), 10)
			b = append(append(b, ' '), severity(sev).plural(n)...)
		}
	}
	if s.ungrouped != [4]int{} {
		b = fmt.Appendf(b, ", %d of them", s.grouped())
	}
	b = append(b, " grouped ("...)
	b = strconv.AppendInt(b, int64(s.rules), 10)
	if s.rules == 1 {
		return append(b, " rule)"...)
	}
	return append(b, " rules)"...)
}

func isTotalLine(l []byte) bool {
	return len(l) > 0 && l[0] >= '0' && l[0] <= '9' && l[len(l)-1] == ')' && bytes.Contains(l, []byte(" grouped ("))
}
