package walk

import (
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

const (
	// GitDir is the directory, or the file, that makes a directory a repository.
	GitDir = ".git"

	maxIgnore = 1 << 20 // bytes of a file of patterns; a larger file is not used
)

// ignore holds the pattern files that apply to one directory: its own and its
// parents'. The order of precedence is the same as in ripgrep: .ignore
// files, .gitignore files, .git/info/exclude, the user's own excludes
// (core.excludesFile). Among files of one kind the deepest with a matching
// pattern decides, and in it the last matching pattern.
//
// A .gitignore also applies outside a repository, but not to a repository
// nested below it. The other files of git apply only in a repository. Of the
// directories above the session's roots those in the same repository count. A
// nil ignore excludes nothing.
type ignore struct {
	*origin
	above          *ignore
	dir            string // path of the directory from the top of origin, "" or ending in "/"
	ignoreRules    *rules // .ignore
	gitignoreRules *rules // .gitignore
	excludeRules   *rules // .git/info/exclude
	isRepo         bool   // a repository begins here
}

// origin is what all directories of a walk share.
type origin struct {
	root      string // the outermost root, absolute
	base      string // path of root from the top of its repository, "" or ending in "/"
	hidden    *workspace.HiddenFiles
	userRules *rules // the user's own
}

// path returns the path of a directory from the top: rel is its path from the root.
func (i *ignore) path(rel string) string {
	if i == nil {
		return prefix(rel)
	}
	return i.base + prefix(rel)
}

// load returns i with the pattern files of the directory b, which has these
// entries.
func (i *ignore) load(b *workspace.Branch, entries []workspace.Entry) *ignore {
	if i == nil {
		return nil
	}
	next := &ignore{origin: i.origin, above: i, dir: i.path(b.Rel())}
	for _, e := range entries {
		if e.Name[0] != '.' {
			continue
		}
		switch {
		case e.Name == ".ignore" && e.Type.IsRegular():
			next.ignoreRules = readRules(b, e.Name)
		case e.Name == ".gitignore" && e.Type.IsRegular():
			next.gitignoreRules = readRules(b, e.Name)
		case e.Name == GitDir:
			next.isRepo = true
			switch {
			case e.Type.IsDir():
				next.excludeRules = readExclude(b)
			case e.Type.IsRegular():
				next.excludeRules = parseRules(readLinkedExclude(i.hidden, filepath.Join(i.root, filepath.FromSlash(b.Rel()))))
			}
		}
	}
	if next.ignoreRules == nil && next.gitignoreRules == nil && !next.isRepo {
		return i
	}
	return next
}

// readRules reads a pattern file; nil means no patterns.
func readRules(b *workspace.Branch, name string) *rules {
	text, size, err := b.Read(name, nil, maxIgnore)
	if err != nil || size > maxIgnore {
		return nil
	}
	return parseRules(string(text))
}

// readExclude reads .git/info/exclude of the repository at b.
func readExclude(b *workspace.Branch) *rules {
	dir, err := b.Sub(GitDir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	info, err := dir.Sub("info")
	if err != nil {
		return nil
	}
	defer info.Close()
	return readRules(info, "exclude")
}

// descend returns the patterns that apply in the directory name of dir: the patterns
// of i and of dir. If the walk started in an ignored directory, that directory was
// asked for by name, so patterns from above do not apply there.
func (i *ignore) descend(dir *workspace.Dir, name string) *ignore {
	if i == nil {
		return nil
	}
	var entries []workspace.Entry
	for _, file := range []string{".ignore", ".gitignore", GitDir} {
		if info, err := dir.Lstat(file); err == nil {
			entries = append(entries, workspace.Entry{Name: file, Type: info.Mode().Type()})
		}
	}
	if b, err := dir.Branch(); err == nil {
		i = i.load(b, entries)
		b.Close()
	}
	return i.enter(i.path(dir.Rel()), name)
}

// enter returns the patterns of i that apply in the directory name of dir, a path
// from the top, since the walk starts there or below.
func (i *ignore) enter(dir, name string) *ignore {
	if name == GitDir || i.match(dir, name, true) {
		return &ignore{origin: i.origin, dir: dir + name + "/"}
	}
	return i
}

// match reports whether the entry name of the directory at dir, a path from the
// top that is "" or ends in "/", is excluded.
func (i *ignore) match(dir, name string, isDir bool) bool {
	for at := i; at != nil; at = at.above {
		if v := at.ignoreRules.match(dir, len(at.dir), name, isDir); v != 0 {
			return v == excluded
		}
	}
	for at := i; at != nil; at = at.above {
		if v := at.gitignoreRules.match(dir, len(at.dir), name, isDir); v != 0 {
			return v == excluded
		}
		if at.isRepo {
			break
		}
	}
	repo := i
	for repo != nil && !repo.isRepo {
		repo = repo.above
	}
	if repo == nil {
		return false
	}
	if v := repo.excludeRules.match(dir, len(repo.dir), name, isDir); v != 0 {
		return v == excluded
	}
	return repo.userRules.match(dir, len(repo.dir), name, isDir) == excluded
}

// verdict is the decision of one pattern file on an entry; 0 means that no
// pattern matches.
type verdict int8

const (
	excluded verdict = 1
	included verdict = -1
)

// rules are the patterns of one file: https://git-scm.com/docs/gitignore. Most
// are literal names or extensions, which maps find by their index in list.
type rules struct {
	list  []rule
	names map[string][]int // of entries, wherever they are
	exts  map[string][]int // ".go" for "*.go"
	paths map[string][]int // from the file's directory
	rest  []int
}

// rule is one pattern.
type rule struct {
	glob     glob
	anchored bool // matched against the path from the file's directory, else against the name
	dirOnly  bool
	verdict  verdict
}

// match returns the verdict of the last pattern that matches the entry name in
// dir. The first from bytes of dir are the path of the file's directory.
func (r *rules) match(dir string, from int, name string, isDir bool) verdict {
	if r == nil {
		return 0
	}
	dir = dir[from:]
	best := -1
	last := func(numbers []int) {
		for n := len(numbers) - 1; n >= 0 && numbers[n] > best; n-- {
			if isDir || !r.list[numbers[n]].dirOnly {
				best = numbers[n]
			}
		}
	}
	last(r.names[name])
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && len(r.exts) > 0 {
		last(r.exts[name[dot:]])
	}
	if len(r.paths) > 0 {
		var buf [256]byte
		last(r.paths[string(append(append(buf[:0], dir...), name...))])
	}
	for n := len(r.rest) - 1; n >= 0 && r.rest[n] > best; n-- {
		rule := &r.list[r.rest[n]]
		if rule.dirOnly && !isDir {
			continue
		}
		full := name
		if rule.anchored {
			full = dir + name
		}
		if rule.glob.match(full) {
			best = r.rest[n]
		}
	}
	if best < 0 {
		return 0
	}
	return r.list[best].verdict
}

// parseRules parses a pattern file; nil means no patterns. An invalid pattern
// matches nothing, as in git.
func parseRules(text string) *rules {
	r := &rules{names: map[string][]int{}, exts: map[string][]int{}, paths: map[string][]int{}}
	for line := range strings.Lines(strings.TrimPrefix(text, executors.ByteOrderMark)) {
		r.add(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
	}
	if len(r.list) == 0 {
		return nil
	}
	return r
}

// add adds the pattern of a line, if there is a valid one. A pattern without wildcards, or
// one for an extension, goes into its own index.
func (r *rules) add(line string) {
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return
	}
	rule := rule{verdict: excluded}
	line, negated := strings.CutPrefix(line, "!")
	if negated {
		rule.verdict = included
	}
	line, rule.dirOnly = strings.CutSuffix(line, "/")
	rule.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return
	}
	n := len(r.list)
	literal := func(s string) bool { return !strings.ContainsAny(s, `*?[\`) }
	switch ext, isExt := strings.CutPrefix(line, "*."); {
	case literal(line) && rule.anchored:
		r.paths[line] = append(r.paths[line], n)
	case literal(line):
		r.names[line] = append(r.names[line], n)
	case isExt && !rule.anchored && literal(ext) && !strings.Contains(ext, "."):
		r.exts["."+ext] = append(r.exts["."+ext], n)
	default:
		var ok bool
		if !rule.anchored { // no path: "**" means "*"
			for strings.Contains(line, "**") {
				line = strings.ReplaceAll(line, "**", "*")
			}
		}
		if rule.glob, ok = parseGlob(line); !ok {
			return
		}
		r.rest = append(r.rest, n)
	}
	r.list = append(r.list, rule)
}

// trimSpaces removes trailing spaces, except those after a backslash.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			if i++; i == len(line) {
				return line
			}
		}
		end = i + 1
	}
	return line[:end]
}
