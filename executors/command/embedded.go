package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Programs accept commands in many places: as the value of an option or
// variable, after a "!", in a text in their own language. This file finds the
// commands that are spelled out there. They are guesses, since the program may
// interpret the text differently: a reason to refuse, never one to allow.

// escapedCommand matches a command in the language of a program in which "!" and the like run one. Clients of databases also write to a command, or read from one.
var escapedCommand = lazyregexp.New(`(?m)(?:^|;)(?:--?[\w-]+=)?[\s:+"'%.,$\d]*` +
	`(?:(?:[a-z]+!?\s+)?(?:\\?!|!!|\.(?:shell|system)\s|(?:shell|system|pager|\\P)\s)|` +
	`(?:\\(?:o|g|gx|w|i|copy)\b|\.(?:import|log|once|output|read|trace)\b)[^|\n]*\|)\s*(?s:(.+))` +
	`|(?i)\bprogram\s+'([^']+)'`)

// quotedCommand matches a command in quotes, which code passes to the system.
const quotedCommand = `(?:"([^"\n]+)"|'([^'\n]+)')`

// callOfProgram matches the beginning of a call that starts a program, up to its first argument.
const callOfProgram = `(?i)\b(?:system|exec\w*|popen\d?|spawn\w*|run|call|check_\w+|getoutput|getstatusoutput|` +
	`shell_exec|passthru|proc_open|shell-command|shell script|syscmd|esyscmd|qx|Cmd)[\s(\[{]*`

var (
	// callArgument matches a command that is the argument of a function.
	callArgument = lazyregexp.New(callOfProgram + quotedCommand)
	// callList matches a command whose words are the arguments of a function, or a list:
	// run(["make", "all"]).
	callList   = lazyregexp.New(callOfProgram + `(` + quotedCommand + `(?:[\s,\[\]]+` + quotedCommand + `)+)`)
	quotedWord = lazyregexp.New(quotedCommand)
	// delimitedCommand matches a command between the delimiters of Perl's qx and Ruby's %x, or in
	// a call of m4.
	delimitedCommand = lazyregexp.New("(?:\\bqx|%x)\\s*(?:\\(([^)\n]+)\\)|\\{([^}\n]+)\\}|\\[([^]\n]+)\\]|<([^>\n]+)>|/([^/\n]+)/|!([^!\n]+)!|\\|([^|\n]+)\\|)|syscmd\\(`?([^)'\n]+)")
	// quoteOperator matches a text or a list of words in Perl or Ruby.
	quoteOperator = lazyregexp.New(`(\bq[qw]?|%[qQwW]?)\s*(?:\(([^)\n]+)\)|\{([^}\n]+)\}|\[([^]\n]+)\]|<([^>\n]+)>|/([^/\n]+)/|!([^!\n]+)!|\|([^|\n]+)\|)`)
	// pipedCommand matches a command of a pipe in awk, or between backquotes.
	pipedCommand = lazyregexp.New(quotedCommand + `\s*\|&?\s*getline|\|&?\s*` + quotedCommand + "|`([^`\n]+)`")
)

// sedExec matches the command that sed's "e" passes to the system, and the replacement of
// a substitution with the flag "e".
var sedExec = lazyregexp.Build(func() string {
	forms := []string{`(?:^|[;{}\d$/!\n])\s*e\s+([^\n]+)`, `(?:^|[;{}\n])\s*(?:[\d$][\d$,~+]*)?\s*!?\s*e([^\n]+)`}
	for _, d := range []string{"/", `\|`, "#", ",", ":", "@", "!", "~", "_", "%"} {
		forms = append(forms, `s`+d+`[^`+d+`]*`+d+`([^`+d+`]*)`+d+`[gpiImM\d]*e`)
	}
	return strings.Join(forms, "|")
})

// makeShell matches a command that a text of make passes to a shell.
var makeShell = lazyregexp.New(`\$[({]shell\s+([^)}]*)|!=\s*([^\n]*)`)

// programVariables match variables whose value programs run.
var programVariables = lazyregexp.New(`(?i)^(.*_)?(pager|editor|visual|browser|shell|command|wrapper|runner|launcher|lessopen|` +
	`lessclose|askpass|ssh|rsh|diff|env|cc|cxx|cpp|ld|ar|rustc|linker|exec)$`)

