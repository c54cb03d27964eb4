package policy

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// interpreters run text that they are given.
var interpreters = []string{"awk", "deno", "eval", "gawk", "lua", "node", "bun", "perl", "php", "python", "python2", "python3", "ruby", "source", "."}

func runsText(c *command.Command) bool {
	return command.IsShell(c.Program()) || slices.Contains(interpreters, c.Program())
}

func downloads(list []*command.Command) bool {
	return slices.ContainsFunc(list, func(c *command.Command) bool { return slices.Contains(downloaders, c.Program()) })
}

// runsDownload reports whether what c runs comes from a download: as its input,
// in its text, or as its name.
func runsDownload(c *command.Command) bool {
	if downloads(c.Words[0].From) {
		return true
	}
	if !runsText(c) {
		return false
	}
	if slices.ContainsFunc(c.Args(), func(w command.Word) bool { return downloads(w.From) }) {
		return true
	}
	return downloads(c.Inputs) && readsProgram(c)
}

// readsProgram reports whether c, which runs text, may take it from its standard
// input: it has no program of its own, or one that is computed or filled in.
func readsProgram(c *command.Command) bool {
	for i, w := range c.Args() {
		text := w.Text
		switch {
		case !w.Literal, text == "-", text == "-s", text == "/dev/stdin", text == "/dev/fd/0":
			return true
		case len(text) > 1 && text[0] == '-':
			if i+1 < len(c.Words)-1 && (text[len(text)-1] == 'c' || text[len(text)-1] == 'e') {
				// A text of its own; but xargs may put the input into it.
				return c.Wrapped && slices.Contains([]string{"%", "{}", "$0", "$1", "$@", `"$@"`, `"$0"`, `"$1"`, `eval "$1"`}, c.Args()[i+1].Text)
			}
		default:
			return false
		}
	}
	return true
}
