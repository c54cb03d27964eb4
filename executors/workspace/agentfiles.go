package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// AgentFiles describes where zeph-acp keeps its own files: configuration, saved keys,
// sessions, audit log. Roots made with [Roots.Without] hide them. A process has
// one AgentFiles, which lives as long as the process; it may be used concurrently.
type AgentFiles struct {
	Places []Place

	mu sync.Mutex
	// keptOpen are agent files that were opened in a race. They stay open: closing one
	// would drop this process's locks on it (fcntl(2)), which SQLite relies on.
	keptOpen []*os.File
	// lookups are the last searches at each place.
	lookups map[string]lookup
}

// lookup is the result of a search for the files of a place. It is valid until the
// directory changes, since adding or removing an entry changes the directory.
type lookup struct {
	dir   fs.FileInfo
	at    time.Time // before the files were looked for
	names []string
	files []fs.FileInfo
}

// Place is a directory that contains files of zeph-acp.
type Place struct {
	Dir string // absolute; need not exist
	// Files are names of files in the directory, or path.Match patterns, in
	// lower case.
	Files []string
	// Mixed reports that Dir may also be the user's project. In a session that
	// works there, only Files are hidden; otherwise all of Dir is.
	Mixed bool
	// Open are names of directories in it that are not hidden, in lower case: commands may run what is there.
	Open []string
}

// AgentFileError reports that a path leads to zeph-acp's own files.
type AgentFileError struct {
	Path string // as the caller named it
}

// Error names the path and why it is refused.
func (e *AgentFileError) Error() string {
	return fmt.Sprintf("%s is protected: it is one of zeph-acp's own files, which no tool may touch", e.Path)
}

// HiddenFiles is a snapshot of the hidden files. It is not for concurrent use; a nil
// one hides nothing.
type HiddenFiles struct {
	own        *AgentFiles
	hiddenDirs []hiddenDir
	files      []fs.FileInfo       // hidden files, recognized under any name
	dirs       map[string]dirRules // results for directories so far, by path
	stats      *StatCache
}

// hiddenDir is a directory that contains hidden files.
type hiddenDir struct {
	path  string      // absolute
	info  fs.FileInfo // nil if it does not exist or is inaccessible
	names []string    // patterns of the hidden names in it; an empty list hides all
	files []string    // names of hidden files that exist
	open  []string    // names of directories in it that are not hidden
}

// dirRules are the rules for one directory.
type dirRules struct {
	hidden bool     // the directory and everything in it is hidden, except the entries in open
	open   []string // only if hidden
	names  []string // patterns of the hidden names in it
}

// Without returns the same roots with the files of own hidden.
func (r *Roots) Without(own *AgentFiles) *Roots {
	out := *r
	out.own = own
	return &out
}

// Hidden takes a snapshot of the hidden files.
func (r *Roots) Hidden() *HiddenFiles {
	if r.own == nil || r.hidden != nil {
		return r.hidden
	}
	p := &HiddenFiles{own: r.own, dirs: map[string]dirRules{}, stats: cmp.Or(r.stats, &StatCache{})}
	for _, place := range r.own.Places {
		s := p.newHiddenDir(place.Dir)
		s.open = place.Open
		p.findFiles(&s, place)
		if place.Mixed {
			if s.follow(p.stats); r.worksIn(s.path) {
				s.names = place.Files
			}
		}
		p.hiddenDirs = append(p.hiddenDirs, s)
	}
	if r.stats != nil {
		r.hidden = p
	}
	return p
}