// guessEmbedded lists the commands that c spells out for a program to run.
func (w *walker) guessEmbedded(c *Command) {
	if w.depth > maxDepth/2 {
		return
	}
	p, args := unversioned(c.Program()), c.Args()
	facts := programs.Of(p)
	for o := range strings.FieldsSeq(facts.Runs) {
		for _, v := range valuesOf(args, o) {
			if v.Literal {
				w.guessText(v.Text)
			}
		}
	}
	switch {
	case p == programs.Git:
		w.guessGit(args)
	case strings.HasPrefix(p, "git-"): // a subcommand's own program
		w.guessCommand(append([]Word{{Text: programs.Git, Literal: true}, {Text: strings.TrimPrefix(p, "git-"), Literal: true}}, args...))
	case p == "make" || p == "gmake":
		w.guessAssigned(args)
		w.guessRecipes(c.Input())
		w.guessMatches(makeShell.FindAllStringSubmatch(c.Input(), maxFound))
		for _, o := range []string{"--eval", "-E"} {
			for _, rule := range valuesOf(args, o) {
				_, recipe, _ := strings.Cut(rule.Text, ":")
				w.guessText(strings.TrimLeft(recipe, "; \t\n@-+"))
				w.guessMatches(makeShell.FindAllStringSubmatch(rule.Text, maxFound))
			}
		}
	case p == "env" || p == "export" || p == "declare":
		w.guessAssigned(args)
	case p == "sed" || p == "gsed":
		for _, text := range w.interpretedTexts(c) {
			w.guessMatches(sedExec.FindAllStringSubmatch(text, maxFound))
		}
	case p == "at" || p == "batch":
		if text, ok := c.inputText(); ok {
			w.guessText(text)
		}
	case p == "complete" || p == "compgen" || p == "bind":
		for _, a := range args {
			_, text, _ := strings.Cut(a.Text, ":")
			w.guessText(a.Text)
			w.guessText(text)
		}
	}
	if facts.Launches != nil {
		w.guessLaunched(args, *facts.Launches)
	} else if strings.HasPrefix(p, "ld.so") || strings.HasPrefix(p, "ld-linux") || strings.HasPrefix(p, "ld-musl") { // the loader of programs
		w.guessLaunched(args, programs.Launches{})
	}
	if facts.Escapes {
		for _, text := range w.interpretedTexts(c) {
			w.guessMatches(escapedCommand.FindAllStringSubmatch(text, maxFound))
		}
	}
	if facts.Code || p == "gdb" || p == "lldb" { // these two run Python
		for _, text := range w.interpretedTexts(c) {
			if slices.Contains([]string{"perl", "ruby", "jruby"}, p) {
				text = withQuotes(text)
			}
			w.guessMatches(callArgument.FindAllStringSubmatch(text, maxFound))
			w.guessMatches(pipedCommand.FindAllStringSubmatch(text, maxFound))
			w.guessMatches(delimitedCommand.FindAllStringSubmatch(text, maxFound))
			w.guessCallLists(text)
			if p == "tclsh" || p == "wish" { // whose "exec a b" has the words of a command
				w.guessText(text)
			}
		}
	}
}

// unversioned returns the name of an interpreter without its version.
func unversioned(program string) string {
	for _, name := range []string{"python", "perl", "ruby", "php", "pypy", "lua"} {
		if strings.HasPrefix(program, name) {
			return strings.TrimRight(program, "0123456789.")
		}
	}
	return program
}

// Interprets reports whether the program interprets code in a language such as Python.
func (c *Command) Interprets() bool { return programs.Of(unversioned(c.Program())).Code }

// Launches reports whether the program runs another one that its operands name.
func (c *Command) Launches() bool {
	how := c.Facts().Launches
	return how != nil && (how.After == "" || slices.ContainsFunc(c.Args(), func(a Word) bool { return programs.Has(how.After, a.Text) }))
}

// maxFound bounds the commands that are searched for in one text.
const maxFound = 64

// interpretedTexts returns the texts that a program may interpret: literal operands, and
// its standard input.
func (w *walker) interpretedTexts(c *Command) []string {
	var out []string
	for _, a := range c.Args() {
		if a.Literal {
			out = append(out, a.Text)
		}
	}
	if text, ok := c.inputText(); ok {
		out = append(out, text)
	}
	return out
}

// Input returns the standard input, "" if the script does not spell it out.
func (c *Command) Input() string {
	text, _ := c.inputText()
	return text
}

// inputText returns the standard input, if the script spells it out.
func (c *Command) inputText() (string, bool) {
	if c.in == nil {
		return "", false
	}
	return c.in.spelledText()
}

// guessMatches lists the commands in the groups of regular expression matches as guesses.
func (w *walker) guessMatches(matches [][]string) {
	for _, m := range matches {
		for _, text := range m[1:] {
			w.guessText(text)
			if inner := strings.TrimRight(text, `"')`); inner != text { // quotes of the language around it
				w.guessText(inner)
			}
		}
	}
}

