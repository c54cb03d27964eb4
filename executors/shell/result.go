package shell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Envelope is the structured output of a command, the rawOutput of the tool.
type Envelope struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  *int   `json:"exit_code"` // null if a signal ended the command, or it did not start
	Truncated bool   `json:"truncated"` // stdout, stderr or the text is not all there was
}

// result makes the tool's result of what a runner gave back; err is why the
// command did not start or did not end by itself. The text has at most chars
// runes, so have both streams of the envelope together.
func (o Output) result(err error, chars int) executors.Result {
	res := executors.Result{Done: o.Release}
	var before, after string
	f := o.failure(err)
	switch {
	case f != nil:
		r := f.Result()
		before, res.Category, res.Failed = r.Text, r.Category, true
	case o.ExitCode != nil && *o.ExitCode == 0:
	case o.ExitCode != nil:
		after, res.Failed = fmt.Sprintf("[exit %d]", *o.ExitCode), true
	case o.Signal != "":
		after, res.Failed = fmt.Sprintf("[killed by %s]", o.Signal), true
	default:
		after, res.Failed = "[ended; exit code unknown]", true
	}

	room := chars - utf8.RuneCountInString(before) - utf8.RuneCountInString(after) - 2
	text, cut := bound(o.Text, max(room, 0), o.Truncated)
	res.Text = joinLines(before, text, after)
	if res.Text == "" {
		res.Text = "(no output)"
	}

	stdout, stderr, cutStreams := boundBoth(o.Stdout, o.Stderr, chars, o.Truncated)
	res.Raw = Envelope{
		Stdout: stdout, Stderr: stderr, ExitCode: o.ExitCode,
		Truncated: o.Truncated || cut || cutStreams,
	}
	if o.Terminal != "" {
		res.Content = []executors.Content{{Terminal: o.Terminal}}
	}
	return res
}

// failure classifies what did not really run; nil for all else.
func (o Output) failure(err error) *executors.Failure {
	switch {
	case err != nil:
		return asFailure(err)
	case o.ExitCode == nil:
		return nil
	}
	switch category := executors.ClassifyExit(*o.ExitCode); *o.ExitCode {
	case 126:
		return executors.Failuref(category, "exit code 126: a program was found but may not be executed").
			Hint("Do not retry this as it is; run the file through its interpreter, or ask the user.")
	case 127:
		return executors.Failuref(category, "exit code 127: a program was not found").
			Hint("Check the name, or use a program that is installed (command -v NAME).")
	}
	return nil
}

// joinLines puts the parts that are not empty one below the other.
func joinLines(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(p)
	}
	return b.String()
}

// markRoom is the room in runes for the line that says what was cut.
const markRoom = 64

// bound cuts s to at most limit runes: its head and its tail, whole lines where
// lines are short, around a line that says how much is missing. more tells that
// something is missing in s already.
func bound(s string, limit int, more bool) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s, false
	}
	keep := max(limit-markRoom, 0)
	head := runeOffset(s, keep/2)
	tail := runeOffset(s[head:], n-keep) + head // n-keep runes lie between
	if i := strings.LastIndexByte(s[:head], '\n') + 1; i > head/2 {
		head = i
	}
	if i := strings.IndexByte(s[tail:], '\n') + 1; i > 0 && i < (len(s)-tail)/2 {
		tail += i
	}
	mark := cutMark(int64(utf8.RuneCountInString(s[head:tail])), "characters", more)
	out := joinLines(s[:head], mark+"\n") + s[tail:]
	if keep == 0 && limit < utf8.RuneCountInString(out) {
		return "", true
	}
	return out, true
}

// boundBoth cuts two streams to at most limit runes together; a short one
// leaves its room to the other.
func boundBoth(stdout, stderr string, limit int, more bool) (string, string, bool) {
	a, b := utf8.RuneCountInString(stdout), utf8.RuneCountInString(stderr)
	if a+b <= limit {
		return stdout, stderr, false
	}
	stdout, _ = bound(stdout, max(limit/2, limit-b), more)
	stderr, _ = bound(stderr, max(limit/2, limit-a), more)
	return stdout, stderr, true
}

// runeOffset is the byte offset of the rune with index n.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// cutMark is the line that stands where output is missing.
func cutMark(n int64, unit string, more bool) string {
	least := ""
	if more {
		least = "more than "
	}
	return fmt.Sprintf("[… %s%s %s cut …]", least, grouped(n), unit)
}

// grouped writes 1234567 as 1,234,567.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
