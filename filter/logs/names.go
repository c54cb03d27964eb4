package logs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Limits of the names of similar records.
const (
	maxNameBytes = 60  // bytes of the names that are written, apart from the last
	maxName      = 60  // bytes of a name
	maxNames     = 100 // names that are told apart
)

// nameList holds the words in which similar records differ, such as files and users, in the order of the log.
type nameList struct {
	text   []byte   // the first names, separated by commas
	shown  int      // names in text
	names  []string // all names, up to maxNames
	beyond bool     // there are more
	last   []byte   // the last new name
}

func (n *nameList) add(name []byte) {
	if name = text.Prefix(name, maxName); len(name) == 0 || bytes.Equal(name, n.last) || slices.Contains(n.names, string(name)) {
		return
	}
	n.last = append(n.last[:0], name...)
	if len(n.names) == maxNames {
		n.beyond = true
		return
	}
	if n.shown == len(n.names) && len(n.text)+len(name) < maxNameBytes {
		if n.shown > 0 {
			n.text = append(n.text, ", "...)
		}
		n.text = append(n.text, name...)
		n.shown++
	}
	n.names = append(n.names, string(name))
}

// append appends the names, with how many more there are: "a, b … z, 12 more names".
func (n *nameList) append(dst []byte) []byte {
	dst = append(dst, n.text...)
	switch more := len(n.names) - n.shown; {
	case more == 0 && !n.beyond:
	case more == 1 && !n.beyond:
		dst = fmt.Appendf(dst, ", %s", n.last)
	case n.beyond:
		dst = fmt.Appendf(dst, " … %s, over %s", n.last, quantity.Count(more-1, "more name"))
	default:
		dst = fmt.Appendf(dst, " … %s, %s", n.last, quantity.Count(more-1, "more name"))
	}
	return dst
}

// addName adds a name that a record has in place of the first record's.
func (e *logEntry) addName(name []byte) {
	if e.rangesOnly {
		return
	}
	if e.names == nil {
		e.names = &nameList{}
	}
	e.names.add(name)
}

// addNames adds the names of another entry: the first word that this one lacks, and those of its further records.
func (e *logEntry) addNames(other *logEntry) {
	mine, theirs := strings.Fields(e.key), strings.Fields(other.key)
	words := bytes.Fields(other.text)
	for i, w := range theirs {
		if at := len(words) - len(theirs) + i; i < len(mine) && at >= 0 && w != mine[i] { // a time may be several words
			e.addName(trimName(words[at]))
			break
		}
	}
	for i := range other.stats {
		if o := &other.stats[i]; o.kind == text.Name && o.varies() {
			e.addName(slices.Concat(o.min.text, []byte("…"), o.max.text))
		}
	}
	if other.names != nil {
		for _, n := range other.names.names {
			e.addName([]byte(n))
		}
		if e.names != nil {
			e.names.beyond = e.names.beyond || other.names.beyond
		}
	}
}

// nameEnds are bytes around a name.
const nameEnds = " \t\"'`=,;()[]{}<>|"

func trimName(word []byte) []byte { return bytes.Trim(word, nameEnds+":.") }

// wordAround returns the word of a line that has a column.
func wordAround(line []byte, c text.Column) []byte {
	from, to := c.Start, c.End
	for from > 0 && c.Start-from < maxName && strings.IndexByte(nameEnds, line[from-1]) < 0 {
		from--
	}
	for to < len(line) && to-c.End < maxName && strings.IndexByte(nameEnds, line[to]) < 0 {
		to++
	}
	return trimName(line[from:to])
}
