package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// LinkedRepository returns the directory of the repository that a file .git in dir names, as in a
// linked worktree or a submodule. dir is absolute and has no links. The result is "" if the
// repository does not belong to dir.
//
// Whoever wrote the file could name any repository. So the other repository must name dir as its
// worktree.
func LinkedRepository(dir string) string {
	git, ok := strings.CutPrefix(ReadSmall(filepath.Join(dir, ".git")), "gitdir: ")
	if !ok {
		return ""
	}
	git = pathname.From(dir, filepath.FromSlash(git))
	if LeadsAway(git, []string{dir}) != "" {
		return ""
	}
	git, err := filepath.EvalSymlinks(git)
	if err != nil {
		return ""
	}
	if worktrees := filepath.Dir(git); filepath.Base(worktrees) == "worktrees" {
		common := filepath.Dir(worktrees)
		if named(git, ReadSmall(filepath.Join(git, "gitdir"))) == filepath.Join(dir, ".git") &&
			named(git, ReadSmall(filepath.Join(git, "commondir"))) == common {
			return common
		}
		return ""
	}
	m := worktreeSetting.FindStringSubmatch(ReadSmall(filepath.Join(git, "config"))) // of a submodule
	if m == nil || named(git, m[1]) != dir {
		return ""
	}
	return git
}

var worktreeSetting = lazyregexp.New(`(?m)^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$`)

// named returns the path without links that a file of git in dir names, "" if it does not exist.
func named(dir, path string) string {
	path = pathname.From(dir, filepath.FromSlash(path))
	if LeadsAway(path, []string{dir}) != "" {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// maxSmall is the size of the largest file for ReadSmall, in bytes.
const maxSmall = 1 << 20

// ReadSmall returns the content of a small regular file without space around it, else "".
func ReadSmall(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSmall {
		return ""
	}
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}
