package walk

import (
	"path"
	"strings"
)

// glob is a pattern of a .gitignore, as git's wildmatch reads it: byte by byte;
// "*" and "?" do not match a slash, "**" between slashes matches any directories.
// Package doublestar differs in braces, in classes such as [[:digit:]] and in
// "a/**".
type glob []segment

// segment is the part of a pattern between two slashes; nil means "**".
type segment []token

// token matches one byte, or with star any number of them.
type token struct {
	kind tokenKind
	char byte
	set  *byteSet
}

type tokenKind uint8

const (
	charToken tokenKind = iota
	anyToken
	starToken
	setToken
)

// parseGlob parses a pattern; ok reports whether it can match anything.
func parseGlob(pattern string) (g glob, ok bool) {
	seg := segment{}
	for from, i := 0, 0; ; {
		if i == len(pattern) || pattern[i] == '/' {
			if pattern[from:i] == "**" {
				seg = nil
			}
			g = append(g, seg)
			if i == len(pattern) {
				return g, true
			}
			i++
			from, seg = i, segment{}
			continue
		}
		t := token{char: pattern[i]}
		i++
		switch t.char {
		case '\\':
			if i == len(pattern) {
				return nil, false
			}
			t.char = pattern[i]
			i++
			if t.char == '/' {
				i-- // still a separator
				continue
			}
		case '?':
			t.kind = anyToken
		case '*':
			t.kind = starToken
			if len(seg) > 0 && seg[len(seg)-1].kind == starToken {
				continue
			}
		case '[':
			t.kind = setToken
			if t.set, i, ok = parseSet(pattern, i); !ok {
				return nil, false
			}
		}
		seg = append(seg, t)
	}
}

// parseSet parses a class whose "[" is before i. end is the index after its "]".
func parseSet(p string, i int) (set *byteSet, end int, ok bool) {
	set = &byteSet{}
	not := i < len(p) && (p[i] == '!' || p[i] == '^')
	if not {
		i++
	}
	first, canBeginRange := byte(0), false
	for begin := i; i < len(p); {
		if p[i] == ']' && i > begin {
			if not {
				set.invert()
			}
			return set, i + 1, true
		}
		size, ok := set.addClass(p[i:])
		if !ok {
			return nil, 0, false
		}
		if size > 0 {
			i += size
			canBeginRange = false
			continue
		}
		endsRange := canBeginRange && p[i] == '-' && i+1 < len(p) && p[i+1] != ']'
		if endsRange {
			i++
		}
		if p[i] == '\\' {
			if i++; i == len(p) {
				return nil, 0, false
			}
		}
		c := p[i]
		i++
		if endsRange {
			set.add(first, c)
		} else {
			set.add(c, c)
		}
		first, canBeginRange = c, !endsRange
	}
	return nil, 0, false
}

// byteSet is a set of bytes.
type byteSet [4]uint64

// add adds the bytes from first to last.
func (s *byteSet) add(first, last byte) {
	for c := int(first); c <= int(last); c++ {
		s[c/64] |= 1 << (c % 64)
	}
}

// addClass adds the class at the beginning of p, such as [:digit:], and returns its length;
// 0 means that p does not begin with a class. ok is false if the class is invalid.
func (s *byteSet) addClass(p string) (size int, ok bool) {
	class, isClass := strings.CutPrefix(p, "[:")
	if !isClass {
		return 0, true
	}
	name, _, closed := strings.Cut(class, "]")
	if !closed {
		return 0, false
	}
	if name, isClass = strings.CutSuffix(name, ":"); !isClass { // a plain "["
		return 0, true
	}
	ranges, known := classes[name]
	for n := 0; n < len(ranges); n += 2 {
		s.add(ranges[n], ranges[n+1])
	}
	return len("[:") + len(name) + len(":]"), known
}

func (s *byteSet) has(c byte) bool { return s[c/64]&(1<<(c%64)) != 0 }

func (s *byteSet) invert() {
	for i := range s {
		s[i] = ^s[i]
	}
}

// classes maps the name of a class to pairs of a first and a last byte.
var classes = map[string]string{
	"alnum": "09AZaz", "alpha": "AZaz", "blank": "  \t\t", "cntrl": "\x00\x1f\x7f\x7f", "digit": "09", "graph": "!~", "lower": "az",
	"print": " ~", "punct": "!/:@[`{~", "space": "  \t\r", "upper": "AZ", "xdigit": "09AFaf",
}

// match reports whether the pattern matches a path without empty names.
func (g glob) match(path string) bool {
	if len(g) == 1 && g[0] != nil { // the frequent case
		return !strings.Contains(path, "/") && g[0].match(path)
	}
	at, star, starPath := 0, -1, ""
	rest, more := path, true
	for more {
		if at < len(g) && g[at] == nil {
			if at == len(g)-1 {
				return true // at least one name is left
			}
			star, starPath = at, rest
			at++
			continue
		}
		name, below, deeper := strings.Cut(rest, "/")
		if at < len(g) && g[at].match(name) {
			at++
			rest, more = below, deeper
			continue
		}
		if star < 0 {
			return false
		}
		// Let the last "**" match one more name. Earlier ones need not change.
		_, below, deeper = strings.Cut(starPath, "/")
		if !deeper {
			return false
		}
		at, rest, starPath = star+1, below, below
	}
	return at == len(g) // else the path is too short, and a longer "**" leaves even less
}

// match reports whether a name matches the segment. After a mismatch only the last star
// matches one more byte, so the time is at most the product of both lengths.
func (s segment) match(name string) bool {
	at, star, starName := 0, -1, 0
	i := 0
	for i < len(name) {
		switch {
		case at < len(s) && s[at].kind == starToken:
			star, starName = at, i
			at++
		case at < len(s) && s[at].matches(name[i]):
			at++
			i++
		case star >= 0: // let the last star match one byte more
			starName++
			at, i = star+1, starName
		default:
			return false
		}
	}
	for at < len(s) && s[at].kind == starToken {
		at++
	}
	return at == len(s)
}

func (t token) matches(c byte) bool {
	switch t.kind {
	case anyToken:
		return true
	case setToken:
		return t.set.has(c)
	}
	return t.char == c
}

// GitPattern returns a function that reports whether a path matches a pattern of a .gitattributes. The path
// has slashes and starts at the directory of that file. A pattern without a slash matches names. ok is false if the
// pattern can match nothing.
func GitPattern(pattern string) (match func(path string) bool, ok bool) {
	anchored := strings.Contains(pattern, "/")
	g, ok := parseGlob(strings.TrimPrefix(pattern, "/"))
	return func(p string) bool {
		if !anchored {
			p = path.Base(p)
		}
		return g.match(p)
	}, ok
}
