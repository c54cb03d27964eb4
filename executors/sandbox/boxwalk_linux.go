package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// maxBoxOutside bounds the entries outside the session's directories that are examined. What lies
// beyond is not granted.
const maxBoxOutside = 50_000

// boxWalk collects the grants of a box outside the session's directories.
type boxWalk struct {
	*planner
	session Session
	kept    []string // never granted here: zeph-acp's own files, and secrets of the user
	apart   []string // granted elsewhere or not at all: the session's directories and the home directory
	done    map[string]bool
	budget  int
	grants  []grant
	tools   []string
	listed  []string // directories of the user's configuration
	notes   []string
}

func newBoxWalk(p *planner, session Session) *boxWalk {
	w := &boxWalk{planner: p, session: session, budget: maxBoxOutside, done: map[string]bool{}}
	for _, path := range slices.Concat(p.ownPaths, secretPaths(session.Home)) {
		w.kept = append(w.kept, filepath.Clean(path))
	}
	w.apart = slices.Clone(p.roots)
	if session.Home != "" {
		w.apart = append(w.apart, session.Home)
	}
	return w
}

// tree grants rights on a directory or file and everything in it, except for secrets. Names are
// checked in the first levels of directories. A directory that contains the home directory or one of
// the session's is granted without these.
func (w *boxWalk) tree(path string, rights uint64, levels int) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || w.done[real] || real == "/" || w.insideRoot(real) || w.isKept(real) {
		return
	}
	w.done[real] = true
	if info, err := os.Lstat(real); err != nil || !info.IsDir() && w.refusesFile(real, filepath.Base(real), false) {
		return
	}
	if w.visit(real, rights, levels) {
		w.grants = append(w.grants, grantFor(real, rights))
		w.stamps.addIdentity(real)
	}
}

// tool is like tree for a path that the environment or a convention names. A path that leads to the
// home directory, to a session's directory or to zeph-acp's files is ignored: it is no toolchain.
func (w *boxWalk) tool(path string, rights uint64, levels int) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(path) || w.leads(real) || w.inSystem(real) || w.done[real] {
		return
	}
	before := len(w.grants)
	if w.tree(real, rights, levels); len(w.grants) > before {
		w.tools = append(w.tools, w.short(real))
	}
}

// leads reports whether path is or contains one of the directories that are apart or kept.
func (w *boxWalk) leads(path string) bool {
	above := func(dir string) bool { return workspace.Within(path, dir) }
	return slices.ContainsFunc(w.apart, above) || slices.ContainsFunc(w.ownPaths, above)
}

func (w *boxWalk) isKept(path string) bool {
	// Each entry of each directory comes here, so the paths, which are clean, are compared as they are.
	within := func(dir string) bool {
		rest, ok := strings.CutPrefix(path, dir)
		return ok && (rest == "" || rest[0] == '/')
	}
	return slices.ContainsFunc(w.kept, within) || w.private.Hides(path)
}

// visit reports whether all of path may be granted. If not, it grants the parts that may be.
func (w *boxWalk) visit(path string, rights uint64, levels int) bool {
	if w.isKept(path) || slices.Contains(w.apart, path) || w.refusedByPattern(path) {
		return false
	}
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return err == nil
	}
	if levels <= 0 && !w.mustDivide(path) {
		return true
	}
	if w.budget <= 0 {
		return false
	}
	w.stamps.add(path)
	_, all, err := listDir(path, w.buf)
	if w.budget -= len(all) + 1; err != nil {
		return false
	}
	g, whole := grant{Dir: []byte(path), Rights: rights}, true
	for _, c := range all {
		if c.kind == unix.DT_LNK {
			continue
		}
		sub := strings.TrimSuffix(path, "/") + "/" + c.name
		var ok bool
		if c.kind == unix.DT_DIR {
			ok = !secretDir(c.name, levels > 0) && w.visit(sub, rights, levels-1)
		} else {
			ok = !w.refusesFile(sub, c.name, levels > 0)
		}
		if !ok {
			whole = false
			continue
		}
		if i, known := fileIDAt(sub); known {
			g.Names = append(g.Names, entry{Name: []byte(c.name), ID: i})
		}
	}
	if whole {
		return true
	}
	w.grants = append(w.grants, g, grantFor(path, unix.LANDLOCK_ACCESS_FS_READ_DIR))
	return false
}

