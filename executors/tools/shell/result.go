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
	lost    bool               // it failed, and the output is incomplete
}

// ending describes how a command ended; err is the reason if it did not start or did
// not end by itself.
func (o Output) ending(err error) ending {
	f := o.failure(err)
	switch {
	case f != nil:
		return ending{failed: true, failure: f, lost: o.Truncated}
	case o.ExitCode != nil && *o.ExitCode == 0:
		return ending{}
	}
	return ending{failed: true, note: "[" + o.state() + "]", lost: o.Truncated}
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

// lostNote is shown below the incomplete output of a command that failed.
const lostNote = "[part of the output is lost, and may say what failed: run less at once, or write the output to a file and search it]"

// result returns the tool's result for the output of a runner. Both streams of the envelope have at
// most chars runes together, the limit of the tool's text. The result owns the output.
func (o Output) result(end ending, chars int) executors.Result {
	var res executors.Result
	if end.failure != nil {
		res = end.failure.Result()
	}
	res.Failed, res.Done = end.failed, o.Release
	res.Below(o.Note)
	res.Below(end.note)
	if end.lost {
		res.Below(lostNote)
	}
	room := chars - utf8.RuneCountInString(res.ForModel()) - 2
	tooLong := o.exceeds(max(room, 0))
	switch {
	case o.Text != "" || o.Full != nil:
		res.Text, res.Long, res.Output = o.Text, o.Full, &executors.Output{Lost: o.Truncated}
	case res.ForModel() == "":
		res.Text = "(no output)"
	}
	stdout, stderr, cutStreams := boundBoth(o.Stdout, o.Stderr, chars, o.Truncated || o.CutStreams)
	res.Raw = Envelope{
		Stdout: stdout, Stderr: stderr, ExitCode: o.ExitCode,
		Truncated: o.Truncated || tooLong || cutStreams,
	}
	if o.Terminal != "" {
		res.Content = []executors.Content{{Terminal: o.Terminal}}
	}
	return res
}

// exceeds reports whether the output has more than limit characters.
func (o Output) exceeds(limit int) bool {
	text := o.Text
	if o.Full != nil {
		if o.Full.Size() > int64(limit)*utf8.UTFMax {
			return true
		}
		text = o.Full.Window(0, o.Full.Size())
	}
	return len(text) > limit && utf8.RuneCountInString(text) > limit
}

// recordOutcome records the outcome for the audit line.
func (o Output) recordOutcome(rec *executors.Record, res executors.Result) {
	if rec == nil {
		return
	}
	rec.ExitCode, rec.Truncated, rec.OutputBytes = o.ExitCode, res.Raw.(Envelope).Truncated, len(res.ForModel())
	if res.Long != nil {
		rec.OutputBytes += int(res.Long.Size() + o.Lost)
	}
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
