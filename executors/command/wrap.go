package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

// wrapper says where the command that a program runs begins among its arguments. A program with Flags
// is neutral: only the command that it runs is checked, so an unknown option must be reported.
type wrapper programs.Wraps

// wrapperOf returns how a program wraps another one; false if it does not.
func wrapperOf(program string) (wrapper, bool) {
	if how := programs.Of(program).Wraps; how != nil {
		return wrapper(*how), true
	}
	return wrapper{}, false
}

// IsShell reports whether the program is a shell.
func IsShell(program string) bool { return programs.Of(program).Shell }

// gnuName returns the name of a GNU program without the g that it has on other
// systems.
func gnuName(program string) string {
	if name, ok := strings.CutPrefix(program, "g"); ok && programs.Of(name).GNU {
		return name
	}
	return program
}

// unwrap lists the commands that a command runs.
func (w *walker) unwrap(c *Command) {
	p := gnuName(c.Program())
	switch {
	case len(p) > 1 && c.Words[0].Text[0] == '-':
		// The words after "time" in "time -f x command"; some shells run the program time with them.
		how, _ := wrapperOf("time")
		w.operandCommand(&Command{Words: append([]Word{{Text: "time", Literal: true}}, c.Words...), in: c.in}, how)
	case IsShell(p):
		w.shellScript(c)
	case p == "capsh": // a shell gets the words after "--" or "=="
		if i := flagAt(c.Args(), "--", "=="); i >= 0 {
			words := append([]Word{{Text: "sh", Literal: true}}, c.Args()[i+1:]...)
			w.command(&Command{Words: words, Assigns: c.Assigns, Wrapped: true, in: c.in})
		}
	case p == "sg":
		if args := operands(c.Args()); len(args) > 1 {
			w.runText(c, args[1:2], p)
		}
	case p == "eval":
		args := c.Args()
		if len(args) > 0 && args[0].Text == "--" {
			args = args[1:]
		}
		w.runText(c, args, "eval")
	case p == "." || p == "source":
		w.sourced(c)
	case p == "trap":
		if args := operands(c.Args()); len(args) > 1 {
			w.runText(c, args[:1], "trap")
		}
	case p == "alias":
		for _, a := range operands(c.Args()) {
			if _, text, ok := strings.Cut(a.Text, "="); ok {
				w.dynamic("an alias changes how a shell reads the lines after it")
				w.runText(c, []Word{{Text: text, Literal: a.Literal}}, "alias")
			}
		}
	case p == "mapfile" || p == "readarray":
		if text, ok := valueOf(c.Args(), "-C"); ok {
			w.runText(c, []Word{text}, p)
		}
	case p == "find" || p == "fd" || p == "fdfind":
		w.findExec(c)
	case p == "tar" || p == "gtar" || p == "bsdtar":
		for _, o := range []string{"--to-command", "--checkpoint-action", "--use-compress-program", "-I"} {
			for _, text := range valuesOf(c.Args(), o) {
				outer := c.Wraps // tar does more than run a command, so its other arguments are checked too
				text.Text = strings.TrimPrefix(text.Text, "exec=")
				w.runText(c, []Word{text}, p+" "+o)
				c.Wraps = outer
			}
		}
	case p == "env" && splitString(c) != nil:
		w.runText(c, splitString(c), "env -S")
	default:
		if how, ok := wrapperOf(p); ok && !how.OutputOnly {
			w.wrapped(c, how)
		}
	}
}

// wrapped lists the command of a wrapper, or the script in one of its options.
func (w *walker) wrapped(c *Command, how wrapper) {
	p := c.Program()
	if p == "command" && shortFlag(c.Args()[:min(1, len(c.Args()))], "vV") {
		return // only prints the command that it would run
	}
	for o := range strings.FieldsSeq(how.Script) {
		if text, ok := valueOf(c.Args(), o); ok {
			w.runText(c, []Word{text}, p+" "+o)
			if rest := how.commandWords(c.Args()); len(rest) == 0 || strings.HasPrefix(rest[0].Text, "-") {
				return
			}
		}
	}
	rest := how.commandWords(c.Args())
	if p == "parallel" && len(rest) > 0 && strings.HasPrefix(rest[0].Text, ":::") { // each operand is a command
		for _, text := range rest[1:] {
			w.runText(c, []Word{text}, p)
		}
		return
	}
	w.operandCommand(c, how)
	if p == "watch" && !hasFlag(c.Args(), "-x", "--exec") || p == "parallel" {
		w.runText(c, rest, p)
	}
}

// runText lists the commands in words that a shell joins and parses again.
func (w *walker) runText(c *Command, words []Word, where string) {
	for _, word := range words {
		if !word.Literal || word.Glob {
			w.dynamic("%s gets text that is computed: %s", where, word.Text)
			return
		}
	}
	if len(words) == 0 {
		return
	}
	c.Wraps = true
	text := join(words)
	if p := c.Program(); IsShell(p) && !parsesAsBash(p, text) {
		w.dynamic("%s reads its script differently than bash", p)
	}
	from := len(w.script.Commands)
	w.parseAgain(text, where)
	for _, inner := range w.script.Commands[from:] {
		inner.Wrapped = true
	}
}

