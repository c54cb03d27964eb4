package listing

import (
	"bytes"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// treeUnits are the prefixes that tree draws before a name, one for each level.
var (
	treeUnits    = text.ByteTexts("│   ", "│\u00a0\u00a0 ", "    ", "|   ", "\u00a0\u00a0\u00a0 ")
	treeBranches = text.ByteTexts("├── ", "└── ", "|-- ", "`-- ", "├─ ", "└─ ", "+-- ", "\\-- ")
)

// treeBranch returns the level and the name of a line of a tree. The level of other
// lines is 0.
func treeBranch(l []byte) (level int, name []byte) {
	rest, depth, branched := l, 0, false
next:
	for {
		for _, u := range treeUnits {
			if bytes.HasPrefix(rest, u) {
				rest, depth = rest[len(u):], depth+1
				continue next
			}
		}
		for _, b := range treeBranches {
			if bytes.HasPrefix(rest, b) {
				rest, depth, branched = rest[len(b):], depth+1, true
				continue next
			}
		}
		break
	}
	if !branched || len(bytes.TrimSpace(rest)) == 0 {
		return 0, nil
	}
	return depth, bytes.TrimLeft(rest, " ")
}

// tree replaces the drawing by indentation. It counts the contents of
// directories of noise, and those below the level to which a large tree is
// shown.
func (p *listingPass) tree() (bool, error) {
	var perLevel [64]int
	lines := 0
	err := p.all.Each(func(l []byte) {
		if level, _ := treeBranch(l); level > 0 {
			perLevel[min(level, len(perLevel)-1)]++
			lines++
		}
	})
	if err != nil || lines < 3 {
		return false, err
	}
	deepest, shown := 1, perLevel[1]
	for deepest+1 < len(perLevel) && shown+perLevel[deepest+1] <= p.lines {
		deepest++
		shown += perLevel[deepest]
	}
	t := treeCut{runs: nameRuns{out: p.out}, deepest: deepest, p: p}
	err = p.all.Each(t.line)
	t.end()
	p.complained()
	return true, err
}

type treeCut struct {
	p       *listingPass
	runs    nameRuns
	deepest int
	under   int    // level of the directory whose contents are counted
	head    []byte // that directory
	count   int
	level   int // level of the last line
}

func (t *treeCut) line(l []byte) {
	level, name := treeBranch(l)
	switch {
	case level == 0:
		t.end()
		switch {
		case isComplaint(l):
			t.p.complain(l)
		default:
			t.p.out.Write(l)
		}
		return
	case t.under > 0 && level > t.under:
		t.count++
		return
	}
	t.counted()
	if level != t.level {
		t.runs.end()
		t.level = level
	}
	text := append(bytes.Repeat([]byte{' '}, level), name...)
	if base := treeName(name); level >= t.deepest || noiseDirs[base] {
		t.runs.flushIfOther(text)
		t.under, t.head = level, text
		return
	}
	t.runs.name(text)
}

// flushIfOther writes the held names if a line does not continue them.
func (r *nameRuns) flushIfOther(l []byte) {
	if r.next = appendNumberless(r.next[:0], l); !bytes.Equal(r.next, r.key) {
		r.flush()
	}
}

// treeName returns a name without tree's remarks.
func treeName(name []byte) string {
	if len(name) > 0 && name[0] == '[' {
		if i := bytes.IndexByte(name, ']'); i > 0 {
			name = bytes.TrimLeft(name[i+1:], " ")
		}
	}
	return string(bytes.TrimRight(name, "/"))
}

// counted writes the directory whose contents were counted.
func (t *treeCut) counted() {
	if t.under == 0 {
		return
	}
	if t.count > 0 {
		t.runs.plain(fmt.Appendf(t.head, " (%d entries)", t.count))
	} else {
		t.runs.name(t.head)
	}
	t.under, t.count = 0, 0
}

func (t *treeCut) end() {
	t.counted()
	t.runs.end()
	t.level = 0
}
