package target

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace/named"
)

// Limits on the files of a foreign tool's input that are looked up.
const (
	maxForeign  = 2048
	maxExpanded = 8 // paths with wildcards
)

// foreign adds the files and commands that any string of a foreign tool's input may mean. They
// can only lead to a deny.
func (t *Targets) foreign(call *executors.Call, s Session) {
	dirs := append([]string{s.Cwd}, s.Roots...)
	var files Part
	files.DenyOnly = true
	expanded := 0
	for i, path := range named.Files(call.Input, named.Session{Dirs: dirs, Home: s.Home}) {
		f := File{Names: []string{path}}
		if _, err := os.Lstat(path); err == nil && i < maxForeign {
			f = fileNamed(path, s)
		} else if strings.ContainsAny(path, "*?[") && expanded < maxExpanded {
			expanded++
			f.Names = append(f.Names, named.Expand(path)...)
		}
		files.Files = append(files.Files, f)
	}
	t.Parts = append(t.Parts, files)
	for _, c := range named.Commands(call.Input) {
		inner := Targets{}
		dir := s.Cwd
		if c.Dir != "" {
			dir = filepath.Clean(absolute(c.Dir, s))
		}
		inner.script(executors.Card{Command: c.Text, Dir: dir}, s)
		for _, p := range inner.Parts {
			p.DenyOnly = true
			t.Parts = append(t.Parts, p)
		}
	}
}
