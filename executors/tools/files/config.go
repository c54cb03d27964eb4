package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Config is the table [tools.file]: the directories in which the file tools work,
// and the limits of one call.
type Config struct {
	MaxReadLines int `toml:"max_read_lines" default:"2000" range:"1.." tighten:"lower" unit:"lines" doc:"per read"`
	executors.OutputLimit
	// MaxFileBytes limits what is read into memory; read pages through larger files.
	MaxFileBytes int `toml:"max_file_bytes" default:"10MiB" range:"1.." tighten:"lower" unit:"bytes" doc:"of the largest file to edit or search"`
	MaxResults   int `toml:"max_results" default:"200" range:"1.." tighten:"lower" unit:"paths" doc:"per find_path"`
	MaxEntries   int `toml:"max_entries" default:"1000" range:"1.." tighten:"lower" unit:"names" doc:"per list_directory"`
	MaxMatches   int `toml:"max_matches" default:"100" range:"1.." tighten:"lower" unit:"lines" doc:"per grep"`
	// MaxCopyEntries also limit move_path from one device to another.
	MaxCopyEntries int `toml:"max_copy_entries" default:"100000" range:"1.." tighten:"lower" unit:"files and directories" doc:"per copy"`
	MaxCopyBytes   int `toml:"max_copy_bytes" default:"1GiB" range:"1.." tighten:"lower" unit:"bytes" doc:"per copy"`
	// RespectIgnore also heeds .git/info/exclude and git's core.excludesFile. A call can
	// include the files with include_ignored.
	RespectIgnore bool `toml:"respect_ignore" default:"true" doc:"find_path, grep and search_code leave out files named in .gitignore and .ignore"`
	// AllowedPaths may hold ".", which is the session's own directory and adds nothing.
	AllowedPaths []string `toml:"allowed_paths" format:"directory" doc:"more directories that the file tools may use, absolute or ~/"`
	// DenyRead and AllowRead match as [workspace.ReadRules] do. DenyRead wins.
	DenyRead  []string `toml:"deny_read" tighten:"add" doc:"globs of files that no tool may read: **/.env, *.pem, secrets/; see files.md"`
	AllowRead []string `toml:"allow_read" zero:"the workspace" doc:"globs of all files that may be read, also outside the workspace"`
}

// pageChars is the number of characters of a page without its note, which has at most noteRoom.
func (c Config) pageChars() int { return c.MaxOutputChars - min(noteRoom, c.MaxOutputChars/4) }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for key, patterns := range map[string][]string{"deny_read": c.DenyRead, "allow_read": c.AllowRead} {
		for i, pattern := range patterns {
			if err := workspace.CheckPattern(pattern); err != nil {
				wrong[fmt.Sprintf("%s[%d]", key, i)] = err.Error()
			}
		}
	}
	return wrong
}

// isDot reports whether dir is the session's own directory: ".", however written.
func isDot(dir string) bool { return dir != "" && filepath.Clean(dir) == "." }

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
