package permission

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// plainForm returns the plain form in which a command may run without permission.
// The error is the reason to ask. allowed reports whether an "always" of the user
// allows a key; nil means that no such answer counts.
func (p permissionCheck) plainForm(call *executors.Call, script *command.Script, allowed func(key string) bool) (*executors.Plain, error) {
	card := call.Card
	if p.NoBash {
		return nil, errors.New("there is no bash here to run it")
	}
	form, err := script.Plain(func(c *plain.Command, why error) error {
		return p.requireAllowed(call.Tool, c, script, why, allowed)
	})
	if err != nil {
		return nil, err
	}
	if !form.ReadOnly && form.Reach == plain.ReachesOthers { // in the box, if its other commands only read as well
		if boxed, err := script.Plain(nil); err == nil {
			form = boxed
		}
	}
	t := follow.Trail{Lstat: p.stats.Lstat}
	for _, f := range form.Files {
		if !f.Tested && slices.ContainsFunc(slices.Concat(follow.Targets(pathOf(f), &t)...), controlsGitOrAgent) {
			return nil, errors.New("files in .git and .zeph always need permission")
		}
	}
	if found := p.programInRoots("bash"); found != "" {
		return nil, fmt.Errorf("the shell would be %s", found)
	}
	for _, c := range form.Commands {
		if !c.ReadOnly {
			continue
		}
		for _, name := range append([]string{c.Words[0]}, c.Starts...) {
			if found := p.programInRoots(name); found != "" {
				return nil, fmt.Errorf("%s would run %s", name, found)
			}
		}
	}
	if form.ReadOnly && card.FullAccess {
		return nil, errors.New("it failed in the box")
	}
	outside := func(c *plain.Command) bool { // rules do not reach here: what they allow is not of the form's reading commands
		key, _ := alwaysKey(command.New(c.Words, c.Dirs, c.Assigns), script)
		return allowed != nil && key != "" && allowed(key)
	}
	if err := p.checkReach(call, form, outside); err != nil {
		return nil, err
	}
	if form.ReadOnly && form.Emits != "" && p.InTerminal {
		return nil, fmt.Errorf("%s may print a control sequence, which the editor's terminal obeys", form.Emits)
	}
	return &executors.Plain{Script: form.Script, ReadOnly: form.ReadOnly}, nil
}

// errNoBox is why no command runs in a box.
var errNoBox = errors.New("this system has none")

// boxError returns why no command can run in the box now, nil if one can. It asks boxed once in a
// call: the answer takes hundreds of system calls. Whatever runs in the box looks again.
func boxError(call *executors.Call, boxed func() error) error {
	if boxed == nil {
		return errNoBox
	}
	if call.BoxError == nil {
		call.BoxError = sync.OnceValue(boxed)
	}
	return call.BoxError()
}

// checkReach returns an error if a form would open files that nothing keeps it from. In the box a
// read-only form may open what it likes. Outside of it, it opens literal files that are no links. A
// form with commands that rules allow runs outside of the box; allowed reports whether an "always"
// allows a read-only command there, too.
func (p permissionCheck) checkReach(call *executors.Call, form *plain.Form, allowed func(*plain.Command) bool) error {
	noBox := boxError(call, p.Boxed)
	if form.ReadOnly && noBox == nil {
		return nil
	}
	most := plain.ReachesLiterals
	if !form.ReadOnly { // the guard checks all files that the words of the commands name
		most = plain.ReachesNamed
	}
	for _, c := range form.Commands {
		switch {
		case !c.ReadOnly || c.Reach <= most || !form.ReadOnly && allowed(c):
		case noBox == nil:
			return fmt.Errorf("%s runs without a question only in the box, and other commands of the script do not run there", quote(strings.Join(c.Words, " ")))
		default:
			return fmt.Errorf("%s would run without a question only in the box: %w", quote(strings.Join(c.Words, " ")), noBox)
		}
	}
	if !form.ReadOnly {
		return nil
	}
	t := follow.Trail{Lstat: p.stats.Lstat}
	for _, f := range form.Files {
		path := pathOf(f)
		for i, found := range follow.Targets(path, &t) {
			if why := p.notLiteral(path.Abs[i], found); why != "" {
				return fmt.Errorf("%s %s, and would be read without a question only in the box: %w", f.Text, why, noBox)
			}
		}
	}
	return nil
}

// notLiteral returns why a path does not simply name a regular file, a directory or a missing file.
// found are the places to which it leads.
func (p permissionCheck) notLiteral(abs string, found []string) string {
	if harmlessDevice(abs) {
		return ""
	}
	if len(found) != 1 || found[0] != filepath.Clean(abs) {
		return "is a link"
	}
	if info, err := p.stats.Lstat(found[0]); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return "is not a file"
	}
	return ""
}

