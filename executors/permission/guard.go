package permission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Guard is the link that blocks calls that neither a rule nor the user can allow. It adds reasons
// to ask about uncertain calls. Its name among the recorded verdicts is "guard".
type Guard struct {
	Policy *ShellPolicyHandle
	Roots  Workspace // for tools that name files
	// Commands is the workspace of shell commands, which may also name files in
	// allowed_paths; nil means Roots. The rules for reading come from Roots, if
	// it is a *workspace.Roots.
	Commands Workspace
	Home     string // absolute; empty means unknown
	// NamesForbidden reports whether a text names files that no command may use. For a
	// sub-agent that works in a copy, these are the files of the project. Nil means that
	// there are no such files.
	NamesForbidden func(text string) bool
	// Boxed is used as in [Permission].
	Boxed func() error
	// AgentFiles returns zeph-acp's own files; nil means that there are none.
	AgentFiles func(*workspace.StatCache) *workspace.HiddenFiles
}

// Middleware puts the guard into a chain.
func (g *Guard) Middleware(next executors.Executor) executors.Executor {
	return guardLink{next, g}
}

type guardLink struct {
	executors.Executor
	*Guard
}

func (g guardLink) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	policy, end := g.Policy.policyFor(call)
	defer end()
	blocked, ask := g.newCheck(policy, call).checkCall(call, call.Spec.Effect.ReadOnly())
	if f, ok := errors.AsType[*executors.Failure](call.PrepareErr); ok && f.Category == executors.PolicyBlocked && blocked == nil {
		blocked = f // the tool itself refuses the path
	}
	g.record(call, "", blocked, ask)
	if blocked != nil {
		return blocked.Result(), nil
	}
	call.Ask = append(call.Ask, ask...)
	call.Admit = g.admit(policy, call)
	return g.Executor.Execute(ctx, call)
}

// guardCheck checks one call against one policy, once. Methods named check may return a
// reason to ask; those named check only block.
type guardCheck struct {
	*Guard
	*ShellPolicy
	stats *workspace.StatCache
}

func (g *Guard) newCheck(p *ShellPolicy, call *executors.Call) guardCheck {
	stats := &workspace.StatCache{}
	stats.Use(p.allowed...)
	once := *g
	once.Roots, once.Commands = withStats(g.Roots, stats), withStats(g.Commands, stats)
	if g.AgentFiles != nil {
		files := sync.OnceValue(func() *workspace.HiddenFiles { return g.AgentFiles(stats) })
		once.AgentFiles = func(*workspace.StatCache) *workspace.HiddenFiles { return files() }
	}
	once.Boxed = func() error { return boxError(call, g.Boxed) }
	return guardCheck{&once, p, stats}
}

// withStats returns a workspace for one check.
func withStats(w Workspace, stats *workspace.StatCache) Workspace {
	if r, ok := w.(*workspace.Roots); ok {
		return r.WithStats(stats)
	}
	return w
}

// commandDirs returns the directories in which commands may name files.
func (g guardCheck) commandDirs() []string {
	return slices.Concat(g.commandWorkspace().Dirs(), g.allowed)
}

func (g guardCheck) commandWorkspace() Workspace {
	if g.Commands != nil {
		return g.Commands
	}
	return g.writable()
}

// maxReasons bounds the reasons to ask about one call: a command may name thousands of files,
// each of them uncertain.
const maxReasons = 20

// boundReasons returns the first reasons, each once, and the number of further ones.
func boundReasons(all []string) []string {
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(why string) bool {
		again := seen[why]
		seen[why] = true
		return again
	})
	if more := len(all) - maxReasons; more > 0 {
		all = append(all[:maxReasons], "there are "+quantity.Count(more, "more reason")+" like these")
	}
	return all
}

// checkCall returns why a call is blocked, or reasons to ask. reads means that its
// tool changes nothing; it may then name readable files outside the roots.
func (g guardCheck) checkCall(call *executors.Call, reads bool) (blocked *executors.Failure, ask []string) {
	card := call.Card
	if blocked := g.checkCardPaths(card, reads); blocked != nil {
		return blocked, nil
	}
	script := card.Script
	if script == nil {
		return nil, nil
	}
	if script.Err != nil {
		ask = append(ask, fmt.Sprintf("it cannot be parsed: %v", script.Err))
	}
	if blocked := g.checkReach(script); blocked != nil {
		return blocked, nil
	}
	if call.Record.ClaimSource == "" {
		call.Record.ClaimSource = claimSource(script)
	}
	for _, check := range []func(executors.Card, *command.Script) (*executors.Failure, []string){
		g.checkOwnFiles, g.checkReads, g.checkCommands, g.checkSockets, g.checkCopiedProject, g.checkPaths, g.checkPatterns,
	} {
		blocked, reasons := check(card, script)
		if blocked != nil {
			return blocked, nil
		}
		ask = append(ask, reasons...)
	}
	if blocked := g.checkAnyWord(script); blocked != nil {
		return blocked, nil
	}
	return nil, boundReasons(ask)
}

// checkPatterns adds a reason to ask for each confirm_pattern that the command contains.
func (g guardCheck) checkPatterns(card executors.Card, _ *command.Script) (blocked *executors.Failure, ask []string) {
	lower := strings.ToLower(card.Command())
	for _, pattern := range g.shell.ConfirmPatterns {
		if strings.Contains(lower, strings.ToLower(pattern)) {
			ask = append(ask, fmt.Sprintf("it contains %q (confirm_patterns)", pattern))
		}
	}
	return nil, ask
}