// findFiles adds the hidden files of a place to p and s, from the last lookup if nothing
// has changed since.
func (p *HiddenFiles) findFiles(s *hiddenDir, place Place) {
	if s.info == nil {
		return
	}
	p.own.mu.Lock()
	last, known := p.own.lookups[place.Dir]
	p.own.mu.Unlock()
	if known && unchanged(last.dir, s.info, last.at) {
		s.files, p.files = last.names, append(p.files, last.files...)
		return
	}
	now, files, places := time.Now(), len(p.files), len(p.hiddenDirs)
	for _, name := range place.Files {
		if !strings.ContainsAny(name, `*?[\`) && p.addFile(filepath.Join(place.Dir, name)) {
			s.files = append(s.files, name)
		}
	}
	if len(p.hiddenDirs) > places { // a link may lead elsewhere without a change of this directory
		return
	}
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	if p.own.lookups == nil {
		p.own.lookups = map[string]lookup{}
	}
	p.own.lookups[place.Dir] = lookup{s.info, now, slices.Clip(s.files), slices.Clone(p.files[files:])}
}

// newHiddenDir describes a directory that is hidden. It resolves the path only if the
// directory does not exist yet: an existing one is recognized by its identity.
func (p *HiddenFiles) newHiddenDir(dir string) hiddenDir {
	s := hiddenDir{path: filepath.Clean(dir)}
	info, err := os.Stat(s.path)
	if err != nil {
		s.follow(p.stats)
		return s
	}
	s.info = info
	return s
}

// follow resolves the links of the path, if possible.
func (s *hiddenDir) follow(stats *StatCache) {
	if real, err := stats.follow(s.path); err == nil {
		s.path = real
	}
}

// addFile adds a file to the hidden ones if it exists. If it is a link, the files next
// to its target that have the target's name as a prefix (a database's log) are
// hidden too.
func (p *HiddenFiles) addFile(name string) bool {
	info, err := p.stats.Lstat(name)
	if err != nil {
		return false
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		real, err := p.stats.follow(name)
		if err != nil {
			return false
		}
		s, base := p.newHiddenDir(filepath.Dir(real)), filepath.Base(real)
		s.names, s.files = []string{escape.Replace(fold(base)) + "*"}, []string{base}
		p.hiddenDirs = append(p.hiddenDirs, s)
		if info, err = os.Stat(real); err != nil {
			return false
		}
	}
	if info.Mode().IsRegular() {
		p.files = append(p.files, info)
	}
	return true
}

// worksIn reports whether the session's cwd is dir, or a root lies in it.
func (r *Roots) worksIn(dir string) bool {
	return slices.ContainsFunc(r.dirs, func(root string) bool {
		rel, ok := relative(dir, root)
		return ok && (rel != "." || root == r.dirs[0])
	})
}

// Hides reports whether abs, a path without links, is hidden. It need not exist.
func (p *HiddenFiles) Hides(abs string) bool {
	if p == nil {
		return false
	}
	dir := filepath.Dir(abs)
	if dir != abs && p.rulesFor(dir).hides(filepath.Base(abs)) {
		return true
	}
	info, err := p.stats.Lstat(abs)
	if err == nil && !info.IsDir() {
		return p.isHiddenFile(info)
	}
	return p.rulesFor(abs).hidden
}

// rulesFor returns the rules for a directory. The rules of the directories above it are
// included.
func (p *HiddenFiles) rulesFor(dir string) dirRules {
	if found, ok := p.dirs[dir]; ok {
		return found
	}
	var found dirRules
	if parent := filepath.Dir(dir); parent != dir {
		found.hidden = p.rulesFor(parent).hides(filepath.Base(dir))
	}
	if !found.hidden {
		info, err := p.stats.Lstat(dir)
		found = p.rulesAt(dir, info, err)
	}
	p.dirs[dir] = found
	return found
}

// rulesAt returns the rules for the directory that info describes. If err
// prevented its examination, rulesAt looks it up by its path.
func (p *HiddenFiles) rulesAt(dir string, info fs.FileInfo, err error) dirRules {
	return p.rulesIn(dir, err, func(i fs.FileInfo) bool { return os.SameFile(i, info) })
}

// rulesIn is like rulesAt; is reports whether a file info describes the directory.
func (p *HiddenFiles) rulesIn(dir string, err error, is func(fs.FileInfo) bool) (found dirRules) {
	for _, s := range p.hiddenDirs {
		switch {
		case s.info != nil && err == nil:
			if !is(s.info) {
				continue
			}
		case s.info != nil && errors.Is(err, fs.ErrNotExist), fold(s.path) != fold(dir):
			continue
		}
		if s.names == nil {
			found.hidden, found.open = true, append(found.open, s.open...)
		}
		found.names = append(found.names, s.names...)
	}
	return found
}

// hides reports whether the entry name of the directory is hidden.
func (s dirRules) hides(name string) bool {
	return s.hidden && !slices.Contains(s.open, fold(name)) || len(s.names) > 0 && slices.ContainsFunc(s.names, func(pattern string) bool {
		ok, err := path.Match(pattern, fold(name))
		return ok || err != nil
	})
}

// isHiddenFile reports whether info belongs to a hidden file.
func (p *HiddenFiles) isHiddenFile(info fs.FileInfo) bool {
	return p.hasFile(func(i fs.FileInfo) bool { return os.SameFile(i, info) })
}

// hasFile reports whether one of the hidden files satisfies is.
func (p *HiddenFiles) hasFile(is func(fs.FileInfo) bool) bool {
	return p != nil && slices.ContainsFunc(p.files, is)
}

// Below returns the existing hidden files and directories in the directory abs, as
// paths relative to it. It does not find links to them.
func (p *HiddenFiles) Below(abs string) []string {
	if p == nil {
		return nil
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil
	}
	var below []string
	for _, s := range p.hiddenDirs {
		if s.info == nil {
			continue
		}
		s.follow(p.stats)
		rel, ok := p.relativeTo(info, s.path)
		switch {
		case !ok:
		case s.names == nil:
			below = append(below, rel)
		default:
			for _, f := range s.files {
				below = append(below, filepath.Join(rel, f))
			}
		}
	}
	return below
}

// relativeTo returns path relative to the directory that info describes; ok is false if it
// lies elsewhere.
func (p *HiddenFiles) relativeTo(info fs.FileInfo, path string) (rel string, ok bool) {
	rel = "."
	for at := path; ; at = filepath.Dir(at) {
		if i, err := p.stats.Lstat(at); err == nil && os.SameFile(i, info) {
			return rel, true
		}
		if filepath.Dir(at) == at {
			return "", false
		}
		rel = filepath.Join(filepath.Base(at), rel)
	}
}

// Linked reports whether a hidden file has further hard links, which may be
// anywhere on its file system.
func (p *HiddenFiles) Linked() bool {
	if p == nil {
		return false
	}
	for _, dir := range p.hiddenDirs {
		for _, name := range dir.files {
			info, err := os.Lstat(filepath.Join(dir.path, name)) // a link made elsewhere does not change the directory
			if err == nil && linked(info) {
				return true
			}
		}
	}
	return false
}

// Dirs returns the directories that are hidden with all their content.
func (p *HiddenFiles) Dirs() []string {
	if p == nil {
		return nil
	}
	var dirs []string
	for _, s := range p.hiddenDirs {
		if s.names == nil {
			dirs = append(dirs, s.path)
		}
	}
	return dirs
}

// keepOpen holds a file that must not be closed.
func (o *AgentFiles) keepOpen(f *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keptOpen = append(o.keptOpen, f)
}

// escape quotes the pattern characters in a name.
var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`)

// fold normalizes a name or a path as case-insensitive file systems compare it,
// and drops an end that Windows ignores ("keys.toml.", "keys.toml::$DATA").
func fold(name string) string {
	volume := filepath.VolumeName(name)
	rest, _, _ := strings.Cut(name[len(volume):], ":")
	return strings.ToLower(strings.ToUpper(volume + strings.TrimRight(rest, ". "))) // "ſ" is an s, "K" a k
}
