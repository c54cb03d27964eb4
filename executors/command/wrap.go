package command

import (
	"slices"
	"strings"
)

// wrapper tells how a program takes the command that it runs.
type wrapper struct {
	valued   string   // short options that take a value, e.g. "nu"
	long     []string // long options whose value is the next word
	operands int      // own operands before the command
	assigns  bool     // NAME=value operands before the command
}

// wrappers are programs that run another command given by their operands.
var wrappers = map[string]wrapper{
	"builtin": {}, "busybox": {}, "caffeinate": {valued: "tw"}, "catchsegv": {}, "chpst": {valued: "uUbeml/"},
	"chroot": {operands: 1}, "chrt": {valued: "TPD", operands: 1}, "command": {}, "coproc": {}, "dbus-run-session": {},
	"eatmydata": {}, "env": {valued: "uC", long: []string{"--unset", "--chdir"}, assigns: true}, "exec": {valued: "a"},
	"fakeroot": {valued: "lsibh"}, "firejail": {}, "flock": {valued: "wE", long: []string{"--timeout", "--wait", "--conflict-exit-code"}, operands: 1},
	"ionice": {valued: "cnpPu"}, "ltrace": {valued: "aAbdeFlnopsuw"}, "nice": {valued: "n", long: []string{"--adjustment"}},
	"nohup": {}, "nsenter": {valued: "tSG"}, "numactl": {valued: "iCNmpl"}, "parallel": {valued: "jaIN", long: []string{"--jobs", "--arg-file"}},
	"pkexec": {}, "prlimit": {}, "rlwrap": {}, "runuser": {valued: "ugGs"}, "setarch": {operands: 1}, "setpriv": {}, "setsid": {}, "shuf": {},
	"softlimit": {valued: "acdflmnoprst"}, "stdbuf": {valued: "ioe", long: []string{"--input", "--output", "--error"}},
	"strace": {valued: "aeEIoOpPsSuUbX"}, "systemd-run": {valued: "pE"}, "taskset": {operands: 1}, "time": {valued: "fo", long: []string{"--format", "--output"}},
	"timeout": {valued: "ks", long: []string{"--kill-after", "--signal"}, operands: 1}, "torsocks": {}, "toybox": {}, "tsocks": {},
	"unbuffer": {}, "unshare": {}, "usb_modeswitch": {}, "valgrind": {}, "watch": {valued: "nd", long: []string{"--interval"}},
	"xargs":    {valued: "aEdILnPs", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars", "--replace", "--eof"}},
	"xvfb-run": {valued: "efnpsw"},
}

// Shells are the programs that run a script given as text or file.
var shells = []string{"ash", "bash", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "rbash", "sh", "tcsh", "yash", "zsh"}

// IsShell reports whether the program is a shell.
func IsShell(program string) bool { return slices.Contains(shells, program) }

// unwrap lists what a command runs in turn.
func (w *walker) unwrap(c *Command, in *stdin) {
	p := c.Program()
	switch {
	case IsShell(p):
		w.shellScript(c, in)
	case p == "eval":
		w.text(c, c.Args(), "eval")
	case p == "trap":
		if args := operands(c.Args()); len(args) > 1 {
			w.text(c, args[:1], "trap")
		}
	case p == "find" || p == "fd" || p == "fdfind":
		w.findExec(c)
	case p == "script" || p == "flock" || p == "runuser" || p == "watch" && !hasFlag(c.Args(), "-x", "--exec"):
		if i := flagAt(c.Args(), "-c", "--command"); i >= 0 && i+1 < len(c.Args()) && p != "watch" {
			w.text(c, c.Args()[i+1:i+2], p)
			return
		}
		w.operandCommand(c, wrappers[p], in)
		if p == "watch" {
			w.text(c, operands(c.Args()), p)
		}
	case p == "env" && splitString(c) != nil:
		w.text(c, splitString(c), "env -S")
	default:
		if how, ok := wrappers[p]; ok {
			w.operandCommand(c, how, in)
		}
	}
}

// text lists the commands of words that a shell joins and parses again.
func (w *walker) text(c *Command, words []Word, where string) {
	var parts []string
	for _, word := range words {
		if !word.Literal || word.Glob {
			w.dynamic("%s gets text that is computed: %s", where, word.Text)
			return
		}
		parts = append(parts, word.Text)
	}
	if len(parts) == 0 {
		return
	}
	c.Wraps = true
	from := len(w.script.Commands)
	w.nested(strings.Join(parts, " "), where)
	for _, inner := range w.script.Commands[from:] {
		inner.Wrapped = true
	}
}

// operandCommand lists the command that a wrapper's operands are.
func (w *walker) operandCommand(c *Command, how wrapper, in *stdin) {
	rest := how.skip(c.Args())
	if c.Program() == "command" && hasFlag(c.Args(), "-v", "-V") {
		return // only tells what it would run
	}
	var assigns []string
	for how.assigns && len(rest) > 0 && strings.Contains(rest[0].Text, "=") {
		name, _, _ := strings.Cut(rest[0].Text, "=")
		assigns = append(assigns, name)
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	c.Wraps = true
	inner := &Command{Words: rest, Assigns: append(slices.Clone(c.Assigns), assigns...), Wrapped: true, Input: c.Input}
	if c.Program() == "xargs" || c.Program() == "parallel" {
		w.dynamic("%s adds operands that are known only when it runs", c.Program())
		inner.Input = nil
	}
	if d := w.depth; d < maxDepth {
		w.depth++
		dirs := w.dirs
		if c.Program() == "env" && hasChdir(c.Args()) || c.Program() == "chroot" {
			w.dirs = nil
			w.dynamic("%s changes the directory", c.Program())
		}
		w.command(inner, in)
		w.depth, w.dirs = d, dirs
		return
	}
	w.dynamic("commands are nested more than %d deep", maxDepth)
}

// skip gives the words after a wrapper's options and own operands.
func (how wrapper) skip(args []Word) []Word {
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.Text == "--":
			return how.own(args[1:])
		case !strings.HasPrefix(a.Text, "-") || a.Text == "-" && !how.assigns:
			return how.own(args)
		}
		n := 1
		if strings.HasPrefix(a.Text, "--") {
			if slices.Contains(how.long, a.Text) {
				n = 2
			}
		} else if last := a.Text[len(a.Text)-1]; len(a.Text) > 1 && strings.IndexByte(how.valued, last) >= 0 && strings.IndexAny(a.Text[1:], how.valued) == len(a.Text)-2 {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	return nil
}

func (how wrapper) own(args []Word) []Word { return args[min(how.operands, len(args)):] }

// shellScript lists the commands of the script that a shell gets.
func (w *walker) shellScript(c *Command, in *stdin) {
	args := c.Args()
	for i := 0; i < len(args); i++ {
		a := args[i].Text
		switch {
		case !args[i].Literal || args[i].Glob:
			w.dynamic("%s runs a script whose name is computed: %s", c.Program(), a)
			return
		case a == "-o" || a == "+o" || a == "-O" || a == "+O" || a == "--rcfile" || a == "--init-file":
			i++
		case a == "-c" || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "c"):
			// Options may still follow; the first operand is the script.
			rest := operands(args[i+1:])
			if len(rest) == 0 {
				return
			}
			defer w.subshell()()
			w.text(c, rest[:1], c.Program()+" -c")
			return
		case a == "-s" || a == "-":
			w.shellInput(c, in)
			return
		case a[0:min(1, len(a))] == "-" || a[0:min(1, len(a))] == "+":
		default: // a script in a file is a program like any other
			return
		}
	}
	if hasFlag(args, "--version", "--help") {
		return
	}
	w.shellInput(c, in)
}

// shellInput lists the commands that a shell reads from its standard input.
func (w *walker) shellInput(c *Command, in *stdin) {
	defer w.subshell()()
	switch {
	case in != nil && in.literal:
		w.text(c, []Word{{Text: in.text, Literal: true}}, c.Program())
	case in == nil && c.Input != nil && (c.Input.Program() == "echo" || c.Input.Program() == "printf") && allLiteral(c.Input.Args()):
		// The text of the echo is the script, whatever it does with escapes.
		w.text(c, operands(c.Input.Args()), c.Program())
		if strings.ContainsAny(c.Input.Text(), `\%`) {
			w.dynamic("%s runs what %s makes of its text", c.Program(), c.Input.Program())
		}
	default:
		w.dynamic("%s runs what its standard input holds", c.Program())
	}
}

// findExec lists the commands that find and fd run for each file.
func (w *walker) findExec(c *Command) {
	args := c.Args()
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch":
		default:
			continue
		}
		end := i + 1
		for end < len(args) && args[end].Text != ";" && !(args[end].Text == "+" && args[end-1].Text == "{}") {
			end++
		}
		if end > i+1 {
			c.Wraps = true
			w.dynamic("%s runs %q for files that are known only when it runs", c.Program(), args[i+1].Text)
			w.command(&Command{Words: args[i+1 : end], Assigns: c.Assigns, Wrapped: true}, nil)
		}
		i = end
	}
}

