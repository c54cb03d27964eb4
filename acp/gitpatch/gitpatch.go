// Package gitpatch writes changes of text files as a patch, in the format of "git diff --no-prefix":
// https://git-scm.com/docs/diff-format#generate_patch_text_with_p
//
// Start with [File.Patch]. A patch has neither index lines nor the headings of functions, and its new files have the
// usual mode. "git apply -p0" makes the changes if the paths are relative to its working directory.
package gitpatch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

// File is the change of one text file.
type File struct {
	Op            string // an operation of package filechange; empty means modify
	Path, OldPath string // OldPath is the old path of a move or a copy
	Parts         []Part // in order; a move or a copy without parts changes no text
}

// Part is a changed part of a file.
type Part struct {
	Old, New         string
	OldLine, NewLine int // the 1-based lines at which Old and New begin; 0 is the first line
}

// noFile is the path of the side of a change that does not exist.
const noFile = "/dev/null"

// Patch returns the section of the file in a patch; "" if nothing changes.
func (f File) Patch() string {
	var hunks strings.Builder
	for _, p := range f.Parts {
		p.write(&hunks)
	}
	old, path := Quote(f.Path), Quote(f.Path)
	if f.Op == filechange.Move || f.Op == filechange.Copy {
		old = Quote(f.OldPath)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git %s %s\n", old, path)
	switch f.Op {
	case filechange.Add:
		old = noFile
		b.WriteString("new file mode 100644\n")
	case filechange.Delete:
		path = noFile
		b.WriteString("deleted file mode 100644\n")
	case filechange.Move:
		fmt.Fprintf(&b, "similarity index %d%%\nrename from %s\nrename to %s\n", f.similarity(), old, path)
	case filechange.Copy:
		fmt.Fprintf(&b, "similarity index %d%%\ncopy from %s\ncopy to %s\n", f.similarity(), old, path)
	default:
		if hunks.Len() == 0 {
			return ""
		}
	}
	if hunks.Len() > 0 {
		fmt.Fprintf(&b, "--- %s\n+++ %s\n%s", ended(old), ended(path), hunks.String())
	}
	return b.String()
}

// ended returns the path of a header line with the tab that git writes after a path with spaces.
func ended(path string) string {
	if strings.Contains(path, " ") {
		return path + "\t"
	}
	return path
}

// write writes the hunks of a part.
func (p Part) write(b *strings.Builder) {
	out := diff.Diff("a", []byte(p.Old), "b", []byte(p.New))
	for range 3 { // diff, ---, +++
		_, out, _ = bytes.Cut(out, []byte("\n"))
	}
	for line := range bytes.Lines(out) {
		var from, before, to, after int
		if _, err := fmt.Sscanf(string(line), "@@ -%d,%d +%d,%d @@", &from, &before, &to, &after); err == nil {
			fmt.Fprintf(b, "@@ -%s +%s @@\n", span(from, before, p.OldLine), span(to, after, p.NewLine))
			continue
		}
		b.Write(line)
	}
}

// span returns a range of lines as a hunk names it. line is the line at which the part begins.
func span(from, count, line int) string {
	from += max(line-1, 0)
	if count == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, count)
}

// similarity returns how much of the text stays, in percent.
func (f File) similarity() int {
	same, all := 0, 0
	for _, p := range f.Parts {
		all += max(len(p.Old), len(p.New))
		kept := map[string]int{}
		for line := range strings.Lines(p.Old) {
			kept[line]++
		}
		for line := range strings.Lines(p.New) {
			if kept[line] > 0 {
				kept[line]--
				same += len(line)
			}
		}
	}
	if all == 0 {
		return 100
	}
	return same * 100 / all
}

// Quote returns a path as git writes it: in quotation marks if it has control characters, quotation marks,
// backslashes, or bytes outside of ASCII.
func Quote(path string) string {
	var b strings.Builder
	quoted := false
	for _, c := range []byte(path) {
		escape := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c)
		switch {
		case escape >= 0:
			b.WriteByte('\\')
			b.WriteByte(`abtnvfr"\`[escape])
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
			continue
		}
		quoted = true
	}
	if quoted {
		return `"` + b.String() + `"`
	}
	return path
}
