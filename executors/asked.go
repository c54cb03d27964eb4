package executors

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// AskedTitle returns the title of a question about the call: what will happen, in which directory, and how much of a
// file changes. Some clients show nothing else of the call.
func (c *Call) AskedTitle() string {
	first, size := utf8.DecodeRuneInString(c.Card.Title)
	title := string(unicode.ToUpper(first)) + c.Card.Title[size:]
	if c.Spec.Act != "" {
		title = c.Spec.Act + " " + c.Card.Title
	}
	if dir := c.Card.Dir(); dir != "" {
		title += " in " + Titled(WholeLine(dir))
	}
	if added, removed, ok := filechange.Lines(c.Card.Changes); ok {
		title += fmt.Sprintf(" (+%d −%d)", added, removed)
	}
	return title
}

// AskedBy returns a sentence about the sub-agent or skill that makes the call; "" for the agent itself.
func (c *Call) AskedBy() string {
	name, inner := c.InnerCaller()
	skill, isSkill := strings.CutPrefix(name, "skill:") // no name of a sub-agent has a colon
	switch {
	case !inner:
		return ""
	case isSkill:
		return "Asked by the skill " + skill + "."
	case c.InCopy:
		return "Asked by the sub-agent " + name + ", in its copy of the project."
	case c.Precondition != nil:
		return "Brings a change of the sub-agent " + name + " into the project."
	}
	return "Asked by the sub-agent " + name + "."
}

// maxNamed bounds the title of a call in a message about it, in characters.
const maxNamed = 80

// Failed says to people which call failed: "`go test` failed", "reading main.go failed".
func (c *Call) Failed() string {
	if c.Card.Command() != "" {
		return Quoted(line.TruncateRunes(WholeLine(c.Card.Command()), maxNamed)) + " failed"
	}
	title := line.TruncateRunes(WholeLine(c.Card.Title), maxNamed)
	verb, rest, _ := strings.Cut(c.Spec.Act, " ")
	if verb == "" {
		return strconv.Quote(title) + " failed"
	}
	if rest != "" {
		title = rest + " " + title
	}
	return strings.ToLower(strings.TrimSuffix(verb, "e")) + "ing " + title + " failed"
}

// WhyAsked says in Markdown why the user is asked about the call; "" if no gate asks.
func (r *Record) WhyAsked() string {
	var why []string
	for i, v := range r.Verdicts {
		if v.Decision == Ask && v.Gate != UserGate && !r.repeats(i) {
			why = append(why, v.whyAsked())
		}
	}
	switch len(why) {
	case 0:
		return ""
	case 1:
		return "Why: " + ended(why[0])
	}
	return "Why:\n- " + strings.Join(why, "\n- ")
}

// Unasked says how the user can avoid the question in future; "" if it is unknown.
func (r *Record) Unasked() string {
	change := WholeLine(r.change())
	if each, never := strings.CutPrefix(change, "nothing: "); never {
		return sentence(each)
	}
	if change == "" {
		return ""
	}
	return "To be asked less: " + ended(change)
}

// whyAsked returns the reason of a verdict that asks, with the place of the rule or setting.
func (v Verdict) whyAsked() string {
	text := cmp.Or(v.why(), "the "+v.gateInWords()+" asks")
	if v.Source != BuiltIn && v.Gate != JudgeGate { // a model has no place
		text += v.place(text)
	}
	return WholeLine(v.about() + text)
}

// ended ends a clause with a full stop.
func ended(clause string) string { return strings.TrimSuffix(clause, ".") + "." }
