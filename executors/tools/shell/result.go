package shell

import (
	"fmt"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Envelope is the structured output of a command, the rawOutput of the tool.
type Envelope struct {
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	ExitCode  *int   `json:"exit_code"` // null if a signal ended the command, or it did not start
	Truncated bool   `json:"truncated"` // stdout, stderr or the text is incomplete
}

// Outcome returns the exit code, nil if it is unknown, and the kept part of stderr.
func (e Envelope) Outcome() (exitCode *int, stderr string) { return e.ExitCode, e.Stderr }

// ending describes the end of a command in its result.
type ending struct {
	failed  bool
	failure *executors.Failure // nil if the command ran
	note    string             // such as "[exit 1]"
}

// ending describes how a command ended; err is the reason if it did not start or did
// not end by itself.
func (o Output) ending(err error) ending {
	f := o.failure(err)
	switch {
	case f != nil:
		return ending{failed: true, failure: f}
	case o.ExitCode != nil && *o.ExitCode == 0:
		return ending{}
	}
	return ending{failed: true, note: "[" + o.state() + "]"}
}

// state returns in words how a command ended.
func (o Output) state() string {
	switch {
	case o.ExitCode != nil && o.Signal != "": // Zed reports both if a signal ended the command
		return fmt.Sprintf("exit %d; signal: %s", *o.ExitCode, o.Signal)
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
	var res executors.Result
	if end.failure != nil {
		res = end.failure.Result()
	}
	res.Failed, res.Done = end.failed, o.Release
	res.Below(o.Note)
	res.Below(end.note)
	room := chars - utf8.RuneCountInString(res.ForModel()) - 2
	text, cut := o.bound(max(room, 0))
	switch {
	case text != "" || cut:
		res.Text, res.Output = text, &executors.Output{Lost: o.Truncated}
	case res.ForModel() == "":
		res.Text = "(no output)"
	}
	if cut {
		res.Full = o.fullSpool()
		res.Output.Lost = o.Truncated || res.Full == nil
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

// recordOutcome records the outcome for the audit line.
func (o Output) recordOutcome(rec *executors.Record, res executors.Result) {
	if rec == nil {
		return
	}
	rec.ExitCode, rec.Truncated, rec.OutputBytes = o.ExitCode, res.Raw.(Envelope).Truncated, len(res.ForModel())
	if res.Full != nil {
		rec.OutputBytes += int(res.Full.Size()+o.Lost) - len(res.Text)
	}
}

// fullSpool returns the output without the limit; nil if it does not fit on the disk.
func (o Output) fullSpool() *executors.Spool {
	if o.Full != nil {
		return o.Full
	}
	full, _ := executors.NewSpool(o.Text)
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
		return executors.Failuref(category, "exit code 126: a program was found but may not be executed").Outside().
			Hint("Do not retry this unchanged; run the file through its interpreter, or ask the user.")
	case 127:
		return executors.Failuref(category, "exit code 127: a program or script was not found").
			Hint("Check the name, or use a program that is installed (command -v NAME).")
	}
	return nil
}

// bound shortens the output to limit runes, and reports whether it did.
func (o Output) bound(limit int) (string, bool) {
	if o.Full == nil {
		return executors.BoundPart(o.Text, limit, o.Truncated)
	}
	return o.Full.BoundPart(limit, o.Truncated)
}

// boundBoth cuts two streams to at most limit runes together; the other stream may use
// the room that a short one leaves.
func boundBoth(stdout, stderr string, limit int, more bool) (string, string, bool) {
	a, b := utf8.RuneCountInString(stdout), utf8.RuneCountInString(stderr)
	if a+b <= limit {
		return stdout, stderr, false
	}
	stdout, _ = executors.BoundPart(stdout, max(limit/2, limit-b), more)
	stderr, _ = executors.BoundPart(stderr, max(limit/2, limit-a), more)
	return stdout, stderr, true
}
