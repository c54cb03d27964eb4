package policy

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/plain"
)

// ignoreFiles are files that ripgrep reads in the directories above those that it
// searches. It prints the lines that it cannot parse.
var ignoreFiles = []string{".gitignore", ".ignore", ".rgignore", ".git/info/exclude"}

// ignoresStay returns an error if one of the ignore files above the files of a script
// leads outside of the session's directories.
func (p ruling) ignoresStay(c *plain.Command, form *plain.Form) error {
	places, t := slices.Clone(c.Dirs), follow.Trail{Lstat: p.now.Lstat}
	for _, f := range form.Files {
		path := pathOf(f)
		places = slices.Concat(append(follow.Targets(path, &t), places, path.Abs)...)
	}
	seen := map[string]bool{}
	for _, place := range places {
		for dir := range upwards(place) {
			if _, err := p.Roots.Resolve(dir); err != nil || seen[dir] { // the user's own, or known
				break
			}
			seen[dir] = true
			for _, name := range ignoreFiles {
				if path := filepath.Join(dir, name); exists(path) {
					if _, err := p.Roots.Resolve(path); err != nil {
						return fmt.Errorf("rg may show lines of a linked file: %w", err)
					}
				}
			}
		}
	}
	return nil
}
