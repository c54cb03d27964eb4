package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// harmlessGitSettings matches repository settings that never make git run a program, fetch data or
// read another file. All other settings need permission: git has hundreds, and each version adds
// more.
var harmlessGitSettings = lazyregexp.New(`(?i)^(` +
	`core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath|` +
	`longpaths|protectntfs|protecthfs|sharedrepository|whitespace|commentchar|untrackedcache|preloadindex|multipackindex|commitgraph|` +
	`hidedotfiles|fscache|trustctime|checkstat|compression)` +
	// The plain form overrides hooksPath. The others count only for commands that edit or connect.
	`|core\.(hookspath|editor|sshcommand|askpass)|(alias|credential|gitflow|gui|http|mergetool|difftool|sendemail)\..+|url\..+\.(push)?insteadof` +
	`|extensions\.(objectformat|refstorage|compatobjectformat)` +
	`|remote\.[^=]+\.(url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|skipdefaultupdate|skipfetchall|followremotehead|gh-resolved)` +
	`|branch\.[^=]+\.[a-z0-9-]+|branch\.(autosetupmerge|autosetuprebase)|user\.(name|email|useconfigonly|signingkey)|(author|committer)\.(name|email)` +
	`|(pull|push|fetch|init|rerere|advice|color|column|gc|maintenance|tag|rebase|status|clone|feature|index|pack|` +
	`transfer|receive|stash|commit|checkout)\.(default|defaultbranch|ff|rebase|prune|prunetags|enabled|auto|autoupdate|` +
	`autosetupremote|followtags|autosquash|autostash|short|branch|showuntrackedfiles|status|ui|` +
	`diff|detachedhead|strategy|fsckobjects|updaterefs|verbose|version|threads|gpgsign|guess|manyfiles)` +
	`|merge\.(tool|conflictstyle|ff|renames|renamelimit|stat|log)` +
	`|diff\.(tool|renames|renamelimit|algorithm|colormoved|mnemonicprefix|noprefix|context|wordregex|indentheuristic|statgraphwidth)` +
	`|log\.(date|decorate|abbrevcommit|follow)|lfs\.[^=]*(repositoryformatversion|access|locksverify)|submodule\.(recurse|fetchjobs)` +
	`)$`)

// checkGit checks the repositories of these directories. It returns an error if a
// read-only git command in one of them may start a program of the repository's choice,
// or read another repository.
//
// A clone does not copy settings, but an archive or a program may have written this directory with
// settings in it. The user's own configuration is trusted. So is the directory of objects from
// which the session's own repository borrows.
func checkGit(dirs []string, objects string, private *workspace.Private) error {
	if len(dirs) == 0 {
		return errors.New("its directory is unknown")
	}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir) // git searches upwards from the real directory
		if err != nil && !os.IsNotExist(err) {
			return errors.New("its directory cannot be resolved")
		}
		if err != nil {
			real = dir
		}
		if err := checkRepository(real, objects, private); err != nil {
			return err
		}
	}
	return nil
}

// checkRepository checks the repository that contains dir.
func checkRepository(dir, objects string, private *workspace.Private) error {
	for dir := range upwards(dir) {
		git := filepath.Join(dir, ".git")
		if exists(git) {
			found, ok := gitDirsOf(git, private)
			if !ok {
				return errors.New("the repository is in another directory")
			}
			return checkGitDir(found.common, objects, private)
		}
		if exists(filepath.Join(dir, "HEAD")) && (exists(filepath.Join(dir, "objects")) || exists(filepath.Join(dir, "commondir"))) {
			return errors.New("it is a bare repository")
		}
	}
	return nil
}

// upwards yields a directory and those above it; none for "".
func upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for below := ""; dir != below && yield(dir); dir, below = filepath.Dir(dir), dir {
		}
	}
}

// ignoredGitDirs are directories of a repository. Read-only commands show nothing of their files.
var ignoredGitDirs = []string{"annex", "hooks", "lfs", "rr-cache"}

