// Package named lists what the input of a foreign tool may mean: files and commands.
//
// Start with [Find] and [Commands]. An MCP server may read any string of its input as a
// file, in many spellings. The results are reasons to refuse or to ask, never reasons to allow:
// most of them are not files. They include files that do not exist. An input that is too large
// to be searched as a whole is reported as incomplete, so that padding hides nothing.
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

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/wildcard"
)

// Limits on the work for one input. An input beyond one of them is incomplete.
const (
	maxStrings = 4096
	maxFiles   = 16384
	maxNested  = 4    // texts of JSON inside of each other
	maxWords   = 2048 // different words of a text
	maxName    = 4096
	maxPaired  = 64 // names that are joined with each other
)

// Session is where relative names begin.
type Session struct {
	Dirs []string // absolute; the working directory and the roots
	Home string   // absolute; empty means unknown
}

// Files are the files that an input may name.
type Files struct {
	Paths []string // absolute, cleaned; the tool may take some for patterns
	Globs []string // the subset of Paths with wildcards, without words of long strings
	// Incomplete means that the input may name more files.
	Incomplete bool
}

// Find returns the files that the strings of an input may name.
func Find(input json.RawMessage, s Session) Files {
	c := collector{}
	c.text(string(input), 0)
	var relative []string
	f := files{Session: s, seen: map[string]bool{}}
	f.Incomplete = c.incomplete
	for _, text := range c.strings {
		words := slices.Compact(slices.Sorted(slices.Values(delimiters.Split(text, -1))))
		if len(words) > maxWords {
			words, f.Incomplete = words[:maxWords], true
		}
		for i, texts := range [][]string{{text}, words} {
			names, complete := spellings(texts, s)
			f.Incomplete = f.Incomplete || !complete
			for _, name := range names {
				f.add(name, len(words) <= maxGlobWords)
				if i == 0 && !filepath.IsAbs(name) {
					relative = append(relative, name)
				}
			}
		}
	}
	f.pairs(c.strings, relative)
	return f.Files
}

// collector collects the strings of a value: texts, names of members, and lists joined as the
// segments of a path.
type collector struct {
	strings    []string
	incomplete bool // there are more
}

func (c *collector) text(text string, depth int) {
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	if dec.Decode(&v) != nil {
		return
	}
	if depth > maxNested {
		c.incomplete = true
		return
	}
	c.value(v, depth)
}

func (c *collector) value(v any, depth int) {
	if len(c.strings) >= maxStrings {
		c.incomplete = true
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
		if len(segments) > maxPaired {
			c.strings = append(c.strings, strings.Join(segments, "/"))
		}
	case map[string]any:
		for key, e := range v {
			c.strings = append(c.strings, key)
			c.value(e, depth)
		}
	}
}

// delimiters end a name within a text.
var delimiters = lazyregexp.New("[\\s,;|<>()\"'`\\x00]+")

// position matches the position after a name: "a.go:12:3", "a.go#L10", "a.go(12)".
var position = lazyregexp.New(`(:[0-9]+(:[0-9]+)?(-[0-9]+)?|[#?].*|\([0-9,]+\))$`)

// option matches a short option with its value in the same word: "-fa/b".
var option = lazyregexp.New(`^-[A-Za-z](.+)$`)

// maxGlobWords limits the words of a text whose wildcards are expanded: a long text is prose or
// code.
const maxGlobWords = 64

