package lint

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxLinterErrors is how many errors of linters are shown with their code.
const maxLinterErrors = 8

// endDiagnostic ends a diagnostic: it goes to the body or to the store.
func (g *groupingPass) endDiagnostic() {
	d := &g.current
	if d.layout == closed {
		return
	}
	var after []byte // a line that turned out not to be part of it
	if d.holdsUnindented() {
		after = d.lastLine
		d.holdsLastLine = false
	}
	d.releaseLastLine()
	g.body.flush()
	if d.afterBlank {
		d.lines = bytes.TrimRight(d.lines, "\n")
		d.lines = append(d.lines, '\n')
	}
	if d.fromRust {
		d.rule = g.store.ruleOf(d.rule, d.msg)
	}
	if g.lastInBody = g.staysInBody(); g.lastInBody {
		g.writeToBody()
	} else {
		g.writeMutedCount()
		g.body.flush()
		g.addToStore()
	}
	d.layout = closed
	g.held.leadInUsed = len(g.held.leadIn) > 0
	if after != nil {
		g.addText(after)
	}
}

// staysInBody reports whether the diagnostic goes to the body, with its code.
func (g *groupingPass) staysInBody() bool {
	d := &g.current
	switch {
	case d.isNote, d.layout == paragraphLayout && d.parsed.sev == isIssue && len(d.rule) == 0: // unknown severity
		return true
	case d.parsed.sev != isError || d.fileAbove:
		return false
	case d.fromCompiler():
		// repeated by a summary
		if len(g.held.leadIn) == 0 && g.store.seenBefore(&finding{rule: []byte("stays"), msg: withoutMarks(d.lines)}) {
			d.lines, d.cutLines = d.lines[:0], 0
			g.dropped += d.lineCount
			return true
		}
		if g.errorsInBody < g.maxErrors {
			g.errorsInBody++
			if len(d.file) > 0 { // not the sum of a compiler
				g.store.countUngrouped(isError)
			}
			return true
		}
		return false
	case d.layout == sectionsLayout:
		return bytes.Equal(d.rule, []byte("parse"))
	case d.hasFrame && g.linterErrorsInBody < maxLinterErrors:
		f := g.currentFinding()
		if g.store.seenBefore(&finding{sev: f.sev, rule: f.rule, msg: f.msg}) {
			return false
		}
		g.linterErrorsInBody++
		f.inBody, f.ruleNotShown = true, true
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

// fromCompiler reports whether the diagnostic is a compiler's and not a linter's.
func (d *diagnostic) fromCompiler() bool {
	if d.fromRust { // its lints have names
		return len(d.rule) == 0
	}
	return !d.parsed.fromLinter && d.layout == oneLineLayout &&
		(len(d.rule) == 0 || bytes.HasPrefix(d.rule, []byte("-W")) || bytes.HasPrefix(d.rule, []byte("clang-diagnostic")))
}

// writeToBody writes the diagnostic, with the lines that led to it, to the body.
func (g *groupingPass) writeToBody() {
	g.failureShown = true
	d, t := &g.current, &g.held
	if t.leadInUsed && !bytes.Contains(t.leadIn, d.file) { // it led to another diagnostic
		t.leadIn = t.leadIn[:0]
	}
	if len(d.lines) > 0 {
		g.writeMutedCount()
		if g.run.Exit != 0 {
			g.writeHeldCommands()
		}
		addLines(&g.body, condenseChain(t.leadIn))
	}
	t.leadIn = t.leadIn[:0]
	if d.layout == oneLineLayout {
		lines, removed := g.notes.withoutShownCode(d.lines)
		addLines(&g.body, lines)
		g.dropped += removed
	} else {
		addLines(&g.body, d.lines)
	}
	g.mutedLines += d.cutLines
	d.cutLines = 0
	if g.current.afterBlank {
		g.body.add(nil)
	}
	g.body.flush()
}

// writeMutedCount writes how many lines of notes are left out.
func (g *groupingPass) writeMutedCount() {
	if g.mutedLines > 0 {
		g.body.add(text.Omission(g.mutedLines))
		g.dropped += g.mutedLines
		g.mutedLines = 0
		g.body.flush()
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

func (g *groupingPass) currentFinding() finding {
	d := &g.current
	return finding{
		sev: d.parsed.sev, rule: d.rule, msg: d.msg, file: d.file, pos: d.pos, fileAbove: d.fileAbove,
		firstLines: d.firstLines, hints: d.hints, notes: d.notes, labels: d.labels,
		ruleNotShown: d.ruleNotShown, oneLine: d.layout == oneLineLayout,
	}
}

// addToStore adds a diagnostic to the store.
func (g *groupingPass) addToStore() {
	f := g.currentFinding()
	g.store.add(&f)
}