// mustDivide reports whether a directory contains something that is not granted.
func (w *boxWalk) mustDivide(path string) bool {
	inside := func(p string) bool { return p != path && workspace.Within(path, p) }
	if slices.ContainsFunc(w.apart, inside) || slices.ContainsFunc(w.kept, inside) {
		return true
	}
	dir := names(path)
	return slices.ContainsFunc(w.denyScopes, func(r denyScope) bool { return !r.anywhere && r.mayContain(dir) })
}

// refusesFile reports whether a file must not be read. strictly also looks at its name and, in
// /etc, at its mode: other users may not read it either.
func (w *boxWalk) refusesFile(path, name string, strictly bool) bool {
	if secretFile(name) || w.isKept(path) || w.refusedByPattern(path) {
		return true
	}
	if !strictly || !workspace.Within("/etc", path) {
		return false
	}
	var st unix.Stat_t
	return unix.Lstat(path, &st) != nil || st.Mode&0o004 == 0
}

func (w *boxWalk) refusedByPattern(path string) bool {
	return len(w.denyScopes) > 0 && w.session.Refuses(path)
}

// system grants the directories of the system.
func (w *boxWalk) system() {
	for _, dir := range systemPrograms {
		levels := 0
		if dir == "/opt" {
			levels = 3
		}
		w.tree(dir, boxRuns, levels)
	}
	w.tree("/etc", boxReads, 16)
	for _, path := range systemData {
		w.tree(path, boxReads, 0)
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		w.grants = append(w.grants, grantFor("/dev/"+name, unix.LANDLOCK_ACCESS_FS_READ_FILE))
	}
}

func (w *boxWalk) inSystem(path string) bool {
	return slices.ContainsFunc(systemPrograms, func(dir string) bool { return workspace.Within(dir, path) })
}

// toolchains grants the toolchains that the environment declares.
func (w *boxWalk) toolchains() {
	for _, dir := range filepath.SplitList(w.session.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			w.programs(filepath.Clean(dir))
		}
	}
	for _, t := range toolDirs(w.session.Home, w.session.Getenv) {
		rights, levels := uint64(boxRuns), 2
		if t.store {
			levels = 0
		}
		w.tool(t.path, rights, levels)
	}
	for _, path := range toolFiles(w.session.Home, w.session.Getenv) {
		w.file(path)
	}
}

// programs grants the programs in a directory of PATH, the libraries of its installation,
// and the targets of links.
func (w *boxWalk) programs(dir string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || w.insideRoot(real) || w.isKept(real) || slices.Contains([]string{"/usr/bin", "/usr/sbin"}, real) {
		return
	}
	if w.leads(real) || w.done["programs "+real] {
		return
	}
	w.done["programs "+real] = true
	w.stamps.add(real)
	_, all, err := listDir(real, w.buf)
	if w.budget -= len(all); err != nil || w.budget < 0 {
		return
	}
	g := grant{Dir: []byte(real), Rights: boxRuns}
	for _, c := range all {
		path := filepath.Join(real, c.name)
		switch {
		case c.kind == unix.DT_LNK:
			w.linked(path)
		case c.kind == unix.DT_REG && !w.inSystem(real) && !w.refusesFile(path, c.name, true):
			if info, err := os.Lstat(path); err == nil && info.Mode()&0o111 != 0 {
				i, _ := fileIDAt(path)
				g.Names = append(g.Names, entry{Name: []byte(c.name), ID: i})
			}
		}
	}
	if w.inSystem(real) {
		return
	}
	if len(g.Names) > 0 {
		w.grants = append(w.grants, g)
		w.tools = append(w.tools, w.short(real))
	}
	w.grants = append(w.grants, grantFor(real, unix.LANDLOCK_ACCESS_FS_READ_DIR))
	w.prefix(real)
}

