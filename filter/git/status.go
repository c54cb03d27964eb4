package git

import (
	"bytes"
	"errors"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// gitStatus shortens the status of a working tree.
type gitStatus struct{ changed, untracked int }

// newGitStatus makes the strategy "git_status": hints are dropped. If a section
// has more than max_changed entries, or more than max_untracked untracked
// files, those of one directory are joined.
func newGitStatus(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Changed   int `toml:"max_changed"`
		Untracked int `toml:"max_untracked"`
	}{Changed: 300, Untracked: 50}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Changed <= 0 || c.Untracked <= 0 {
		return nil, errors.New("max_changed and max_untracked must be numbers of files")
	}
	return gitStatus{c.Changed, c.Untracked}, nil
}

func (s gitStatus) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	return &treeStatus{gitStatus: s, out: out, heads: statusHeads(), sections: statusSections()}
}

type treeStatus struct {
	gitStatus
	out             *text.Lines
	heads, sections *text.Patterns
	known           bool // a line of git was seen
	short           bool // within entries of the short format
	files           *statusEntries
}

// statusHeads match lines of the long format outside of sections.
var statusHeads = text.CompileOnce(
	`^On branch `, `^HEAD detached (at|from) `, `^Not currently on any branch`, `^nothing to commit`, `^(interactive )?rebase in progress`, `^You are currently `, `^No commits yet$`,
	`^Initial commit$`, `^Your branch `, `^nothing added to commit`, `^no changes added to commit`, `^You have unmerged paths`, `^All conflicts fixed`, `^Untracked files not listed`, `^You are in the middle of an am session`,
)

// statusSections match the headings of lists of files.
var statusSections = text.CompileOnce(`^Changes to be committed:$`, `^Changes not staged for commit:$`, `^Changed but not updated:$`, `^Unmerged paths:$`, `^Untracked files:$`, `^Ignored files:$`)

func (t *treeStatus) Line(l []byte) {
	switch {
	case len(l) == 0:
		if t.files == nil { // the blank lines around sections, which their headings separate too
			t.out.Write(nil)
		}
	case t.files != nil && l[0] == '\t':
		t.entry(l)
	case isHint(l):
	case t.sections.Match(l):
		t.close()
		t.known = true
		t.out.Write(l)
		t.files = newEntries(t.limit(l[0] == 'U' && l[2] == 't' || l[0] == 'I'))
	case t.heads.Match(l):
		t.close()
		t.known = true
		t.out.Write(withoutHint(l))
	case isShortEntry(l):
		t.shortEntry(l)
	case isLongEntry(l):
		t.close()
		t.known = true
		t.out.Write(withoutObjects(l))
	case t.files != nil && (text.IsOmission(l) || text.IsFolded(l)):
		t.files.add(l, 0)
	default:
		t.close()
		t.out.Write(l)
	}
}

func (t *treeStatus) limit(untracked bool) int {
	if untracked {
		return t.untracked
	}
	return t.changed
}

// entry handles a file of the long format: a tab, a state, and blanks up to a
// column.
func (t *treeStatus) entry(l []byte) {
	name := 1
	if colon := bytes.Index(l, []byte(":  ")); colon > 0 && colon < 24 {
		for name = colon + 1; name < len(l) && l[name] == ' '; name++ {
		}
	}
	t.files.add(l, name)
}

// shortEntry handles a line of the short format.
func (t *treeStatus) shortEntry(l []byte) {
	if t.files == nil || !t.short {
		t.close()
		t.files, t.short = newEntries(t.changed), true
		t.files.others = t.untracked
	}
	t.known = true
	t.files.add(l, 3)
}

func (t *treeStatus) close() {
	if t.files != nil {
		t.files.write(t.out)
	}
	t.files, t.short = nil, false
}

func (t *treeStatus) End() strategy.Confidence {
	t.close()
	if !t.known {
		return strategy.Fallback
	}
	return strategy.Full
}

// isHint reports whether a line is a hint of git.
func isHint(l []byte) bool {
	return bytes.HasPrefix(l, []byte("  (")) && (bytes.HasPrefix(l[3:], []byte("use \"git ")) || bytes.HasPrefix(l[3:], []byte("fix conflicts and ")) || bytes.HasPrefix(l[3:], []byte("all conflicts fixed: ")) || bytes.HasPrefix(l[3:], []byte("commit or discard the untracked")))
}

// withoutHint cuts off a hint.
func withoutHint(l []byte) []byte {
	if i := bytes.LastIndex(l, []byte(" (use ")); i > 0 && l[len(l)-1] == ')' {
		return l[:i]
	}
	return l
}

// isShortEntry reports whether a line is in the short format: two letters and a
// name.
func isShortEntry(l []byte) bool {
	return len(l) > 3 && l[2] == ' ' && l[3] > ' ' && bytes.IndexByte(shortStates, l[0]) >= 0 && bytes.IndexByte(shortStates, l[1]) >= 0 && (l[0] != ' ' || l[1] != ' ') || bytes.HasPrefix(l, []byte("## "))
}

var shortStates = []byte(" MTADRCU?!")

// isLongEntry reports whether a line is in version 2 of the format for
// programs: "1 .M N... 100644 100644 100644 <hash> <hash> name".
func isLongEntry(l []byte) bool {
	return len(l) > 2 && l[1] == ' ' && (l[0] == '1' || l[0] == '2' || l[0] == 'u') && bytes.Count(l[:min(len(l), 64)], []byte(" ")) >= 5 && l[4] == ' ' || bytes.HasPrefix(l, []byte("# branch."))
}

// withoutObjects removes modes and hashes from an entry for programs, unless
// the mode changed or the entry is a submodule.
func withoutObjects(l []byte) []byte {
	fields := bytes.SplitN(l, []byte(" "), 9)
	if l[0] != '1' || len(fields) < 9 || string(fields[2]) != "N..." || !bytes.Equal(fields[3], fields[4]) || !bytes.Equal(fields[4], fields[5]) {
		return l
	}
	return bytes.Join([][]byte{fields[0], fields[1], fields[8]}, []byte(" "))
}
