// Package named lists what the input of a foreign tool may mean: files and commands.
//
// Start with [Files] and [Commands]. An MCP server may read any string of its input as a
// file, in many spellings. The results are reasons to refuse or to ask, never reasons to allow:
// most of them are not files. They include files that do not exist.
package named

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm" // file systems take composed and compatible characters for equal

	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// Limits on the work for one input.
const (
	maxStrings = 4096
	maxFiles   = 8192
	maxNested  = 4 // texts of JSON inside of each other
	maxName    = 4096
	maxPaired  = 32 // names that are joined with each other
)

// Session is where relative names begin.
type Session struct {
	Dirs []string // absolute; the working directory and the roots
	Home string   // absolute; empty means unknown
}

// Files returns the absolute, cleaned paths of files that a string of the input may name, with
// wildcards in some.
func Files(input json.RawMessage, s Session) []string {
	c := collector{}
	c.text(string(input), 0)
	var relative []string
	f := files{Session: s, seen: map[string]bool{}}
	for _, text := range c.strings {
		for _, name := range spellings(text, s) {
			f.add(name)
			if !filepath.IsAbs(name) {
				relative = append(relative, name)
			}
		}
	}
	f.pairs(c.strings, relative)
	return f.found
}

// collector collects the strings of a value: texts, names of members, and lists joined as the
// segments of a path.
type collector struct{ strings []string }

func (c *collector) text(text string, depth int) {
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	if depth > maxNested || dec.Decode(&v) != nil {
		return
	}
	c.value(v, depth)
}

func (c *collector) value(v any, depth int) {
	if len(c.strings) >= maxStrings {
		return
	}
	switch v := v.(type) {
	case string:
		c.strings = append(c.strings, v)
		if trimmed := strings.TrimSpace(v); trimmed != "" && strings.ContainsRune(`{["`, rune(trimmed[0])) {
			c.text(trimmed, depth+1)
		}
	case []any:
		var segments []string
		for _, e := range v {
			c.value(e, depth)
			if text, ok := e.(string); ok {
				segments = append(segments, text)
			}
		}
		for n := 2; n <= min(len(segments), maxPaired); n++ {
			c.strings = append(c.strings, strings.Join(segments[:n], "/"))
		}
	case map[string]any:
		for key, e := range v {
			c.strings = append(c.strings, key)
			c.value(e, depth)
		}
	}
}

// delimiters end a name within a text.
var delimiters = regexp.MustCompile("[\\s,;|<>()\"'`\\x00]+")

// position matches the position after a name: "a.go:12:3", "a.go#L10", "a.go(12)".
var position = regexp.MustCompile(`(:[0-9]+(:[0-9]+)?(-[0-9]+)?|[#?].*|\([0-9,]+\))$`)

