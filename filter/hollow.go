package filter

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxHollow is the largest output that is searched for lines of hollow, in bytes, and hollowLines the number
// of them that stay.
const (
	maxHollow   = 1 << 20
	hollowLines = 3
)

// hollow matches lines which say that no test ran, or that no host was reached.
var hollow = text.CompileOnce(
	`^(> Task )?:(\S+:)?\w*[tT]est (UP-TO-DATE|NO-SOURCE|SKIPPED|FROM-CACHE)$`, // Gradle
	`(?i)\bno tests? (to run|ran|run|files?|found|specs?|were|is available|matches|executed|collected)\b`,
	`(?i)\bno (specs|examples|scenarios) (found|were|to run)\b`, `^All examples were filtered out`,
	`(?i)\btests are skipped\b`, `(?i)\b(running|ran|executed) 0 (tests|specs|scenarios)\b`,
	`^\s*0 (examples|passing|tests|specs|scenarios)\b`, `^# tests 0$`, `^1\.\.0\b`, `^(Total tests|Tests run): 0\b`,
	`: no hosts matched$`,
)

// ran matches lines which say that a test ran, or that a host was reached.
var ran = text.CompileOnce(
	`^ok\s+\S+\s+(\d[\d.]*s|\(cached\))(\s+coverage: .*)?$`, `^\s*--- (PASS|FAIL)`, // go
	`^(> Task )?:(\S+:)?\w*[tT]est$`,
	`(?i)\b[1-9]\d* (passed|passing|failed|failing|pass|fail|examples?|specs?|scenarios?|assertions?)\b`,
	`(?i)\b(running|ran|executed) [1-9]\d* tests?\b`, `\b(Tests run|Total tests|Passed|Failed): *[1-9]`, `\bout of [1-9]`,
	`^(not )?ok \d`, `^# (pass|fail) [1-9]`, `\bOK \([1-9]`,
	`^(ok|changed|failed|fatal): \[`, // ansible
)

// keepHollow adds the lines which say that a successful command tested nothing, if the rules removed all of
// them. It would look like a command whose tests passed.
func (o *Outcome) keepHollow(exit int) error {
	if o.Text == o.Full || exit != 0 || o.Full.Size() > maxHollow {
		return nil
	}
	var lines [][]byte
	more, anyRan, shown := 0, false, false
	err := o.Full.Each(func(l []byte) {
		switch {
		case anyRan:
		case ran().Match(l):
			anyRan = true
		case !hollow().Match(l):
		case len(lines) < hollowLines:
			lines = append(lines, bytes.Clone(l))
		default:
			more++
		}
	})
	if err != nil || anyRan || len(lines) == 0 {
		return err
	}
	if err := o.Text.Each(func(l []byte) { shown = shown || hollow().Match(l) }); err != nil || shown {
		return err
	}
	if more > 0 {
		lines = append(lines, text.Omission(more))
	}
	return o.add(lines...)
}
