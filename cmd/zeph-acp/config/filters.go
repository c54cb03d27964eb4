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

// FiltersFile returns the path of the user's filter rules; empty if there is no
// home directory.
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
	if abs, err := filepath.Abs(path); err == nil { // without a working directory the path stays relative
		return abs
	}
	return path
}

// FilterRules reads the rules. It warns of a configured file that does not
// exist; the default file is optional.
func (l *Loaded) FilterRules() (*filter.Filter, []string) {
	file := l.FiltersFile()
	rules, warnings := filter.New(file)
	if _, err := os.Stat(file); l.Config.Tools.Filters.FiltersPath != "" && errors.Is(err, fs.ErrNotExist) {
		where := toml.Mistake{Where: l.Origin("tools.filters.filters_path"), Key: "tools.filters.filters_path", Text: "there is no " + file}
		warnings = append(warnings, where.Error())
	}
	return rules, warnings
}

// checkFilters warns of rules that cannot be used.
func (l *Loaded) checkFilters() []string {
	_, warnings := l.FilterRules()
	return warnings
}
