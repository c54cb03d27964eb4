package chat

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// shortCommit is the length of a commit's name for people.
const shortCommit = 8

// branch returns the branch of the repository that a directory is in, or the beginning of the commit's name if none is
// checked out. It is empty if there is no repository.
func branch(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		git := filepath.Join(at, ".git")
		if info, err := os.Lstat(git); err == nil {
			if rest, ok := strings.CutPrefix(workspace.ReadSmall(git), "gitdir: "); ok { // of a linked worktree
				git = pathname.From(at, filepath.FromSlash(rest))
			}
			if !info.IsDir() && workspace.LeadsAway(git, []string{dir}) != "" {
				return ""
			}
			head := workspace.ReadSmall(filepath.Join(git, "HEAD"))
			if name, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
				return name
			}
			return head[:min(len(head), shortCommit)]
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
