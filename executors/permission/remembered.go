package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// builderFlags match words of a builder that do not change what it runs.
var builderFlags = lazyregexp.New(`^([0-9]+|-j[0-9]*|-[Bknqsv]|--(dry-run|jobs|keep-going|no-daemon|offline|parallel|quiet|silent|stacktrace|verbose)(=[0-9]+)?)$`)

// launcherFlags match options of programs that load something, which have no value, or whose value is the first operand.
var launcherFlags = lazyregexp.New(`^(-[muxy]|-jar|--build|--no|--no-install|--test|--yes)$`)

// commandExtent returns the words of a command that an "always" covers: its program and first
// operand, and the words after that in a group. rest are the other arguments. ok is false if an
// option precedes one of these words, so that it cannot be known.
func commandExtent(c *command.Command, first string) (words string, rest []command.Word, ok bool) {
	args, n := c.Args(), subcommandDepth(c)
	flags := 0 // words before the n that may be options
	switch {
	case c.Facts().Builds:
		args = slices.DeleteFunc(slices.Clone(args), func(w command.Word) bool { return builderFlags.MatchString(w.Text) })
		flags, n = len(args), 0
	case interprets(c) || c.Facts().Loads:
		for flags < len(args) && launcherFlags.MatchString(args[flags].Text) {
			flags, n = flags+1, 1
		}
	case n < 2:
		if at := firstOperand(c); at >= 0 && first != "" {
			args = slices.Delete(slices.Clone(args), at, at+1)
		}
		return strings.TrimSpace(c.Words[0].Text + " " + first), args, true
	}
	words = c.Words[0].Text
	end := min(flags+n, len(args))
	for i, w := range args[:end] {
		if i >= flags && strings.HasPrefix(w.Text, "-") || !w.Literal || w.Glob || strings.ContainsAny(w.Text, " \t\n") {
			return "", nil, false
		}
		words += " " + w.Text
	}
	return words, args[end:], true
}

// firstOperand returns the index of the first argument that is neither an option nor the value of
// a declared one; -1 if there is none.
func firstOperand(c *command.Command) int {
	declared := command.OptionsOf([]string{c.Program()})
	isValue := false
	for i, w := range c.Args() {
		switch {
		case isValue:
			isValue = false
		case strings.HasPrefix(w.Text, "-"):
			isValue = declared.Use(w.Text) == command.OptionHarmlessValue
		case w.Literal:
			return i
		}
	}
	return -1
}

// subcommandDepth returns the number of words after the program that an "always" covers.
func subcommandDepth(c *command.Command) int {
	if c.Facts().Deep {
		isOption := func(w command.Word) bool { return strings.HasPrefix(w.Text, "-") }
		return max(slices.IndexFunc(append(slices.Clone(c.Args()), command.Word{Text: "-"}), isOption), 2)
	}
	n := 1
	for words, facts := range blocksOf(c) {
		if facts.Group && startsWith(c, words) {
			n = max(n, 2, len(strings.Fields(words)))
		}
	}
	return n
}

// programOption matches an option whose value names a program, in the conventions of most programs.
var programOption = lazyregexp.New(`^--?([a-z-]*-)?(askpass|command|cmd|editor|eval|exec|init-script|launcher|linker|loader|pager|preload|rsh|shell|wrapper)(=|$)`)

// namesProgram reports whether an option may name a program that the command runs.
func namesProgram(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool { return programOption.MatchString(w.Text) })
}

// runsElsewhere reports whether a command runs a file by a relative name in a directory
// other than the script's. The same words then name another file.
func runsElsewhere(c *command.Command, script *command.Script) bool {
	name := c.Words[0].Text
	named := strings.Contains(name, "/") && !filepath.IsAbs(name) || interprets(c)
	return named && (len(c.Dirs) != 1 || filepath.Clean(c.Dirs[0]) != filepath.Clean(script.Shell.Dir))
}

// alwaysKey returns the key under which an "always" for this command is remembered, and its extent
// in words. The extent is the program and its first operand (see commandExtent) with the options
// and texts of optionExtent, the hosts of a download, all commands of a program that only ask its
// service, or the exact text of a command that destroys
// data or runs a file elsewhere. The key is empty if nothing can be remembered.
func alwaysKey(c *command.Command, script *command.Script) (key, covers string) {
	only, exact := "exactly "+script.Text, "exactly "+quote(c.Text())
	first, open := c.Subcommand()
	if at := firstOperand(c); at < 0 {
		first = ""
	} else if slices.ContainsFunc(c.Args()[:at], func(w command.Word) bool { return w.Text == first }) { // the value of an option
		first = c.Args()[at].Text
	}
	switch {
	case open:
		return "", ""
	case c.Program() == "" || c.Prefixed() || !plainVariables(c, script):
		return only, exact
	case c.AsksService() != "":
		return serviceKey(c)
	case slices.Contains(downloaders, c.Program()):
		hosts, ok := hostsOf(c)
		if !ok {
			return only, exact
		}
		return "host " + strings.Join(hosts, " "), c.Program() + " to " + strings.Join(hosts, ", ")
	case destroys(c), programs.Of(c.Program(), first).Destructive, confirms(c, "") != "", namesProgram(c):
		return only, exact
	case runsElsewhere(c, script), runsNameWithSpace(c), strings.ContainsAny(first, " \t\n"):
		return only, exact
	case interprets(c) && (first == "" || hasCode(c)):
		return only, exact
	}
	what, rest, ok := commandExtent(c, first)
	if !ok || c.Launches() && subcommandDepth(c) < 2 && !c.Facts().Loads {
		return only, exact
	}
	options, ok := optionExtent(c, what, rest)
	if !ok {
		return only, exact
	}
	return "command " + what + options, quote(what + options)
}

// destroys reports whether a command may delete or overwrite data for good, so that an "always" for it
// must not cover the next.
func destroys(c *command.Command) bool {
	for words, facts := range blocksOf(c) {
		if facts.Destructive && mayBeginWith(c, words) {
			return true
		}
	}
	return false
}

// interprets reports whether the program runs a text in a language.
func interprets(c *command.Command) bool { return runsText(c) || c.Interprets() }

// hasCode reports whether an interpreter has its program as an operand, or reads it from its
// standard input.
func hasCode(c *command.Command) bool {
	return slices.ContainsFunc(c.Args(), func(w command.Word) bool {
		if !w.Literal || w.Text == "-" || strings.HasPrefix(w.Text, "+") || w.Text == "--eval" || w.Text == "--print" || strings.HasPrefix(w.Text, "/dev/") || strings.HasPrefix(w.Text, "/proc/") {
			return true
		}
		isBundle := len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-'
		return isBundle && strings.ContainsAny(w.Text, "cerEp")
	})
}