// spellings returns the names that a text may stand for, relative or absolute.
func spellings(text string, s Session) []string {
	var out []string
	seen := map[string]bool{}
	add := func(name string) {
		if name = strings.TrimSpace(name); name != "" && len(name) <= maxName && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	texts := []string{text}
	if len(text) <= 64<<10 {
		texts = append(texts, delimiters.Split(text, 64)...)
	}
	for _, t := range texts {
		if len(t) > maxName {
			continue
		}
		add(t)
		add(position.ReplaceAllString(t, ""))
		add(strings.Trim(t, "\"'`<>[](){}.,;: @"))
		add(strings.TrimLeft(t, "@:!+-"))
		for _, cut := range []string{"=", "@", ":"} { // --file=x, PREFIX=x, HEAD:x, @x
			if _, value, ok := strings.Cut(t, cut); ok {
				add(value)
			}
		}
	}
	for i := 0; i < len(out) && len(out) < 1024; i++ { // out grows
		name := out[i]
		if decoded, err := url.PathUnescape(name); err == nil {
			add(decoded)
		}
		add(strings.ReplaceAll(name, `\`, "/"))
		add(norm.NFKC.String(name))
		add(norm.NFC.String(name))
		add(strings.Map(visible, name))
		for _, one := range inURL(name) {
			add(one)
		}
		add(expandHome(name, s))
		for _, one := range braces(name) {
			add(one)
		}
	}
	return out
}

// visible drops characters that some file systems and programs ignore.
func visible(c rune) rune {
	if c < 0x20 || c == 0x7f || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x206f || c == 0xfeff || c == 0xad {
		return -1
	}
	switch c {
	case '\u2215', '\u2044', '\u29f8', '\uff0f':
		return '/'
	}
	return c
}

// inURL returns the paths of an address of a file, or of a scheme of the tool's own: with its host
// and without. There are none for addresses of the web and other texts.
func inURL(name string) []string {
	scheme, rest, ok := strings.Cut(name, ":")
	if !ok || strings.ContainsAny(scheme, "/ ") || slices.Contains([]string{"http", "https", "ws", "wss", "mailto"}, strings.ToLower(scheme)) {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	rest, hasHost := strings.CutPrefix(rest, "//")
	if _, path, ok := strings.Cut(rest, "/"); hasHost && ok {
		return []string{"/" + path, rest}
	}
	return []string{rest}
}

// homes are spellings of the home directory at the beginning of a name.
var homes = []string{"~", "$HOME", "${HOME}", "%USERPROFILE%", "%HOME%", "{{home}}"}

// here are spellings of the working directory at the beginning of a name.
var here = []string{"$PWD", "${PWD}", "${workspaceFolder}", "${workspaceRoot}", "%CD%", "$(pwd)", "{{cwd}}", "~+"}

func expandHome(name string, s Session) string {
	for _, prefix := range homes {
		if rest, ok := strings.CutPrefix(name, prefix); ok && s.Home != "" && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			return s.Home + rest
		}
	}
	for _, prefix := range here {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest == "" || rest[0] == '/' || rest[0] == '\\') {
			return "." + rest
		}
	}
	return ""
}

// braces returns the names that a word with one pair of braces stands for: "{a,b}/c".
func braces(name string) []string {
	begin := strings.IndexByte(name, '{')
	end := strings.IndexByte(name[max(begin, 0):], '}')
	if begin < 0 || end < 0 {
		return nil
	}
	var out []string
	for one := range strings.SplitSeq(name[begin+1:begin+end], ",") {
		out = append(out, name[:begin]+one+name[begin+end+1:])
	}
	return out
}

// files is the list that [Files] makes.
type files struct {
	Session
	found []string
	seen  map[string]bool
}

func (f *files) add(name string) {
	dirs := f.Dirs
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		path := filepath.Clean(dir + string(filepath.Separator) + filepath.FromSlash(name))
		if !f.seen[path] && len(f.found) < maxFiles {
			f.seen[path] = true
			f.found = append(f.found, path)
		}
	}
}

// pairs adds names that the tool may join: of a directory in one string and a name in another,
// and of a name and its extension.
func (f *files) pairs(texts, relative []string) {
	var bases []string
	for _, t := range texts {
		for _, name := range append(inURL(t), t, expandHome(t, f.Session)) {
			if name != "" && len(name) < 1024 && !strings.ContainsAny(name, "\n") && len(bases) < maxPaired && !slices.Contains(bases, name) {
				bases = append(bases, name)
			}
		}
	}
	relative = relative[:min(len(relative), 4*maxPaired)]
	for _, base := range bases {
		for _, name := range relative {
			f.add(base + "/" + name)
		}
	}
	if len(bases) > 8 { // three parts only of short inputs
		return
	}
	for _, a := range bases {
		for _, b := range bases {
			for _, c := range bases {
				f.add(a + "/" + b + "/" + c)
				f.add(a + "/" + b + "." + strings.TrimPrefix(c, "."))
			}
			f.add(a + b)
			f.add(a + "." + strings.TrimPrefix(b, "."))
		}
	}
}

// maxWalked bounds the files that [Expand] looks at.
const maxWalked = 20_000

// Expand returns the files that match a path with wildcards, in which "*" also matches "/". A search
// that takes too long ends early.
func Expand(path string) []string {
	re, err := wildcard.Compile(path)
	if err != nil {
		return nil
	}
	var found []string
	n := 0
	top := filepath.Dir(path[:strings.IndexAny(path+"*", "*?[")] + "x")
	_ = filepath.WalkDir(top, func(file string, _ fs.DirEntry, err error) error {
		if n++; n > maxWalked {
			return fs.SkipAll
		}
		if err == nil && re.MatchString(file) {
			found = append(found, file)
		}
		return nil
	})
	return found
}
