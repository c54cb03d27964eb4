package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/filter"
)

// FiltersFile is where the user's filter rules are; empty if there is no such
// place.
func (l *Loaded) FiltersFile() string {
	path := l.Config.Tools.Filters.FiltersPath
	if path == "" {
		if l.Paths.Config == "" {
			return ""
		}
		return filepath.Join(l.Paths.Config, "filters.toml")
	}
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok {
		if home := HomeDir(l.Getenv); home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	path = filepath.Join(filepath.Dir(cmp.Or(l.File, ".")), path)
	if abs, err := filepath.Abs(path); err == nil { // else the working directory is gone
		return abs
	}
	return path
}

// FilterRules reads the rules. A file that was named and is not there is worth a
// warning; the usual one need not be there.
func (l *Loaded) FilterRules() (*filter.Filter, []string) {
	file := l.FiltersFile()
	rules, warnings := filter.New(file)
	if _, err := os.Stat(file); l.Config.Tools.Filters.FiltersPath != "" && errors.Is(err, fs.ErrNotExist) {
		where := toml.Mistake{Where: l.Whence("tools.filters.filters_path"), Key: "tools.filters.filters_path", Text: "there is no " + file}
		warnings = append(warnings, where.Error())
	}
	return rules, warnings
}

// checkFilters warns of rules that cannot be used.
func (l *Loaded) checkFilters() []string {
	_, warnings := l.FilterRules()
	return warnings
}
