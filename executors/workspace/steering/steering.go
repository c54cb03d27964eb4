// Package steering knows the files of a project that have an effect without being run or
// read by the user: version control and this agent obey them, other programs start
// programs from them, or agents take them for instructions.
//
// Start with [Of]. It checks a path by its names alone, in any spelling that a file
// system takes for the same name. It opens no file and follows no link: callers resolve
// links first.
package steering

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what a file steers. The zero value is nothing.
type Kind int

const (
	// Nothing: the file has no effect until somebody uses it.
	Nothing Kind = iota
	// Control files belong to version control or to this agent.
	Control
	// Programs are started from the file by editors, shells, hooks, package managers, build services
	// and other agents, when a person opens or enters the project or works in it as usual.
	Programs
	// Instructions are read by agents.
	Instructions
)

// Of returns what the file with the path rel steers. rel is relative to a root of the
// session. dir means that rel is a directory, or may become one: a directory steers if
// files in it would. Every directory at the top whose name begins with a dot steers, unless
// it is known to be harmless: such names belong to tools.
func Of(rel string, dir bool) Kind {
	names := split(rel)
	if len(names) == 0 {
		return Nothing
	}
	if slices.ContainsFunc(names, isControl) {
		return Control
	}
	last := names[len(names)-1]
	switch {
	case matchesAny(instructionFiles(), last), slices.ContainsFunc(names, in(instructionDirs)), matchesPath(instructionPaths, names, dir):
		return Instructions
	case matchesAny(programFiles(), last), slices.ContainsFunc(names, in(programDirs())), matchesPath(programPaths, names, dir), inShort(names):
		return Programs
	case strings.HasPrefix(names[0], ".") && (dir || len(names) > 1) && !slices.Contains(harmlessDirs(), names[0]) && !matchesPath(harmlessPaths, names, false):
		return Programs
	}
	return Nothing
}

// split returns the names of a path in one plain form, without "." and what a ".." undoes.
func split(rel string) []string {
	var names []string
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		switch name := fold(part); {
		case part == "..":
			names = names[:max(0, len(names)-1)]
		case name != "":
			names = append(names, name)
		}
	}
	return names
}

// fold returns the form of a name in which names that some file system takes for equal are
// equal. It is empty for ".".
func fold(name string) string {
	name, _, _ = strings.Cut(strings.Map(dropIgnored, name), ":") // ".git::$INDEX_ALLOCATION"
	name = strings.TrimRight(name, ". ")
	return strings.ToLower(strings.ToUpper(name)) // "ſ" is an s
}

// dropIgnored removes the characters that HFS+ ignores in names.
func dropIgnored(c rune) rune {
	if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
		return -1
	}
	return c
}

func isControl(name string) bool {
	return slices.Contains(controlDirs, name) || slices.ContainsFunc(controlDirs, func(dir string) bool { return isShort(name, dir) })
}

// inShort reports whether a name is the short form that Windows gives a directory of a table.
func inShort(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		if !strings.Contains(name, "~") {
			return false
		}
		short := func(dir string) bool { return isShort(name, dir) }
		return slices.ContainsFunc(programDirs(), short) || slices.ContainsFunc(instructionDirs, short)
	})
}

// isShort reports whether name, such as "git~1", may be the 8.3 name of ".git".
func isShort(name, long string) bool {
	stem, n, ok := strings.Cut(name, "~")
	long = strings.ReplaceAll(strings.TrimLeft(long, "."), ".", "")
	return ok && stem != "" && n != "" && strings.Trim(n, "0123456789") == "" && strings.HasPrefix(long, stem) &&
		(len(stem) == len(long) || len(stem)+len(n) >= 6)
}

func in(list []string) func(string) bool {
	return func(name string) bool { return slices.Contains(list, name) }
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok || err != nil
	})
}

// matchesPath reports whether a pattern of several names matches successive names of the path. A pattern
// that begins with "/" matches from the top only. With dir the path may also end within a pattern.
func matchesPath(patterns []string, names []string, dir bool) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		top := strings.HasPrefix(p, "/")
		want := strings.Split(strings.Trim(p, "/"), "/")
		for i := range names {
			if matchesNames(want, names[i:], dir) {
				return true
			}
			if top {
				break
			}
		}
		return false
	})
}

func matchesNames(want, names []string, dir bool) bool {
	for i, p := range want {
		if i == len(names) {
			return dir && i > 0
		}
		if ok, err := path.Match(p, names[i]); !ok && err == nil {
			return false
		}
	}
	return true
}
