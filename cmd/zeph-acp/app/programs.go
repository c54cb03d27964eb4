package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Programs returns the runner of the programs that zeph-acp starts for itself, such as git.
func Programs(cfg config.Config, reaper *process.Reaper) *program.Runner {
	b := &programBoxes{all: map[string]*sandbox.Box{}}
	return &program.Runner{Env: shell.Env(os.Environ(), localShell(cfg).Block), Confine: b.confine, Reaper: reaper}
}

// NetworkPrograms returns a runner like Programs does, for programs that need the network, which no box has.
func NetworkPrograms(cfg config.Config, reaper *process.Reaper) *program.Runner {
	return &program.Runner{Env: shell.Env(os.Environ(), localShell(cfg).Block), Reaper: reaper}
}

// programBoxes are the boxes of the programs that one Runner starts, by their directories.
type programBoxes struct {
	mu  sync.Mutex
	all map[string]*sandbox.Box
}

// confine returns a program as it runs in its box, unconfined where this system has none.
func (b *programBoxes) confine(p process.Program, read, write []string) (process.Program, error) {
	box, err := b.box(p.Dir, read, write)
	if box == nil || err != nil {
		return p, err
	}
	return box.Confined(p)
}

// box returns the box for programs in dir; nil if there is none on this system.
func (b *programBoxes) box(dir string, read, write []string) (*sandbox.Box, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(read)+len(write) > 0 {
		dir = "" // it lies in one of them
	}
	key := fmt.Sprintf("%q %q %q", dir, read, write)
	if box := b.all[key]; box != nil {
		return box, nil
	}
	var dirs []string
	for _, path := range slices.Concat(read, write) {
		switch info, err := os.Stat(path); {
		case err != nil: // the program reports it
		case info.IsDir():
			dirs = append(dirs, path)
		default:
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	if len(dirs) == 0 {
		dirs = []string{dir}
	}
	roots, err := workspace.New(dirs...)
	if err != nil {
		return nil, err
	}
	box := sandbox.NewBox(sandbox.Session{Roots: roots, Write: write, Home: config.HomeDir(os.Getenv), Getenv: os.Getenv})
	if box != nil {
		b.all[key] = box
	}
	return box, nil
}
