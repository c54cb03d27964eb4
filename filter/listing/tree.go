package listing

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// treeIndents are the prefixes that tree draws before a name, one for each level.
var (
	treeIndents  = text.ByteTexts("│   ", "│\u00a0\u00a0 ", "    ", "|   ", "\u00a0\u00a0\u00a0 ")
	treeBranches = text.ByteTexts("├── ", "└── ", "|-- ", "`-- ", "├─ ", "└─ ", "+-- ", "\\-- ")
)

// treeBranch returns the level and the name of a line of a tree. The level of other
// lines is 0.
func treeBranch(l []byte) (level int, name []byte) {
	rest, depth, branched := l, 0, false
next:
	for {
		for _, u := range treeIndents {
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

// writeTree replaces the drawing by indentation. It counts the contents of
// directories of noise, and those below the level to which a large tree is
// shown.
func (p *listingPass) writeTree() (bool, error) {
	var perLevel [64]int
	lines := 0
	err := p.input.Each(func(l []byte) {
		if level, _ := treeBranch(l); level > 0 {
			perLevel[min(level, len(perLevel)-1)]++
			lines++
		}
	})
	if err != nil || lines < 3 {
		return false, err
	}
	asked := askedLevel(p.run.Command)
	for _, other := range p.run.Others {
		if strings.HasPrefix(other, "tree ") {
			asked = max(asked, askedLevel(other))
		}
	}
	if asked > 0 && lines > p.maxLines {
		if done, err := p.writeLevels(asked); done || err != nil {
			return done, err
		}
	}
	deepest, shown := 1, perLevel[1]
	for deepest+1 < len(perLevel) && shown+perLevel[deepest+1] <= p.maxLines {
		deepest++
		shown += perLevel[deepest]
	}
	t := treeWriter{runs: nameRuns{out: p.out}, deepest: deepest, pass: p}
	err = p.input.Each(t.line)
	t.end()
	p.endComplaints()
	return true, err
}

// treeWriter writes the lines of a tree.
type treeWriter struct {
	pass        *listingPass
	runs        nameRuns
	deepest     int    // first level whose contents are counted
	foldedLevel int    // level of the directory whose contents are counted; 0 means none
	foldedDir   []byte // that directory
	folded      int    // its entries so far
	level       int    // level of the last line
}

func (t *treeWriter) line(l []byte) {
	level, name := treeBranch(l)
	switch {
	case level == 0:
		t.end()
		switch {
		case isComplaint(l):
			t.pass.addComplaint(l)
		default:
			t.pass.out.Write(l)
		}
		return
	case t.foldedLevel > 0 && level > t.foldedLevel:
		t.folded++
		return
	}
	t.endFolded()
	if level != t.level {
		t.runs.endDirectory()
		t.level = level
	}
	line := append(bytes.Repeat([]byte{' '}, level), name...)
	if base := treeName(name); level >= t.deepest || noiseDirs()[base] {
		t.runs.flushUnlessContinued(line)
		t.foldedLevel, t.foldedDir = level, line
		return
	}
	t.runs.addName(line)
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

// endFolded writes the directory whose contents were counted.
func (t *treeWriter) endFolded() {
	if t.foldedLevel == 0 {
		return
	}
	if t.folded > 0 {
		t.runs.otherLine(fmt.Appendf(t.foldedDir, " (%s)", quantity.Count(t.folded, "entry")))
	} else {
		t.runs.addName(t.foldedDir)
	}
	t.foldedLevel, t.folded = 0, 0
}

func (t *treeWriter) end() {
	t.endFolded()
	t.runs.endDirectory()
	t.level = 0
}
