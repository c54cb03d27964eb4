package executors

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Decision is the decision of a gate, a rule or a mode about a call.
type Decision string

// The decisions, from weak to strong.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask" // the user decides
	Deny  Decision = "deny"
)

// The gates that are not made by [Gate]. The permission gate decides about each call. An answer
// that the user gave earlier, a model or the user answers its questions.
const (
	GuardGate      = "guard"
	PermissionGate = "permission"
	RememberedGate = "remembered_answer"
	JudgeGate      = "auto_judge"
	UserGate       = "user"
)

// BuiltIn is the source of a verdict that comes from no file and no setting.
const BuiltIn = "built in"

// Verdict is what one gate said about one call. The verdicts of a call are its decision record:
// the permission card, "permissions check", /why, /status and the audit log print it.
// Models never see it.
type Verdict struct {
	Gate     string   `json:"gate"` // the name of the gate; set by [Gate]
	Decision Decision `json:"decision"`
	// Rule is the rule, mode or default that decided. It is empty if no rule matched.
	Rule string `json:"rule,omitempty"`
	// Reason says to people why the gate asks or denies, as a clause: "the file
	// .env is private". It holds the user's words about an answer.
	Reason string `json:"reason,omitempty"`
	// Source is where the verdict comes from: FILE:LINE, the key of a setting, or [BuiltIn].
	Source string `json:"source,omitempty"`
	// Answer is the option that the user chose, or "dismissed".
	Answer string `json:"answer,omitempty"`
	// About is the URL of the further card that the gate checked; see [Call.Admit]. It is empty
	// for the call itself.
	About string `json:"about,omitempty"`
	// Change says what would change the verdict, for the user: "the command /mode".
	Change string `json:"change,omitempty"`
	// Failure is the result of a denied call. Nil means a generic one, which does
	// not reveal the rule.
	Failure *Failure `json:"-"`
}

// Add adds a verdict to the decision record. It appends the place of a setting to its key.
func (r *Record) Add(v Verdict) {
	if r.Place != nil && strings.HasPrefix(v.Source, "tools.") {
		if at := r.Place(v.Source); at != "" {
			v.Source += ", " + at
		}
	}
	r.Verdicts = append(r.Verdicts, v)
}

// settles reports whether the verdict decides about the call. Other gates only deny, or add a
// reason to ask.
func (v Verdict) settles() bool {
	switch v.Gate {
	case PermissionGate:
		return true
	case RememberedGate, JudgeGate, UserGate:
		return v.Decision != Ask
	}
	return v.Decision == Deny
}

// Decision returns the decision about the call: allow, ask or deny. It is empty if nothing
// decided.
func (r *Record) Decision() Decision {
	var d Decision
	for _, v := range r.Verdicts {
		if v.settles() && (v.About == "" || v.Decision == Deny) {
			d = v.Decision
		}
	}
	return d
}

// Rule returns the rule, mode, default or answer that decided, and the rules for further cards.
func (r *Record) Rule() string {
	var rules []string
	last := -1
	for i, v := range r.Verdicts {
		if !v.settles() {
			continue
		}
		if last >= 0 && r.Verdicts[last].About == v.About { // it answers the question of the other
			rules = rules[:len(rules)-1]
		}
		rules, last = append(rules, v.about()+v.rule()), i
	}
	return strings.Join(rules, "; ")
}

// rule returns the rule of a verdict that settles a call, with its place.
func (v Verdict) rule() string {
	switch v.Gate {
	case JudgeGate:
		return "auto-judge: " + v.Reason
	case PermissionGate:
		if i := strings.LastIndexByte(v.Source, ':'); i >= 0 {
			if _, err := strconv.Atoi(v.Source[i+1:]); err == nil {
				return v.Rule + " (" + v.Source + ")"
			}
		}
		return v.Rule
	case RememberedGate, UserGate:
		return v.Rule
	}
	return v.Gate + ": " + cmp.Or(v.Rule, v.Reason)
}

// Answer returns the option that the user chose last; empty if the user was not asked.
func (r *Record) Answer() string {
	for _, v := range slices.Backward(r.Verdicts) {
		if v.Answer != "" {
			return v.Answer
		}
	}
	return ""
}

// Judgement explains to people how a model judged in the user's place; empty if no model did.
// The client shows it with the call.
func (r *Record) Judgement() string {
	for _, v := range r.Verdicts {
		switch {
		case v.Gate != JudgeGate || v.About != "":
		case v.Decision == Allow:
			return "Allowed in your place: " + v.Reason + "."
		case v.Decision == Ask:
			return "Asked because " + v.Reason + "."
		}
	}
	return ""
}

