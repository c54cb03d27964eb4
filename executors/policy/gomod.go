package policy

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// goDirPattern matches the directories that a go.mod or go.work names.
var goDirPattern = lazyregexp.New("(?m)(?:=>|^\\s*use|^)[\\s(]*[\"`]?((?:\\.|/)[^\\s\"`]*)")

// goEscapePattern matches a name with an escape in it, such as "\x2e./a".
var goEscapePattern = lazyregexp.New(`"[^"\n]*\\`)

// checkGoFiles returns an error if a read-only go command in one of these directories may read
// files outside the roots: a module file there names a directory elsewhere, or a link leads there.
// Go may show text of all these files, at least in error messages.
func checkGoFiles(dirs []string, roots Workspace, private *workspace.Private) error {
	var local []string // directories with packages
	for _, dir := range dirs {
		module := ""
		for up := range upwards(dir) {
			for _, name := range []string{"go.work", "go.work.sum", "go.mod", "vendor"} {
				named, err := dirsInGoFile(filepath.Join(up, name), roots, private)
				if err != nil {
					return err
				}
				local = append(local, named...)
			}
			if _, err := roots.Resolve(up); err == nil && module == "" && exists(filepath.Join(up, "go.mod")) {
				module = up
			}
		}
		local = append(local, cmp.Or(module, dir))
	}
	if err := checkLinksStayInside(local, roots, "*.go", "go.*", "modules.txt", "*/"); err != nil {
		return fmt.Errorf("go may show text of a linked file: %w", err)
	}
	return nil
}

// dirsInGoFile returns the directories that a file of a module or a workspace names.
func dirsInGoFile(path string, roots Workspace, private *workspace.Private) (named []string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, nil
	}
	if info.Mode()&os.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s is a symbolic link", path)
	}
	if info.IsDir() || filepath.Ext(path) == ".sum" {
		return nil, nil
	}
	text, ok := readConfig(path, private)
	if !ok {
		return nil, fmt.Errorf("%s cannot be read", path)
	}
	if goEscapePattern.MatchString(text) {
		return nil, fmt.Errorf("%s has a name with an escape in it", path)
	}
	for _, m := range goDirPattern.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "//") { // a comment
			continue
		}
		target := m[1]
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		if _, err := roots.Resolve(target); err != nil {
			return nil, fmt.Errorf("%s names %s, outside the session's directories", filepath.Base(path), m[1])
		}
		named = append(named, target)
		if filepath.Base(path) == "go.work" { // the replacements of its modules count too
			more, err := dirsInGoFile(filepath.Join(target, "go.mod"), roots, private)
			if err != nil {
				return nil, err
			}
			named = append(named, more...)
		}
	}
	return named, nil
}
