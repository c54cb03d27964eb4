package files

import (
	"io"
	"os"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4" // globs with "**", as .gitignore has them and package path does not

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

const (
	ignoreFile = ".gitignore"
	maxIgnore  = 1 << 20 // bytes read of one .gitignore
)

// ignore is the .gitignore of one directory and those of the directories above:
// https://git-scm.com/docs/gitignore. A nil ignore ignores nothing. Files above
// the session's roots and outside the work tree take no part.
type ignore struct {
	above *ignore
	dir   string // slash-separated path of its directory from the root, "" or ending in "/"
	rules []rule // as in the file
}

// rule is one line of a .gitignore.
type rule struct {
	pattern  string // for doublestar, or a part of a name
	kind     ruleKind
	anchored bool // matched against the path from the file's directory, else against the name
	dirOnly  bool
	again    bool // "!": what matches is not ignored after all
}

// ruleKind tells the frequent patterns that need no glob matcher.
type ruleKind uint8

const (
	globRule    ruleKind = iota
	literalRule          // no wildcard
	suffixRule           // "*" and a literal
)

// load puts the .gitignore of dir below i. A file that cannot be read ignores
// nothing.
func (i *ignore) load(dir *workspace.Dir) *ignore {
	f, _, err := dir.Open(ignoreFile, os.O_RDONLY)
	if err != nil {
		return i
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return i
	}
	prefix := ""
	if dir.Rel() != "." {
		prefix = dir.Rel() + "/"
	}
	return &ignore{above: i, dir: prefix, rules: parseRules(string(text))}
}

// enter gives what holds in the directory name because of i and the .gitignore
// of dir, which it is in. A directory that is itself ignored was asked for by
// name, so that nothing from above holds there.
func (i *ignore) enter(dir *workspace.Dir, name string) *ignore {
	i = i.load(dir)
	if name == ".git" || i.match(path.Join(dir.Rel(), name), true) {
		return nil
	}
	return i
}

// match reports whether the entry at name, a path from the root, is ignored. The
// deepest file decides, and in it the last rule that matches.
func (i *ignore) match(name string, dir bool) bool {
	base := path.Base(name)
	for ; i != nil; i = i.above {
		rel := name[len(i.dir):]
		for n := len(i.rules) - 1; n >= 0; n-- {
			if r := &i.rules[n]; (dir || !r.dirOnly) && r.match(rel, base) {
				return !r.again
			}
		}
	}
	return false
}

func (r *rule) match(rel, base string) bool {
	name := base
	if r.anchored {
		name = rel
	}
	switch r.kind {
	case literalRule:
		return name == r.pattern
	case suffixRule:
		return strings.HasSuffix(name, r.pattern)
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

// parseRules reads a .gitignore. A line that is no valid pattern matches
// nothing, as in git.
func parseRules(text string) []rule {
	var rules []rule
	for line := range strings.Lines(strings.TrimPrefix(text, byteOrderMark)) {
		if r, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(line string) (r rule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.again = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	switch rest := strings.TrimPrefix(line, "*"); {
	case !strings.ContainsAny(line, `*?[\{}`):
		r.kind, r.pattern = literalRule, line
	case !r.anchored && len(rest) < len(line) && !strings.ContainsAny(rest, `*?[\{}`):
		r.kind, r.pattern = suffixRule, rest
	default:
		r.pattern = globOf(line)
	}
	return r, r.kind != globRule || doublestar.ValidatePattern(r.pattern)
}

// globOf writes a pattern of git for doublestar: braces are nothing special, and
// "a/**" is what is below a, not a itself.
func globOf(pattern string) string {
	var b strings.Builder
	escaped := false
	for _, c := range []byte(pattern) {
		if (c == '{' || c == '}') && !escaped {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
		escaped = c == '\\' && !escaped
	}
	if strings.HasSuffix(pattern, "/**") {
		b.WriteString("/*")
	}
	return b.String()
}