// spellings returns the names that texts may stand for, relative or absolute. It reports whether
// these are all.
func spellings(texts []string, s Session) (out []string, complete bool) {
	seen := map[string]bool{}
	add := func(name string) {
		if name = strings.TrimSpace(name); len(name) > maxName { // tools shorten names with many "./" themselves
			name = filepath.Clean(name)
		}
		if name != "" && len(name) <= maxName && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	for _, t := range texts {
		add(t)
		if len(t) > maxName {
			continue
		}
		add(position.ReplaceAllString(t, ""))
		add(strings.Trim(t, "\"'`<>[](){}.,;: @"))
		add(strings.TrimLeft(t, "@:!+-"))
		add(option.ReplaceAllString(t, "$1"))
		if rest, ok := strings.CutPrefix(t, "a/"); ok || strings.HasPrefix(t, "b/") { // in a patch
			add(strings.TrimPrefix(rest, "b/"))
		}
		for _, cut := range []string{"=", "@", ":"} { // --file=x, PREFIX=x, HEAD:x, @x
			if _, value, ok := strings.Cut(t, cut); ok {
				add(value)
			}
		}
	}
	for i := 0; i < len(out); i++ { // out grows
		if len(out) > maxFiles {
			return out, false
		}
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
	return out, true
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

// processDir matches the working directory and the root of a process, in Linux' /proc.
var processDir = lazyregexp.New(`^/+proc/+(?:self|thread-self|[0-9]+)(?:/+task/+[0-9]+)?/+(cwd|root)(/.*)?$`)

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
	if m := processDir.FindStringSubmatch(name); m != nil && m[1] == "cwd" {
		return "." + m[2]
	} else if m != nil {
		return m[2]
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

// files are the files that [Find] collects.
type files struct {
	Files
	Session
	seen map[string]bool
}

// add adds a name. glob means that its wildcards count.
func (f *files) add(name string, glob bool) {
	dirs := f.Dirs
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		path := filepath.Clean(dir + string(filepath.Separator) + filepath.FromSlash(name))
		switch {
		case f.seen[path]:
			continue
		case len(f.Paths) == maxFiles:
			f.Incomplete = true
			return
		}
		f.seen[path] = true
		f.Paths = append(f.Paths, path)
		if glob && strings.ContainsAny(path, "*?[") {
			f.Globs = append(f.Globs, path)
		}
	}
}

// pairs adds names that the tool may join: of a directory in one string and a name in another,
// and of a name and its extension.
func (f *files) pairs(texts, relative []string) {
	var bases []string
	for _, t := range texts {
		for _, name := range append(inURL(t), t, expandHome(t, f.Session)) {
			if name != "" && len(name) < 1024 && !strings.ContainsAny(name, "\n") && !slices.Contains(bases, name) {
				bases = append(bases, name)
			}
		}
	}
	if len(bases) > maxPaired || len(relative) > 4*maxPaired {
		f.Incomplete = true
		return
	}
	for _, base := range bases {
		for _, name := range relative {
			f.add(base+"/"+name, true)
		}
	}
	if len(bases) > 8 { // three parts only of short inputs
		return
	}
	for _, a := range bases {
		for _, b := range bases {
			for _, c := range bases {
				f.add(a+"/"+b+"/"+c, true)
				f.add(a+"/"+b+"."+strings.TrimPrefix(c, "."), true)
			}
			f.add(a+b, true)
			f.add(a+"."+strings.TrimPrefix(b, "."), true)
		}
	}
}

// Limits on the work of [Files.Expand].
const (
	maxGlobs  = 64
	maxWalked = 100_000 // files
)

// Expand adds the files that match the globs, in which "*" also matches "/", to Paths.
func (f *Files) Expand() {
	globs := f.Globs
	if len(globs) > maxGlobs {
		globs, f.Incomplete = globs[:maxGlobs], true
	}
	below := map[string]*walk{} // by the directory in which matches are
	for _, glob := range globs {
		re, err := wildcard.Compile(glob)
		if err != nil {
			continue
		}
		top := filepath.Dir(glob[:strings.IndexAny(glob, "*?[")] + "x")
		if below[top] == nil {
			below[top] = &walk{}
		}
		below[top].add(glob, re)
	}
	n := 0
	for top, w := range below {
		_ = filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			if n++; n > maxWalked {
				f.Incomplete = true
				return fs.SkipAll
			}
			if err == nil && w.matches(file) {
				f.Paths = append(f.Paths, file)
			}
			if err == nil && d.IsDir() && !w.deep && depth(file) >= w.depth {
				return fs.SkipDir
			}
			return nil
		})
	}
}

// walk is what to look for below a directory.
type walk struct {
	globs []*regexp.Regexp
	deep  bool // matches are at any depth
	depth int  // else the greatest one of a match
}

func (w *walk) add(glob string, re *regexp.Regexp) {
	w.globs = append(w.globs, re)
	w.deep = w.deep || strings.Contains(glob, "*")
	w.depth = max(w.depth, depth(glob))
}

func (w *walk) matches(file string) bool {
	return slices.ContainsFunc(w.globs, func(re *regexp.Regexp) bool { return re.MatchString(file) })
}

func depth(path string) int { return strings.Count(path, string(filepath.Separator)) }
