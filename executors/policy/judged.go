package policy

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/plain"
)

// form returns the plain form in which a command may run without permission.
// The error is the reason to ask. allowed reports whether an "always" of the user
// allows a key; nil means that no such answer counts.
func (p ruling) form(call *executors.Call, src parsed, allowed func(key string) bool) (*executors.Judged, error) {
	card := call.Card
	if p.NoBash {
		return nil, errors.New("there is no bash here to run it")
	}
	form, err := plain.Parse(card.Command, plain.Shell{Dir: card.Dir, Home: p.Home}, func(c *plain.Command, why error) error {
		return p.covers(call.Tool, c, src, why, allowed)
	})
	if err != nil {
		return nil, err
	}
	t := follow.Trail{Lstat: p.now.Lstat}
	for _, f := range form.Files {
		if slices.ContainsFunc(slices.Concat(follow.Targets(pathOf(f), &t)...), sensitive) {
			return nil, errors.New("files in .git and .zeph always need permission")
		}
	}
	if found := p.ownProgram("bash"); found != "" {
		return nil, fmt.Errorf("the shell would be %s", found)
	}
	for _, c := range form.Commands {
		if !c.ReadOnly {
			continue
		}
		if err := p.surroundings(c, form); err != nil {
			return nil, err
		}
		for _, name := range append([]string{c.Words[0]}, c.Starts...) {
			if found := p.ownProgram(name); found != "" {
				return nil, fmt.Errorf("%s would run %s", name, found)
			}
			if err := p.ownVersion(name, c.Dirs); err != nil {
				return nil, err
			}
		}
	}
	if form.ReadOnly && card.FullAccess {
		return nil, errors.New("it failed in the read-only sandbox")
	}
	return &executors.Judged{Script: form.Script, ReadOnly: form.ReadOnly}, nil
}

// surroundings returns an error if files that a read-only command does not name, but its
// program reads, may make it run another program or show files outside of the roots.
func (p ruling) surroundings(c *plain.Command, form *plain.Form) error {
	switch c.Program() {
	case "git":
		if err := gitRunsNothing(c.Dirs, p.Objects, p.private()); err != nil {
			return fmt.Errorf("the repository may make git run a program or read other files (%w)", err)
		}
		if slices.Contains(c.Words, "grep") || slices.Contains(c.Words, "describe") {
			return trackedStays(c.Dirs, p.private())
		}
	case "go":
		if !slices.Contains([]string{"version", "env", "help"}, c.Words[1]) {
			return goStays(c.Dirs, p.Roots, p.private())
		}
	case "rg":
		return p.ignoresStay(c, form)
	}
	return nil
}

// covers returns nil if a rule, or an "always" of the user, allows a command that is not
// known to be read-only. A command that writes a file needs a rule of its own.
func (p ruling) covers(tool string, c *plain.Command, src parsed, why error, allowed func(key string) bool) error {
	if c.ReadOnly { // it only reads, apart from a file that it writes
		return why
	}
	one := command.New(c.Words, c.Dirs, c.Assigns)
	v := p.segment(tool, one, src, false)
	if v.action == Ask && allowed != nil && len(c.Writes) == 0 {
		if key, _ := remembered(one, src); key != "" && allowed(key) {
			return nil
		}
	}
	switch {
	case v.action == Allow && v.pattern == "": // other links treat it as harmless, but the plain form does not
		return why
	case v.action != Allow:
		return errors.New(strings.TrimPrefix(v.why, "default: "))
	}
	t := follow.Trail{Lstat: p.now.Lstat}
	for _, f := range c.Writes {
		if slices.ContainsFunc(slices.Concat(follow.Targets(pathOf(f), &t)...), sensitive) {
			return errors.New("files in .git and .zeph always need permission")
		}
	}
	return nil
}

// pathOf converts a file of a plain form to a path of a command.
func pathOf(f plain.File) command.Path {
	p := command.Path{Text: f.Text, Glob: f.Glob, Sure: true}
	for _, d := range f.Dirs {
		if filepath.IsAbs(f.Text) {
			d = ""
		}
		p.Abs = append(p.Abs, strings.TrimSuffix(d, "/")+"/"+strings.TrimPrefix(f.Text, "/"))
	}
	return p
}

// builtins are commands that bash implements itself.
var builtins = []string{"[", ":", "break", "cd", "command", "continue", "echo", "exit", "false", "printf", "pwd", "set", "test", "true", "type"}

// inPath reports whether bash looks for a program in PATH.
func inPath(name string) bool {
	return !strings.Contains(name, "/") && !slices.Contains(builtins, name)
}