// Explain returns a list in Markdown for people: what each gate said and why, and what would
// change the decision. It is empty if no gate said anything.
func (r *Record) Explain() string {
	var b strings.Builder
	for i, v := range r.Verdicts {
		if silent := v.Decision == Allow && v.Rule+v.Reason == ""; !r.repeats(i) && !silent {
			b.WriteString("- " + v.line() + "\n")
		}
	}
	if change := r.change(); change != "" {
		b.WriteString("- What changes it: " + WholeLine(change) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Deciding returns the line of [Record.Explain] about the verdict that decided.
func (r *Record) Deciding() string {
	for _, v := range slices.Backward(r.Verdicts) {
		if v.settles() {
			return v.line()
		}
	}
	return "no gate has decided"
}

// repeats reports whether verdict i is the permission link's question for no reason but those of the gates before it.
func (r *Record) repeats(i int) bool {
	v := r.Verdicts[i]
	return v.Gate == PermissionGate && v.Decision == Ask && v.Rule == reasonsToAsk(r.Verdicts[:i], v.About)
}

// reasonsToAsk returns the reasons in [Call.Ask] that the gates before the permission link have
// added.
func reasonsToAsk(verdicts []Verdict, about string) string {
	var reasons []string
	for _, v := range verdicts {
		switch {
		case v.Decision != Ask || v.About != about:
		case v.Gate == GuardGate:
			reasons = append(reasons, v.Reason)
		default:
			reasons = append(reasons, v.reason())
		}
	}
	return strings.Join(reasons, "; ")
}

// change returns what would change the verdict that decided, or the question before it.
func (r *Record) change() string {
	settled := false
	for _, v := range slices.Backward(r.Verdicts) {
		settled = settled || v.settles()
		if settled && v.Change != "" && (v.settles() || v.Decision == Ask) {
			return v.Change
		}
	}
	return ""
}

// line returns the verdict in words.
func (v Verdict) line() string {
	text := ""
	if v.Gate == UserGate {
		text = cmp.Or(AnswerInWords(v.Answer), "The user did not answer")
		if v.Reason != "" {
			text += ": " + v.Reason
		}
	} else {
		verb := map[Decision]string{Allow: "allows", Ask: "asks", Deny: "denies"}[v.Decision]
		text = v.gateInWords() + " " + verb
		if why := v.why(); why != "" {
			text += ": " + why
		}
	}
	return WholeLine(v.about() + text + v.place(text))
}

// place returns the source of the verdict in parentheses, less what text says already.
func (v Verdict) place(text string) string {
	source := v.Source
	if setting, place, placed := strings.Cut(source, ", "); placed && strings.Contains(text, setting) {
		source = place
	}
	if source == "" || strings.Contains(text, source) {
		return ""
	}
	return " (" + source + ")"
}

func (v Verdict) gateInWords() string { return strings.ReplaceAll(v.Gate, "_", " ") }

// why returns the rule or the reason: a rule that allows says enough, and so does the reason of a
// gate that does not.
func (v Verdict) why() string {
	rule := strings.TrimPrefix(v.Rule, "default: ")
	switch {
	case v.Decision == Allow:
		return cmp.Or(rule, v.Reason)
	case v.Gate == PermissionGate || v.Gate == RememberedGate:
		return strings.Trim(rule+": "+v.Reason, ": ")
	}
	return cmp.Or(v.Reason, rule)
}

// about returns the prefix for a verdict about a further card.
func (v Verdict) about() string {
	if v.About == "" {
		return ""
	}
	return v.About + ": "
}

// AnswerInWords describes an answer to a question of the permission link; "" for another one.
func AnswerInWords(answer string) string {
	switch answer {
	case "allow_once":
		return "The user allowed it once"
	case "allow_always":
		return "The user chose \"always allow\""
	case "reject_once":
		return "The user rejected it"
	case "reject_always":
		return "The user chose \"always reject\""
	case "dismissed":
		return "The user dismissed the question"
	}
	return ""
}

// maxSubject bounds the title of a call in its subject, in characters.
const maxSubject = 200

// Subject names the call for people on one line: the tool, the title, and the sub-agent or skill
// that made it.
func (c *Call) Subject() string {
	text := c.Tool
	if title := WholeLine(c.Card.Title); title != "" && title != c.Tool {
		text += ": " + line.TruncateRunes(title, maxSubject)
	}
	if caller, ok := c.InnerCaller(); ok {
		text += ", called by " + WholeLine(caller)
	}
	return text
}

// InnerCaller returns the name of the sub-agent that makes the call, or "skill:" and the name of a
// skill; false if the session itself makes it.
func (c *Call) InnerCaller() (name string, ok bool) {
	name, ok = strings.CutPrefix(c.Caller, c.Session+"/")
	if i := strings.LastIndexByte(name, '-'); i > 0 { // before its number
		name = name[:i]
	}
	return Shown(name), ok
}
