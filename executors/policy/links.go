package policy

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// ignoreFiles are files that ripgrep reads in the directories above those that it
// searches. It prints the lines that it cannot parse.
var ignoreFiles = []string{".gitignore", ".ignore", ".rgignore", ".git/info/exclude"}

// checkIgnoreFiles returns an error if one of the ignore files above the files of a script
// leads outside of the session's directories.
func (p permissionCheck) checkIgnoreFiles(c *plain.Command, form *plain.Form) error {
	places, t := slices.Clone(c.Dirs), follow.Trail{Lstat: p.stats.Lstat}
	for _, f := range form.Files {
		path := pathOf(f)
		places = slices.Concat(append(follow.Targets(path, &t), places, path.Abs)...)
	}
	seen := map[string]bool{}
	for _, place := range places {
		for dir := range upwards(place) {
			if _, err := p.Roots.Resolve(dir); err != nil || seen[dir] { // the user's own, or known
				break
			}
			seen[dir] = true
			if err := p.checkIgnoreFilesIn(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkIgnoreFilesIn returns an error if an ignore file in dir leads outside of the session's
// directories.
func (p permissionCheck) checkIgnoreFilesIn(dir string) error {
	for _, name := range ignoreFiles {
		path := filepath.Join(dir, name)
		if !exists(path) {
			continue
		}
		if _, err := p.Roots.Resolve(path); err != nil {
			return fmt.Errorf("rg may show lines of a linked file: %w", err)
		}
	}
	return nil
}

// gnuGrep reports whether grep is GNU's, which follows no links below a directory. Those
// of macOS and of busybox do.
func gnuGrep() bool {
	path, err := exec.LookPath("grep")
	if err != nil || runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	return err == nil && !slices.Contains([]string{"busybox", "toybox"}, filepath.Base(real))
}

// maxSearchedFiles is how many files are searched for links.
const maxSearchedFiles = 1 << 17

// checkLinksStayInside returns an error if a link in one of the directories, or further below it,
// leads outside of the roots. Only links count whose names match one of the patterns;
// "*/" matches all that lead to directories. Such directories are searched too.
func checkLinksStayInside(dirs []string, roots Workspace, patterns ...string) error {
	n := 0
	var all []string
	add := func(path string) error {
		real, err := roots.Resolve(path)
		if err == nil && !slices.ContainsFunc(all, func(dir string) bool { return workspace.Within(dir, real) }) {
			all = append(all, real)
		}
		return err
	}
	for _, dir := range dirs {
		if err := add(dir); err != nil {
			return err
		}
	}
	for i := 0; i < len(all); i++ {
		err := filepath.WalkDir(all[i], func(path string, e fs.DirEntry, err error) error {
			switch n++; {
			case err != nil: // other programs cannot read it either
				return nil
			case n > maxSearchedFiles:
				return fmt.Errorf("%s has too many files to search for symbolic links", all[i])
			case e.Type()&fs.ModeSymlink != 0 && linkMatches(path, patterns):
				return add(path)
			case e.Name() == ".git" && e.IsDir():
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// linkMatches reports whether the name of a link matches one of the patterns of checkLinksStayInside.
func linkMatches(link string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "*/" {
			info, err := os.Stat(link)
			return err == nil && info.IsDir()
		}
		ok, _ := path.Match(p, filepath.Base(link)) // the patterns are well formed
		return ok
	})
}
