package listing

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// treeEntry is an entry of a tree whose depth the command chose.
type treeEntry struct {
	level   int
	parent  int  // its directory; 0 is the root
	isDir   bool // entries follow below it, or tree says so
	files   int  // entries in it without entries below them
	written int  // of them
	inNoise bool // somewhere below a directory of noise
	noise   int  // entries below it, if it is one
}

// askedLevel returns the depth that the option -L of tree asks for, also as -FL 2, or 0.
func askedLevel(command string) int {
	words := strings.Fields(command)
	for i, w := range words {
		options, value, ok := strings.Cut(w, "L")
		ok = ok && strings.HasPrefix(options, "-") && !strings.HasPrefix(options, "--")
		if ok && value == "" && i+1 < len(words) {
			value = words[i+1]
		}
		if n, err := strconv.Atoi(value); ok && err == nil {
			return n
		}
	}
	return 0
}

// treeEntries returns the entries of the tree after its root. Tree seldom marks the directories at the last
// level. Names without a dot are taken for them if, with the directories above, they are as many as tree counts.
func (p *listingPass) treeEntries(asked int) ([]treeEntry, error) {
	entries := []treeEntry{{}}
	last := []int{0} // the last entry of each level
	dirs, counted := 0, 0
	var likely []int // entries that may be directories
	err := p.input.Each(func(l []byte) {
		level, name := treeBranch(l)
		if level == 0 {
			counted = max(counted, countedDirs(l))
			return
		}
		level = min(level, len(last))
		e := treeEntry{level: level, parent: last[level-1], isDir: saysDirectory(name)}
		parent := &entries[e.parent]
		if !parent.isDir && e.parent > 0 {
			parent.isDir = true
			dirs++
			if !parent.inNoise {
				entries[parent.parent].files--
			}
		}
		switch {
		case parent.inNoise, parent.noise > 0 || e.parent > 0 && parent.noise < 0:
			e.inNoise = true
		case e.isDir:
			dirs++
		default:
			parent.files++
		}
		if !e.isDir && level == asked && bytes.IndexByte(name, '.') < 0 {
			likely = append(likely, len(entries))
		}
		if noiseDirs()[treeName(name)] {
			e.noise = -1
		}
		for i := e.parent; e.inNoise; i = entries[i].parent {
			if n := &entries[i].noise; *n != 0 && !entries[i].inNoise {
				*n = max(*n, 0) + 1
				break
			}
		}
		entries = append(entries, e)
		last = append(last[:level], len(entries)-1)
	})
	if more := counted - dirs - len(likely); more == 0 || more == 1 { // some versions count the root
		for _, i := range likely {
			if e := &entries[i]; !e.inNoise {
				e.isDir = true
				entries[e.parent].files--
			}
		}
	}
	return entries, err
}

// countedDirs returns the number of directories in the last line of a tree: "12 directories, 30 files".
func countedDirs(l []byte) int {
	number, what, _ := bytes.Cut(l, []byte(" director"))
	if n, err := strconv.Atoi(string(number)); err == nil && len(what) > 0 {
		return n
	}
	return 0
}

// saysDirectory reports whether tree prints that an entry is a directory: by a slash, or by the permissions
// before the name.
func saysDirectory(name []byte) bool {
	return bytes.HasSuffix(name, []byte("/")) || bytes.HasPrefix(name, []byte("[d"))
}

// writeLevels writes a tree whose depth was asked for: all levels, directories first, and of the files in each
// directory so many that the tree has about maxLines lines. It names the others by the first and the
// last.
func (p *listingPass) writeLevels(asked int) (bool, error) {
	entries, err := p.treeEntries(asked)
	if err != nil {
		return false, err
	}
	linesWith := func(each int) (n int) {
		for i := range entries {
			if e := &entries[i]; !e.inNoise {
				if n += min(e.files, each); e.files > each {
					n++
				}
				if e.isDir {
					n++
				}
			}
		}
		return n
	}
	each := p.maxLines
	for each > 2 && linesWith(each) > p.maxLines {
		each--
	}
	if linesWith(each) > 3*p.maxLines {
		return false, nil
	}
	at := 0
	var left leftOut
	err = p.input.Each(func(l []byte) {
		level, name := treeBranch(l)
		if level == 0 {
			left.writeTo(p.out)
			p.out.Write(l)
			return
		}
		at++
		e := &entries[at]
		line := append(bytes.Repeat([]byte{' '}, e.level), name...)
		parent := &entries[e.parent]
		if left.parent != e.parent || e.isDir || e.noise != 0 {
			left.writeTo(p.out)
		}
		switch {
		case e.inNoise:
		case e.noise > 0:
			p.out.Write(fmt.Appendf(line, " (%s)", quantity.Count(e.noise, "entry")))
		case e.isDir, parent.written < each, parent.files <= each+1:
			if !e.isDir {
				parent.written++
			}
			p.out.Write(line)
		default:
			left.add(e, name)
		}
	})
	left.writeTo(p.out)
	return true, err
}

// leftOut are consecutive entries of a directory that are not written.
type leftOut struct {
	parent, level, count int
	first, last          []byte
}

func (o *leftOut) add(e *treeEntry, name []byte) {
	o.parent, o.level = e.parent, e.level
	o.addRun(1, name, name)
}

// addRun adds names from first to last.
func (o *leftOut) addRun(count int, first, last []byte) {
	if o.count == 0 {
		o.first = append(o.first[:0], first...)
	}
	o.count += count
	o.last = append(o.last[:0], last...)
}

// writeTo writes the line that stands for the names.
func (o *leftOut) writeTo(out *text.Lines) {
	indent := bytes.Repeat([]byte{' '}, o.level)
	switch {
	case o.count == 0:
	case bytes.Equal(o.first, o.last):
		out.Write(fmt.Appendf(indent, "... (%d more: %s) ...", o.count, o.first))
	default:
		out.Write(fmt.Appendf(indent, "... (%d more: %s%s%s) ...", o.count, o.first, runSeparator, o.last))
	}
	o.count = 0
}
