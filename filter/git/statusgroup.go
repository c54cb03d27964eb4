package git

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// statusEntries are the files of one section. If there are too many, the files of
// each directory are joined.
type statusEntries struct {
	maxNamed          int // limit of named entries
	maxNamedUntracked int // the same for the untracked files of the short format
	lines             []string
	nameStarts        []int          // where the name begins in each line; 0 if an earlier pass wrote the line
	size              int            // memory of lines, in bytes
	grouped           bool           // an earlier pass joined them
	groups            map[string]int // number of files by key, for entries that are not in lines
	order             []string       // keys of groups in order
	tracked           int            // entries, including those that are not in lines
	untracked         int            // the same, untracked or ignored in the short format
}

// maxEntryBytes limits the text of entries, in bytes. Beyond it they are counted
// by directory at once.
const maxEntryBytes = 4 << 20

// maxGroups limits the directories.
const maxGroups = 5000

func newEntries(most int) *statusEntries {
	return &statusEntries{maxNamed: most, maxNamedUntracked: most}
}

// add adds a line whose name begins at byte name. 0 means that an earlier pass
// wrote the line.
func (e *statusEntries) add(l []byte, name int) {
	if name == 0 || isGroupLine(l) {
		e.grouped = true
	}
	if bytes.HasPrefix(l, []byte("??")) || bytes.HasPrefix(l, []byte("!!")) {
		e.untracked++
	} else {
		e.tracked++
	}
	if e.size > maxEntryBytes && !e.grouped {
		e.countInGroup(string(l), name, 1)
		return
	}
	e.lines, e.nameStarts = append(e.lines, string(l)), append(e.nameStarts, name)
	e.size += len(l) + 16
}

// isGroupLine reports whether a line already replaces many files.
func isGroupLine(l []byte) bool {
	if !bytes.HasSuffix(l, []byte(" files)")) {
		return false
	}
	open := bytes.LastIndex(l, []byte("/ ("))
	return open > 0 && len(bytes.Trim(l[open+3:len(l)-len(" files)")], "0123456789")) == 0
}

func (e *statusEntries) write(out *text.Lines) {
	many, manyOthers := e.tracked > e.maxNamed, e.untracked > e.maxNamedUntracked
	if e.grouped || !many && !manyOthers {
		for _, l := range e.lines {
			out.WriteString(l)
		}
		e.writeGroups(out)
		return
	}
	e.writeGrouped(out, many, manyOthers)
}

// minGrouped is the smallest number of files of a directory that are joined.
const minGrouped = 4

// writeGrouped writes the entries, and joins the entries of large directories.
func (e *statusEntries) writeGrouped(out *text.Lines, many, manyOthers bool) {
	counts := map[string]int{}
	for i, l := range e.lines {
		if key, ok := e.groupKey(l, e.nameStarts[i], many, manyOthers); ok {
			counts[key]++
		}
	}
	// So many directories would be a long list: use the ones above them.
	levels := 0
	for ; len(counts) > e.maxNamed && levels < 8; levels++ {
		above := map[string]int{}
		for key, n := range counts {
			above[parentKey(key)] += n
		}
		if len(above) == len(counts) {
			break
		}
		counts = above
	}
	done := map[string]bool{}
	named, omitted := 0, 0
	for i, l := range e.lines {
		key, ok := e.groupKey(l, e.nameStarts[i], many, manyOthers)
		for range levels {
			key = parentKey(key)
		}
		switch {
		case !ok:
			out.WriteString(l)
		case counts[key] >= minGrouped && strings.HasSuffix(key, "/"):
			if !done[key] {
				done[key] = true
				out.WriteString(fmt.Sprintf("%s (%s)", key, quantity.Count(counts[key]+e.groups[key], "file")))
				delete(e.groups, key)
			}
		case named < e.maxNamed:
			named++
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

// groupKey returns the group of an entry: its state and its directory.
func (e *statusEntries) groupKey(l string, name int, many, manyOthers bool) (string, bool) {
	others := strings.HasPrefix(l, "??") || strings.HasPrefix(l, "!!")
	if others && !manyOthers || !others && !many || name == 0 || strings.HasPrefix(l, "## ") || isConflicted(l) {
		return "", false
	}
	return directoryOf(l, name), true
}

// isConflicted reports whether an entry has a merge conflict.
func isConflicted(l string) bool {
	switch {
	case strings.HasPrefix(l, "\tboth "), strings.HasPrefix(l, "\tadded by "), strings.HasPrefix(l, "\tdeleted by "):
		return true
	case len(l) > 2 && l[2] == ' ':
		return l[0] == 'U' || l[1] == 'U' || l[:2] == "AA" || l[:2] == "DD"
	}
	return false
}

// directoryOf removes the name of the file from a line.
func directoryOf(l string, name int) string {
	path := l[name:]
	if i := strings.Index(path, " -> "); i > 0 {
		path = path[:i]
	}
	path = strings.TrimSuffix(path, "/")
	return l[:name+strings.LastIndexByte(path, '/')+1]
}

// parentKey removes the last directory from a key.
func parentKey(key string) string {
	dir := strings.TrimSuffix(key, "/")
	i := strings.LastIndexByte(dir, '/')
	if i < 0 || dir == key {
		return key
	}
	return key[:i+1]
}

// countInGroup counts an entry in its directory, or in the top one.
func (e *statusEntries) countInGroup(l string, name, n int) {
	key := directoryOf(l, name)
	if e.groups == nil {
		e.groups = map[string]int{}
	}
	if _, ok := e.groups[key]; !ok {
		for len(e.groups) >= maxGroups && parentKey(key) != key {
			key = parentKey(key)
		}
		if _, ok := e.groups[key]; !ok {
			e.order = append(e.order, key)
		}
	}
	e.groups[key] += n
}

func (e *statusEntries) writeGroups(out *text.Lines) {
	for _, key := range e.order {
		n, ok := e.groups[key]
		switch {
		case !ok:
		case strings.HasSuffix(key, "/"):
			out.WriteString(fmt.Sprintf("%s (%s)", key, quantity.Count(n, "file")))
		default:
			out.Write(text.Omission(n))
		}
	}
}
