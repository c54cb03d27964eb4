package permissions

import (
	"errors"
	"strings"
)

// ignorePattern is a pattern in the syntax of gitignore, with the beginnings that Claude Code
// adds: "//" for the root of the file system, "~/" for the home directory, and "/" or
// "./" for the project.
type ignorePattern struct {
	anchor string // "/", "~/", "./" or empty for any depth below the project
	rest   string // without a leading slash
}

// parseIgnore parses a pattern. Exceptions and escapes are errors.
func parseIgnore(spec string) (ignorePattern, error) {
	if strings.HasPrefix(spec, "!") || strings.Contains(spec, `\`) {
		return ignorePattern{}, errors.New("it has an exception or an escape")
	}
	p := ignorePattern{rest: spec}
	for _, begin := range []struct{ text, anchor string }{{"//", "/"}, {"~/", "~/"}, {"./", "./"}, {"/", "./"}} {
		if rest, ok := strings.CutPrefix(spec, begin.text); ok {
			p = ignorePattern{begin.anchor, rest}
			break
		}
	}
	if p.anchor == "" && strings.Contains(strings.TrimSuffix(p.rest, "/"), "/") {
		p.anchor = "./"
	}
	if rest, ok := strings.CutPrefix(p.rest, "**/"); ok && p.anchor == "./" && !strings.Contains(rest, "/") {
		p = ignorePattern{"", rest}
	}
	if strings.Trim(p.rest, "/") == "" {
		return p, errors.New("it names no file")
	}
	return p, nil
}

// denyRead returns the pattern in the syntax of tools.file.deny_read.
func (p ignorePattern) denyRead() string { return p.anchor + p.rest }

// superset returns patterns of rules that match at least the same files.
func (p ignorePattern) superset() []string {
	var out []string
	for _, text := range variants(strings.TrimSuffix(strings.TrimSuffix(p.rest, "/"), "/**")) {
		begins := []string{p.anchor}
		if p.anchor == "./" && !strings.HasPrefix(text, "*") {
			begins = []string{""} // rules try a relative pattern in each root
		}
		if p.anchor == "" {
			begins = []string{"", "*/"}
			if strings.HasPrefix(text, "*") {
				begins = []string{""}
			}
		}
		for _, b := range begins {
			out = append(out, b+text, b+text+"/*")
		}
	}
	return out
}

// variants returns the texts that a pattern stands for if "**/" matches no
// directory, or some.
func variants(text string) []string {
	before, after, ok := strings.Cut(text, "**/")
	if !ok {
		return []string{text}
	}
	var out []string
	for _, rest := range variants(after) {
		out = append(out, before+rest, before+"*/"+rest)
	}
	return out
}

// subset returns patterns of rules that match no other files. In rules "*" also matches
// slashes, so that only some patterns have such a translation.
func (p ignorePattern) subset() ([]string, error) {
	begin, text := p.anchor, p.rest
	if strings.HasSuffix(text, "/") {
		text += "**"
	}
	if strings.ContainsAny(text, "?[{") {
		return nil, errors.New("it has wildcards other than *")
	}
	var out []string
	whole, below := strings.CutSuffix(text, "**")
	before, after, deep := strings.Cut(text, "**/")
	name, wild := strings.CutPrefix(after, "*")
	switch {
	case !strings.Contains(text, "*"):
		out = []string{text}
	case below && !strings.Contains(whole, "*") && (whole == "" || strings.HasSuffix(whole, "/")):
		out = []string{whole + "*"}
	case deep && !strings.Contains(before+name, "*") && wild && !strings.Contains(name, "/"):
		out = []string{before + "*" + name}
	case deep && !strings.Contains(before+after, "*"):
		out = []string{before + after, before + "*/" + after}
	case begin == "" && strings.LastIndexByte(text, '*') == 0: // "*.md", at any depth
		out = []string{text}
	default:
		return nil, errors.New("its * stops at a slash, but the * of a rule does not")
	}
	if begin == "" {
		begin = "./"
		if !strings.Contains(text, "*") {
			out = append(out, "*/"+text)
		}
	}
	for i, text := range out {
		if out[i] = begin + text; begin == "./" && !strings.HasPrefix(text, "*") {
			out[i] = text
		}
	}
	return out, nil
}
