package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.file]: the directories in which the file tools work,
// and the limits of one call.
type Config struct {
	// AllowedPaths are further directories in which the file tools may work.
	// They are absolute or begin with "~/"; "." is the session's own and adds
	// nothing. A directory that does not exist is left out with a warning.
	// Default empty.
	AllowedPaths []string `toml:"allowed_paths"`
	// DenyRead are globs of files that no tool may read, list, search, move or
	// copy, as [workspace.ReadRules] matches them. Default empty.
	DenyRead []string `toml:"deny_read"`
	// AllowRead are globs of all files that may be read, even outside of the
	// session's directories; DenyRead still wins. Default empty: all in the
	// session's directories and AllowedPaths, nothing outside.
	AllowRead []string `toml:"allow_read"`
	// MaxReadLines is how many lines one read returns at most. Default 2000; 0
	// is refused.
	MaxReadLines int `toml:"max_read_lines"`
	// MaxReadChars is how many characters one read or grep returns at most.
	// Default 50000; less than 1000 is refused, since the notes need room.
	MaxReadChars int `toml:"max_read_chars"`
	// MaxFileBytes is the size of the largest file that is read into memory,
	// to be edited or searched; read pages through larger ones. Default
	// 10485760 (10 MiB); 0 is refused.
	MaxFileBytes int `toml:"max_file_bytes"`
	// MaxResults is how many paths find_path returns at most. Default 200; 0 is
	// refused.
	MaxResults int `toml:"max_results"`
	// MaxEntries is how many names list_directory returns at most. Default
	// 1000; 0 is refused.
	MaxEntries int `toml:"max_entries"`
	// MaxMatches is how many matching lines grep returns at most. Default 100;
	// 0 is refused.
	MaxMatches int `toml:"max_matches"`
	// RespectIgnore leaves files that .gitignore, .ignore, .git/info/exclude or
	// git's core.excludesFile names out of find_path, grep and search_code. A call can include
	// them with include_ignored. Default true.
	RespectIgnore bool `toml:"respect_ignore"`
	// MaxCopyEntries is how many files and directories copy_path, and move_path
	// from one device to another, copy at most. Default 100000; 0 is refused.
	MaxCopyEntries int `toml:"max_copy_entries"`
	// MaxCopyBytes is how many bytes they copy at most. Default 1073741824
	// (1 GiB); 0 is refused.
	MaxCopyBytes int `toml:"max_copy_bytes"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		MaxReadLines: 2000,
		MaxReadChars: 50_000,
		MaxFileBytes: 10 << 20,
		MaxResults:   200,
		MaxEntries:   1000,
		MaxMatches:   100,

		RespectIgnore: true,

		MaxCopyEntries: 100_000,
		MaxCopyBytes:   1 << 30,
	}
}

// limitKey is one numeric setting with its smallest value.
type limitKey struct {
	name  string
	least int
	value *int
}

func (c *Config) keys() []limitKey {
	return []limitKey{
		{"max_read_lines", 1, &c.MaxReadLines},
		{"max_read_chars", 1000, &c.MaxReadChars},
		{"max_file_bytes", 1, &c.MaxFileBytes},
		{"max_results", 1, &c.MaxResults},
		{"max_entries", 1, &c.MaxEntries},
		{"max_matches", 1, &c.MaxMatches},
		{"max_copy_entries", 1, &c.MaxCopyEntries},
		{"max_copy_bytes", 1, &c.MaxCopyBytes},
	}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for _, k := range c.keys() {
		if *k.value < k.least {
			wrong[k.name] = fmt.Sprintf("must be at least %d, is %d", k.least, *k.value)
		}
	}
	for _, path := range c.AllowedPaths {
		if !filepath.IsAbs(path) && path != "~" && !strings.HasPrefix(path, "~/") && !isDot(path) {
			wrong["allowed_paths"] = fmt.Sprintf("%q is neither absolute nor begins with ~/", path)
		}
	}
	check := func(key string, patterns []string) {
		for _, pattern := range patterns {
			if err := workspace.CheckPattern(pattern); err != nil {
				wrong[key] = err.Error()
			}
		}
	}
	check("deny_read", c.DenyRead)
	check("allow_read", c.AllowRead)
	return wrong
}

// isDot reports whether dir is the session's own directory: ".", however written.
func isDot(dir string) bool { return dir != "" && filepath.Clean(dir) == "." }

// Tighten adopts the lower limits and the deny_read of a repository's file.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	if keys.Has("deny_read") {
		valid := slices.DeleteFunc(slices.Clone(repo.DenyRead), func(pattern string) bool { return workspace.CheckPattern(pattern) != nil })
		c.DenyRead = slices.Concat(c.DenyRead, valid)
		if len(valid) < len(repo.DenyRead) {
			keys.Ignore("deny_read")
		}
	}
	theirs := repo.keys()
	for i, ours := range c.keys() {
		v := *theirs[i].value
		keys.Adopt(ours.name, v >= ours.least && v <= *ours.value, func() { *ours.value = v })
	}
	return c
}

// Roots returns the roots in which the file tools of a session work: the session's
// own and allowed_paths, with the rules for reading. The warnings name the
// directories of allowed_paths that are left out.
func (c Config) Roots(session *workspace.Roots) (roots *workspace.Roots, warnings []string, err error) {
	roots = session
	for _, path := range c.AllowedPaths {
		if isDot(path) {
			continue
		}
		dir := path
		if rest, ok := strings.CutPrefix(path, "~"); ok {
			home, err := os.UserHomeDir()
			if err != nil {
				return nil, nil, fmt.Errorf("allowed_paths: %s: %w", path, err)
			}
			dir = filepath.Join(home, rest)
		}
		more, err := roots.With(dir)
		if err != nil {
			why := err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				why = "it does not exist"
			}
			warnings = append(warnings, fmt.Sprintf("tools.file.allowed_paths: %s is left out: %s", path, why))
			continue
		}
		roots = more
	}
	roots, err = roots.Reading(workspace.ReadRules{Deny: c.DenyRead, Allow: c.AllowRead})
	return roots, warnings, err
}
