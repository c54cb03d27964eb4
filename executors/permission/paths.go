package permission

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// checkSockets checks redirections that the shell opens as network connections.
func (g guardCheck) checkSockets(_ executors.Card, s *command.Script) (blocked *executors.Failure, ask []string) {
	i := slices.IndexFunc(s.Redirects, command.Redirect.Socket)
	if i < 0 {
		return nil, nil
	}
	target := s.Redirects[i].Target.Text
	if !g.shell.AllowNetwork {
		return executors.Failuref(executors.PolicyBlocked, "the command opens %s: the network is off (tools.shell.allow_network)", target), nil
	}
	return nil, []string{"it opens " + target}
}

// checkPaths checks whether a script names files outside of the session's directories. The
// read-only commands of a plain form name exactly the files of that form.
func (g guardCheck) checkPaths(card executors.Card, s *command.Script) (blocked *executors.Failure, ask []string) {
	form := g.formWithRules(card)
	inBox := g.runsInBox(card, form)
	outside, reasons := g.findOutside(s, inBox)
	if outside != "" && g.shell.OutsidePaths == "block" {
		return executors.Failuref(executors.PolicyBlocked, "the command names %s, which is outside the session's directories", outside).
			ForUser("The command names %s, which is outside the session's directories. The key tools.shell.allowed_paths can allow it.", outside).
			Hint("Stay inside %s, or ask the user to open that directory too (tools.shell.allowed_paths, or outside_paths = \"ask\").", strings.Join(g.commandDirs(), ", ")), nil
	}
	if outside != "" {
		ask = append(ask, outside+" is outside the session's directories")
	}
	if form == nil {
		return nil, slices.Concat(ask, reasons, s.Dynamic)
	}
	blocked, named := g.checkNamedFiles(form, inBox)
	if !form.ReadOnly { // the words of its other commands may be files
		ask = slices.Concat(ask, reasons, s.Dynamic)
	}
	return blocked, append(ask, named...)
}

// findOutside returns the first file of a script that is certainly outside the roots, and
// reasons to ask about files that may be outside. In the box a command may also name files of the
// system.
func (g guardCheck) findOutside(s *command.Script, inBox bool) (outside string, ask []string) {
	all := s.ExtractPaths()
	for _, c := range s.Commands { // many commands read their working directory
		if len(c.Dirs) > 0 && !slices.ContainsFunc(all, func(p command.Path) bool { return p.Text == c.Dirs[0] }) {
			all = append(all, command.Path{Text: c.Dirs[0], Abs: c.Dirs, Sure: true})
		}
	}
	all = append(all, g.mentionedLinks(s)...)
	temp, t := g.tempDirs(), follow.Trail{Lstat: g.stats.Lstat}
	mayName := func(place string) bool { return g.mayName(place, temp) || inBox && systemFile(place) }
	if file := processFile(s); file != "" {
		outside = file
	}
	for _, p := range all {
		if len(p.Abs) == 0 {
			ask = append(ask, fmt.Sprintf("the file that %s names is computed at run time", p.Text))
		}
		for i, found := range follow.Targets(p, &t) {
			if i < len(p.Abs) && harmlessDevice(p.Abs[i]) { // before links are resolved: /dev/stderr leads to a file of ours
				continue
			}
			if !slices.ContainsFunc(found, func(place string) bool { return !mayName(place) }) {
				continue
			}
			// A pattern may match other files when the command runs.
			if i == 0 && p.Sure && !mayName(found[len(found)-1]) {
				if outside == "" {
					outside = p.Text
				}
				continue
			}
			ask = append(ask, fmt.Sprintf("%s may be a file outside the session's directories", p.Text))
		}
	}
	slices.Sort(ask)
	return outside, slices.Compact(ask)
}

// mentionedLinks returns the words that look like no path, but are the names of symbolic links. A
// program that no table lists may open them.
func (g guardCheck) mentionedLinks(s *command.Script) []command.Path {
	var out []command.Path
	for _, c := range s.Commands {
		if c.Guess {
			continue
		}
		for _, m := range c.Mentions() {
			m.Sure = false
			if slices.ContainsFunc(m.Abs, func(abs string) bool {
				info, err := g.stats.Lstat(abs)
				return err == nil && info.Mode()&fs.ModeSymlink != 0
			}) {
				out = append(out, m)
			}
		}
	}
	return out
}

