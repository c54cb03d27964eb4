package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// newSeatbelt returns the box of a session. An error is the reason why
// commands must ask.
func newSeatbelt(session Session) (seatbelt, error) {
	private := session.Roots.Hidden()
	if private.Linked() {
		return seatbelt{}, errors.New("a file of zeph-acp has a second name, under which commands could read it")
	}
	s := seatbelt{roots: session.Roots.Dirs(), home: session.Home}
	if err := shellOutside(s.roots); err != nil {
		return seatbelt{}, err
	}
	for _, path := range session.Write {
		s.write = append(s.write, realPath(path))
	}
	s.secretNames = append(slices.Concat(secretNames, secretDirNames), "credentials", "credentials.{json,toml,yml,yaml,ini,xml,db}")
	s.secretNames = slices.DeleteFunc(s.secretNames, func(name string) bool { return name == "private" || name == "keyrings" }) // of packages too
	for _, dir := range private.Dirs() {
		s.refused = append(s.refused, realPath(dir))
	}
	for _, rel := range private.Below("/") {
		s.refused = append(s.refused, filepath.Join("/", rel))
	}
	for _, place := range session.OwnFiles {
		for _, name := range place.Files {
			s.refusedGlobs = append(s.refusedGlobs, [2]string{realPath(place.Dir), name})
		}
	}
	for _, path := range secretPaths(session.Home) {
		s.refused = append(s.refused, realPath(path))
	}
	if session.Refuses != nil {
		s.addPatterns(session.DenyPatterns)
	}
	w := seatbeltWalk{seatbelt: &s, getenv: session.Getenv, budget: maxSeatbeltEntries}
	w.toolchains()
	g := gitWalk{home: s.home, getenv: session.Getenv, file: w.file, repository: w.data, stamp: func(string) {}}
	g.settings()
	for _, path := range append([]string{session.Objects}, session.Read...) {
		w.data(path)
	}
	for _, root := range s.roots {
		g.around(root)
	}
	for _, list := range []*[]string{&s.read, &s.execute, &s.stores, &s.refused} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s, nil
}

// addPatterns adds the patterns of deny_read, with the targets of links in them.
func (s *seatbelt) addPatterns(patterns []string) {
	for _, pattern := range patterns {
		s.denyPatterns = append(s.denyPatterns, pattern)
		full := trimPattern(pattern)
		if rest, ok := strings.CutPrefix(full, "~/"); ok && s.home != "" {
			full = globEscaper.Replace(s.home) + "/" + rest
		}
		if real, below, ok := linkedBase(full); ok && strings.HasPrefix(full, "/") {
			s.refusedGlobs = append(s.refusedGlobs, [2]string{real, below})
		}
	}
}

// confined returns a copy of a program that runs in the box.
func (s seatbelt) confined(prog process.Program) (_ process.Program, err error) {
	if prog.Path, err = exec.LookPath(prog.Path); err != nil {
		return prog, err
	}
	if prog.Path, err = filepath.Abs(prog.Path); err != nil {
		return prog, err
	}
	prog, s.temp, err = prog.Bounded()
	if err != nil {
		return prog, err
	}
	if prog.Path, prog.Args, err = s.wrap(prog.Path, prog.Args); err != nil {
		return prog, errors.Join(err, os.RemoveAll(prog.Temp))
	}
	return prog, nil
}

// check returns an error if there is no profile for the box.
func (s seatbelt) check() error {
	s.temp = "/private/tmp/zeph-acp"
	_, err := s.profile()
	return err
}

