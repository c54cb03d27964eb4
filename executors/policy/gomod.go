package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// goLocal matches the directories that a go.mod or go.work names.
var goLocal = lazyregexp.New("(?m)(?:=>|^\\s*use|^)[\\s(]*[\"`]?((?:\\.|/)[^\\s\"`]*)")

// goEscape matches a name with an escape in it, such as "\x2e./a".
var goEscape = lazyregexp.New(`"[^"\n]*\\`)

// goStays returns an error if a read-only go command in one of these
// directories may read sources outside the roots: a module file there names a
// directory elsewhere.
func goStays(dirs []string, roots Workspace, private *workspace.Private) error {
	for _, dir := range dirs {
		for dir := range upwards(dir) {
			for _, name := range []string{"go.work", "go.mod", "vendor"} {
				if err := goFileStays(filepath.Join(dir, name), roots, private); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func goFileStays(path string, roots Workspace, private *workspace.Private) error {
	if !exists(path) {
		return nil
	}
	if filepath.Base(path) == "vendor" {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link", path)
		}
		return nil
	}
	text, ok := readConfig(path, private)
	if !ok {
		return fmt.Errorf("%s cannot be read", path)
	}
	if goEscape.MatchString(text) {
		return fmt.Errorf("%s has a name with an escape in it", path)
	}
	for _, m := range goLocal.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "//") { // a comment
			continue
		}
		target := m[1]
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		if _, err := roots.Resolve(target); err != nil {
			return fmt.Errorf("%s names %s, outside the session's directories", filepath.Base(path), m[1])
		}
		if filepath.Base(path) == "go.work" { // the replacements of its modules count too
			if err := goFileStays(filepath.Join(target, "go.mod"), roots, private); err != nil {
				return err
			}
		}
	}
	return nil
}
