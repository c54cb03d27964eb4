package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
)

// A ".git" file counts only in the worktree that the repository has written it for.
func TestLinkedWorktree(t *testing.T) {
	for name, tt := range map[string]struct {
		back string // the worktree that the repository names, from worktrees/x
		hard bool   // ".git" is a hard link of that in the other worktree
		want bool
	}{
		"of this repository":                {back: "../../../../tree/.git", want: true},
		"of another worktree":               {back: "../../../../other/.git"},
		"a hard link of another worktree's": {back: "../../../../other/.git", hard: true},
		"a worktree that is gone":           {back: "../../../../gone/.git"},
		"a file of another name":            {back: "../../../../tree/.gitt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(path, text string) {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("main/.git/worktrees/x/commondir", "../..\n")
			write("main/.git/worktrees/x/gitdir", tt.back+"\n")
			write("other/.git", "gitdir: ../main/.git/worktrees/x\n")
			write("tree/.git", "gitdir: ../main/.git/worktrees/x\n")
			git := filepath.Join(dir, "tree", ".git")
			if tt.hard {
				if err := os.Remove(git); err != nil {
					t.Fatal(err)
				}
				if err := os.Link(filepath.Join(dir, "other", ".git"), git); err != nil {
					t.Skipf("no hard links here: %v", err)
				}
			}
			if found, ok := gitDirsOf(git, nil); ok != tt.want {
				t.Errorf("gitDirsOf(%s) where the repository names %s: %v, %t, want %t", git, tt.back, found, ok, tt.want)
			}
			if err := checkIndex(filepath.Dir(git), plain.TrackedFollowed, nil, nil); (err == nil) != tt.want {
				t.Errorf("checkIndex(%s) where the repository names %s: %v", filepath.Dir(git), tt.back, err)
			}
		})
	}
}