// splitString gives the text of env -S, nil if there is none.
func splitString(c *Command) []Word {
	for i, a := range c.Args() {
		switch rest := c.Args()[i+1:]; {
		case a.Text == "-S" || a.Text == "--split-string" || a.Text == "-iS" || a.Text == "-vS":
			return rest
		case strings.HasPrefix(a.Text, "-S"):
			return append([]Word{{Text: a.Text[2:], Literal: a.Literal}}, rest...)
		case strings.HasPrefix(a.Text, "--split-string="):
			return append([]Word{{Text: strings.TrimPrefix(a.Text, "--split-string="), Literal: a.Literal}}, rest...)
		}
	}
	return nil
}

func hasChdir(args []Word) bool {
	return slices.ContainsFunc(args, func(a Word) bool {
		return strings.HasPrefix(a.Text, "-C") || strings.HasPrefix(a.Text, "--chdir")
	})
}

// operands are the words that are no options; everything after "--" is one.
func operands(args []Word) []Word {
	var out []Word
	for i, a := range args {
		if a.Literal && a.Text == "--" {
			return append(out, args[i+1:]...)
		}
		if !a.Literal || a.Text == "-" || !strings.HasPrefix(a.Text, "-") {
			out = append(out, a)
		}
	}
	return out
}

func hasFlag(args []Word, names ...string) bool { return flagAt(args, names...) >= 0 }

func flagAt(args []Word, names ...string) int {
	return slices.IndexFunc(args, func(a Word) bool { return slices.Contains(names, a.Text) })
}

func allLiteral(args []Word) bool {
	return !slices.ContainsFunc(args, func(a Word) bool { return !a.Literal })
}
