package listing

import (
	"bytes"
	"cmp"
	"fmt"
	"path"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// longRow is a row of a long listing.
type longRow struct {
	mode, owner, size, date, name []byte
}

// minLongRows is the least number of rows of a listing that is shortened.
const minLongRows = 8

// parseLong parses a row: -rw-r--r-- 1 root root 1341 Nov 20 19:02 name. find -ls writes
// the numbers of the inode and of its blocks first.
func parseLong(l []byte) (r longRow, ok bool) {
	for range 2 {
		rest := bytes.TrimLeft(l, " ")
		if digits := text.DigitsEnd(rest, 0); digits > 0 && digits < len(rest) && rest[digits] == ' ' {
			l = bytes.TrimLeft(rest[digits:], " ")
		}
	}
	if len(l) < 20 || bytes.IndexByte([]byte("-dlbcpsD"), l[0]) < 0 {
		return r, false
	}
	for _, b := range l[1:10] {
		if bytes.IndexByte([]byte("rwxsStT-"), b) < 0 {
			return r, false
		}
	}
	field := func() (f []byte) {
		l = bytes.TrimLeft(l, " ")
		end := bytes.IndexByte(l, ' ')
		if end < 0 {
			end = len(l)
		}
		f, l = l[:end], l[end:]
		return f
	}
	r.mode = field()
	if links := field(); text.DigitsEnd(links, 0) != len(links) || len(links) == 0 {
		return r, false
	}
	l = bytes.TrimLeft(l, " ")
	owners := l
	field()
	field()
	r.owner = owners[:len(owners)-len(l)]
	r.size = field()
	if bytes.HasSuffix(r.size, []byte(",")) { // a device
		field()
	}
	if len(r.size) == 0 || text.Class[r.size[0]] != text.Digit {
		return r, false
	}
	l = bytes.TrimLeft(l, " ")
	dates := l
	switch first := field(); {
	case len(first) == 3 && text.IsCalendarWord(first):
		field()
		field()
	case len(first) == 10 && first[4] == '-': // ISO
		if clock := field(); len(clock) > 8 {
			field()
		}
	default:
		return r, false
	}
	r.date = dates[:len(dates)-len(l)]
	r.name = bytes.TrimPrefix(l, []byte(" "))
	return r, len(r.name) > 0
}

// textCounts counts texts; equal texts are mostly consecutive.
type textCounts struct {
	count   map[string]int
	last    []byte
	pending int // occurrences of last that are not in count yet
}

func (c *textCounts) add(value []byte) {
	if !bytes.Equal(value, c.last) {
		c.counts()
		c.last = append(c.last[:0], value...)
	}
	c.pending++
}

// counts returns the counts. If there are very many texts, some are missing.
func (c *textCounts) counts() map[string]int {
	if c.pending > 0 {
		if c.count == nil {
			c.count = map[string]int{}
		}
		if len(c.count) < maxDirs || c.count[string(c.last)] > 0 {
			c.count[string(c.last)] += c.pending
		}
		c.pending, c.last = 0, c.last[:0]
	}
	return c.count
}

// mostFrequent returns the most frequent text, and whether it is the only one.
func (c *textCounts) mostFrequent() (text string, only bool) {
	for t, n := range c.counts() {
		if n > c.count[text] || n == c.count[text] && t < text {
			text = t
		}
	}
	return text, len(c.count) == 1
}

// usualValues holds the usual values of the rows of a long listing.
type usualValues struct {
	fileMode, dirMode   string
	owner, date         string
	sameOwner, sameDate bool           // all rows have that owner, or that date
	extensions          map[string]int // files by extension
}

// isUnusual reports whether a row is unlike most rows.
func (u usualValues) isUnusual(r longRow) bool {
	return r.mode[0] != '-' || string(r.mode) != u.fileMode || string(r.owner) != u.owner || u.extensions[extension(r.name)] <= 2
}

// extension returns the extension of a name.
func extension(name []byte) string { return path.Ext(string(name)) }

// usualValues finds the usual values of the listing. ok is false if too few lines are
// rows.
func (p *listingPass) usualValues() (u usualValues, ok bool, err error) {
	var files, dirs, owners, dates, names textCounts
	rows := 0
	err = p.input.Each(func(l []byte) {
		r, ok := parseLong(l)
		if !ok {
			return
		}
		rows++
		if isDotName(r.name) {
			return
		}
		owners.add(r.owner)
		dates.add(r.date)
		switch r.mode[0] {
		case 'd':
			dirs.add(r.mode)
		case '-':
			files.add(r.mode)
			names.add([]byte(extension(r.name)))
		}
	})
	u.fileMode, _ = files.mostFrequent()
	u.dirMode, _ = dirs.mostFrequent()
	u.owner, u.sameOwner = owners.mostFrequent()
	u.date, u.sameDate = dates.mostFrequent()
	u.extensions = names.counts()
	return u, rows >= minLongRows && rows*10 >= p.input.Count()*4, err
}

// note describes the columns that the rows omit.
func (u usualValues) note() string {
	note := fmt.Sprintf(
		"%ssize date name; where not said otherwise files are %s, directories %s, of %s",
		listNotePrefix, cmp.Or(u.fileMode, "-"), cmp.Or(u.dirMode, "-"), u.owner,
	)
	if u.sameDate {
		note += ", of " + u.date
	}
	return note + ")"
}

// appendRow appends a row to line, without the usual values.
func (u usualValues) appendRow(line []byte, r longRow) []byte {
	line = line[:0]
	mode := u.fileMode
	if r.mode[0] == 'd' {
		mode = u.dirMode
	}
	if m := string(r.mode); m != mode && m != "lrwxrwxrwx" && m != "lrwxr-xr-x" {
		line = append(append(line, m...), ' ')
	}
	if !u.sameOwner && string(r.owner) != u.owner {
		line = append(append(line, r.owner...), ' ')
	}
	if r.mode[0] != 'd' && r.mode[0] != 'l' {
		line = append(append(line, r.size...), ' ')
	}
	if !u.sameDate {
		line = append(append(line, r.date...), ' ')
	}
	line = append(line, r.name...)
	if r.mode[0] == 'd' && r.name[len(r.name)-1] != '/' {
		line = append(line, '/')
	}
	return line
}

// writeLong shortens a long listing: it writes the usual values once.
func (p *listingPass) writeLong() (bool, error) {
	usual, ok, err := p.usualValues()
	if err != nil || !ok {
		return false, err
	}
	p.out.WriteString(usual.note())
	runs := nameRuns{out: p.out, maxNames: p.maxNames}
	skip := false // within a directory of noise
	var line []byte
	err = p.input.Each(func(l []byte) {
		r, ok := parseLong(l)
		switch {
		case !ok && isComplaint(l):
			runs.endDirectory()
			p.addComplaint(l)
		case !ok && len(l) > 0 && l[len(l)-1] == ':':
			path := append(bytes.Clone(l[:len(l)-1]), '/')
			end := p.noisePath(path)
			if skip = end > 0 && end < len(path); !skip {
				runs.endDirectory()
				runs.otherLine(l)
			}
		case !ok && bytes.HasPrefix(l, []byte("total ")), skip:
		case !ok:
			runs.endDirectory()
			runs.otherLine(l)
		case !isDotName(r.name):
			line = usual.appendRow(line, r)
			if usual.isUnusual(r) {
				runs.addUnusual(line, r.name)
			} else {
				runs.writeNames(line, 1, r.name, r.name)
			}
		}
	})
	runs.endDirectory()
	p.endComplaints()
	return true, err
}

func isDotName(name []byte) bool {
	return string(name) == "." || string(name) == ".." || string(name) == "./" || string(name) == "../"
}
