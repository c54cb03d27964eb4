package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Paths are the directories that zeph-acp keeps its files in, absolute. A
// directory is empty if there is neither ZEPH_HOME nor a home directory: nothing
// is kept then. None of them needs to exist; see [MakeDir].
type Paths struct {
	Config string // config.toml, filters.toml, permissions.toml
	Data   string // zeph.db, skills/
	State  string // audit.jsonl
}

// FindPaths returns the directories by ZEPH_HOME, else by the XDG base directory
// specification: https://specifications.freedesktop.org/basedir-spec/latest/.
// It touches no file.
func FindPaths(getenv func(string) string) Paths {
	if home := getenv("ZEPH_HOME"); home != "" {
		// A relative directory is the working directory's of the process, which
		// a session's is not.
		abs, err := filepath.Abs(home)
		if err != nil {
			abs = filepath.Clean(home)
		}
		return Paths{Config: abs, Data: abs, State: abs}
	}
	home := HomeDir(getenv)
	dir := func(variable string, fallback ...string) string {
		// Relative ones are invalid, says the specification.
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

// ConfigFile is where the configuration is looked for unless a file is named;
// empty if there is no such place.
func (p Paths) ConfigFile() string {
	if p.Config == "" {
		return ""
	}
	return filepath.Join(p.Config, "config.toml")
}

// StoreFile is the name of the database in the data directory.
const StoreFile = "zeph.db"

// HasDatabase reports whether there is a database of sessions yet; using the
// Store would make one. One that cannot be examined counts: the Store reports why.
func (l *Loaded) HasDatabase() bool {
	if l.Paths.Data == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(l.Paths.Data, StoreFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// HomeDir is the user's home directory, empty if the environment names none.
func HomeDir(getenv func(string) string) string {
	for _, variable := range []string{"HOME", "USERPROFILE"} {
		if home := getenv(variable); filepath.IsAbs(home) {
			return filepath.Clean(home)
		}
	}
	return ""
}
