package command

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// GitSafeEnv are variables, as NAME=value, for every command: git then neither
// starts the file system monitor that a repository names nor writes its index
// when it only looks. The rest of what a repository's configuration can make
// git run has no such switch; package policy looks into that configuration.
func GitSafeEnv() []string {
	return []string{
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=diff.ignoreSubmodules", "GIT_CONFIG_VALUE_1=dirty", // what is in them may have settings of its own
		"GIT_OPTIONAL_LOCKS=0",
	}
}

// ReadOnly reports whether the command only looks: it is in the table, none of
// its options is one that does more, and nothing in it is computed that could
// name a file. What it looks at, and variables that are set for it, are not
// judged here.
func (c *Command) ReadOnly() bool {
	if !trusted(c.Words[0]) {
		return false
	}
	p, args := c.Program(), c.Args()
	switch {
	case slices.Contains(versions, p) && len(args) == 1 && slices.Contains([]string{"--version", "-V", "-version"}, args[0].Text):
		return true
	case p == "ls" && refuses("-R --recursive", args) && refuses("-L -H --dereference", args): // down directories that links lead to
		return false
	case p == "git":
		for len(args) > 0 && slices.Contains(gitQuiet, args[0].Text) {
			args = args[1:]
		}
		return subcommand(gitReads, p, args)
	case p == "go":
		return subcommand(goReads, p, args)
	}
	r, ok := readOnly[p]
	return ok && r.accepts(p, args)
}

// trusted reports whether the program is found through PATH or where systems
// keep their own: "./ls" is not ls.
func trusted(program Word) bool {
	if !program.Literal || program.Glob {
		return false
	}
	dir := filepath.Dir(program.Text)
	return !strings.ContainsAny(program.Text, `/\`) || slices.Contains([]string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/go/bin"}, dir)
}

func subcommand(table map[string]rule, program string, args []Word) bool {
	if len(args) == 0 || !args[0].Literal {
		return false
	}
	r, ok := table[args[0].Text]
	return ok && r.accepts(program, args[1:])
}

func (r rule) accepts(program string, args []Word) bool {
	optional := r.refused != "" || r.allowed != "" || r.check != nil && !r.text // whether an option makes a difference
	ended := false
	for _, a := range args {
		ended = ended || a.Text == "--"
		switch {
		case !a.Literal && !a.number && !r.text:
			return false
		case !a.Literal && r.allowed != "" && a.Split:
			return false
		case a.Glob && (r.operands >= 0 || optional && !ended && strings.IndexAny(a.Text, "*?[") == 0): // a file may be called "-o"
			return false
		case !ended && r.allowed != "" && strings.HasPrefix(a.Text, "-") && !slices.Contains(strings.Fields(r.allowed), a.Text):
			return false
		}
	}
	return (r.operands < 0 || countOperands(program, args) <= r.operands) && !refuses(r.refused, args) && !refuses(r.reaches, args) && (r.check == nil || r.check(args))
}

// countOperands counts the operands, without the values of options.
func countOperands(program string, args []Word) int {
	n := len(operands(args))
	for i, a := range args[:max(0, len(args)-1)] {
		if len(a.Text) == 2 && takesValue(a.Text, fileCommands[program].options) && !strings.HasPrefix(args[i+1].Text, "-") {
			n--
		}
	}
	return n
}

// refuses reports whether one of the options is among args: alone, with a value
// glued to it, abbreviated, or in a bundle of short ones.
func refuses(options string, args []Word) bool {
	for _, a := range args {
		if a.Text == "--" {
			return false
		}
		if !strings.HasPrefix(a.Text, "-") || a.Text == "-" {
			continue
		}
		name, _, _ := strings.Cut(a.Text, "=")
		for o := range strings.FieldsSeq(options) {
			long := strings.HasPrefix(o, "--")
			switch {
			case name == o,
				long && strings.HasPrefix(name, "--") && len(name) > 2 && strings.HasPrefix(o, name),
				!long && len(o) == 2 && !strings.HasPrefix(name, "--") && strings.IndexByte(name, o[1]) > 0:
				return true
			}
		}
	}
	return false
}

func firstIs(names ...string) func([]Word) bool {
	return func(args []Word) bool { return len(args) > 0 && slices.Contains(names, args[0].Text) }
}

func hasOption(args []Word) bool { return len(operands(args)) < len(args) }

// noSignature refuses formats for which git runs gpg.
func noSignature(args []Word) bool {
	return !slices.ContainsFunc(args, func(a Word) bool { return strings.Contains(a.Text, "%G") || strings.Contains(a.Text, "%(signature") })
}

// dateReads refuses the operand that sets the clock.
func dateReads(args []Word) bool {
	for i, a := range args {
		value := i > 0 && (args[i-1].Text == "-d" || args[i-1].Text == "--date" || args[i-1].Text == "-r")
		if !value && !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, "+") {
			return false
		}
	}
	return true
}

// psReads refuses what shows environments, which hold secrets.
func psReads(args []Word) bool {
	for i, a := range args {
		value := i > 0 && strings.HasPrefix(args[i-1].Text, "-") && strings.ContainsAny(args[i-1].Text[len(args[i-1].Text)-1:], "opCuUgGt")
		if strings.Contains(a.Text, "environ") || !value && !strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "e") {
			return false
		}
	}
	return true
}

// jqMore is what a jq program does besides looking at its input.
var jqMore = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\benv\b|\$ENV|\b(import|include|modulemeta|get_search_list|input_filename|debug|stderr)\b`)
})

