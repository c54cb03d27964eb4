package listing

import (
	"bytes"
	"fmt"
	"path"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// longRow is a row of a long listing.
type longRow struct {
	mode, owner, size, date, name []byte
}

// minLong is the least number of rows of a listing that is shortened.
const minLong = 8

// parseLong parses a row: -rw-r--r-- 1 root root 1341 Nov 20 19:02 name.
func parseLong(l []byte) (r longRow, ok bool) {
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
	count map[string]int
	last  []byte
	n     int // occurrences of last that are not in count yet
}

func (c *textCounts) add(text []byte) {
	if !bytes.Equal(text, c.last) {
		c.all()
		c.last = append(c.last[:0], text...)
	}
	c.n++
}

// all returns the counts. If there are very many texts, some are missing.
func (c *textCounts) all() map[string]int {
	if c.n > 0 {
		if c.count == nil {
			c.count = map[string]int{}
		}
		if len(c.count) < maxDirs || c.count[string(c.last)] > 0 {
			c.count[string(c.last)] += c.n
		}
		c.n, c.last = 0, c.last[:0]
	}
	return c.count
}

// most returns the most frequent text, and whether it is the only one.
func (c *textCounts) most() (text string, only bool) {
	for t, n := range c.all() {
		if n > c.count[text] || n == c.count[text] && t < text {
			text = t
		}
	}
	return text, len(c.count) == 1
}

// longUsual holds the usual values of the rows of a long listing.
type longUsual struct {
	file, dir         string // usual modes
	owner, date       string
	oneOwner, oneDate bool           // all rows share it
	kinds             map[string]int // files by extension
}

// rare reports whether a row is unlike most rows.
func (u longUsual) rare(r longRow) bool {
	return r.mode[0] != '-' || string(r.mode) != u.file || string(r.owner) != u.owner || u.kinds[nameKind(r.name)] <= 2
}

// nameKind returns the extension of a name.
func nameKind(name []byte) string { return path.Ext(string(name)) }

// usual finds the usual values of the listing. ok is false if too few lines are
// rows.
func (p *listingPass) usual() (u longUsual, ok bool, err error) {
	var files, dirs, owners, dates, names textCounts
	rows := 0
	err = p.all.Each(func(l []byte) {
		r, ok := parseLong(l)
		if !ok {
			return
		}
		rows++
		if dotName(r.name) {
			return
		}
		owners.add(r.owner)
		dates.add(r.date)
		switch r.mode[0] {
		case 'd':
			dirs.add(r.mode)
		case '-':
			files.add(r.mode)
			names.add([]byte(nameKind(r.name)))
		}
	})
	u.file, _ = files.most()
	u.dir, _ = dirs.most()
	u.owner, u.oneOwner = owners.most()
	u.date, u.oneDate = dates.most()
	u.kinds = names.all()
	return u, rows >= minLong && rows*10 >= p.all.Count()*4, err
}

// note describes the columns that the rows omit.
func (u longUsual) note() string {
	note := fmt.Sprintf("%ssize date name; where not said otherwise files are %s, directories %s, of %s", listNote, or(u.file, "-"), or(u.dir, "-"), u.owner)
	if u.oneDate {
		note += ", of " + u.date
	}
	return note + ")"
}

// row appends a row to line, without the usual values.
func (u longUsual) row(line []byte, r longRow) []byte {
	line = line[:0]
	mode := u.file
	if r.mode[0] == 'd' {
		mode = u.dir
	}
	if m := string(r.mode); m != mode && m != "lrwxrwxrwx" && m != "lrwxr-xr-x" {
		line = append(append(line, m...), ' ')
	}
	if !u.oneOwner && string(r.owner) != u.owner {
		line = append(append(line, r.owner...), ' ')
	}
	if r.mode[0] != 'd' && r.mode[0] != 'l' {
		line = append(append(line, r.size...), ' ')
	}
	if !u.oneDate {
		line = append(append(line, r.date...), ' ')
	}
	line = append(line, r.name...)
	if r.mode[0] == 'd' && r.name[len(r.name)-1] != '/' {
		line = append(line, '/')
	}
	return line
}

// long shortens a long listing: it writes the usual values once.
func (p *listingPass) long() (bool, error) {
	usual, ok, err := p.usual()
	if err != nil || !ok {
		return false, err
	}
	p.out.WriteString(usual.note())
	runs := nameRuns{out: p.out, max: p.names}
	skip := false // within a directory of noise
	var line []byte
	err = p.all.Each(func(l []byte) {
		r, ok := parseLong(l)
		switch {
		case !ok && isComplaint(l):
			runs.end()
			p.complain(l)
		case !ok && len(l) > 0 && l[len(l)-1] == ':':
			path := append(bytes.Clone(l[:len(l)-1]), '/')
			end := p.noisePath(path, false)
			if skip = end > 0 && end < len(path); !skip {
				runs.end()
				runs.plain(l)
			}
		case !ok && bytes.HasPrefix(l, []byte("total ")), skip:
		case !ok:
			runs.end()
			runs.plain(l)
		case !dotName(r.name):
			line = usual.row(line, r)
			if usual.rare(r) {
				runs.rare(line)
			} else {
				runs.line(line)
			}
		}
	})
	runs.end()
	p.complained()
	return true, err
}

func dotName(name []byte) bool {
	return string(name) == "." || string(name) == ".." || string(name) == "./" || string(name) == "../"
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
