package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Guard is the link that blocks what no rule and no answer of the user can
// allow, and adds reasons to ask where it cannot be sure.
type Guard struct {
	Rules ShellRules
	Roots Workspace
	Home  string // absolute; empty means unknown
}

// Middleware puts the guard into a chain.
func (g *Guard) Middleware(next executors.Executor) executors.Executor {
	return guarded{next, g}
}

type guarded struct {
	executors.Executor
	*Guard
}

func (g guarded) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	blocked, ask := g.judge(call.Card)
	if blocked != nil {
		call.Record.Decision, call.Record.Rule = string(Deny), "guard: "+blocked.Message
		return blocked.Result(), nil
	}
	call.Ask = append(call.Ask, ask...)
	return g.Executor.Execute(ctx, call)
}

// judge gives why a call is blocked, or reasons to ask.
func (g *Guard) judge(card executors.Card) (blocked *executors.Failure, ask []string) {
	for _, p := range card.Paths {
		if _, err := g.Roots.Resolve(p); err != nil {
			return executors.Failuref(executors.PolicyBlocked, "%s is outside the session's directories", p), nil
		}
	}
	if card.Command == "" {
		return nil, nil
	}
	p := parse(card.Command, card.Dir, g.Home)
	if p.err != nil {
		return nil, []string{fmt.Sprintf("it cannot be parsed: %v", p.err)}
	}
	for _, c := range p.script.Commands {
		if why := g.blocks(c, p.script); why != "" {
			return executors.Failuref(executors.PolicyBlocked, "%s is blocked: %s", quote(c.Text()), why).
				Hint("Do it another way, or ask the user to run it in a terminal of their own."), nil
		}
		reason, why := g.removes(c)
		if why != "" {
			return executors.Failuref(executors.PolicyBlocked, "%s is blocked: %s", quote(c.Text()), why).
				Hint("Name the directories inside that are to be removed."), nil
		}
		ask = append(ask, reason...)
	}
	outside, reasons := g.paths(p.script)
	if outside != "" && g.Rules.OutsidePaths == "block" {
		return executors.Failuref(executors.PolicyBlocked, "the command names %s, which is outside the session's directories", outside).
			Hint("Stay inside %s, or ask the user to open that directory too.", strings.Join(g.Roots.Dirs(), ", ")), nil
	}
	if outside != "" {
		ask = append(ask, outside+" is outside the session's directories")
	}
	ask = append(append(ask, reasons...), p.script.Dynamic...)
	lower := strings.ToLower(card.Command)
	for _, pattern := range g.Rules.ConfirmPatterns {
		if strings.Contains(lower, strings.ToLower(pattern)) {
			ask = append(ask, fmt.Sprintf("it contains %q (confirm_patterns)", pattern))
		}
	}
	return nil, ask
}

// builtinBlocked are the programs that are never run.
var builtinBlocked = []string{
	"sudo", "su", "doas", "fdisk", "dd", "shutdown", "reboot", "halt", "poweroff", "nc", "ncat", "netcat",
}

// downloads are the programs that fetch what others could run.
var downloads = []string{"curl", "wget"}

// blocks tells why a command is blocked whatever it works on.
func (g *Guard) blocks(c *command.Command, s *command.Script) string {
	program := c.Program()
	name, _, _ := strings.Cut(program, ".") // mkfs.ext4
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(entry string) bool { return startsWith(c, entry) })
	}
	builtin := slices.Contains(builtinBlocked, program) || name == "mkfs"
	switch {
	case has(g.Rules.BlockedCommands):
		return "the configuration blocks it (tools.shell.blocked_commands)"
	case !g.Rules.AllowNetwork && slices.Contains(downloads, program):
		return "the network is off (tools.shell.allow_network)"
	case builtin && !has(g.Rules.AllowedCommands):
		return "an agent must not run it"
	case runsText(c) && downloaded(c, s):
		return "it would run what it downloads, unseen"
	}
	return ""
}

// startsWith reports whether the command begins with the words of entry.
func startsWith(c *command.Command, entry string) bool {
	words := strings.Fields(strings.ToLower(entry))
	if len(words) == 0 || len(words) > len(c.Words) || c.Program() != words[0] {
		return false
	}
	for i, w := range words[1:] {
		if strings.ToLower(c.Words[i+1].Text) != w {
			return false
		}
	}
	return true
}

// interpreters run text that they are given.
var interpreters = []string{"awk", "deno", "eval", "gawk", "lua", "node", "bun", "perl", "php", "python", "python2", "python3", "ruby", "source", "."}

func runsText(c *command.Command) bool {
	return command.IsShell(c.Program()) || slices.Contains(interpreters, c.Program())
}

// downloaded reports whether what c runs comes from a download: through pipes,
// or through a substitution among its words.
func downloaded(c *command.Command, s *command.Script) bool {
	for from := c.Input; from != nil; from = from.Input {
		if slices.Contains(downloads, from.Program()) {
			return true
		}
	}
	for _, w := range c.Args() {
		if !w.Literal && slices.ContainsFunc(downloads, func(d string) bool { return strings.Contains(w.Text, d) }) {
			return true
		}
	}
	// A compound command in front of the pipe hides which of its commands feeds it.
	return c.Input == nil && command.IsShell(c.Program()) && len(c.Words) == 1 &&
		slices.ContainsFunc(s.Commands, func(o *command.Command) bool { return slices.Contains(downloads, o.Program()) })
}

