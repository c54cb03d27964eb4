package walk

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Outside returns the text of all ignore files outside the roots that apply to a walk of dir: the
// user's own, and the files of the repository around the root. A walk reads them at its start.
func Outside(roots *workspace.Roots, dir string) string {
	root, ok := roots.Top(dir)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%q", append([]outer{{dir: root, gitignore: userExcludes(roots)}}, outerDirs(roots.Hidden(), root)...))
}

// newIgnore returns the patterns that apply in the outermost root of dir, without its own.
func newIgnore(roots *workspace.Roots, dir string) *ignore {
	root, _ := roots.Top(dir)
	o := &origin{root: root, hidden: roots.Hidden(), userRules: parseRules(userExcludes(roots))}
	i := &ignore{origin: o}
	above := outerDirs(o.hidden, root)
	for n, at := range above {
		i = &ignore{origin: o, above: i, dir: o.base, isRepo: n == 0, ignoreRules: parseRules(at.ignore),
			gitignoreRules: parseRules(at.gitignore), excludeRules: parseRules(at.exclude)}
		next := root
		if n+1 < len(above) {
			next = above[n+1].dir
		}
		i = i.enter(o.base, filepath.Base(next))
		o.base += filepath.Base(next) + "/"
	}
	return i
}

// outer is a directory above a root, with the text of its pattern files.
type outer struct{ dir, ignore, gitignore, exclude string }

// outerDirs returns the directories above root in its repository, from the top of the repository
// on. There are none if root is the top, or in no repository.
func outerDirs(hidden *workspace.HiddenFiles, root string) (dirs []outer) {
	top := root
	for !beginsRepository(top) {
		if top == filepath.Dir(top) {
			return nil
		}
		top = filepath.Dir(top)
	}
	for dir := root; dir != top; {
		dir = filepath.Dir(dir)
		dirs = append(dirs, outer{dir: dir, ignore: readPlain(hidden, filepath.Join(dir, ".ignore")),
			gitignore: readPlain(hidden, filepath.Join(dir, ".gitignore"))})
	}
	slices.Reverse(dirs)
	if len(dirs) == 0 {
		return nil
	}
	if dirs[0].exclude = readPlain(hidden, filepath.Join(top, GitDir, "info", "exclude")); dirs[0].exclude == "" {
		dirs[0].exclude = readLinkedExclude(hidden, top)
	}
	return dirs
}

// beginsRepository reports whether dir is the top of a repository.
func beginsRepository(dir string) bool {
	info, err := os.Lstat(filepath.Join(dir, GitDir))
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(dir, GitDir, "HEAD"))
	}
	return err == nil
}

// LinkedExclude returns the path of info/exclude of the repository that the file .git in dir
// names, "" if there is none that belongs to dir.
func LinkedExclude(dir string) string {
	repository := workspace.LinkedRepository(dir)
	if repository == "" {
		return ""
	}
	return filepath.Join(repository, "info", "exclude")
}

func readLinkedExclude(hidden *workspace.HiddenFiles, dir string) string {
	return readPlain(hidden, LinkedExclude(dir))
}

// readPlain reads a small regular file. It returns "" for a path with links, for a file that
// cannot be read and for zeph-acp's own files.
func readPlain(hidden *workspace.HiddenFiles, path string) string {
	if _, err := os.Lstat(path); err != nil { // most do not exist
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err != nil || real != path {
		return ""
	}
	f, err := hidden.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore+1))
	if err != nil || len(text) > maxIgnore {
		return ""
	}
	return string(text)
}
