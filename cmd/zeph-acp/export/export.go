// Package export writes audit entries in the formats of log collectors: [OTLP] in the
// JSON encoding of OpenTelemetry's logs, [CEF] in ArcSight's Common Event Format.
//
// Texts are bounded: an exported record is an index to the call, and the log itself has
// the whole command. All texts are redacted again by the given function, since patterns
// may be newer than the line.
package export

import (
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Product describes the program that recorded the entries.
type Product struct{ Name, Version string }

// severity is the weight of an entry.
type severity struct {
	text   string
	number int // of OTLP
	cef    int
}

// severityOf returns INFO for a call that succeeded, WARN for one that did not run or was
// stopped, and ERROR for one that failed.
func severityOf(e *audit.Entry) severity {
	switch e.Result {
	case audit.Success:
		return severity{"INFO", 9, 3}
	case audit.Failed, audit.RolledBack, audit.TimedOut:
		return severity{"ERROR", 17, 5}
	}
	return severity{"WARN", 13, 7}
}

// gates describes the verdicts of the gates: "policy=allow hooks=ask".
func gates(e *audit.Entry) string {
	var words []string
	for _, v := range e.Gates {
		words = append(words, v.Gate+"="+string(v.Decision))
	}
	return strings.Join(words, " ")
}

// hooks lists the commands of the hooks that ran.
func hooks(e *audit.Entry) string {
	var commands []string
	for _, h := range e.Hooks {
		commands = append(commands, h.Event+": "+h.Command)
	}
	return strings.Join(commands, "; ")
}

// texts redacts and bounds texts.
type texts struct{ mask func(string) string }

// bounded returns a text of at most limit runes.
func (t texts) bounded(s string, limit int) string {
	if t.mask != nil {
		s = t.mask(s)
	}
	if at := line.RuneOffset(s, limit); at < len(s) {
		s = s[:line.RuneOffset(s, limit-1)] + "…"
	}
	return s
}

// number formats an integer.
func number(n int64) string { return fmt.Sprint(n) }
