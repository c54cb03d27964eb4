package shell

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Most programs that need a terminal notice that there is none, and end: stdin is empty,
// and the variables of [Quiet] disable pagers, editors and questions. The programs below
// wait for keys nevertheless: vi, for example, then reads from stderr.

// batchArgument matches the arguments with which such a program may end by itself, such as +qall.
var batchArgument = lazyregexp.New(`^(\+.+|--cmd|--headless|--help|--version|-[A-Za-z]*[ceEsSlh])$`)

// refuseKeys returns the failure of a script with a program that would wait for keys, or nil.
func (e *Executor) refuseKeys(script *command.Script) *executors.Failure {
	if e.HasTerminal || script.Err != nil { // the links that check the call say what is wrong with it
		return nil
	}
	for _, c := range script.Commands {
		if !c.Facts().WaitsForKeys ||
			slices.ContainsFunc(c.Args(), func(w command.Word) bool { return !w.Literal || batchArgument.MatchString(w.Text) }) {
			continue
		}
		return executors.Failuref(executors.InvalidParameters, "%s waits for keys, and a command has no terminal", c.Program()).
			Hint("Use the tools for files, or a form of the command that needs no keys.")
	}
	return nil
}

// lacksTerminal matches the messages of programs that need a terminal.
var lacksTerminal = lazyregexp.New(`(?i)\bnot (a|from a|to a|connected to a) (tty|terminal)\b|\bno (controlling )?(tty|terminal)\b|failed tty get|inappropriate ioctl for device`)

// maxNoTerminalOutput bounds the outputs that are searched for such a message, in bytes:
// a longer output has more than such a message.
const maxNoTerminalOutput = 2000

// sshNotice is a line of ssh, which works without a terminal.
const sshNotice = "Pseudo-terminal will not be allocated because stdin is not a terminal."

// noTerminalNote returns a note for a command that failed because it has no terminal, or "".
func (o Output) noTerminalNote() string {
	if o.ExitCode == nil || *o.ExitCode == 0 || len(o.Text) > maxNoTerminalOutput ||
		!lacksTerminal.MatchString(strings.ReplaceAll(o.Text, sshNotice, "")) {
		return ""
	}
	return "[a command has no terminal: use a form of it that needs none]"
}
