package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxNotesFull is how many notes of an error show other people's code. More of
// them are mostly attempts of the compiler.
const maxNotesFull = 3

// tooMany counts the notes of an error and reports whether another note about
// this file would be of little use.
func (g *grouping) tooMany(file []byte) bool {
	g.notes++
	return g.notes > maxNotesFull && foreignFile(file)
}

// foreignFile reports whether a file belongs to the system or a library.
func foreignFile(file []byte) bool {
	for _, dir := range foreignDirs {
		if bytes.HasPrefix(file, dir) {
			return true
		}
	}
	return bytes.Contains(file, []byte("/.cargo/")) || bytes.Contains(file, []byte("/node_modules/")) || bytes.Contains(file, []byte("/.conan"))
}

var foreignDirs = [][]byte{[]byte("/usr/"), []byte("/opt/"), []byte("/Library/"), []byte("/Applications/"), []byte("/nix/"), []byte("/lib/"), []byte("C:\\Program")}

// maxLinted is how many errors of linters are shown with their code.
const maxLinted = 8

// close ends a diagnostic: it goes to the body or to the store.
func (g *grouping) close() {
	d := &g.cur
	if d.kind == closed {
		return
	}
	var text []byte // a line that turned out not to be part of it
	if d.hasSource && len(d.source) > 0 && d.source[0] != ' ' && d.source[0] != '\t' {
		text = d.source
		d.hasSource = false
	}
	d.unhold()
	g.body.settle()
	if d.gap {
		d.raw = bytes.TrimRight(d.raw, "\n")
		d.raw = append(d.raw, '\n')
	}
	if d.rust {
		d.rule = g.store.nameOf(d.rule, d.msg)
	}
	if g.stayed = g.stays(); g.stayed {
		g.write()
	} else {
		g.endMuted()
		g.body.settle()
		g.group()
	}
	d.kind = closed
	g.text.spent = len(g.text.lead) > 0
	if text != nil {
		g.plain(text)
	}
}

// stays reports whether the diagnostic goes to the body, with its code.
func (g *grouping) stays() bool {
	d := &g.cur
	switch {
	case d.follows, d.kind == paragraphLayout && d.at.sev == isIssue && len(d.rule) == 0: // unknown severity
		return true
	case d.at.sev != isError || d.split:
		return false
	case d.compiles():
		if len(g.text.lead) == 0 && g.store.seenBefore(&finding{rule: []byte("stays"), msg: withoutMarks(d.raw)}) { // repeated by a summary
			d.raw, d.cut = d.raw[:0], 0
			g.dropped += d.rawLines
			return true
		}
		if g.fulls < g.maxErrors {
			g.fulls++
			return true
		}
		return false
	case d.kind == sectionsLayout:
		return bytes.Equal(d.rule, []byte("parse"))
	case d.framed && g.linted < maxLinted:
		f := g.finding()
		if g.store.seenBefore(&finding{sev: f.sev, rule: f.rule, msg: f.msg}) {
			return false
		}
		g.linted++
		f.above, f.unnamed = true, true
		g.store.add(&f)
		return true
	}
	return false
}

// withoutMarks returns the lines of a diagnostic without marks that occur in only
// some places of an output.
func withoutMarks(raw []byte) []byte {
	var out []byte
	for l := range bytes.Lines(raw) {
		l = bytes.TrimPrefix(l, []byte("[ERROR] "))
		if !showsCode(bytes.TrimRight(l, "\n")) {
			l = text.Unindent(l)
		}
		out = append(out, l...)
	}
	return out
}

// compiles reports whether the diagnostic is a compiler's and not a linter's.
func (d *diagnostic) compiles() bool {
	if d.rust { // its lints have names
		return len(d.rule) == 0
	}
	return !d.at.linter && d.kind == oneLineLayout && (len(d.rule) == 0 || bytes.HasPrefix(d.rule, []byte("-W")) || bytes.HasPrefix(d.rule, []byte("clang-diagnostic")))
}

// write writes a diagnostic to the body.
func (g *grouping) write() {
	g.failed = true
	d, t := &g.cur, &g.text
	if t.spent && !bytes.Contains(t.lead, d.file) { // it led to another diagnostic
		t.lead = t.lead[:0]
	}
	if len(d.raw) > 0 {
		g.endMuted()
		if g.run.Exit != 0 {
			g.writeHeld()
		}
		writeAll(&g.body, condenseChain(t.lead))
	}
	t.lead = t.lead[:0]
	writeAll(&g.body, d.raw)
	g.muted += d.cut
	d.cut = 0
	if g.cur.gap {
		g.body.text(nil)
	}
	g.body.settle()
}

// endMuted writes how many lines of notes are left out.
func (g *grouping) endMuted() {
	if g.muted > 0 {
		g.body.text(text.Omission(g.muted))
		g.dropped += g.muted
		g.muted = 0
		g.body.settle()
	}
}

// maxChain is how many lines of a chain lead to an error.
const maxChain = 4

// condenseChain keeps the ends of long chains of including files and instantiated
// templates.
func condenseChain(lead []byte) []byte {
	if bytes.Count(lead, []byte("\n")) <= maxChain {
		return lead
	}
	var out, chain []byte
	end := func() {
		if n := bytes.Count(chain, []byte("\n")); n > maxChain {
			lines := bytes.SplitAfter(chain, []byte("\n"))
			out = append(append(append(out, lines[0]...), text.Omission(n-maxChain+1)...), '\n')
			for _, l := range lines[n-maxChain+2 : n] {
				out = append(out, l...)
			}
		} else {
			out = append(out, chain...)
		}
		chain = chain[:0]
	}
	for _, l := range bytes.SplitAfter(lead, []byte("\n")) {
		if bytes.Contains(l, []byte(" required ")) || bytes.HasPrefix(l, []byte("                 from ")) {
			chain = append(chain, l...)
			continue
		}
		end()
		out = append(out, l...)
	}
	end()
	return out
}

func writeAll(to *bodyText, text []byte) {
	for len(text) > 0 {
		end := bytes.IndexByte(text, '\n')
		to.text(text[:end])
		text = text[end+1:]
	}
}

func (g *grouping) finding() finding {
	d := &g.cur
	return finding{sev: d.at.sev, rule: d.rule, msg: d.msg, file: d.file, pos: d.pos, split: d.split, first: d.first, hints: d.hints, notes: d.notes, labels: d.labels, unnamed: d.hidden, line: d.kind == oneLineLayout}
}

// group adds a diagnostic to the store.
func (g *grouping) group() {
	f := g.finding()
	g.store.add(&f)
}