// operandCommand lists the command that the operands of a wrapper spell out.
func (w *walker) operandCommand(c *Command, how wrapper) {
	rest := how.commandWords(c.Args())
	if option := how.unknownOption(c.Args()[:len(c.Args())-len(rest)]); option != "" {
		w.dynamic("%s has an unknown option: %s", c.Program(), option)
	}
	var assigns []string
	for how.Assigns && len(rest) > 0 && strings.Contains(rest[0].Text, "=") {
		name, _, _ := strings.Cut(rest[0].Text, "=")
		assigns = append(assigns, name)
		w.nonNumeric[name] = true
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	if w.depth++; w.depth > maxDepth {
		w.depth--
		w.dynamic("commands are nested more than %d deep", maxDepth)
		return
	}
	defer func(dirs []string) { w.depth--; w.dirs = dirs }(w.dirs)
	c.Wraps = true
	inner := &Command{Words: rest, Assigns: append(slices.Clone(c.Assigns), assigns...), Wrapped: true, in: c.in}
	switch c.Program() {
	case "xargs", "gxargs", "parallel":
		w.dynamic("%s adds operands at run time", c.Program())
	case "chroot":
		w.dirs = nil
		w.dynamic("chroot changes the directory")
	case "env":
		if hasChdir(c.Args()) {
			w.dirs = nil
			w.dynamic("env changes the directory")
		}
	}
	w.command(inner)
}

// commandWords returns the words after a wrapper's options and own operands.
func (how wrapper) commandWords(args []Word) []Word {
	if how.Optional && len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		how.Operands = 0
	}
	for len(args) > 0 {
		a := args[0].Text
		switch {
		case a == "--":
			return how.afterOperands(args[1:])
		case !strings.HasPrefix(a, "-") || a == "-" && !how.Assigns:
			return how.afterOperands(args)
		}
		n := 1
		if strings.HasPrefix(a, "--") {
			if takesNext(how.Long, a) {
				n = 2
			}
		} else if i := strings.IndexAny(a[1:], how.Valued); i >= 0 && i == len(a)-2 {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return nil
}

// takesNext reports whether a long option, which may be abbreviated, is in a list.
func takesNext(list, option string) bool {
	return len(option) > 2 && strings.Contains(" "+list, " "+option)
}

func (how wrapper) afterOperands(args []Word) []Word { return args[min(how.Operands, len(args)):] }

// unknownOption returns the first of a neutral wrapper's options that is not in its
// table.
func (how wrapper) unknownOption(options []Word) string {
	if how.Flags == "" {
		return ""
	}
	for i := 0; i < len(options); i++ {
		a := options[i].Text
		name, _, glued := strings.Cut(a, "=")
		switch {
		case a == "--":
			return ""
		case !options[i].Literal:
			return a
		case a == "-" || !strings.HasPrefix(a, "-"):
		case strings.HasPrefix(a, "--"):
			takes := slices.Contains(strings.Fields(how.Long), name)
			if !takes && !slices.Contains(strings.Fields(how.Flags), name) {
				return a
			}
			if takes && !glued {
				i++
			}
		default:
			value := strings.IndexAny(a[1:], how.Valued)
			flags := a[1:]
			if value >= 0 {
				flags = flags[:value]
			}
			short, _, _ := strings.Cut(how.Flags, " ")
			if strings.Trim(flags, short) != "" {
				return a
			}
			if value == len(a)-2 {
				i++
			}
		}
	}
	return ""
}

// findExec lists the commands that find and fd run for each file.
func (w *walker) findExec(c *Command) {
	args := c.Args()
	for i := 0; i < len(args); i++ {
		rest, a := args[i+1:], args[i]
		name, value, glued := strings.Cut(a.Text, "=")
		switch {
		case slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"}, name):
		case c.Program() != "find" && strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && strings.ContainsAny(name, "xX"):
			value, glued = a.Text[strings.IndexAny(a.Text, "xX")+1:], true
		default:
			continue
		}
		if glued && value != "" {
			rest = append([]Word{{Text: value, Literal: a.Literal}}, rest...)
		}
		end := 0
		for end < len(rest) && rest[end].Text != ";" && !(rest[end].Text == "+" && end > 0 && rest[end-1].Text == "{}") {
			end++
		}
		if end > 0 {
			c.Wraps = true
			w.dynamic("%s runs %q for files that it finds at run time", c.Program(), rest[0].Text)
			w.command(&Command{Words: slices.Clip(rest[:end]), Assigns: c.Assigns, Wrapped: true})
		}
		i += end
	}
}

// splitString returns the text of env -S, nil if there is none.
func splitString(c *Command) []Word {
	for i, a := range c.Args() {
		if !strings.HasPrefix(a.Text, "-") {
			return nil
		}
		rest := c.Args()[i+1:]
		text, ok := strings.CutPrefix(a.Text, "--split-string=")
		if !ok && !strings.HasPrefix(a.Text, "--") {
			_, text, ok = strings.Cut(a.Text, "S")
		}
		switch {
		case a.Text == "--split-string" || ok && text == "":
			return rest
		case ok:
			return append([]Word{{Text: text, Literal: a.Literal}}, rest...)
		}
	}
	return nil
}

func hasChdir(args []Word) bool {
	return slices.ContainsFunc(args, func(a Word) bool {
		return strings.HasPrefix(a.Text, "-C") || strings.HasPrefix(a.Text, "--chdir")
	})
}
