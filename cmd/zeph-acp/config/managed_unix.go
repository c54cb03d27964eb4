//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// ManagedPath returns the path of the managed file on this system. It does not depend
// on the environment, which users can set.
func ManagedPath() string {
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/zeph-acp/managed.toml"
	}
	return "/etc/zeph-acp/managed.toml"
}

// protected returns an error if anyone but root, or owner, can write the file.
func protected(f *os.File, owner string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkOwner("it", info, owner)
}

// protectedDir is protected for a directory.
func protectedDir(dir, owner string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return checkOwner("its directory "+dir, info, owner)
}

// checkOwner returns an error if another user than root, or owner, owns the file or can write
// it. Others may write a directory with the sticky bit, where they cannot replace files.
func checkOwner(name string, info fs.FileInfo, owner string) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("the owner of %s is unknown", info.Name())
	}
	if uid := strconv.FormatUint(uint64(stat.Uid), 10); uid != "0" && uid != owner {
		return fmt.Errorf("%s belongs to the user %s: only root may own it", name, uid)
	}
	shared := info.IsDir() && info.Mode()&fs.ModeSticky != 0
	if info.Mode().Perm()&0o022 != 0 && !shared {
		return fmt.Errorf("%s is writable by other users than root (mode %04o)", name, info.Mode().Perm())
	}
	return nil
}