// describe returns lines for people about the box.
func (s seatbelt) describe() string {
	text := "Box: commands that run without a question read the session's directories and the system's, run the system's programs, " +
		"write nothing and have no network (" + sandboxExec + ")"
	if tools := outermost(slices.Concat(s.read, s.execute, s.stores)); len(tools) > 0 {
		text += "\nBox: they also read " + strings.Join(tools[:min(len(tools), maxShownTools)], ", ")
		if more := len(tools) - maxShownTools; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	return text
}

// maxSeatbeltEntries bounds the entries of directories in PATH that are examined.
const maxSeatbeltEntries = 20_000

// seatbeltWalk collects the grants of a box outside the session's directories.
type seatbeltWalk struct {
	*seatbelt
	getenv func(string) string
	budget int
}

// toolchains grants the toolchains that the environment declares.
func (w *seatbeltWalk) toolchains() {
	for _, dir := range filepath.SplitList(w.getenv("PATH")) {
		if filepath.IsAbs(dir) {
			w.programs(dir)
		}
	}
	for _, t := range toolDirs(w.home, w.getenv) {
		if real, ok := w.outside(t.path); ok && t.store {
			w.stores = append(w.stores, real)
		} else if ok {
			w.execute = append(w.execute, real)
		}
	}
	for _, path := range toolFiles(w.home, w.getenv) {
		w.file(path)
	}
}

// outside returns the path without links if it exists and may be granted: it neither leads to the
// home directory or one of the session's, nor lies in one of these or in the system.
func (w *seatbeltWalk) outside(path string) (real string, ok bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(real) {
		return "", false
	}
	above := func(dir string) bool { return workspace.Within(real, dir) }
	inside := func(dir string) bool { return workspace.Within(dir, real) }
	apart := slices.Concat(w.roots, w.write)
	if w.home != "" && above(w.home) || slices.ContainsFunc(apart, above) || slices.ContainsFunc(apart, inside) ||
		slices.ContainsFunc(w.refused, above) || slices.ContainsFunc(w.refused, inside) {
		return "", false
	}
	return real, !slices.ContainsFunc(seatbeltPrograms, inside)
}

// tool grants a directory or file of programs and libraries.
func (w *seatbeltWalk) tool(path string) {
	if real, ok := w.outside(path); ok {
		w.execute = append(w.execute, real)
	}
}

// data grants reading of the data of a repository.
func (w *seatbeltWalk) data(dir string) {
	if real, ok := w.outside(dir); dir != "" && ok {
		w.read = append(w.read, real)
	}
}

// file grants reading of a file of the user's configuration, unless it holds a secret. It returns the
// text, "" if it is not granted.
func (w *seatbeltWalk) file(path string) (text string) {
	real, ok := w.outside(path)
	if !ok || secretFile(filepath.Base(real)) {
		return ""
	}
	info, err := os.Lstat(real)
	text = workspace.ReadSmall(real)
	if err != nil || !info.Mode().IsRegular() || text == "" && info.Size() > 0 || holdsSecret(text) {
		return ""
	}
	w.read = append(w.read, real)
	return text
}

// programs grants a directory of PATH, the libraries of its installation, and the targets of links.
func (w *seatbeltWalk) programs(dir string) {
	real, ok := w.outside(dir)
	if !ok {
		return
	}
	all, err := os.ReadDir(real)
	if w.budget -= len(all); err != nil || w.budget < 0 {
		return
	}
	w.execute = append(w.execute, real)
	w.libraries(real)
	for _, e := range all {
		if e.Type()&os.ModeSymlink == 0 {
			continue
		}
		target, ok := w.outside(filepath.Join(real, e.Name()))
		if info, err := os.Stat(target); ok && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !secretFile(info.Name()) {
			w.execute = append(w.execute, target)
			w.libraries(filepath.Dir(target))
		}
	}
}

// libraries grants what belongs to a directory of programs.
func (w *seatbeltWalk) libraries(bin string) {
	top := filepath.Dir(bin)
	if name := filepath.Base(bin); name != "bin" && name != "sbin" || top == filepath.Join(w.home, ".local") {
		return
	}
	if _, ok := w.outside(top); !ok {
		return
	}
	for _, part := range []string{"lib", "libexec", "include", "share", "src", "pkg", "VERSION", "go.env", "pyvenv.cfg"} {
		w.tool(filepath.Join(top, part))
	}
}

// seatbeltProblem returns why there is no box, or "". It runs programs in a box for a trial: run starts
// one and returns an error unless it succeeds. A file that cannot be read proves something only
// where another one can.
func seatbeltProblem(run func(path string, args ...string) error) string {
	dir, err := os.MkdirTemp("", "zeph-acp-")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	dir = realPath(dir)
	root, temp := filepath.Join(dir, "root"), filepath.Join(dir, "temp")
	open, refused, outside, script := filepath.Join(root, "open"), filepath.Join(root, "refused.key"), filepath.Join(dir, "outside"), filepath.Join(root, "run")
	err = errors.Join(os.Mkdir(root, 0o700), os.Mkdir(temp, 0o700), os.WriteFile(open, nil, 0o600), os.WriteFile(refused, nil, 0o600),
		os.WriteFile(outside, nil, 0o600), os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700))
	if err != nil {
		return err.Error()
	}
	s := seatbelt{roots: []string{root}, denyPatterns: []string{"*.key"}, temp: temp}
	for _, trial := range []struct {
		argv []string
		ok   bool
		what string
	}{
		{[]string{"/usr/bin/true"}, true, "a program does not run"},
		{[]string{"/bin/sh", "-c", `exec /bin/cat "$1"`, "sh", open}, true, "a command cannot read the session's files"},
		{[]string{"/bin/sh", "-c", `: >"$1"`, "sh", filepath.Join(temp, "new")}, true, "a command cannot write temporary files"},
		{[]string{"/bin/cat", outside}, false, "a command reads files outside"},
		{[]string{"/bin/cat", refused}, false, "a command reads what deny_read names"},
		{[]string{"/bin/sh", "-c", `: >"$1"`, "sh", filepath.Join(root, "new")}, false, "a command writes the session's files"},
		{[]string{script}, false, "a command runs programs of the session"},
	} {
		path, args, err := s.wrap(trial.argv[0], trial.argv[1:])
		if err != nil {
			return err.Error()
		}
		if err := run(path, args...); (err == nil) != trial.ok {
			if err != nil {
				return fmt.Sprintf("%s does not confine commands here: %s: %v", sandboxExec, trial.what, err)
			}
			return fmt.Sprintf("%s does not confine commands here: %s", sandboxExec, trial.what)
		}
	}
	const git = "/usr/bin/git" // it looks for the real one, which may be anywhere
	path, args, err := s.wrap(git, []string{"--version"})
	if err == nil && run(path, args...) != nil && run(git, "--version") == nil {
		return sandboxExec + " does not confine commands here: git does not run"
	}
	return ""
}