// findLink returns a part of a repository that is a symbolic link, "" if there is none. Git
// shows the text of many files, such as rebase-merge/done, worktrees/x/locked or logs/HEAD, and
// a linked object may be that of another repository.
func findLink(git string) (string, error) {
	n, found := 0, ""
	err := filepath.WalkDir(git, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(git, path)
		switch n++; {
		case err != nil:
			return err
		case n > maxSearchedFiles:
			return errors.New("it has too many files to search for symbolic links")
		case e.Type()&fs.ModeSymlink != 0:
			found = rel
			return fs.SkipAll
		case slices.Contains(ignoredGitDirs, rel):
			return fs.SkipDir
		}
		return nil
	})
	return filepath.ToSlash(found), err
}

// alternates names the repositories whose objects a repository reads.
const alternates = "objects/info/alternates"

// namesOnlyLentObjects reports whether a file of alternates names this directory alone.
func namesOnlyLentObjects(path, objects string, private *workspace.Private) bool {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || objects == "" {
		return false
	}
	text, ok := readConfig(path, private)
	return ok && text == filepath.ToSlash(objects)+"\n"
}

// checkGitDir returns an error if the directory .git leads to another repository, or if its
// configuration may start a program.
func checkGitDir(git, objects string, private *workspace.Private) error {
	if name, err := findLink(git); err != nil || name != "" {
		return cmp.Or(err, fmt.Errorf(".git/%s is a symbolic link", name))
	}
	for name, what := range map[string]string{
		"modules": "it has submodules", "commondir": "its configuration is in another file", "config.worktree": "its configuration is in another file",
		alternates: "it reads the objects of another repository", "objects/info/http-alternates": "it reads the objects of another repository",
	} {
		if path := filepath.Join(git, name); exists(path) && (name != alternates || !namesOnlyLentObjects(path, objects, private)) {
			return errors.New(what)
		}
	}
	if !isGitDir(git, private) { // git would search further up
		return errors.New(".git is not a repository")
	}
	text, ok := readConfig(filepath.Join(git, "config"), private)
	if !ok {
		return errors.New("its configuration cannot be read")
	}
	return harmlessConfig(text)
}

// gitHead matches the beginning of a repository's HEAD.
var gitHead = lazyregexp.New(`^(ref: ?refs/|[0-9a-f]{40})`)

// isGitDir reports whether git treats a directory as a repository.
func isGitDir(git string, private *workspace.Private) bool {
	for _, name := range []string{"objects", "refs"} {
		if _, err := os.Stat(filepath.Join(git, name) + string(filepath.Separator) + "."); err != nil { // also if it may not be searched
			return false
		}
	}
	head, ok := readConfig(filepath.Join(git, "HEAD"), private)
	return ok && gitHead.MatchString(head)
}

var (
	gitSection = lazyregexp.New(`^\[\s*([A-Za-z0-9.-]+)(?:\s+"([^"\\]*)")?\s*\]$`)
	gitSetting = lazyregexp.New(`^([A-Za-z][A-Za-z0-9-]*)\s*(=[^\\]*)?$`)
)

// harmlessConfig returns an error that names the first setting in a
// repository's configuration that is not known to be harmless. A continued line
// counts as unknown.
func harmlessConfig(text string) error {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if m := gitSection.FindStringSubmatch(line); m != nil {
			if section = m[1]; m[2] != "" {
				section += "." + strings.NewReplacer("=", "-", ".", "-").Replace(m[2])
			}
			continue
		}
		m := gitSetting.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("its configuration contains %q", line)
		}
		key := section + "." + m[1]
		if !harmlessGitSettings.MatchString(key) || strings.EqualFold(section, "extensions") && strings.Contains(m[2], ":") { // references elsewhere
			return fmt.Errorf("its configuration sets %s", key)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// readConfig returns the text of a small regular file, "" if there is no such file.
func readConfig(path string, private *workspace.Private) (string, bool) {
	return readAtMost(path, 256<<10, private)
}

func readAtMost(path string, limit int64, private *workspace.Private) (string, bool) {
	f, err := private.Open(path)
	if os.IsNotExist(err) {
		return "", true
	}
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	return string(data), err == nil && int64(len(data)) <= limit
}
