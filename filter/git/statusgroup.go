package git

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// entries are the files of one section. Of too many, those of a directory stand
// together.
type entries struct {
	most, others int // entries that are named; others: of those in the short format that git does not track, 0 as most
	lines        []string
	names        []int // where the name begins in the line
	size         int
	written      bool // an earlier pass has grouped them
	groups       map[string]int
	order        []string // keys of groups
	n, nOthers   int
}

// maxEntries bounds the text of the entries that are kept apart, in bytes; when
// there are more they are counted by directory at once.
const maxEntries = 4 << 20

// maxGroups bounds the directories.
const maxGroups = 5000

func newEntries(most int) *entries { return &entries{most: most, others: most} }

// add takes a line whose name begins at the given byte; 0 is for one that an
// earlier pass wrote.
func (e *entries) add(l []byte, name int) {
	if name == 0 || groupedLine(l) {
		e.written = true
	}
	if bytes.HasPrefix(l, []byte("??")) || bytes.HasPrefix(l, []byte("!!")) {
		e.nOthers++
	} else {
		e.n++
	}
	if e.size > maxEntries && !e.written {
		e.group(string(l), name, 1)
		return
	}
	e.lines, e.names = append(e.lines, string(l)), append(e.names, name)
	e.size += len(l) + 16
}

// groupedLine reports whether a line stands for many files already.
func groupedLine(l []byte) bool {
	if !bytes.HasSuffix(l, []byte(" files)")) {
		return false
	}
	open := bytes.LastIndex(l, []byte("/ ("))
	return open > 0 && len(bytes.Trim(l[open+3:len(l)-len(" files)")], "0123456789")) == 0
}

func (e *entries) write(out *text.Lines) {
	many, manyOthers := e.n > e.most, e.nOthers > e.others
	if e.written || !many && !manyOthers {
		for _, l := range e.lines {
			out.WriteString(l)
		}
		e.writeGroups(out)
		return
	}
	e.divide(out, many, manyOthers)
}

// least is the number of files of a directory from which on they stand together.
const least = 4

// divide writes the entries, those of directories with many together.
func (e *entries) divide(out *text.Lines, many, manyOthers bool) {
	counts := map[string]int{}
	for i, l := range e.lines {
		if key, ok := e.key(l, e.names[i], many, manyOthers); ok {
			counts[key]++
		}
	}
	// so many directories that it would be a long list itself: the ones above them
	up := 0
	for ; len(counts) > e.most && up < 8; up++ {
		above := map[string]int{}
		for key, n := range counts {
			above[parent(key)] += n
		}
		if len(above) == len(counts) {
			break
		}
		counts = above
	}
	done := map[string]bool{}
	alone, omitted := 0, 0
	for i, l := range e.lines {
		key, ok := e.key(l, e.names[i], many, manyOthers)
		for range up {
			key = parent(key)
		}
		switch {
		case !ok:
			out.WriteString(l)
		case counts[key] >= least && strings.HasSuffix(key, "/"):
			if !done[key] {
				done[key] = true
				out.WriteString(fmt.Sprintf("%s (%d files)", key, counts[key]+e.groups[key]))
				delete(e.groups, key)
			}
		case alone < e.most:
			alone++
			out.WriteString(l)
		default:
			omitted++
		}
	}
	e.writeGroups(out)
	if omitted > 0 {
		out.Write(text.Omission(omitted))
	}
}

// key is what an entry stands together with others by: what was done to the file,
// and its directory.
func (e *entries) key(l string, name int, many, manyOthers bool) (string, bool) {
	others := strings.HasPrefix(l, "??") || strings.HasPrefix(l, "!!")
	if others && !manyOthers || !others && !many || name == 0 || strings.HasPrefix(l, "## ") || conflicted(l) {
		return "", false
	}
	return directory(l, name), true
}

// conflicted reports whether an entry is of a file that has to be merged.
func conflicted(l string) bool {
	switch {
	case strings.HasPrefix(l, "\tboth "), strings.HasPrefix(l, "\tadded by "), strings.HasPrefix(l, "\tdeleted by "):
		return true
	case len(l) > 2 && l[2] == ' ':
		return l[0] == 'U' || l[1] == 'U' || l[:2] == "AA" || l[:2] == "DD"
	}
	return false
}

// directory cuts the name of the file off a line.
func directory(l string, name int) string {
	path := l[name:]
	if i := strings.Index(path, " -> "); i > 0 {
		path = path[:i]
	}
	path = strings.TrimSuffix(path, "/")
	return l[:name+strings.LastIndexByte(path, '/')+1]
}

// parent cuts the last directory off a key.
func parent(key string) string {
	dir := strings.TrimSuffix(key, "/")
	i := strings.LastIndexByte(dir, '/')
	if i < 0 || dir == key {
		return key
	}
	return key[:i+1]
}

// group counts an entry with its directory, or the one at the top.
func (e *entries) group(l string, name, n int) {
	key := directory(l, name)
	if e.groups == nil {
		e.groups = map[string]int{}
	}
	if _, ok := e.groups[key]; !ok {
		for len(e.groups) >= maxGroups && parent(key) != key {
			key = parent(key)
		}
		if _, ok := e.groups[key]; !ok {
			e.order = append(e.order, key)
		}
	}
	e.groups[key] += n
}

func (e *entries) writeGroups(out *text.Lines) {
	for _, key := range e.order {
		n, ok := e.groups[key]
		switch {
		case !ok:
		case strings.HasSuffix(key, "/"):
			out.WriteString(fmt.Sprintf("%s (%d files)", key, n))
		default:
			out.Write(text.Omission(n))
		}
	}
}
