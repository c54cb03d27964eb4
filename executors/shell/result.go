package shell

import (
	"fmt"
	"io"
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

// ending is what the text says of how a command ended, around its output.
type ending struct {
	before, after string
	failed        bool
	category      executors.Category
}

// ending tells how a command ended; err is why it did not start or did not end
// by itself.
func (o Output) ending(err error) ending {
	f := o.failure(err)
	switch {
	case f != nil:
		r := f.Result()
		return ending{before: r.Text, failed: true, category: r.Category}
	case o.ExitCode != nil && *o.ExitCode == 0:
		return ending{}
	}
	return ending{after: "[" + o.state() + "]", failed: true}
}

// state says in words how a command ended.
func (o Output) state() string {
	switch {
	case o.ExitCode != nil:
		return fmt.Sprintf("exit %d", *o.ExitCode)
	case o.Signal != "":
		return "killed by " + o.Signal
	}
	return "ended; exit code unknown"
}

// result makes the tool's result of what a runner gave back. The text has at
// most chars runes, so have both streams of the envelope together. It owns the
// output.
func (o Output) result(end ending, chars int) executors.Result {
	res := executors.Result{Failed: end.failed, Category: end.category, Done: o.Release}
	after := joinLines(o.Note, end.after)
	room := chars - utf8.RuneCountInString(end.before) - utf8.RuneCountInString(after) - 2
	text, cut := o.bound(max(room, 0))
	res.Text = joinLines(end.before, text, after)
	if res.Text == "" {
		res.Text = "(no output)"
	}
	if cut {
		res.Full = o.whole(end.before, after)
	} else {
		o.Full.Close()
	}
	stdout, stderr, cutStreams := boundBoth(o.Stdout, o.Stderr, chars, o.Truncated || o.CutStreams)
	res.Raw = Envelope{
		Stdout: stdout, Stderr: stderr, ExitCode: o.ExitCode,
		Truncated: o.Truncated || cut || cutStreams,
	}
	if o.Terminal != "" {
		res.Content = []executors.Content{{Terminal: o.Terminal}}
	}
	return res
}

// note writes down for the audit line what came out.
func (o Output) note(rec *executors.Record, res executors.Result) {
	if rec == nil {
		return
	}
	rec.ExitCode, rec.Truncated, rec.Before = o.ExitCode, res.Raw.(Envelope).Truncated, len(res.Text)
	if res.Full != nil {
		rec.Before = int(res.Full.Size() + o.Lost)
	}
}

// whole gives the text of a result without the limit; nil if there is no room
// for it on this machine.
func (o Output) whole(before, after string) *executors.Spool {
	full := o.Full
	if full == nil {
		full, _ = executors.NewSpool(joinLines(before, o.Text, after))
		return full
	}
	if before != "" { // rare enough to be copied: a Spool grows at its end alone
		full = &executors.Spool{}
		_, err := io.WriteString(full, before+"\n")
		if err == nil {
			_, err = io.Copy(full, o.Full.Reader())
		}
		o.Full.Close()
		if err != nil {
			full.Close()
			return nil
		}
	}
	if after != "" {
		if size := full.Size(); window(full, size-1, 1) != "\n" {
			after = "\n" + after
		}
		_, _ = io.WriteString(full, after) // the text has it too
	}
	return full
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

// bound gives what fits of the output: its head and its tail, whole lines where
// lines are short, around a line that says how much is missing.
func (o Output) bound(limit int) (string, bool) {
	if o.Full == nil {
		return bound(o.Text, limit, o.Truncated)
	}
	size := o.Full.Size()
	keep := max(limit-markRoom, 0)
	head, tail := int64(keep/2*utf8.UTFMax), int64((keep-keep/2)*utf8.UTFMax)
	if size <= int64(limit*utf8.UTFMax) || size <= head+tail {
		return bound(window(o.Full, 0, size), limit, o.Truncated)
	}
	first, last := window(o.Full, 0, head), window(o.Full, size-tail, tail)
	first, last = wholeLines(first[:runeOffset(first, keep/2)], lastRunes(last, keep-keep/2))
	missing := countRunes(io.NewSectionReader(o.Full, int64(len(first)), size-int64(len(first)+len(last))))
	return around(first, missing, o.Truncated, last, limit)
}

// bound cuts s to at most limit runes. more tells that something is missing in s
// already.
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
	first, last := wholeLines(s[:head], s[tail:])
	missing := utf8.RuneCountInString(s[len(first) : len(s)-len(last)])
	return around(first, int64(missing), more, last, limit)
}

// around puts a head and a tail around the line that says what is missing
// between, nothing if there is no room even for that.
func around(head string, missing int64, more bool, tail string, limit int) (string, bool) {
	out := joinLines(head, cutMark(missing, "characters", more)+"\n") + tail
	if head == "" && tail == "" && limit < utf8.RuneCountInString(out) {
		return "", true
	}
	return out, true
}

// wholeLines takes the line that is not whole off the end of a head and the
// beginning of a tail, unless that would be half of it.
func wholeLines(head, tail string) (string, string) {
	if i := strings.LastIndexByte(head, '\n') + 1; i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n') + 1; i > 0 && i < len(tail)/2 {
		tail = tail[i:]
	}
	return head, tail
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

// lastRunes gives the last n runes of s, which may begin within a rune.
func lastRunes(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// countRunes counts what r reads, UTF-8 in whole runes, without holding it.
func countRunes(r io.Reader) (n int64) {
	buf := make([]byte, chunkSize)
	for {
		got, err := r.Read(buf)
		for _, b := range buf[:got] {
			if utf8.RuneStart(b) {
				n++
			}
		}
		if err != nil {
			return n
		}
	}
}

// window reads n bytes of a Spool. What cannot be read is left out.
func window(s *executors.Spool, off, n int64) string {
	buf := make([]byte, max(n, 0))
	got, _ := s.ReadAt(buf, off)
	return strings.ToValidUTF8(string(buf[:got]), "")
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
