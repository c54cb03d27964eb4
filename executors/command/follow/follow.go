// Package follow finds where the paths of a command lead.
//
// Start with [Targets] for a path that the command parser found, or with [Path].
// They follow links name by name, as the system does, and expand patterns. They
// open no file. The result holds at the time of the call: a link may change
// before the command runs.
package follow

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// The reasons why a path is not followed: it takes too long, or its meaning depends on
// the process that will run (/proc/self/cwd).
var (
	errTooMany = errors.New("too many files or symbolic links")
	errProcess = errors.New("it belongs to a process")
)

// maxSteps bounds the names that are examined for one script.
const maxSteps = 1 << 15

// Trail is the work of following the paths of one script, which is bounded. The zero
// value is ready.
type Trail struct {
	// Lstat is called instead of [os.Lstat]; nil means os.Lstat.
	Lstat func(path string) (fs.FileInfo, error)

	steps int // names examined so far
}

func (t *Trail) lstat(path string) (fs.FileInfo, error) {
	if t.Lstat == nil {
		return os.Lstat(path)
	}
	return t.Lstat(path)
}

// Path returns where an absolute path of a command leads: links are followed before ".." is
// resolved. A file that does not exist stays as written. The error means that the path may lead
// anywhere.
func Path(abs string, t *Trail) ([]string, error) {
	return find(abs, false, follower{Trail: t})
}

// Files is like [Path], but if glob is set, abs is a pattern: it returns the matching files,
// and where the matching links and directories lead. With an error it returns the places
// found so far.
func Files(abs string, glob bool, t *Trail) ([]string, error) {
	return find(abs, glob, follower{Trail: t, plainFiles: true})
}

func find(abs string, glob bool, f follower) ([]string, error) {
	volume := filepath.VolumeName(abs)
	err := f.follow(volume+string(filepath.Separator), splitPath(abs[len(volume):], glob), 0)
	return f.found, err
}

// pathStep is one name of a path.
type pathStep struct {
	name    string
	pattern bool
}

func splitPath(p string, glob bool) []pathStep {
	var out []pathStep
	for name := range strings.SplitSeq(filepath.ToSlash(p), "/") {
		out = append(out, pathStep{name, glob && strings.ContainsAny(name, "*?[")})
	}
	return out
}

type follower struct {
	*Trail
	plainFiles bool // also return plain files that match a pattern
	found      []string
}

// follow continues from dir, which contains no links, with names.
func (f *follower) follow(dir string, names []pathStep, links int) error {
	for len(names) > 0 {
		if f.steps++; f.steps > maxSteps || links > 255 {
			return errTooMany
		}
		s := names[0]
		names = names[1:]
		switch {
		case s.name == "" || s.name == ".":
			continue
		case s.name == "..":
			dir = filepath.Dir(dir)
			continue
		case namesProcess(dir, s):
			return errProcess
		case s.pattern:
			if err := f.followMatches(dir, s.name, names, links); err != nil {
				return err
			}
		}
		next := filepath.Join(dir, s.name)
		info, err := f.lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			dir = next
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		links++
		if filepath.IsAbs(target) {
			volume := filepath.VolumeName(target)
			dir, target = volume+string(filepath.Separator), target[len(volume):]
		}
		names = append(splitPath(target, false), names...)
	}
	f.found = append(f.found, dir)
	return nil
}

// namesProcess reports whether a name in dir refers to a process.
func namesProcess(dir string, s pathStep) bool {
	return dir == "/proc" && (s.pattern || s.name == "self" || s.name == "thread-self" || strings.Trim(s.name, "0123456789") == "")
}

// localeWildcards matches wildcards whose meaning depends on the shell's language: "?",
// and sets other than a list of characters. In the language C a "?" is one byte of a
// letter.
var localeWildcards = lazyregexp.New(`\?|\[[!^][^\]]*\]|\[[^\]]*[-:.=][^\]]*\]`)

// followMatches follows the files in dir that match a pattern. Only links and
// directories are examined, because a plain file does not lead elsewhere. A wildcard
// that depends on the language counts as "*".
func (f *follower) followMatches(dir, pattern string, rest []pathStep, links int) error {
	dot := strings.HasPrefix(pattern, ".")
	if dot && matchesParent(pattern) {
		if err := f.follow(filepath.Dir(dir), rest, links); err != nil {
			return err
		}
	}
	pattern = localeWildcards.ReplaceAllString(pattern, "*")
	if _, err := f.lstat(dir); err != nil { // perhaps Lstat refused a path on another machine
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing matches
	}
	f.steps += len(entries)
	for _, e := range entries {
		ok, err := path.Match(pattern, e.Name())
		if err != nil {
			ok = true
		}
		if strings.HasPrefix(e.Name(), ".") && !dot {
			ok = false // a shell does not match a leading dot
		}
		link := e.Type()&fs.ModeSymlink != 0
		if f.plainFiles && ok && !link && len(rest) == 0 {
			f.found = append(f.found, filepath.Join(dir, e.Name()))
			continue
		}
		if !ok || !link && (len(rest) == 0 || !e.IsDir()) {
			continue
		}
		if err := f.follow(dir, append([]pathStep{{name: e.Name()}}, rest...), links); err != nil {
			return err
		}
	}
	return nil
}

// matchesParent reports whether a pattern that begins with a dot may match "..", as ".*" does. Before
// version 5.2, bash expands it to the directory above, too.
func matchesParent(pattern string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), "..")
	return ok || err != nil || strings.Contains(pattern, "[[") // a class of characters, which path.Match lacks
}

// Targets returns where a file of a command leads, seen from each of its working
// directories. For a path that may lead anywhere it contains [Unknown] and the path
// as written.
func Targets(p command.Path, t *Trail) [][]string {
	var out [][]string
	for _, abs := range p.Abs {
		found, err := find(abs, p.Glob, follower{Trail: t})
		if err != nil {
			found = []string{Unknown, filepath.Clean(abs)}
		}
		out = append(out, found)
	}
	return out
}

// Unknown is a path outside every directory.
const Unknown = "\x00"
