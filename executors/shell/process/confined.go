package process

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Confined returns a copy of the program that runs read-only, with a temporary
// directory of its own. restrict removes the right to write from the calling
// thread and the programs that it starts, except below the directory temp.
func (prog Program) Confined(restrict func(temp string) error) (Program, error) {
	temp, err := os.MkdirTemp("", "zeph-acp-")
	if err != nil {
		return prog, err
	}
	prog.Temp = temp
	if real, err := filepath.EvalSymlinks(temp); err == nil {
		temp = real
	}
	prog.Env = append(slices.Clip(prog.Env), "TMPDIR="+temp)
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" && !exists(filepath.Join(cache, "go-build")) {
		prog.Env = append(prog.Env, "GOCACHE="+filepath.Join(temp, "go-build")) // the go command fails without a cache
	}
	prog.Confine = func() error {
		if err := restrict(temp); err != nil {
			return fmt.Errorf("make the command read-only: %w", err)
		}
		return nil
	}
	return prog, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
