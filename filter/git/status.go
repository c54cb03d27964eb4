package git

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// gitStatus shortens the status of a working tree.
type gitStatus struct{ maxChanged, maxUntracked int }

// newGitStatus returns the strategy "git_status", which drops hints. If a section
// has more than max_changed entries, or more than max_untracked untracked files,
// it joins the entries of each directory.
func newGitStatus(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Changed   int `toml:"max_changed"`
		Untracked int `toml:"max_untracked"`
	}{Changed: 300, Untracked: 50}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if err := quantity.Check(quantity.Least{Name: "max_changed", Value: c.Changed, Least: 1}, quantity.Least{Name: "max_untracked", Value: c.Untracked, Least: 1}); err != nil {
		return nil, err
	}
	return gitStatus{c.Changed, c.Untracked}, nil
}

func (s gitStatus) Begin(_ strategy.Run, out *text.Lines) strategy.Pass {
	return &statusPass{gitStatus: s, out: out, heads: statusHeads(), sections: statusSections()}
}

// statusPass shortens one status.
type statusPass struct {
	gitStatus
	out             *text.Lines
	heads, sections *text.Patterns
	recognised      bool // a line of git was seen
	inShortFormat   bool // within entries of the short format
	section         *statusEntries
}

// statusHeads match lines of the long format outside of sections.
var statusHeads = text.CompileOnce(
	`^On branch `, `^HEAD detached (at|from) `, `^Not currently on any branch`, `^nothing to commit`,
	`^(interactive )?rebase in progress`, `^You are currently `, `^No commits yet$`,
	`^Initial commit$`, `^Your branch `, `^nothing added to commit`, `^no changes added to commit`,
	`^You have unmerged paths`, `^All conflicts fixed`, `^Untracked files not listed`,
	`^You are in the middle of an am session`,
)

// statusSections match the headings of lists of files.
var statusSections = text.CompileOnce(
	`^Changes to be committed:$`, `^Changes not staged for commit:$`, `^Changed but not updated:$`,
	`^Unmerged paths:$`, `^Untracked files:$`, `^Ignored files:$`,
)

func (t *statusPass) Line(l []byte) {
	switch {
	case len(l) == 0:
		if t.section == nil { // headings separate sections without blank lines
			t.out.Write(nil)
		}
	case t.section != nil && l[0] == '\t':
		t.longFormatEntry(l)
	case isHint(l):
	case t.sections.Match(l):
		t.endSection()
		t.recognised = true
		t.out.Write(l)
		t.section = newEntries(t.sectionLimit(l))
	case t.heads.Match(l):
		t.endSection()
		t.recognised = true
		t.out.Write(withoutHint(l))
	case isShortFormat(l):
		t.shortFormatEntry(l)
	case isPorcelainV2(l):
		t.endSection()
		t.recognised = true
		t.out.Write(withoutModesAndHashes(l))
	case t.section != nil && (text.IsOmission(l) || text.IsFolded(l)):
		t.section.add(l, 0)
	default:
		t.endSection()
		t.out.Write(l)
	}
}

// sectionLimit returns the number of entries to name in a section.
func (t *statusPass) sectionLimit(heading []byte) int {
	if text.HasAnyPrefix(heading, "Untracked ", "Ignored ") {
		return t.maxUntracked
	}
	return t.maxChanged
}

// longFormatEntry handles a file of the long format: a tab, a state, and blanks up to a
// column.
func (t *statusPass) longFormatEntry(l []byte) {
	name := 1
	if colon := bytes.Index(l, []byte(":  ")); colon > 0 && colon < 24 {
		for name = colon + 1; name < len(l) && l[name] == ' '; name++ {
		}
	}
	t.section.add(l, name)
}

// shortFormatEntry handles a line of the short format.
func (t *statusPass) shortFormatEntry(l []byte) {
	if t.section == nil || !t.inShortFormat {
		t.endSection()
		t.section, t.inShortFormat = newEntries(t.maxChanged), true
		t.section.maxNamedUntracked = t.maxUntracked
	}
	t.recognised = true
	t.section.add(l, 3)
}

func (t *statusPass) endSection() {
	if t.section != nil {
		t.section.write(t.out)
	}
	t.section, t.inShortFormat = nil, false
}

func (t *statusPass) End() strategy.Confidence {
	t.endSection()
	if !t.recognised {
		return strategy.Fallback
	}
	return strategy.Full
}

// isHint reports whether a line is a hint of git.
func isHint(l []byte) bool {
	return bytes.HasPrefix(l, []byte("  (")) &&
		(bytes.HasPrefix(l[3:], []byte("use \"git ")) ||
			bytes.HasPrefix(l[3:], []byte("fix conflicts and ")) ||
			bytes.HasPrefix(l[3:], []byte("all conflicts fixed: ")) ||
			bytes.HasPrefix(l[3:], []byte("commit or discard the untracked")))
}

// withoutHint cuts off a hint.
func withoutHint(l []byte) []byte {
	if i := bytes.LastIndex(l, []byte(" (use ")); i > 0 && l[len(l)-1] == ')' {
		return l[:i]
	}
	return l
}

// isShortFormat reports whether a line is in the short format: two letters and a
// name.
func isShortFormat(l []byte) bool {
	return len(l) > 3 && l[2] == ' ' && l[3] > ' ' && bytes.IndexByte(shortStates, l[0]) >= 0 &&
		bytes.IndexByte(shortStates, l[1]) >= 0 && (l[0] != ' ' || l[1] != ' ') ||
		bytes.HasPrefix(l, []byte("## "))
}

var shortStates = []byte(" MTADRCU?!")

// isPorcelainV2 reports whether a line is in version 2 of the format for
// programs: "1 .M N... 100644 100644 100644 <hash> <hash> name".
func isPorcelainV2(l []byte) bool {
	return len(l) > 2 && l[1] == ' ' && (l[0] == '1' || l[0] == '2' || l[0] == 'u') &&
		bytes.Count(l[:min(len(l), 64)], []byte(" ")) >= 5 && l[4] == ' ' ||
		bytes.HasPrefix(l, []byte("# branch."))
}

// withoutModesAndHashes removes modes and hashes from an entry for programs, unless
// the mode changed or the entry is a submodule.
func withoutModesAndHashes(l []byte) []byte {
	fields := bytes.SplitN(l, []byte(" "), 9)
	if l[0] != '1' ||
		len(fields) < 9 ||
		string(fields[2]) != "N..." ||
		!bytes.Equal(fields[3], fields[4]) ||
		!bytes.Equal(fields[4], fields[5]) {
		return l
	}
	return bytes.Join([][]byte{fields[0], fields[1], fields[8]}, []byte(" "))
}
