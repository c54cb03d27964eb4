package workspace

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// On Windows some paths have a special meaning. A stat of \\host\share signs in to that
// machine, COM1 is a device in every directory, and one file has several names. The
// functions here check a path by its text alone, before any stat. They apply the rules of
// Windows on every system, so that tests can run anywhere.

// windowsReach returns why an absolute Windows path must not be examined, even by a stat:
// it leads to another machine, or to a device. It returns "" for other paths and for the
// shares of dirs.
func windowsReach(path string, dirs []string) string {
	names, shared := belowWindowsDir(path, dirs)
	volume, rest := windowsVolume(path)
	switch {
	case shared:
	case strings.HasPrefix(volume, `\\?`), strings.HasPrefix(volume, `\\.`), strings.HasPrefix(volume, `\??`):
		return "it names a device"
	case strings.HasPrefix(volume, `\\`) && !slices.ContainsFunc(dirs, func(dir string) bool {
		share, _ := windowsVolume(dir)
		return strings.EqualFold(share, volume)
	}):
		return "it leads to another machine"
	default:
		names = rest
	}
	for name := range strings.SplitSeq(names, `\`) {
		base, _, _ := strings.Cut(name, ".")
		base, _, _ = strings.Cut(base, ":")
		if windowsDevice.MatchString(strings.TrimRight(base, " ")) {
			return "it names a device"
		}
	}
	return ""
}

// windowsAlias returns why an absolute Windows path may be an alias of a file that rules
// name differently. It returns "" for other paths. The names of dirs and above them do
// not count.
func windowsAlias(path string, dirs []string) string {
	names, shared := belowWindowsDir(path, dirs)
	if !shared {
		_, names = windowsVolume(path)
	}
	for name := range strings.SplitSeq(names, `\`) {
		switch {
		case name == "." || name == "..":
		case strings.Contains(name, ":"):
			return "it names a stream of a file"
		case strings.TrimRight(name, ". ") != name:
			return "it ends in a dot or a space, which Windows ignores"
		case len(name) <= len("ABCDEF~1.TXT") && windowsShortName.MatchString(name):
			return "it is a short name of another file"
		}
	}
	return ""
}

var (
	windowsDevice    = lazyregexp.New(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])$`)
	windowsShortName = lazyregexp.New(`^[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)
)

// belowWindowsDir returns the names of a path below one of dirs, and whether it is in one.
func belowWindowsDir(path string, dirs []string) (names string, ok bool) {
	path = strings.ReplaceAll(path, "/", `\`)
	for _, dir := range dirs {
		dir = strings.TrimRight(strings.ReplaceAll(dir, "/", `\`), `\`)
		if n := len(dir); n <= len(path) && strings.EqualFold(path[:n], dir) && (n == len(path) || path[n] == '\\') {
			if rest := path[n:]; !ok || len(rest) < len(names) {
				names, ok = rest, true
			}
		}
	}
	return names, ok
}

// windowsVolume splits an absolute path of Windows into its volume, with backslashes, and the rest.
// The volume of a path to a device is its beginning.
func windowsVolume(path string) (volume, rest string) {
	path = strings.ReplaceAll(path, "/", `\`)
	switch {
	case strings.HasPrefix(path, `\\?`), strings.HasPrefix(path, `\\.`), strings.HasPrefix(path, `\??`):
		return path[:3], path[3:]
	case strings.HasPrefix(path, `\\`):
		host, rest, _ := strings.Cut(path[2:], `\`)
		share, rest, _ := strings.Cut(rest, `\`)
		return `\\` + host + `\` + share, rest
	case len(path) >= 2 && path[1] == ':':
		return path[:2], path[2:]
	}
	return "", path
}

// checkWindowsPath returns an error if an absolute Windows path leads to another machine or to
// a device, or may be an alias of a file. On other systems it returns nil.
func (r *Roots) checkWindowsPath(abs, given string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	dirs := slices.Concat(r.given, r.dirs)
	if why := cmp.Or(windowsReach(abs, dirs), windowsAlias(abs, dirs)); why != "" {
		return fmt.Errorf("%s cannot be used: %s", given, why)
	}
	return nil
}

// LeadsAway returns why the absolute path abs must not be examined, even by a stat: that would, for
// example, contact another machine. It returns "" for all other paths, and on all systems but
// Windows. A path on the share of a directory in dirs does not lead away.
func LeadsAway(abs string, dirs []string) string {
	if runtime.GOOS != "windows" {
		return ""
	}
	return windowsReach(abs, dirs)
}
