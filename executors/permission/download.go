package permission

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// runsText reports whether the program is a shell, or can run a text as code.
func runsText(c *command.Command) bool {
	return c.Facts().Shell || c.Facts().RunsText
}

// downloads reports whether the output of one of the commands may be a download.
func downloads(list []*command.Command) bool { return fetches(list, 0) }

func fetches(list []*command.Command, depth int) bool {
	const maxDepth = 8 // nesting of commands in words of commands
	for _, c := range list {
		if c.Facts().Fetches {
			return true
		}
		for _, w := range c.Words {
			if depth < maxDepth && fetches(w.From, depth+1) {
				return true
			}
		}
	}
	return false
}

// runsDownload reports whether c may run a download: its input, its code or its
// name comes from one.
func runsDownload(c *command.Command) bool {
	if downloads(c.Words[0].From) {
		return true
	}
	if c.Facts().RunsInput || c.Program() == "crontab" || strings.HasSuffix(c.Program(), "make") && makeReadsStdin(c) {
		return downloads(c.Inputs)
	}
	if !runsText(c) {
		return false
	}
	if slices.ContainsFunc(c.Args(), func(w command.Word) bool { return downloads(w.From) }) {
		return true
	}
	return downloads(c.Inputs) && readsProgram(c)
}

// makeReadsStdin reports whether make reads its rules from standard input.
func makeReadsStdin(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool {
		return slices.Contains([]string{"-", "-f-", "--file=-", "--makefile=-", "/dev/stdin"}, w.Text)
	})
}

// readsProgram reports whether an interpreter may read its program from
// standard input: it has no program among its operands, or that operand is
// computed or filled in.
func readsProgram(c *command.Command) bool {
	for i, w := range c.Args() {
		text := w.Text
		switch {
		case text == "run" && i == 0 && (c.Program() == "bun" || c.Program() == "deno"):
		case !w.Literal, text == "-", text == "-s", text == "/dev/stdin", text == "/dev/fd/0":
			return true
		case len(text) > 1 && text[0] == '-':
			if i+1 < len(c.Words)-1 && (text[len(text)-1] == 'c' || text[len(text)-1] == 'e') {
				// The operand is a text; but xargs may put the input into it.
				return c.Wrapped && slices.Contains([]string{"%", "{}", "$0", "$1", "$@", `"$@"`, `"$0"`, `"$1"`, `eval "$1"`}, c.Args()[i+1].Text)
			}
		default:
			return false
		}
	}
	return true
}
