package command

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// shellScript lists the commands of the script that a shell runs.
func (w *walker) shellScript(c *Command) {
	args := c.Args()
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case args[i].processSubst:
			w.runOutput(c, stdin{from: args[i].From})
			return
		case !args[i].Literal || args[i].Glob:
			w.dynamic("%s runs a script whose name is computed: %s", c.Program(), a)
			return
		case len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "c"):
			w.shellText(c, args[i+1:])
			return
		case a == "-s" || a == "-" || a == "/dev/stdin" || a == "/dev/fd/0" || a == "/proc/self/fd/0":
			w.runInput(c)
			return
		case valuedShellOption(a):
			i++
		case a == "--version" || a == "--help":
			return
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
		default: // a script in a file is a program like any other
			return
		}
	}
	w.runInput(c)
}

// valuedShellOption reports whether the value of a shell's option is the next word.
func valuedShellOption(option string) bool {
	if option == "--rcfile" || option == "--init-file" {
		return true
	}
	last := len(option) - 1
	return last > 0 && strings.IndexByte("-+", option[0]) >= 0 && option[1] != '-' && strings.IndexByte("oO", option[last]) >= 0
}

// shellText lists the commands of "bash -c". Options may still follow the -c;
// the first operand is the script, the others are its $0, $1 ...
func (w *walker) shellText(c *Command, args []Word) {
	var rest []Word
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		if args[i].Literal && a == "--" {
			rest = args[i+1:]
			break
		}
		if args[i].Literal && len(a) > 1 && (a[0] == '-' || a[0] == '+') {
			if valuedShellOption(a) {
				i++
			}
			continue
		}
		rest = args[i:]
		break
	}
	if len(rest) == 0 {
		return
	}
	defer w.subshell()()
	outer, in := w.params, w.in
	w.params, w.in = nil, c.in
	for _, p := range rest[1:] {
		if !p.Literal {
			break
		}
		w.params = append(w.params, p.Text)
	}
	w.runText(c, rest[:1], c.Program()+" -c")
	w.params, w.in = outer, in
}

// sourced lists the commands that source reads from its standard input or from a
// pipe, not from a file.
func (w *walker) sourced(c *Command) {
	args := operands(c.Args())
	switch {
	case len(args) == 0:
	case args[0].processSubst:
		w.runOutput(c, stdin{from: args[0].From})
	case args[0].Text == "/dev/stdin" || args[0].Text == "-" || args[0].Text == "/dev/fd/0":
		w.runInput(c)
	case !args[0].Literal || args[0].Glob:
		w.dynamic("%s runs a script whose name is computed: %s", c.Program(), args[0].Text)
	}
}

// SameInSh reports whether POSIX shells parse the script as bash does. "a &>b c" is one command in
// bash and two in others.
func (s *Script) SameInSh() bool { return sameInSh(s.tree) }

func sameInSh(script *plain.Tree) bool {
	bash, err := script.File()
	if err != nil {
		return false
	}
	posix, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX), syntax.KeepComments(true)).Parse(strings.NewReader(script.Text), "")
	return err == nil && printed(bash) == printed(posix)
}

// printed returns the text of a script, and where its quotes and substitutions are: $'…' is one part of
// a word in bash, and "$" and a quote in others.
func printed(file *syntax.File) string {
	var form strings.Builder
	form.WriteString(source(file))
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted, *syntax.CmdSubst:
			fmt.Fprintf(&form, " %d", n.Pos().Offset())
		}
		return true
	})
	return form.String()
}

var (
	// plainWords matches a text that all shells split into words at its spaces.
	plainWords = lazyregexp.New(`^[\w./:,@+ -]*$`)
	// otherKeywords matches words of shells with their own grammar, before a command.
	otherKeywords = lazyregexp.New(`(^| )(-|and|begin|nocorrect|noglob|not|or|repeat)( |$)`)
)

// parsesAsBash reports whether a shell parses a script as bash does.
func parsesAsBash(shell, script string) bool {
	switch {
	case shell == "bash" || shell == "rbash":
		return true
	case slices.Contains([]string{"csh", "fish", "tcsh", "zsh"}, shell):
		return plainWords.MatchString(script) && !otherKeywords.MatchString(script)
	}
	return sameInSh(plain.NewTree(script))
}
