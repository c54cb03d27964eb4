package goal

import (
	"strings"
	"unicode"
)

// Finding is what a check found.
type Finding int

// The findings.
const (
	NotMet Finding = iota
	IsMet
	IsBlocked
)

// Verdict is the answer of a model to the question whether a goal is met.
type Verdict struct {
	Finding
	Why string // one line; empty for a goal that is met
}

// forms are the beginnings of an answer.
var forms = []struct {
	word string
	Finding
}{{"NOT MET", NotMet}, {"BLOCKED", IsBlocked}, {"MET", IsMet}}

// ParseVerdict parses the answer of a model: its first line, or else its last one. It returns
// false if neither has one of the forms MET, NOT MET: WHY and BLOCKED: WHY. Markup around them
// is ignored.
func ParseVerdict(answer string) (Verdict, bool) {
	lines := strings.FieldsFunc(answer, func(r rune) bool { return r == '\n' || r == '\r' })
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return Verdict{}, false
	}
	if v, ok := parseLine(lines[0]); ok {
		if v.Why == "" && v.Finding != IsMet && len(lines) > 1 { // the reason is on the lines below
			v.Why = Reason(strings.Join(lines[1:], " "))
		}
		return v, v.Finding == IsMet || v.Why != ""
	}
	v, ok := parseLine(lines[len(lines)-1])
	return v, ok && (v.Finding == IsMet || v.Why != "")
}

// markup are characters around a form.
const markup = " \t*_`\"'>#-"

func parseLine(text string) (Verdict, bool) {
	text = strings.TrimLeft(text, markup)
	for _, f := range forms {
		if len(text) < len(f.word) || !strings.EqualFold(text[:len(f.word)], f.word) {
			continue
		}
		rest := text[len(f.word):]
		if after := strings.TrimLeft(rest, markup); after != "" && f.Finding == IsMet && !strings.ContainsRune(":.,;!–—", []rune(after)[0]) {
			return Verdict{}, false // such as "MET in part"
		}
		if rest != "" && unicode.IsLetter([]rune(rest)[0]) {
			return Verdict{}, false
		}
		v := Verdict{Finding: f.Finding}
		if f.Finding != IsMet && strings.ContainsFunc(rest, unicode.IsLetter) { // small models copy the "…" of a form
			v.Why = Reason(strings.Trim(rest, markup+":.,;!–—"))
		}
		return v, true
	}
	return Verdict{}, false
}
