package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Paths are the directories of zeph-acp's files, absolute. They are empty if
// neither ZEPH_HOME nor a home directory is set: no files are kept then. A
// directory need not exist; see [keys.MakeDir].
type Paths struct {
	Config string // config.toml, filters.toml, permissions.toml
	Data   string // zeph.db, skills/
	State  string // audit.jsonl
}

// FindPaths returns the directories from ZEPH_HOME, or else by the XDG base
// directory specification:
// https://specifications.freedesktop.org/basedir-spec/latest/. It accesses no
// file.
func FindPaths(getenv func(string) string) Paths {
	if home := getenv("ZEPH_HOME"); home != "" {
		// A relative path starts at the process's working directory, which differs
		// from the session's.
		abs, err := filepath.Abs(home)
		if err != nil {
			abs = filepath.Clean(home)
		}
		return Paths{Config: abs, Data: abs, State: abs}
	}
	home := HomeDir(getenv)
	dir := func(variable string, fallback ...string) string {
		// The specification declares relative paths invalid.
		if base := getenv(variable); filepath.IsAbs(base) {
			return filepath.Join(base, "zeph-acp")
		}
		if home == "" {
			return ""
		}
		return filepath.Join(append(append([]string{home}, fallback...), "zeph-acp")...)
	}
	return Paths{
		Config: dir("XDG_CONFIG_HOME", ".config"),
		Data:   dir("XDG_DATA_HOME", ".local", "share"),
		State:  dir("XDG_STATE_HOME", ".local", "state"),
	}
}

// configFile returns the default path of the configuration; empty if there is
// no home directory.
func (p Paths) configFile() string {
	if p.Config == "" {
		return ""
	}
	return filepath.Join(p.Config, "config.toml")
}

// StoreFile is the name of the database in the data directory.
const StoreFile = "zeph.db"

// HasDatabase reports whether a database of sessions exists; opening the Store
// would create one. It returns true for a path that cannot be examined, since
// the Store then reports the reason.
func (l *Loaded) HasDatabase() bool {
	if l.Paths.Data == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(l.Paths.Data, StoreFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// HomeDir returns the user's home directory; empty if the environment names
// none.
func HomeDir(getenv func(string) string) string {
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		if home := getenv(variable); filepath.IsAbs(home) {
			return filepath.Clean(home)
		}
	}
	return ""
}