// checkCommands checks each command of a script by its program, its arguments and the files
// that it removes.
func (g guardCheck) checkCommands(_ executors.Card, script *command.Script) (blocked *executors.Failure, ask []string) {
	for _, c := range script.Commands {
		if why, key := g.blockedReason(c); why != "" {
			f := executors.Failuref(executors.PolicyBlocked, "%s is blocked: %s", quote(c.Text()), why)
			or := ""
			if key != "" {
				or = fmt.Sprintf(" (the user can allow it: %s)", key)
				f = f.ForUser("%s is blocked: %s. The key %s can allow it.", quote(c.Text()), why, key)
			}
			return f.Hint("Do it another way, or ask the user to run it in a terminal of their own%s.", or), nil
		}
		reasons, why := g.checkRemoval(c)
		if why != "" {
			return executors.Failuref(executors.PolicyBlocked, "%s is blocked: %s", quote(c.Text()), why).
				Hint("Name the directories inside it that should be removed."), nil
		}
		ask = append(ask, reasons...)
	}
	return nil, ask
}

// checkCardPaths returns a failure if one of the card's paths is blocked.
func (g guardCheck) checkCardPaths(card executors.Card, reads bool) (blocked *executors.Failure) {
	roots := g.writable()
	if reads {
		roots = g.Roots
	}
	for _, p := range card.Paths {
		at := roots
		if p == card.Source {
			at = g.Roots
		}
		resolve := at.Resolve
		if card.NoFollow {
			resolve = at.ResolveEntry
		}
		_, err := resolve(p)
		if denied, ok := errors.AsType[*workspace.DeniedError](err); ok {
			return executors.Failuref(executors.PolicyBlocked, "%v", denied)
		}
		if _, own := errors.AsType[*workspace.AgentFileError](err); own {
			return ownFileFailure(p)
		}
		if err != nil {
			return executors.Failuref(executors.PolicyBlocked, "%s is outside the session's directories", p).
				ForUser("%s is outside the session's directories. The key tools.file.allowed_paths can allow it.", p).
				Hint("Use a path inside them, or ask the user to open that directory too (tools.file.allowed_paths).")
		}
	}
	return nil
}

// builtinBlocked are the programs that never run, some only with these first
// words. It includes their other names.
var builtinBlocked = []string{
	"sudo", "su", "doas", "pkexec", "run0", "sudoedit", "visudo", "sudo-rs", "su-rs", "ksu", "gksu", "gksudo", "kdesu", "kdesudo", "pfexec", "dzdo",
	"runuser", "setpriv", "nsenter", "gosu", "su-exec", "setuidgid", "s6-setuidgid", "systemd-run", "machinectl login", "machinectl shell",
	"fdisk", "cfdisk", "sfdisk", "gdisk", "sgdisk", "parted", "mke2fs", "mkswap", "wipefs", "dd", "gdd", "dcfldd", "dc3dd",
	"mkdosfs", "mkntfs", "mkexfatfs", "mkudffs", "newfs", "cryptsetup", "blkdiscard", "lvremove", "pvremove", "vgremove",
	"shutdown", "reboot", "halt", "poweroff", "telinit", "kexec", "init 0", "init 6",
	"systemctl halt", "systemctl kexec", "systemctl poweroff", "systemctl reboot", "systemctl soft-reboot",
	"loginctl halt", "loginctl poweroff", "loginctl reboot",
	"nc", "ncat", "netcat",
}

// downloaders are the programs that fetch text which another program could run.
var downloaders = []string{"curl", "wget"}

// blockedReason returns why a command is blocked regardless of its operands. key is
// the setting that would allow it, empty if the reason names one.
func (g guardCheck) blockedReason(c *command.Command) (why, key string) {
	program := c.Program()
	name, _, _ := strings.Cut(program, ".") // mkfs.ext4, nc.openbsd
	builtin := mayBeginWithAny(c, builtinBlocked) || name == "mkfs" || name == "nc"
	switch {
	case mayBeginWithAny(c, g.shell.BlockedCommands):
		return "the configuration blocks it (tools.shell.blocked_commands)", ""
	case !g.shell.AllowNetwork && slices.Contains(downloaders, program):
		return "the network is off (tools.shell.allow_network)", ""
	case builtin && !startsWithAny(c, g.shell.AllowedCommands):
		return "an agent must not run it", "tools.shell.allowed_commands"
	case runsDownload(c):
		return "it would run a download that the user has not seen", ""
	}
	return "", ""
}

// startsWithAny reports whether the command begins with the words of one of the entries.
func startsWithAny(c *command.Command, entries []string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return startsWith(c, entry) })
}

// mayBeginWithAny is startsWithAny for lists that restrict: options that no table lists may be
// before each of the words.
func mayBeginWithAny(c *command.Command, entries []string) bool {
	return slices.ContainsFunc(entries, func(entry string) bool { return mayBeginWith(c, entry) })
}

// mayBeginWith is startsWith for entries that restrict.
func mayBeginWith(c *command.Command, entry string) bool {
	return startsWith(c, entry) || c.MayBegin(strings.Fields(strings.ToLower(entry)))
}

// startsWith reports whether the command begins with the words of entry.
func startsWith(c *command.Command, entry string) bool {
	words := strings.Fields(strings.ToLower(entry))
	if len(words) == 0 || len(words) > len(c.Words) || c.Program() != words[0] {
		return false
	}
	return startsWithWords(c.Args(), words[1:]) || startsWithWords(c.Operands(), words[1:])
}

func startsWithWords(list []command.Word, words []string) bool {
	if len(list) < len(words) {
		return false
	}
	for i, w := range words {
		if strings.ToLower(list[i].Text) != w {
			return false
		}
	}
	return true
}
