package diagnostics

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// maxMessage is how many runes of one message are shown.
const maxMessage = 500

// Report is the rawOutput of the tool.
type Report struct {
	Diagnostics []Diagnostic `json:"diagnostics"`
	Omitted     int          `json:"omitted,omitempty"`   // diagnostics beyond the limit
	Elsewhere   int          `json:"elsewhere,omitempty"` // diagnostics of the same projects outside the named path
	Warnings    []string     `json:"warnings,omitempty"`
}

// report collects the findings of one call's programs.
type report struct {
	roots    *workspace.Roots
	target   string
	found    []located
	outside  int
	ran      []string // programs that finished
	warnings warnings
	failed   *executors.Failure // failure of the first program that did not finish
}

// located is a diagnostic with the absolute path of its file.
type located struct {
	Diagnostic
	abs      string
	fullLine string // the line with the untruncated message
}

// addFailure records a program that failed.
func (r *report) addFailure(why string) {
	if r.failed == nil {
		r.failed = executors.Failuref(executors.PermanentFailure, "nothing could be checked").
			Hint("See the warnings below for the cause.")
	}
	r.warnings.addf("%s", why)
}

// addTimeout records a program that exceeded the time limit.
func (r *report) addTimeout(why string) {
	r.failed = executors.Failuref(executors.Timeout, "the programs did not end in time; the list is not complete").
		Hint("Name a smaller path, or run the check in bash in the background; a second call is often faster.")
	r.warnings.addf("%s", why)
}

// add adds the diagnostics of a program that ran in dir.
func (r *report) add(found []Diagnostic, dir string) {
	for _, d := range found {
		p := located{Diagnostic: d}
		if d.File != "" {
			p.abs = r.locate(d.File, dir)
			// The call may name only a part of the project.
			if r.target != dir && workspace.Within(dir, r.target) && !workspace.Within(r.target, p.abs) {
				r.outside++
				continue
			}
			p.File = plainLine(r.roots.Rel(p.abs))
		}
		p.Message, p.Code = plainLine(p.Message), plainLine(p.Code)
		p.fullLine = p.line()
		p.Message = cut(p.Message)
		p.Code = cut(p.Code)
		r.found = append(r.found, p)
	}
}

// locate makes a path in a program's output absolute. It is relative to the
// program's directory or to one around it: rustc writes paths relative to the root
// of the workspace.
func (r *report) locate(name, dir string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	for at := dir; r.roots.Contains(at); at = filepath.Dir(at) {
		abs := filepath.Join(at, name)
		if _, err := os.Lstat(abs); err == nil {
			return abs
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return filepath.Join(dir, name)
}

// result returns the tool's result with at most maxShown diagnostics, which have at most chars
// characters.
func (r *report) result(maxShown, chars int) executors.Result {
	sortByLocation(r.found)
	r.found = slices.CompactFunc(r.found, func(a, b located) bool { return a.Diagnostic == b.Diagnostic })
	kept := r.mostSevere(maxShown, chars-linesAround)
	raw := Report{Diagnostics: []Diagnostic{}, Omitted: len(r.found) - len(kept), Elsewhere: r.outside, Warnings: r.warnings}

	var lines []string
	res := executors.Result{}
	if f := r.failed; f != nil && (f.Category == executors.Timeout || len(r.ran) == 0 && len(r.found) == 0) {
		res = f.Result()
	} else if len(r.found) == 0 {
		lines = append(lines, "No diagnostics")
	} else {
		lines = append(lines, r.counts())
	}
	for _, p := range kept {
		lines = append(lines, p.line())
		raw.Diagnostics = append(raw.Diagnostics, p.Diagnostic)
		if _, err := r.roots.Lstat(p.abs); err != nil { // outside, or generated
			continue
		}
		l := executors.Location{Path: r.roots.AsGiven(p.abs), Line: p.Line}
		if !slices.Contains(res.Locations, l) {
			res.Locations = append(res.Locations, l)
		}
	}
	if raw.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("[%d more left out; errors are shown first: fix these, or name a smaller path]", raw.Omitted))
	}
	if raw.Elsewhere > 0 {
		lines = append(lines, fmt.Sprintf("[%d more in the project outside %s]", raw.Elsewhere, r.roots.Rel(r.target)))
	}
	for _, w := range r.warnings {
		lines = append(lines, "[warning: "+w+"]")
	}
	if len(r.ran) > 0 {
		programs := slices.Compact(slices.Sorted(slices.Values(r.ran)))
		lines = append(lines, "[checked with "+strings.Join(programs, ", ")+"]")
	}
	res.Text, res.Raw, res.Full = strings.Join(lines, "\n"), raw, r.full(kept)
	return res
}

// full returns all diagnostics with their untruncated messages, nil if the result
// contains them.
func (r *report) full(kept []located) *executors.Spool {
	if len(kept) == len(r.found) && !slices.ContainsFunc(kept, func(p located) bool { return p.fullLine != p.line() }) {
		return nil
	}
	lines := make([]string, len(r.found))
	for i, p := range r.found {
		lines[i] = p.fullLine
	}
	full, err := executors.NewSpool(strings.Join(lines, "\n") + "\n")
	if err != nil { // the disk is full: the truncated result has to suffice
		return nil
	}
	return full
}

// linesAround is the room for the lines around the diagnostics, in characters.
const linesAround = 200

// mostSevere selects the diagnostics to show, in order: at most limit, with at most room characters.
// It prefers the most severe.
func (r *report) mostSevere(limit, room int) []located {
	byRank := slices.Clone(r.found)
	slices.SortStableFunc(byRank, func(a, b located) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	for i, p := range byRank {
		if room -= utf8.RuneCountInString(p.line()) + 1; i == limit || room < 0 && i > 0 {
			byRank = byRank[:i]
			break
		}
	}
	sortByLocation(byRank)
	return byRank
}

// counts describes how many diagnostics there are of each severity.
func (r *report) counts() string {
	all := make([]Diagnostic, len(r.found))
	for i, p := range r.found {
		all[i] = p.Diagnostic
	}
	return Counts(all)
}

// line formats a diagnostic as compilers do.
func (d Diagnostic) line() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File + ":")
		if d.Line > 0 {
			fmt.Fprintf(&b, "%d:", d.Line)
			if d.Column > 0 {
				fmt.Fprintf(&b, "%d:", d.Column)
			}
		}
		b.WriteByte(' ')
	}
	fmt.Fprintf(&b, "%s: %s", d.Severity, d.Message)
	if d.Code != "" {
		fmt.Fprintf(&b, " [%s]", d.Code)
	}
	return b.String()
}

func sortByLocation(found []located) {
	slices.SortFunc(found, func(a, b located) int { return compareLocation(a.Diagnostic, b.Diagnostic) })
}

// compareLocation compares by location, so that equal diagnostics are adjacent.
func compareLocation(a, b Diagnostic) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
		cmp.Compare(rank(a.Severity), rank(b.Severity)), strings.Compare(a.Message, b.Message), strings.Compare(a.Code, b.Code))
}

func rank(s Severity) int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// cut truncates a message.
func cut(s string) string { return line.TruncateRunes(s, maxMessage) }