// checkReach blocks a script that names a file on another machine, or a device. It comes before
// any stat, since a stat on Windows signs in to that machine.
func (g guardCheck) checkReach(s *command.Script) *executors.Failure {
	if runtime.GOOS != "windows" {
		return nil
	}
	dirs := g.commandDirs()
	check := func(text string, paths []string) *executors.Failure {
		for _, path := range append([]string{text}, paths...) {
			if why := workspace.LeadsAway(path, dirs); why != "" {
				return executors.Failuref(executors.PolicyBlocked, "the command names %s: %s", text, why).
					Hint("Stay inside %s, or ask the user to open that directory too (tools.shell.allowed_paths).", strings.Join(dirs, ", "))
			}
		}
		return nil
	}
	for _, p := range s.ExtractPaths() {
		if blocked := check(p.Text, p.Abs); blocked != nil {
			return blocked
		}
	}
	for _, c := range s.Commands {
		for _, dir := range c.Dirs {
			if blocked := check(dir, nil); blocked != nil {
				return blocked
			}
		}
	}
	return nil
}

// checkCopiedProject blocks a script of a sub-agent that works in a copy, if the script names
// files of the project itself.
func (g guardCheck) checkCopiedProject(card executors.Card, s *command.Script) (blocked *executors.Failure, ask []string) {
	if g.NamesForbidden == nil {
		return nil, nil
	}
	found, t := g.NamesForbidden(card.Command()), follow.Trail{Lstat: g.stats.Lstat}
	for _, p := range s.ExtractPaths() {
		found = found || slices.ContainsFunc(slices.Concat(follow.Targets(p, &t)...), g.NamesForbidden)
	}
	for _, c := range s.Commands {
		found = found || slices.ContainsFunc(c.Dirs, g.NamesForbidden)
	}
	if !found {
		return nil, nil
	}
	return executors.Failuref(executors.PolicyBlocked, "the command names files of the project itself, and you work in a copy of it").
		ForUser("The command names files of the project itself, and the sub-agent works in a copy of it.").
		Hint("Work in the copy, %s. Your changes are brought back when you end.", card.Dir()), nil
}

// processFile returns a computed word of the script that may name a file of a
// process: "/proc/$PPID/fd/1" may belong to the agent.
func processFile(s *command.Script) string {
	computed := func(w command.Word) bool {
		text := strings.NewReplacer(`"`, "", "'", "", `\`, "", "//", "/").Replace(w.Text)
		return !w.Literal && (strings.HasPrefix(text, "/proc/") || strings.Contains(text, "=/proc/"))
	}
	for _, r := range s.Redirects {
		if computed(r.Target) {
			return r.Target.Text
		}
	}
	for _, c := range s.Commands {
		if i := slices.IndexFunc(c.Words, computed); i >= 0 {
			return c.Words[i].Text
		}
	}
	return ""
}

// mayName reports whether a command may name the file, a path without links. It
// must be inside the roots or allowed_paths, a harmless device, or temporary.
func (g guardCheck) mayName(place string, temp []string) bool {
	if harmlessDevice(place) {
		return true
	}
	if _, err := g.commandWorkspace().Resolve(place); err == nil {
		return true
	}
	return slices.ContainsFunc(slices.Concat(temp, g.allowed), func(dir string) bool { return workspace.Within(dir, place) })
}

// harmlessDevice reports whether abs is a device that any command may use.
func harmlessDevice(abs string) bool {
	switch abs {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	// Other descriptors may belong to the program that started the agent.
	return abs == "/dev/fd/0" || abs == "/dev/fd/1" || abs == "/dev/fd/2"
}

// systemDirs are directories of the system without files of a user. The box grants them.
var systemDirs = []string{"/bin", "/lib", "/lib32", "/lib64", "/sbin", "/usr/bin", "/usr/include", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/bin", "/usr/local/go",
	"/usr/local/include", "/usr/local/lib", "/usr/local/share", "/usr/sbin", "/usr/share", "/usr/src"}

// systemFiles are further files of the system that describe it.
var systemFiles = []string{
	"/etc/alpine-release", "/etc/debian_version", "/etc/fedora-release", "/etc/hostname", "/etc/hosts", "/etc/issue", "/etc/localtime", "/etc/lsb-release",
	"/etc/os-release", "/etc/protocols", "/etc/redhat-release", "/etc/services", "/etc/shells", "/etc/timezone",
	"/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version",
}

// systemFile reports whether a place, a path without links, is a file of the system that anybody may
// read.
func systemFile(place string) bool {
	return slices.Contains(systemFiles, place) || slices.ContainsFunc(systemDirs, func(dir string) bool { return workspace.Within(dir, place) })
}

// tempDirs returns the directories for temporary files, with symlinks and without.
func (g guardCheck) tempDirs() []string {
	dirs := []string{os.TempDir()}
	if filepath.Separator == '/' && dirs[0] != "/tmp" {
		dirs = append(dirs, "/tmp")
	}
	for _, d := range slices.Clone(dirs) {
		if !filepath.IsAbs(d) {
			continue
		}
		found, err := follow.Path(d, &follow.Trail{Lstat: g.stats.Lstat})
		if err != nil || slices.Contains(dirs, found[0]) {
			continue
		}
		if _, err := g.stats.Lstat(found[0]); err == nil {
			dirs = append(dirs, found[0])
		}
	}
	return dirs
}
