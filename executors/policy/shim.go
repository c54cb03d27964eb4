package policy

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// versionFiles are patterns of the files that select the versions of programs in a
// directory, for these version managers: asdf, mise, proto, Volta, and rbenv and its
// successors such as pyenv and goenv.
var versionFiles = []string{
	".tool-versions", ".*-version", ".nvmrc", ".prototools", "mise*.toml", ".mise*.toml", "mise/config*.toml", ".mise/config*.toml",
	".config/mise*.toml", ".config/mise/*.toml", ".config/mise/conf.d/*.toml",
	".volta/hooks.json", "package.json",
}

// checkVersionFiles returns an error if a file in one of the directories, or above it, may
// choose the program that runs by this name.
//
// A version manager puts a small program for each tool, a shim, into a
// directory of PATH. The shim looks for a file such as .tool-versions,
// and that may name a directory instead of a version: "nodejs path:./tools".
func (p permissionCheck) checkVersionFiles(name string, dirs []string) error {
	patterns := versionFilesOf(name)
	if patterns == nil {
		return nil
	}
	if len(dirs) == 0 {
		return fmt.Errorf("a version manager starts %s in an unknown directory", name)
	}
	for _, dir := range dirs {
		real, _ := filepath.EvalSymlinks(dir) // "" if there is none
		for _, dir := range []string{dir, real} {
			if file := p.choosingVersionFile(dir, patterns); file != "" {
				return fmt.Errorf("a version manager starts %s, and %s may name the file that runs", name, file)
			}
		}
	}
	return nil
}

// rustupFiles are files that select the toolchain of rustup for a directory.
// Rustup downloads the one that is missing.
var rustupFiles = []string{"rust-toolchain", "rust-toolchain.toml"}

// versionFilesOf returns the patterns of the files that may choose the program that runs
// by a name, nil if no version manager starts it.
func versionFilesOf(name string) []string {
	var patterns []string
	if base := filepath.Base(name); base == "cargo" || base == "rustc" {
		patterns = rustupFiles
	}
	if !inPath(name) || !slices.ContainsFunc(filepath.SplitList(os.Getenv("PATH")), isShimDir) {
		return patterns
	}
	if path, err := exec.LookPath(name); err != nil || !isShimDir(filepath.Dir(path)) {
		return patterns
	}
	return slices.Concat(patterns, versionFiles)
}

// isShimDir reports whether a directory has the name of one with shims: "shims", or that
// of Volta, with or without VOLTA_HOME.
func isShimDir(dir string) bool {
	name, above := strings.ToLower(filepath.Base(dir)), strings.ToLower(filepath.Base(filepath.Dir(dir)))
	return name == "shims" || name == "bin" && strings.Contains(above, "volta")
}

// choosingVersionFile returns the first version file in dir or above it that is not
// known to contain only versions. Those in the home directory are the user's own.
func (p permissionCheck) choosingVersionFile(dir string, patterns []string) string {
	for dir := range upwards(dir) {
		if dir == p.Home {
			continue
		}
		for _, pattern := range patterns {
			files, _ := fs.Glob(os.DirFS(dir), pattern) // the patterns are well formed
			for _, name := range files {
				file := filepath.Join(dir, name)
				if text, ok := readConfig(file, p.private()); !ok || !onlyVersions(name, text) {
					return file
				}
			}
		}
	}
	return ""
}

// onlyVersions reports whether a version file contains versions alone. The
// tasks of mise run only by its own command. A package.json names versions for Volta, or
// another package that has them, and that may have hooks.
func onlyVersions(name, text string) bool {
	if slices.Contains(rustupFiles, name) {
		return false
	}
	if name == "package.json" {
		var file struct {
			Volta struct{ Extends any }
		}
		return json.Unmarshal([]byte(text), &file) == nil && file.Volta.Extends == nil
	}
	if !strings.HasSuffix(name, ".toml") && name != ".prototools" {
		for line := range strings.Lines(text) {
			if line, _, _ = strings.Cut(line, "#"); slices.ContainsFunc(strings.Fields(line), func(word string) bool { return !isVersion(word) }) {
				return false
			}
		}
		return true
	}
	var settings map[string]any
	if toml.Unmarshal([]byte(text), &settings) != nil {
		return false
	}
	delete(settings, "tasks")
	if tools, ok := settings["tools"].(map[string]any); ok {
		delete(settings, "tools")
		if !areVersions(tools) {
			return false
		}
	}
	return areVersions(settings)
}

// areVersions reports whether each value is a version or a list of versions.
// The names must be plain, since "npm:a" is a package.
func areVersions(settings map[string]any) bool {
	for name, value := range settings {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		if !isVersion(name) || strings.Contains(name, ":") {
			return false
		}
		for _, v := range list {
			if s, ok := v.(string); !ok || !isVersion(s) {
				return false
			}
		}
	}
	return true
}

// isVersion reports whether text can be a version, such as "20", "latest:20" or
// "ref:4f1c", and not a path or a template.
func isVersion(text string) bool {
	return !strings.ContainsAny(text, `/\{`) && !strings.HasPrefix(text, "path:")
}