// ownProgram returns the file that runs by a program's name, if that file is
// inside the session's roots. PATH may include directories of the project.
func (p ruling) ownProgram(name string) string {
	if strings.Contains(name, "/") && p.inRoots(name) {
		return name
	}
	if !inPath(name) || !p.searchesRoots(os.Getenv("PATH")) {
		return ""
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) || err == nil && !filepath.IsAbs(path) {
		return path
	}
	if err != nil {
		return ""
	}
	if p.inRoots(path) {
		return path
	}
	return ""
}

// searchesRoots reports whether a search in the directories of PATH may find a
// file inside the session's roots. Windows also searches the current directory.
func (p ruling) searchesRoots(path string) bool {
	return runtime.GOOS == "windows" || slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || p.inRoots(dir)
	})
}

// inRoots reports whether a path is inside a root of the session that is not as wide as
// the system.
func (p ruling) inRoots(path string) bool {
	return slices.ContainsFunc(p.Roots.Dirs(), func(root string) bool { return inside(path, root) && !underSystem(root) })
}

// underSystem reports whether a root is so wide that it contains the system's
// programs.
func underSystem(root string) bool { return root == string(filepath.Separator) || root == "/usr" }

// plain returns the plain form of a command, if it has one that only reads.
func (g judge) plain(card executors.Card) (*plain.Form, bool) {
	form, err := plain.Parse(card.Command, plain.Shell{Dir: card.Dir, Home: g.Home}, nil)
	return form, err == nil
}

// named judges the files of a plain form. They are exactly the words that its
// programs open.
func (g judge) named(form *plain.Form) (blocked *executors.Failure, ask []string) {
	private := ownFiles{private: g.private(), home: g.Home, trail: follow.Trail{Lstat: g.now.Lstat}}
	var read *reader
	if rules := g.readable(); rules != nil {
		read = &reader{rules: rules, home: g.Home, trail: follow.Trail{Lstat: g.now.Lstat}}
	}
	temp, t := g.tempDirs(), follow.Trail{Lstat: g.now.Lstat}
	for _, f := range form.Files {
		path := pathOf(f)
		if private.private != nil {
			private.file(path, true)
		}
		if read != nil {
			read.file(path, true, false)
		}
		for i, found := range follow.Targets(path, &t) {
			if i < len(path.Abs) && harmlessDevice(path.Abs[i]) {
				continue
			}
			if slices.ContainsFunc(found, func(place string) bool { return !g.mayName(place, temp) }) {
				ask = append(ask, fmt.Sprintf("%s may be a file outside the session's directories", f.Text))
			}
		}
		if f.Follows != "" && !(f.GNUFollowsNone && gnuGrep()) {
			if err := g.linksOf(path, f.Follows); err != nil {
				ask = append(ask, fmt.Sprintf("a symbolic link in %s may lead elsewhere: %v", f.Text, err))
			}
		}
		if f.Opens && g.endless(path) {
			ask = append(ask, f.Text+" is not a file, and may never end")
		}
	}
	if private.named != "" {
		return outOfReach(private.named), nil
	}
	ask = append(ask, private.ask...)
	if read != nil {
		if read.refused != "" {
			return executors.Failuref(executors.PolicyBlocked, "the command reads %s: %s", read.refused, read.why).
				Hint("Do not try another way: the user's configuration keeps that file from you."), nil
		}
		ask = append(ask, read.ask...)
	}
	return nil, ask
}

// linksOf returns an error if a link in one of the directories that a path names, or
// further below it, has a name that matches a pattern, and leads outside of the roots.
func (g judge) linksOf(p command.Path, pattern string) error {
	t := follow.Trail{Lstat: g.now.Lstat}
	for _, abs := range p.Abs {
		places, err := follow.Files(abs, p.Glob, &t)
		if err != nil {
			return err
		}
		for _, place := range places {
			if info, err := g.now.Lstat(place); err != nil || !info.IsDir() {
				continue
			}
			if err := linksStay([]string{place}, g.Roots, pattern); err != nil {
				return err
			}
		}
	}
	return nil
}

// endless reports whether a path leads to a device, a named pipe or the like, from which
// a program may read without an end. The standard input ends with the command.
func (g judge) endless(p command.Path) bool {
	t := follow.Trail{Lstat: g.now.Lstat}
	return slices.ContainsFunc(p.Abs, func(abs string) bool {
		if slices.Contains([]string{"/dev/null", "/dev/stdin", "/dev/fd/0"}, abs) {
			return false
		}
		places, err := follow.Files(abs, p.Glob, &t)
		return err != nil || slices.ContainsFunc(places, func(place string) bool {
			info, err := g.now.Lstat(place)
			return err == nil && !info.IsDir() && !info.Mode().IsRegular()
		})
	})
}
