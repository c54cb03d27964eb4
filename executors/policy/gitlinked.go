package policy

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// gitDirs are the directories with the data of a repository.
type gitDirs struct {
	own    string // has the index
	common string // has objects, references and settings
}

// gitDirsOf returns the directories of the repository with this ".git", and reports
// whether they are known to belong to it.
//
// In a linked worktree ".git" is a file. It names a directory below "worktrees" of the repository,
// and a file in that directory names the worktree's ".git". A forged ".git" cannot make git read
// another repository, since that repository does not name it.
func gitDirsOf(git string, private *workspace.Private) (gitDirs, bool) {
	info, err := os.Lstat(git)
	if err != nil || info.IsDir() {
		return gitDirs{git, git}, err == nil
	}
	text, ok := readLine(git, private)
	name, isFile := strings.CutPrefix(text, "gitdir: ")
	if !ok || !isFile || !info.Mode().IsRegular() {
		return gitDirs{}, false
	}
	tree := filepath.Dir(git)
	name = from(tree, name)
	if workspace.LeadsAway(name, []string{tree}) != "" {
		return gitDirs{}, false
	}
	own, err := filepath.EvalSymlinks(name)
	if err != nil || filepath.Base(filepath.Dir(own)) != "worktrees" || exists(filepath.Join(own, "config.worktree")) {
		return gitDirs{}, false
	}
	if common, ok := readLine(filepath.Join(own, "commondir"), private); !ok || filepath.ToSlash(common) != "../.." {
		return gitDirs{}, false
	}
	back, ok := readLine(filepath.Join(own, "gitdir"), private)
	if back = from(own, back); !ok || filepath.Base(back) != ".git" || workspace.LeadsAway(back, []string{tree}) != "" {
		return gitDirs{}, false
	}
	return gitDirs{own, filepath.Dir(filepath.Dir(own))}, sameDir(filepath.Dir(back), tree)
}

// sameDir reports whether two paths lead to one directory. Directories are compared, since a file
// may have hard links.
func sameDir(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// readLine returns the text of a file with one line.
func readLine(path string, private *workspace.Private) (string, bool) {
	text, ok := readConfig(path, private)
	text = strings.TrimSuffix(text, "\n")
	return text, ok && !strings.ContainsAny(text, "\r\n\x00")
}

// from returns a path as seen from a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
