package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// inside reports whether path is dir or below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// sockets returns a redirection that the shell takes for a network connection.
func (g judge) sockets(s *command.Script) string {
	for _, r := range s.Redirects {
		if r.Socket() {
			return r.Target.Text
		}
	}
	return ""
}

// paths judges the files that a script names: the first that is surely outside,
// and reasons to ask about others.
func (g judge) paths(s *command.Script) (outside string, ask []string) {
	all := s.ExtractPaths()
	for _, c := range s.Commands { // many read the directory in which they run
		if len(c.Dirs) > 0 && !slices.ContainsFunc(all, func(p command.Path) bool { return p.Text == c.Dirs[0] }) {
			all = append(all, command.Path{Text: c.Dirs[0], Abs: c.Dirs, Sure: true})
		}
	}
	temp, steps := tempDirs(), 0
	if file := processFile(s); file != "" {
		outside = file
	}
	for _, p := range all {
		if len(p.Abs) == 0 {
			ask = append(ask, fmt.Sprintf("which file %s is, is known only when it runs", p.Text))
		}
		for i, found := range places(p, &steps) {
			if i < len(p.Abs) && harmless(p.Abs[i]) { // before links: /dev/stderr leads to our own
				continue
			}
			if !slices.ContainsFunc(found, func(place string) bool { return !g.mayName(place, temp) }) {
				continue
			}
			// What a pattern matches now may be something else when it runs.
			if i == 0 && p.Sure && !g.mayName(found[len(found)-1], temp) {
				if outside == "" {
					outside = p.Text
				}
				continue
			}
			ask = append(ask, fmt.Sprintf("%s may be a file outside the session's directories", p.Text))
		}
	}
	slices.Sort(ask)
	return outside, slices.Compact(ask)
}

// processFile returns a computed word of the script that names a file of a process
// whatever its computed part is: "/proc/$PPID/fd/1" may be the agent's own.
func processFile(s *command.Script) string {
	computed := func(w command.Word) bool {
		text := strings.NewReplacer(`"`, "", "'", "", `\`, "", "//", "/").Replace(w.Text)
		return !w.Literal && (strings.HasPrefix(text, "/proc/") || strings.Contains(text, "=/proc/"))
	}
	for _, r := range s.Redirects {
		if computed(r.Target) {
			return r.Target.Text
		}
	}
	for _, c := range s.Commands {
		if i := slices.IndexFunc(c.Words, computed); i >= 0 {
			return c.Words[i].Text
		}
	}
	return ""
}

// mayName reports whether a command may name the file, a place without links:
// inside the roots or allowed_paths, a harmless device, or temporary.
func (g judge) mayName(place string, temp []string) bool {
	if harmless(place) {
		return true
	}
	if _, err := g.commands().Resolve(place); err == nil {
		return true
	}
	return slices.ContainsFunc(slices.Concat(temp, g.allowed), func(dir string) bool { return inside(place, dir) })
}

// harmless reports whether abs is a device that anybody may use.
func harmless(abs string) bool {
	switch abs {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	// Other descriptors may be of whatever started the agent.
	return abs == "/dev/fd/0" || abs == "/dev/fd/1" || abs == "/dev/fd/2"
}

// tempDirs are where commands may leave files.
func tempDirs() []string {
	dirs := []string{os.TempDir()}
	if filepath.Separator == '/' {
		dirs = append(dirs, "/tmp")
	}
	for _, d := range slices.Clone(dirs) {
		if real, err := filepath.EvalSymlinks(d); err == nil && !slices.Contains(dirs, real) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}
