package diagnostics

import (
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Limits for the search for projects below a directory.
const (
	maxDepth    = 3      // levels below the named directory
	maxDirs     = 2000   // directories that one call reads
	maxEntries  = 10_000 // entries that are read of one directory
	maxProjects = 16     // projects that one call checks
	maxMarker   = 1 << 20
)

// projectKind is a kind of project.
type projectKind int

// The kinds, in the order in which they are checked.
const (
	rust projectKind = iota
	golang
	typeScript
	esLint
	python
	kinds
)

// project is a directory that is checked as one unit.
type project struct {
	kind projectKind
	dir  string // absolute, without symlinks
}

// byExtension lists the kinds that check a file; all kinds may check other files.
var byExtension = map[string][]projectKind{
	".rs": {rust}, ".go": {golang}, ".py": {python}, ".pyi": {python},
	".ts": {typeScript, esLint}, ".tsx": {typeScript, esLint}, ".mts": {typeScript, esLint}, ".cts": {typeScript, esLint},
	".js": {typeScript, esLint}, ".jsx": {typeScript, esLint}, ".mjs": {typeScript, esLint}, ".cjs": {typeScript, esLint},
}

// skipped are directories of dependencies or build output.
var skipped = []string{
	"node_modules", "bower_components", "vendor", "third_party", "target", "dist", "build", "out", "testdata",
	"venv", "env", "site-packages", "__pycache__",
}

// finder searches the projects of a call.
type finder struct {
	ctx   context.Context
	roots *workspace.Roots
	start string // the directory that the call names
	found []project
	dirs  int  // directories read so far
	more  bool // the search reached a limit
}

// searchUp finds the innermost project of each kind that contains dir.
func (f *finder) searchUp() {
	var seen [kinds]bool
	for dir := f.start; f.roots.Contains(dir); dir = filepath.Dir(dir) {
		names := f.fileNames(dir)
		for k := range kinds {
			if !seen[k] && f.isProject(k, dir, names) {
				seen[k] = true
				f.found = append(f.found, project{k, dir})
			}
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// searchDown finds the projects below the start.
func (f *finder) searchDown() {
	var covered [kinds]bool
	for _, p := range f.found {
		covered[p.kind] = f.covers(p)
	}
	dir, err := f.roots.Dir(f.start)
	if err != nil {
		return
	}
	defer dir.Close()
	f.searchBelow(dir, f.start, maxDepth, covered)
}

// searchBelow searches the directories in dir, whose path is abs. It does not follow
// links.
func (f *finder) searchBelow(dir *workspace.Dir, abs string, depth int, covered [kinds]bool) {
	entries, _, err := dir.ReadDir(maxEntries)
	if err != nil && len(entries) == 0 {
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if abs != f.start {
		for k := range kinds {
			if covered[k] || !f.isProject(k, abs, regular(entries)) {
				continue
			}
			p := project{k, abs}
			f.found = append(f.found, p)
			covered[k] = f.covers(p)
		}
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || slices.Contains(skipped, name) {
			continue
		}
		if depth == 0 {
			return
		}
		if f.dirs++; f.dirs > maxDirs || f.ctx.Err() != nil {
			f.more = true
			return
		}
		sub, err := dir.Sub(name)
		if err != nil {
			continue
		}
		f.searchBelow(sub, filepath.Join(abs, name), depth-1, covered)
		sub.Close()
	}
}

// fileNames lists the entries of dir that may be files.
func (f *finder) fileNames(abs string) []string {
	dir, err := f.roots.Dir(abs)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _, _ := dir.ReadDir(maxEntries) // an unreadable directory contains no project
	return regular(entries)
}

func regular(entries []fs.DirEntry) []string {
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// isProject reports whether a directory that contains files of these names is a
// project of the kind.
func (f *finder) isProject(k projectKind, dir string, names []string) bool {
	has := func(some ...string) bool {
		return slices.ContainsFunc(some, func(name string) bool { return slices.Contains(names, name) })
	}
	switch k {
	case rust:
		return has("Cargo.toml")
	case golang:
		return has("go.mod")
	case typeScript:
		return has("tsconfig.json")
	case esLint:
		return slices.ContainsFunc(names, isESLintConfig) ||
			has("package.json") && esLintInPackage(readMarker(f.roots, dir, "package.json"))
	default:
		return has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "ruff.toml", ".ruff.toml",
			"mypy.ini", ".mypy.ini") ||
			dir == f.start && slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, ".py") })
	}
}

func isESLintConfig(name string) bool {
	return strings.HasPrefix(name, "eslint.config.") || name == ".eslintrc" || strings.HasPrefix(name, ".eslintrc.")
}

// covers reports whether checking a project also checks the nested projects of its kind.
func (f *finder) covers(p project) bool {
	switch p.kind {
	case rust:
		return rustWorkspace(readMarker(f.roots, p.dir, "Cargo.toml"))
	case golang:
		return false
	case typeScript:
		return onlyReferences(readMarker(f.roots, p.dir, "tsconfig.json"))
	}
	return true
}

// readMarker returns the text of a file that describes a project, "" if it cannot
// be read.
func readMarker(roots *workspace.Roots, dir, name string) string {
	abs, err := roots.Resolve(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	file, _, err := roots.Open(abs)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxMarker))
	if err != nil {
		return ""
	}
	return string(text)
}
