package process

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// MaxTime is how long a confined program may run if nothing else is configured.
const MaxTime = 10 * time.Minute

// Restriction takes rights from the calling thread and the programs that it starts. They can
// only write below the directory temp. killAll kills all these programs, wherever they are; it is
// nil if the system cannot do that. It must be called on the same thread.
type Restriction func(temp string) (killAll func(), err error)

// Confined returns a copy of the program that runs confined and [Program.Bounded].
func (prog Program) Confined(restrict Restriction) (Program, error) {
	prog, temp, err := prog.Bounded()
	if err != nil {
		return prog, err
	}
	var killAll func()
	prog.Confine = func() (err error) {
		if killAll, err = restrict(temp); err != nil {
			return fmt.Errorf("confine the command: %w", err)
		}
		return nil
	}
	prog.AfterEnd = func() {
		if killAll != nil {
			killAll()
		}
	}
	return prog, nil
}

// Bounded returns a copy of the program that is [Program.Limited] and has a temporary directory of its
// own, whose path without links is temp.
func (prog Program) Bounded() (_ Program, temp string, err error) {
	if temp, err = os.MkdirTemp("", "zeph-acp-"); err != nil {
		return prog, "", err
	}
	prog.Temp, prog.MaxTemp = temp, MaxTempBytes
	if real, err := filepath.EvalSymlinks(temp); err == nil {
		temp = real
	}
	prog.Env = append(slices.Clip(prog.Env), "TMPDIR="+temp)
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" && !exists(filepath.Join(cache, "go-build")) {
		prog.Env = append(prog.Env, "GOCACHE="+filepath.Join(temp, "go-build")) // the go command fails without a cache
	}
	return prog.Limited(), temp, nil
}

// TempExceeded and TimeExceeded are the last line, after the name of this program, of the output
// of a program that exceeded a limit. They are in lower case.
const (
	TempExceeded = "stopped: its temporary files are too large"
	TimeExceeded = "stopped: it ran for too long"
)

// MaxTempBytes is the limit for the temporary files of a confined program, and for each
// file that it writes. It suffices to sort a large log; /tmp is often in memory.
const MaxTempBytes = 1 << 30

// tempInterval is the interval at which the temporary files of a program are measured.
const tempInterval = 250 * time.Millisecond

// entryBytes is the space that a file or directory needs besides its content.
const entryBytes = 4 << 10

// tempExceeds reports whether the temporary files of the program need more than its limit. Files
// that it has removed but holds open count too.
func (p *Process) tempExceeds() bool {
	return exceeds(p.temp, p.maxTemp-removedBytes(p.cmd.Process.Pid, p.temp))
}

// exceeds reports whether the files below a directory need more than limit bytes.
func exceeds(dir string, limit int64) bool {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return nil
		}
		limit -= entryBytes
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			limit -= info.Size()
		}
		if limit < 0 {
			return fs.SkipAll
		}
		return nil
	})
	return limit < 0
}

// endFirst makes the kernel kill a program, and those that it will start, before all
// others if the machine runs out of memory. The thread that starts a confined program
// cannot do so.
func endFirst(pid int) {
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte("1000"), 0)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