// removes judges recursive removal: of what is protected it is blocked, of what
// is not known it asks.
func (g *Guard) removes(c *command.Command) (ask []string, blocked string) {
	var targets []command.Path
	switch {
	case c.Program() == "rm" && recursive(c.Args()):
		if slices.ContainsFunc(c.Args(), func(w command.Word) bool { return strings.HasPrefix(w.Text, "--no-p") }) {
			return nil, "it removes everything"
		}
		targets = c.Paths()
	case c.Program() == "find" && clears(c.Args()):
		targets = c.Paths()
	}
	for _, t := range targets {
		for i, abs := range t.Abs {
			if !g.protected(abs) {
				continue
			}
			if i == 0 {
				return nil, "it removes all of " + abs
			}
			ask = append(ask, "it removes all of "+abs+" if a cd before it fails")
		}
	}
	return ask, ""
}

// recursive reports whether rm goes into directories, in any spelling.
func recursive(args []command.Word) bool {
	for _, a := range args {
		switch {
		case a.Text == "--":
			return false
		case strings.HasPrefix(a.Text, "--"):
			if len(a.Text) > 2 && strings.HasPrefix("--recursive", a.Text) {
				return true
			}
		case strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "rR"):
			return true
		case !a.Literal && strings.HasPrefix(a.Text, "$"): // rm $flags /
			return true
		}
	}
	return false
}

// clears reports whether find removes all that it finds.
func clears(args []command.Word) bool {
	removes, narrow := false, false
	for i, a := range args {
		switch a.Text {
		case "-delete":
			removes = true
		case "-exec", "-execdir", "-ok", "-okdir":
			removes = removes || i+1 < len(args) && strings.HasSuffix(args[i+1].Text, "rm")
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin", "-atime", "-newer", "-size", "-empty", "-user", "-perm":
			narrow = true
		}
	}
	return removes && !narrow
}

// protected reports whether abs is the file system's root, the home directory, a
// root of the session or something above one of them, or stands for all that is
// in one of these.
func (g *Guard) protected(abs string) bool {
	abs = strings.TrimSuffix(abs, string(filepath.Separator))
	for {
		base := filepath.Base(abs)
		if base == "*" || base == ".*" || base == "**" || base == "?*" || base == ".[!.]*" || base == "{*,.*}" {
			abs = filepath.Dir(abs)
			continue
		}
		break
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	keep := append(slices.Clone(g.Roots.Dirs()), string(filepath.Separator))
	if g.Home != "" {
		keep = append(keep, g.Home)
	}
	return abs == "" || slices.ContainsFunc(keep, func(k string) bool { return inside(k, abs) })
}

// inside reports whether path is dir or below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// paths judges the files that a script names: the first that is surely outside,
// and reasons to ask about others.
func (g *Guard) paths(s *command.Script) (outside string, ask []string) {
	var all []command.Path
	for _, c := range s.Commands {
		all = append(all, c.Paths()...)
	}
	for _, r := range s.Redirects {
		if r.Target.Literal {
			all = append(all, r.Path())
		}
	}
	for _, p := range all {
		if len(p.Abs) == 0 {
			ask = append(ask, fmt.Sprintf("which file %s is, is known only when it runs", p.Text))
		}
		for i, abs := range p.Abs {
			switch {
			case g.allowed(abs):
			case i == 0 && p.Sure:
				if outside == "" {
					outside = p.Text
				}
			default:
				ask = append(ask, fmt.Sprintf("%s may be a file outside the session's directories", p.Text))
			}
		}
	}
	return outside, slices.Compact(ask)
}

// allowed reports whether a command may name the file: inside the roots with
// symlinks followed, a harmless device, or temporary.
func (g *Guard) allowed(abs string) bool {
	if harmless(abs) {
		return true
	}
	if _, err := g.Roots.Resolve(abs); err == nil {
		return true
	}
	// A link in the temp directory may lead anywhere.
	real := abs
	for dir := abs; ; dir = filepath.Dir(dir) {
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			rest, _ := filepath.Rel(dir, abs)
			real = filepath.Join(r, rest)
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return slices.ContainsFunc(tempDirs(), func(t string) bool { return inside(real, t) })
}

// harmless reports whether abs is a device that anybody may use.
func harmless(abs string) bool {
	switch abs {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	return strings.HasPrefix(abs, "/dev/fd/") && !strings.Contains(abs, "..")
}

// tempDirs are where commands may leave files.
func tempDirs() []string {
	dirs := []string{os.TempDir()}
	if filepath.Separator == '/' {
		dirs = append(dirs, "/tmp")
	}
	for _, d := range slices.Clone(dirs) {
		if real, err := filepath.EvalSymlinks(d); err == nil && !slices.Contains(dirs, real) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}
