package shell

import (
	"fmt"
	"io"
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

// WithTexts implements [executors.Texts].
func (e Envelope) WithTexts(change func(string) string) any {
	e.Stdout, e.Stderr = change(e.Stdout), change(e.Stderr)
	return e
}

// Outcome returns the exit code, nil if it is unknown, and the kept part of stderr.
func (e Envelope) Outcome() (exitCode *int, stderr string) { return e.ExitCode, e.Stderr }

// ending is the text about the end of a command, around its output.
type ending struct {
	before, after string
	failed        bool
	category      executors.Category
}

// ending describes how a command ended; err is the reason if it did not start or did
// not end by itself.
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

// state returns in words how a command ended.
func (o Output) state() string {
	switch {
	case o.ExitCode != nil:
		return fmt.Sprintf("exit %d", *o.ExitCode)
	case o.Signal != "":
		return "killed by " + o.Signal
	}
	return "ended; exit code unknown"
}

// result returns the tool's result for the output of a runner. The text has at most
// chars runes, and so have both streams of the envelope together. It owns the
// output.
func (o Output) result(end ending, chars int) executors.Result {
	res := executors.Result{Failed: end.failed, Category: end.category, Done: o.Release}
	after := executors.JoinLines(o.Note, end.after)
	room := chars - utf8.RuneCountInString(end.before) - utf8.RuneCountInString(after) - 2
	text, cut := o.bound(max(room, 0))
	res.Text = executors.JoinLines(end.before, text, after)
	if res.Text == "" {
		res.Text = "(no output)"
	} else if text != "" || cut {
		res.Output = &executors.Output{Before: end.before, After: after, Lost: o.Truncated}
	}
	if cut {
		res.Full = o.whole(end.before, after)
		if res.Output != nil && res.Full == nil {
			res.Output.Lost = true
		}
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

// note records the outcome for the audit line.
func (o Output) note(rec *executors.Record, res executors.Result) {
	if rec == nil {
		return
	}
	rec.ExitCode, rec.Truncated, rec.Before = o.ExitCode, res.Raw.(Envelope).Truncated, len(res.Text)
	if res.Full != nil {
		rec.Before = int(res.Full.Size() + o.Lost)
	}
}

// whole returns the text of a result without the limit; nil if it does not fit on
// the disk.
func (o Output) whole(before, after string) *executors.Spool {
	full := o.Full
	if full == nil {
		full, _ = executors.NewSpool(executors.JoinLines(before, o.Text, after))
		return full
	}
	if before != "" { // rare, so copying is fine: a Spool only grows at its end
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
		if size := full.Size(); full.Window(size-1, 1) != "\n" {
			after = "\n" + after
		}
		_, _ = io.WriteString(full, after) // the result's text has it too
	}
	return full
}

// failure returns the failure of a command that did not really run, else nil.
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

// bound shortens the output to limit runes, and reports whether it did.
func (o Output) bound(limit int) (string, bool) {
	if o.Full == nil {
		return executors.Bound(o.Text, limit, o.Truncated)
	}
	return o.Full.Bound(limit, o.Truncated)
}

// boundBoth cuts two streams to at most limit runes together; a short one
// leaves its room to the other.
func boundBoth(stdout, stderr string, limit int, more bool) (string, string, bool) {
	a, b := utf8.RuneCountInString(stdout), utf8.RuneCountInString(stderr)
	if a+b <= limit {
		return stdout, stderr, false
	}
	stdout, _ = executors.Bound(stdout, max(limit/2, limit-b), more)
	stderr, _ = executors.Bound(stderr, max(limit/2, limit-a), more)
	return stdout, stderr, true
}