// withQuotes replaces the quote operators of Perl and Ruby, such as q(a b) and %w[a b], by quotes.
func withQuotes(text string) string {
	return quoteOperator.ReplaceAllStringFunc(text, func(found string) string {
		m := quoteOperator.FindStringSubmatch(found)
		inner := strings.ReplaceAll(strings.Join(m[2:], ""), `"`, "'")
		if strings.ContainsAny(m[1], "wW") {
			inner = strings.Join(strings.Fields(inner), `", "`)
		}
		return `"` + inner + `"`
	})
}

// guessCallLists lists the commands whose words are the arguments of functions in a text. The name
// of the program may come twice, as in execvp("make", ["make", "all"]).
func (w *walker) guessCallLists(text string) {
	for _, m := range callList.FindAllStringSubmatch(text, maxFound) {
		var words []Word
		for _, q := range quotedWord.FindAllStringSubmatch(m[1], maxFound) {
			words = append(words, Word{Text: q[1] + q[2], Literal: true})
		}
		if len(words) > 2 && words[0].Text == words[1].Text {
			words = words[1:]
		}
		w.guessCommand(words)
	}
}

// guessRecipes lists the commands of the recipes in a makefile.
func (w *walker) guessRecipes(makefile string) {
	for line := range strings.Lines(makefile) {
		recipe, ok := strings.CutPrefix(line, "\t")
		if !ok {
			_, recipe, _ = strings.Cut(line, ";")
		}
		w.guessText(strings.TrimLeft(recipe, "; \t@-+"))
	}
}

// guessText lists the commands of a text as guesses.
func (w *walker) guessText(text string) {
	text = strings.TrimSpace(text)
	if len(text) > maxValue || !strings.ContainsAny(text, letters) {
		return
	}
	if _, value, ok := strings.Cut(text, "="); ok && !strings.ContainsAny(text[:len(text)-len(value)], " \t\"'") { // "ProxyCommand=x", "-x=y"
		w.guessText(value)
	}
	outer, in, dirs, params := w.guessing, w.in, w.dirs, w.params
	w.guessing, w.in = true, &stdin{}
	w.parseAgain(strings.TrimLeft(text, "!|"), "")
	w.guessing, w.in, w.dirs, w.params = outer, in, dirs, params
}

// guessLaunched lists the operands that may be a command, each with the words after
// it.
func (w *walker) guessLaunched(args []Word, how programs.Launches) {
	if how.After != "" {
		i := slices.IndexFunc(args, func(a Word) bool { return programs.Has(how.After, a.Text) })
		if i < 0 {
			return
		}
		args = args[i+1:]
	}
	const maxArgs = 16
	dirs := w.dirs
	for i, a := range args[:min(maxArgs, len(args))] {
		if strings.HasPrefix(a.Text, "-") {
			continue
		}
		switch {
		case !a.Literal:
		case strings.ContainsAny(a.Text, " \t\n"):
			w.guessText(a.Text)
		default:
			w.guessCommand(args[i:])
		}
		w.dirs = dirs
		mayBeValue := i > 0 && strings.HasPrefix(args[i-1].Text, "-") && args[i-1].Text != "--"
		if how.Operands--; how.Operands < 0 && !how.Anywhere && !mayBeValue { // the operands of the command follow
			break
		}
	}
}

// guessCommand lists a command of these words as a guess.
func (w *walker) guessCommand(words []Word) {
	outer, in, dirs := w.guessing, w.in, w.dirs
	if w.depth++; w.depth <= maxDepth/2 {
		w.guessing = true
		w.command(&Command{Words: slices.Clip(words), Wrapped: true, in: &stdin{}})
	}
	w.depth--
	w.guessing, w.in, w.dirs = outer, in, dirs
}

// guessAssigned lists the values of NAME=value operands that are run.
func (w *walker) guessAssigned(args []Word) {
	for _, a := range args {
		if name, value, ok := strings.Cut(a.Text, "="); ok && a.Literal && programVariables.MatchString(name) {
			w.guessText(value)
		}
	}
}

// valuesOf returns all values of an option: the next word, or the rest of the
// same word. An option with one dash and a long name may have two.
func valuesOf(args []Word, option string) []Word {
	var out []Word
	for i, a := range args {
		value, next, ok := optionValue(a, option)
		if !ok && len(option) > 2 && strings.HasPrefix(a.Text, "-") {
			name, text, glued := strings.Cut(strings.TrimLeft(a.Text, "-"), "=")
			if name == strings.TrimLeft(option, "-") {
				value, next, ok = Word{Text: text, Literal: a.Literal}, !glued, true
			}
		}
		switch {
		case ok && !next:
			out = append(out, value)
		case ok && i+1 < len(args):
			out = append(out, args[i+1])
		}
	}
	return out
}