// linked grants the target of a link in a directory of PATH if that is a program elsewhere.
func (w *boxWalk) linked(link string) {
	target, err := filepath.EvalSymlinks(link)
	if err != nil || w.done["link "+target] || filepath.Dir(target) == filepath.Dir(link) || w.inSystem(target) || w.insideRoot(target) || w.isKept(target) {
		return
	}
	info, err := os.Lstat(target)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 || secretFile(info.Name()) || w.refusedByPattern(target) {
		return
	}
	w.done["link "+target] = true
	w.grants = append(w.grants, grantFor(target, boxRuns))
	w.stamps.add(target)
	w.prefix(filepath.Dir(target))
}

// prefix grants the libraries that belong to a directory of programs.
func (w *boxWalk) prefix(bin string) {
	top := filepath.Dir(bin)
	if filepath.Base(bin) == "shims" { // of a version manager: each program reads which version to run
		w.tool(top, boxRuns, 2)
		return
	}
	if name := filepath.Base(bin); name != "bin" && name != "sbin" || w.leads(top) || top == filepath.Join(w.session.Home, ".local") {
		return
	}
	parts := []string{"lib", "lib64", "libexec", "include", "share"}
	if isFile(filepath.Join(bin, "go")) && isFile(filepath.Join(top, "VERSION")) {
		parts = append(parts, "src", "pkg", "misc", "api", "VERSION", "go.env")
	}
	if isFile(filepath.Join(top, "pyvenv.cfg")) {
		parts = append(parts, "pyvenv.cfg")
	}
	for _, part := range parts {
		w.tool(filepath.Join(top, part), boxRuns, 1)
	}
}

// file grants reading of one file of the user's configuration, unless it holds a secret.
// It returns the text, "" if it is not granted.
func (w *boxWalk) file(path string) (text string) {
	w.stamps.add(path)
	real, err := filepath.EvalSymlinks(path)
	if err != nil || w.done[real] || w.inSystem(real) || w.insideRoot(real) {
		return ""
	}
	w.done[real] = true
	w.stamps.add(real)
	if info, err := os.Lstat(real); err != nil || !info.Mode().IsRegular() || info.Size() > maxConfigFile ||
		w.refusesFile(real, info.Name(), true) {
		return ""
	}
	content, err := os.ReadFile(real)
	if err != nil {
		return ""
	}
	if holdsSecret(string(content)) {
		w.notes = append(w.notes, "they do not read "+w.short(real)+", since it seems to hold a password or token")
		return ""
	}
	w.grants = append(w.grants, grantFor(real, boxReads))
	w.tools = append(w.tools, w.short(real))
	return string(content)
}

// short returns a path for people.
func (w *boxWalk) short(path string) string {
	if rel, err := filepath.Rel(w.session.Home, path); w.session.Home != "" && err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}

// allowed grants what the user lets commands read.
func (w *boxWalk) allowed() {
	for _, path := range w.session.Read {
		before := len(w.grants)
		if w.tree(path, boxReads, 16); len(w.grants) > before {
			w.listed = append(w.listed, w.short(path))
		}
	}
}

// git grants what git needs outside the session's directories.
func (w *boxWalk) git() {
	g := gitWalk{home: w.session.Home, getenv: w.session.Getenv, file: w.file, repository: w.repositoryData, stamp: w.stamps.add}
	g.settings()
	if w.session.Objects != "" {
		w.tree(w.session.Objects, boxReads, 0)
	}
	for _, root := range w.roots {
		g.around(root)
	}
}

// repositoryData grants the data of a repository, unless it contains more than that.
func (w *boxWalk) repositoryData(dir string) {
	if dir != "" && !w.insideRoot(dir) && !w.leads(dir) && isFile(filepath.Join(dir, "HEAD")) {
		w.tool(dir, boxReads, 0)
	}
}