func jqReads(args []Word) bool {
	return !slices.ContainsFunc(args, func(a Word) bool { return jqMore().MatchString(a.Text) })
}

// testReads refuses tests of variables: the subscript of a variable's name is
// computed.
func testReads(args []Word) bool {
	for i, a := range args {
		switch {
		case a.Split, !a.Literal && !a.number && i+1 < len(args) && !args[i+1].Literal: // may be "-v" and a name
			return false
		case strings.ContainsAny(a.Text, "[") && strings.ContainsAny(a.Text, "$`") && a.Literal:
			return false
		}
	}
	return true
}

// printfPrints refuses "printf -v NAME", which sets a variable.
func printfPrints(args []Word) bool {
	return len(args) > 0 && !args[0].Split && (args[0].Literal || len(args) == 1) && !strings.HasPrefix(args[0].Text, "-v")
}

// noCdPath refuses a cd that says where it went.
func noCdPath(args []Word) bool { return len(args) == 0 || args[0].Text != "-" }

// declaresSome refuses to list all variables.
func declaresSome(args []Word) bool { return len(operands(args)) > 0 }

// commandTells accepts "command -v name" alone.
func commandTells(args []Word) bool {
	return len(args) > 1 && allLiteral(args) && (args[0].Text == "-v" || args[0].Text == "-V")
}

// setPlain refuses to set operands, and to list all variables.
func setPlain(args []Word) bool {
	rest := operands(args)
	return len(args) > 0 && len(rest) == 0 || len(rest) == 1 && slices.Contains([]string{"pipefail", "errexit", "nounset"}, rest[0].Text)
}

// plainSed is a script of sed that only prints lines: "5p", "1,20p", "/x/,/y/p",
// "$p", "5q".
var plainSed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^((\d+|\$|/[^/\n]*/)(,(\d+|\$|\+\d+|/[^/\n]*/))?)?\s*[pq=]$`)
})

func sedPrints(args []Word) bool {
	rest := operands(args)
	if len(rest) == 0 || !slices.ContainsFunc(args, func(a Word) bool { return a.Text == "-n" || a.Text == "--quiet" || a.Text == "--silent" }) {
		return false
	}
	for part := range strings.SplitSeq(rest[0].Text, ";") {
		if !plainSed().MatchString(strings.TrimSpace(part)) {
			return false
		}
	}
	return true
}
