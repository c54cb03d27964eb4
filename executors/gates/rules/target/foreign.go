package target

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/workspace/named"
)

// foreign adds the files and commands that any string of a foreign tool's input may mean. They
// can only lead to a deny.
func (t *Targets) foreign(call *executors.Call, s Session) {
	dirs := append([]string{s.Cwd}, s.Roots...)
	var files Part
	files.DenyOnly = true
	found := named.Find(call.Input, named.Session{Dirs: dirs, Home: s.Home})
	found.Expand()
	for _, path := range found.Paths {
		f := File{Names: []string{path}}
		if _, err := os.Lstat(path); err == nil {
			f = fileNamed(path, s)
		}
		files.Files = append(files.Files, f)
	}
	t.Parts = append(t.Parts, files)
	commands, complete := named.Commands(call.Input)
	if found.Incomplete || !complete {
		t.Unknown = cmp.Or(t.Unknown, "its input is too large to be searched")
	}
	for _, c := range commands {
		inner := Targets{}
		dir := s.Cwd
		if c.Dir != "" {
			dir = filepath.Clean(absolute(c.Dir, s))
		}
		inner.script(command.Parse(c.Text, command.Shell{Dir: dir, Home: s.Home}), s)
		for _, p := range inner.Parts {
			p.DenyOnly = true
			t.Parts = append(t.Parts, p)
		}
	}
}