// requireAllowed returns nil if a rule, or an "always" of the user, allows a command that is not
// known to be read-only. A command that writes a file needs its own rule.
func (p permissionCheck) requireAllowed(tool string, c *plain.Command, script *command.Script, why error, allowed func(key string) bool) error {
	if why == plain.ErrOnlyReads && (p.ShellPolicy == nil || len(p.rules.Permissions) == 0) {
		return why
	}
	one := command.New(c.Words, c.Dirs, c.Assigns)
	v := p.decideSimpleCommand(tool, one, script, false)
	onlyReads := c.ReadOnly || why == plain.ErrOnlyReads // apart from a file that it writes
	if mode(p.Mode()).readOnly || onlyReads && (v.action != Allow || v.pattern == "") {
		return why
	}
	if v.action == Ask && allowed != nil && len(c.Writes) == 0 {
		if key, _ := alwaysKey(one, script); key != "" && allowed(key) {
			return nil
		}
	}
	switch {
	case v.action == Allow && v.pattern == "": // other links treat it as harmless, but the plain form does not
		return why
	case v.action != Allow:
		return errors.New(strings.TrimPrefix(v.why, "default: "))
	}
	t := follow.Trail{Lstat: p.stats.Lstat}
	for _, f := range c.Writes {
		if slices.ContainsFunc(slices.Concat(follow.Targets(pathOf(f), &t)...), controlsGitOrAgent) {
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

// programInRoots returns the file that runs by a program's name, if that file is
// inside the session's roots. PATH may include directories of the project.
func (p permissionCheck) programInRoots(name string) string {
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
func (p permissionCheck) searchesRoots(path string) bool {
	return runtime.GOOS == "windows" || slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		return !filepath.IsAbs(dir) || p.inRoots(dir)
	})
}

// inRoots reports whether a path is inside a root of the session, other than a root that
// contains the system's programs.
func (p permissionCheck) inRoots(path string) bool {
	return slices.ContainsFunc(p.Roots.Dirs(), func(root string) bool { return workspace.Within(root, path) && !underSystem(root) })
}

// underSystem reports whether a root is so wide that it contains the system's
// programs.
func underSystem(root string) bool { return root == string(filepath.Separator) || root == "/usr" }

// formWithRules returns the plain form that a command has if rules allow each of its parts that
// is not read-only, nil if it has none.
func (g guardCheck) formWithRules(card executors.Card) *plain.Form {
	allowed := func(_ *plain.Command, why error) error {
		if why == plain.ErrOnlyReads {
			return why
		}
		return nil
	}
	form, err := card.Script.Plain(allowed)
	if err != nil {
		return nil
	}
	return form
}

// runsInBox reports whether a command with this form runs in the box, or after a question. The box
// keeps it from all files that are not its own. What a rule allows runs outside of it.
func (g guardCheck) runsInBox(card executors.Card, form *plain.Form) bool {
	if form == nil || !form.ReadOnly || card.FullAccess || g.Boxed() != nil {
		return false
	}
	asWritten := func(forms []string) []string { return forms }
	for _, rules := range g.rules.Permissions {
		for _, c := range form.Commands {
			r, ok := firstCommandMatch(rules, command.New(c.Words, c.Dirs, c.Assigns), asWritten)
			if ok && r.Action == Allow {
				return false
			}
		}
	}
	return true
}

// checkNamedFiles checks the files of a plain form. They are exactly the words that its
// read-only programs open. In the box, it blocks what must not be read, and asks about nothing that
// the box refuses.
func (g guardCheck) checkNamedFiles(form *plain.Form, inBox bool) (blocked *executors.Failure, ask []string) {
	own := ownFiles{hidden: g.agentFiles(), home: g.Home, trail: follow.Trail{Lstat: g.stats.Lstat}}
	var reads *readSearch
	if rules := g.readRules(); rules != nil {
		reads = &readSearch{rules: rules, home: g.Home, trail: follow.Trail{Lstat: g.stats.Lstat}}
	}
	temp, t := g.tempDirs(), follow.Trail{Lstat: g.stats.Lstat}
	var uncertain []string
	for _, f := range form.Files {
		path := pathOf(f)
		if own.hidden != nil {
			own.checkFile(path)
		}
		if reads != nil {
			reads.checkFile(path, fileOnly)
		}
		for i, found := range follow.Targets(path, &t) {
			if i < len(path.Abs) && harmlessDevice(path.Abs[i]) {
				continue
			}
			if slices.ContainsFunc(found, func(place string) bool { return !g.mayName(place, temp) && !(inBox && systemFile(place)) }) {
				list := &ask
				if i > 0 || f.Glob {
					list = &uncertain
				}
				*list = append(*list, fmt.Sprintf("%s may be a file outside the session's directories", f.Text))
			}
		}
		if f.Opens && g.mayNeverEnd(path) {
			ask = append(ask, f.Text+" is not a file, and may never end")
		}
	}
	if own.namedFile != "" {
		return ownFileFailure(own.namedFile), nil
	}
	uncertain = append(uncertain, own.ask...)
	if reads != nil {
		if reads.refusedWord != "" {
			return executors.Failuref(executors.PolicyBlocked, "the command reads %s: %s", reads.refusedWord, reads.why).
				Hint("Do not try another way: the user's configuration keeps that file from you."), nil
		}
		uncertain = append(uncertain, reads.ask...)
	}
	if inBox {
		return nil, ask
	}
	return nil, append(uncertain, ask...)
}

// mayNeverEnd reports whether a path leads to a device, a named pipe or the like. Reading
// from these may never end. Standard input is not one of them: it ends with the command.
func (g guardCheck) mayNeverEnd(p command.Path) bool {
	t := follow.Trail{Lstat: g.stats.Lstat}
	return slices.ContainsFunc(p.Abs, func(abs string) bool {
		if slices.Contains([]string{"/dev/null", "/dev/stdin", "/dev/fd/0"}, abs) {
			return false
		}
		places, err := follow.Files(abs, p.Glob, &t)
		return err != nil || slices.ContainsFunc(places, func(place string) bool {
			info, err := g.stats.Lstat(place)
			return err == nil && !info.IsDir() && !info.Mode().IsRegular()
		})
	})
}
