package policy

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// gitPrograms are the settings by which a repository makes git run a program,
// fetch, or take settings from elsewhere. They are looked for anywhere in the
// text: what a line of it means is git's to know.
var gitPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\[\s*(include|pager)|(external|command|textconv|clean|smudge|process|fsmonitor|hookspath|pager|editor|program|askpass|helper|worktree|partialclone|uploadpack|vcs|gitproxy)\s*=|worktreeconfig|showsignature|promisor|%G`)
})

// gitRunsNothing reports whether git, asked in one of these directories for what
// it knows, starts no program of the repository's choice. A repository's
// configuration is not part of a clone, but whatever unpacked or wrote this
// directory may have made it; the user's own configuration is the user's.
func gitRunsNothing(dirs []string, private *workspace.Private) bool {
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir) // git goes up from where the directory really is
		if err != nil && !os.IsNotExist(err) {
			return false
		}
		if err != nil {
			real = dir
		}
		config, ok := gitConfig(real, private)
		if !ok || gitPrograms().MatchString(config) {
			return false
		}
	}
	return len(dirs) > 0
}

// gitConfig reads the configuration of the repository that dir is in, empty if
// it is in none; false if that cannot be told.
func gitConfig(dir string, private *workspace.Private) (string, bool) {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Lstat(git); err == nil {
			if !info.IsDir() { // of a worktree or a submodule: it is elsewhere
				return "", false
			}
			if exists(filepath.Join(git, "modules")) || // submodules have configurations of their own
				exists(filepath.Join(git, "commondir")) || // its configuration is elsewhere
				!exists(filepath.Join(git, "HEAD")) { // git would not take it for a repository, and go on up
				return "", false
			}
			return readConfig(filepath.Join(git, "config"), private)
		}
		if exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) { // a repository without files
			return "", false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", true
		}
		dir = parent
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func readConfig(path string, private *workspace.Private) (string, bool) {
	f, err := private.Open(path)
	if os.IsNotExist(err) {
		return "", true
	}
	if err != nil {
		return "", false
	}
	defer f.Close()
	const limit = 256 << 10
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	return string(data), err == nil && len(data) <= limit
}
