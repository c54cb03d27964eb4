package policy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// gitHarmless are the settings of a repository that make git neither run a
// program, fetch, nor read another file. All others are asked about: git has
// hundreds, and each version has more.
var gitHarmless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(` +
		`core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|abbrev|quotepath|longpaths|protectntfs|protecthfs|sharedrepository|whitespace|commentchar|untrackedcache|preloadindex|multipackindex|commitgraph)` +
		`|extensions\.(objectformat|refstorage|compatobjectformat)` +
		`|remote\.[^=]+\.(url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|skipdefaultupdate|skipfetchall|followremotehead|gh-resolved)` +
		`|branch\.[^=]+\.(remote|merge|rebase|pushremote|description|vscode-merge-base|gh-merge-base|base)|branch\.(autosetupmerge|autosetuprebase|sort)` +
		`|user\.(name|email|useconfigonly)|(author|committer)\.(name|email)` +
		`|(pull|push|fetch|init|rerere|advice|color|column|gc|maintenance|tag|rebase|status|clone|feature|index|pack|transfer|receive|stash|commit|checkout)\.(default|defaultbranch|ff|rebase|prune|prunetags|enabled|auto|autoupdate|autosetupremote|followtags|autosquash|autostash|sort|short|branch|showuntrackedfiles|status|ui|diff|detachedhead|strategy|fsckobjects|updaterefs|verbose|version|threads|gpgsign|guess|manyfiles)` +
		`|merge\.(conflictstyle|ff|renames|renamelimit|stat|log)|diff\.(renames|renamelimit|algorithm|colormoved|mnemonicprefix|noprefix|context|wordregex|indentheuristic|statgraphwidth)` +
		`|log\.(date|decorate|abbrevcommit|follow)|lfs\.[^=]*(repositoryformatversion|access|locksverify)|submodule\.(recurse|fetchjobs)` +
		`)$`)
})

// gitRunsNothing returns why git, asked in one of these directories what it
// knows, may start a program of the repository's choice or read what belongs to
// another one. A repository's settings are not part of a clone, but whatever
// unpacked or wrote this directory may have made them. The user's own
// configuration is the user's.
func gitRunsNothing(dirs []string, private *workspace.Private) error {
	if len(dirs) == 0 {
		return errors.New("its directory is not known")
	}
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir) // git goes up from where the directory really is
		if err != nil && !os.IsNotExist(err) {
			return errors.New("its directory cannot be followed")
		}
		if err != nil {
			real = dir
		}
		if err := repository(real, private); err != nil {
			return err
		}
	}
	return nil
}

// repository looks at the repository that dir is in.
func repository(dir string, private *workspace.Private) error {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Lstat(git); err == nil {
			if !info.IsDir() { // of a worktree or a submodule
				return errors.New("the repository is elsewhere")
			}
			return ownRepository(git, private)
		}
		if exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) {
			return errors.New("it is a repository without files")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// gitParts are the parts of a repository that must be its own.
var gitParts = []string{"HEAD", "config", "index", "objects", "objects/info", "objects/pack", "refs", "packed-refs", "logs", "info", "shallow"}

func ownRepository(git string, private *workspace.Private) error {
	for _, name := range gitParts {
		if info, err := os.Lstat(filepath.Join(git, name)); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf(".git/%s is a link", name)
		}
	}
	for name, what := range map[string]string{
		"modules": "it has submodules", "commondir": "its settings are elsewhere", "config.worktree": "its settings are elsewhere",
		"objects/info/alternates": "it reads the objects of another repository", "objects/info/http-alternates": "it reads the objects of another repository",
	} {
		if exists(filepath.Join(git, name)) {
			return errors.New(what)
		}
	}
	if !exists(filepath.Join(git, "HEAD")) { // git would go on up
		return errors.New(".git is no repository")
	}
	text, ok := readConfig(filepath.Join(git, "config"), private)
	if !ok {
		return errors.New("its settings cannot be read")
	}
	return harmlessConfig(text)
}

var (
	gitSection = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[\s*([A-Za-z0-9.-]+)(?:\s+"([^"\\]*)")?\s*\]$`)
	})
	gitSetting = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)\s*(=[^\\]*)?$`) })
)

// harmlessConfig returns the first line of a repository's configuration that is
// not known to be harmless. Lines that go on in the next one are not.
func harmlessConfig(text string) error {
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if m := gitSection().FindStringSubmatch(line); m != nil {
			if section = m[1]; m[2] != "" {
				section += "." + strings.NewReplacer("=", "-", ".", "-").Replace(m[2])
			}
			continue
		}
		m := gitSetting().FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("its settings have %q", line)
		}
		if key := section + "." + m[1]; !gitHarmless().MatchString(key) {
			return fmt.Errorf("it sets %s", key)
		}
	}
	return nil
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
