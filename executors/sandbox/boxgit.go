package sandbox

import (
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// maxGitFiles bounds the files that git's settings include.
const maxGitFiles = 20

// gitWalk finds what git needs outside the session's directories: the user's settings, and the
// repository of a session in a subdirectory or a linked worktree.
type gitWalk struct {
	home       string // may be empty
	getenv     func(string) string
	file       func(path string) (text string) // grants a file of settings; "" if it does not
	repository func(dir string)                // grants the data of a repository
	stamp      func(path string)               // records a file that is read
}

// settings finds the user's settings.
func (w gitWalk) settings() {
	home, config := w.home, w.getenv("XDG_CONFIG_HOME")
	var files []string
	if path := w.getenv("GIT_CONFIG_GLOBAL"); path != "" {
		files = append(files, path)
	} else if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	if config == "" && home != "" {
		config = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(config) {
		for _, name := range []string{"git/config", "git/ignore", "git/attributes"} {
			files = append(files, filepath.Join(config, filepath.FromSlash(name)))
		}
	}
	for n := 0; len(files) > 0 && n < maxGitFiles; n++ {
		file := files[0]
		files = files[1:]
		if filepath.IsAbs(file) {
			files = append(files, namedFiles(file, w.file(file), home)...)
		}
	}
}

// namedSetting matches a setting of git whose value is the path of a file.
var namedSetting = lazyregexp.New(`(?im)^\s*(?:path|excludesfile|attributesfile|file|ignorerevsfile|allowedsignersfile)\s*=\s*"?([^"\n]+?)"?\s*$`)

// namedFiles returns the files that a file of git's settings names.
func namedFiles(file, text, home string) (all []string) {
	for _, m := range namedSetting.FindAllStringSubmatch(text, -1) {
		path := expandHome(m[1], home)
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		all = append(all, path)
	}
	return all
}

// around finds the data of the repository to which root belongs, if it lies outside. A
// repository that encloses the home directory is not one of a project.
func (w gitWalk) around(root string) {
	for dir := root; ; dir = filepath.Dir(dir) {
		if dir != root && (w.home != "" && workspace.Within(dir, w.home) || dir == "/") {
			return
		}
		dotGit := filepath.Join(dir, ".git")
		info, err := os.Lstat(dotGit)
		switch {
		case err != nil:
			if dir == "/" {
				return
			}
			continue
		case info.IsDir() && dir != root:
			w.repository(dotGit)
		case info.Mode().IsRegular():
			w.stamp(dotGit)
			w.repository(workspace.LinkedRepository(dir))
		}
		for at := root; at != dir; {
			at = filepath.Dir(at)
			for _, name := range []string{".gitignore", ".gitattributes", ".ignore", ".rgignore", ".fdignore"} {
				w.file(filepath.Join(at, name))
			}
		}
		return
	}
}

// maxConfigFile is the size of the largest configuration file, in bytes.
const maxConfigFile = 1 << 20

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
