package flow

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// pattern is a glob of files, in lower case.
type pattern struct {
	glob     string
	anyDepth bool // it matches one name, at any depth
}

// patterns returns the globs of a list without its servers.
func patterns(list []string, home string) []pattern {
	var out []pattern
	for _, p := range list {
		if strings.HasPrefix(p, mcpPrefix) {
			continue
		}
		p = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/**"), "/")
		if rest, ok := strings.CutPrefix(p, "~/"); ok && home != "" {
			p = filepath.ToSlash(home) + "/" + rest
		}
		p = strings.ToLower(strings.TrimPrefix(p, "**/"))
		switch {
		case !strings.Contains(p, "/"):
			out = append(out, pattern{p, true})
		case strings.HasPrefix(p, "/") || filepath.VolumeName(p) != "":
			out = append(out, pattern{p, false})
		default:
			out = append(out, pattern{"**/" + p, false})
		}
	}
	return out
}

// matchesAny reports whether a pattern matches the path of a file, or the path of a
// directory above it. It ignores case.
func matchesAny(list []pattern, abs string) bool {
	abs = strings.ToLower(filepath.ToSlash(filepath.Clean(abs)))
	for at := abs; len(list) > 0; at = path.Dir(at) {
		if slices.ContainsFunc(list, func(p pattern) bool { return p.matches(at) }) {
			return true
		}
		if at == path.Dir(at) {
			break
		}
	}
	return false
}

// matches reports whether the pattern matches a path itself.
func (p pattern) matches(abs string) bool {
	if p.anyDepth {
		abs = path.Base(abs)
	}
	return doublestar.MatchUnvalidated(p.glob, abs)
}

// fileLabels returns the labels of files, each by its own path and by the place to
// which its links lead.
func (f *Flow) fileLabels(paths []string) label {
	found, trail := label{}, &follow.Trail{Lstat: new(workspace.StatCache).Lstat}
	for i, p := range paths {
		if slices.Contains(paths[:i], p) || !filepath.IsAbs(p) {
			continue
		}
		targets, _ := follow.Path(p, trail) // with an error, it counts as written
		for _, form := range append(targets, p) {
			if f.MapPath != nil {
				form = f.MapPath(form)
			}
			if matchesAny(f.private, form) {
				found.private = "the file " + filepath.Base(p)
			}
			if matchesAny(f.untrusted, form) {
				found.untrusted = "the file " + filepath.Base(p)
			}
		}
	}
	return found
}
