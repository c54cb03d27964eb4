package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Files reads the files of the project. Paths are absolute. The error for a
// missing file is fs.ErrNotExist; a file that may not be read or is not regular
// has another error.
type Files interface {
	// Open opens a regular file; real is its path without links. The caller
	// closes it.
	Open(path string) (f io.ReadCloser, real string, size int64, err error)
	// List returns the names in a directory, in any order, at most a few
	// thousand.
	List(dir string) ([]string, error)
	// Has returns the subset of names that exists in a directory.
	Has(dir string, names []string) []string
}

// maxRule is the number of bytes that are used of one file, so that a long file
// leaves room for others.
const maxRule = 16 << 10

// maxRuleFiles limits the files that are opened in one directory.
const maxRuleFiles = 50

// Rule is a file of the project with instructions for agents.
type Rule struct {
	Path string // in the form that the read tool accepts
	Text string
	Rest string // describes the missing part for the model; empty if it is complete
}

// Project is the text about the directories in the system prompt.
type Project struct {
	Dirs     []Dir
	Rules    []Rule
	Warnings []string // for the user: the omitted parts
}

// ErrDenied marks an error of Files about a file that the user has forbidden to
// read. It causes no warning.
var ErrDenied = errors.New("may not be read")

// Read reads the instructions in a session's directories. Dirs are absolute;
// the first is the working directory. Of all files maxBytes bytes are read; 0 reads
// none. Mask redacts every text for the model.
func Read(files Files, dirs []string, maxBytes int, mask func(string) string) Project {
	r := reader{files: files, cwd: dirs[0], budget: maxBytes, mask: mask}
	for _, dir := range dirs {
		r.project.Dirs = append(r.project.Dirs, Dir{Path: dir, Markers: projectFiles(files, dir)})
	}
	if maxBytes > 0 {
		for _, dir := range dirs {
			r.addDir(dir)
		}
	}
	if n := len(r.nameOnly); n > 0 {
		r.warn("The model gets only the names of %s, and can read them: the others fill agent.max_rules_bytes (%d). The first is %s.", quantity.Count(n, "rule file"), maxBytes, r.nameOnly[0])
	}
	return r.project
}

// projectMarkers are the names of files that show the kind of a directory. Only these constants
// get into the prompt, and no foreign text.
var projectMarkers = []string{
	".git", "go.mod", "go.work", "Cargo.toml", "package.json", "tsconfig.json", "deno.json", "pyproject.toml", "setup.py", "requirements.txt",
	"pom.xml", "build.gradle", "build.gradle.kts", "CMakeLists.txt", "meson.build", "Gemfile", "composer.json", "mix.exs", "Package.swift",
	"build.zig", "flake.nix", "Makefile", "justfile", "Taskfile.yml", "Dockerfile",
}

func projectFiles(files Files, dir string) []string {
	names := files.Has(dir, projectMarkers)
	if len(names) > 0 && names[0] == ".git" {
		names[0] = "a git repository"
	}
	return names
}

// reader collects the rules of all directories.
type reader struct {
	files    Files
	cwd      string
	budget   int // bytes that more rules may have
	mask     func(string) string
	included []string // the files already included, as paths without links
	nameOnly []string // the files that had room for their name alone
	project  Project
}

// addDir includes the rules of a directory.
func (r *reader) addDir(dir string) {
	r.addFile(filepath.Join(dir, "AGENTS.md"))
	r.addFile(filepath.Join(dir, "CLAUDE.md"))
	rules := filepath.Join(dir, ".zeph", "rules")
	names, err := r.files.List(rules)
	if err != nil {
		r.warnLeftOut(rules, err)
		return
	}
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".md" })
	slices.Sort(names)
	if more := len(names) - maxRuleFiles; more > 0 {
		r.warn("%s of %s left out of the system prompt: the limit is %d.", quantity.Count(more, "file"), oneLine(r.rel(rules), maxPath), maxRuleFiles)
		names = names[:maxRuleFiles]
	}
	for _, name := range names {
		r.addFile(filepath.Join(rules, name))
	}
}

// addFile includes a file, unless its text is already included.
func (r *reader) addFile(path string) {
	data, real, size, err := r.read(path)
	if err != nil {
		r.warnLeftOut(path, err)
		return
	}
	text := string(data)
	switch {
	case slices.Contains(r.included, real):
		return
	case strings.TrimSpace(text) == "", strings.TrimSpace(text) == "@AGENTS.md": // a form in which some agents include it
		return
	}
	r.included = append(r.included, real)
	rule := Rule{Path: r.rel(path)}
	if limit := min(maxRule, r.budget); size > int64(limit) || len(text) > limit {
		text = truncate(text, limit)
		size = max(size, int64(len(data)))
		if text == "" {
			rule.Rest = fmt.Sprintf("[Its text of %s does not fit here: read this file if its name concerns the task.]", quantity.Count(size, "byte"))
			r.nameOnly = append(r.nameOnly, oneLine(rule.Path, maxPath))
		} else {
			rule.Rest = fmt.Sprintf("[The first %d of %s; read this file with offset %d for the rest.]", len(text), quantity.Count(size, "byte"), strings.Count(text, "\n"))
			r.warn("The model gets the first %s of %s (%s); it can read the rest.", quantity.Count(len(text), "byte"), oneLine(rule.Path, maxPath), quantity.Count(size, "byte"))
		}
	}
	r.budget -= len(text)
	rule.Text = clean(r.mask(text))
	same := func(other Rule) bool {
		return rule.Text != "" && strings.TrimSpace(other.Text) == strings.TrimSpace(rule.Text)
	}
	if !slices.ContainsFunc(r.project.Rules, same) {
		r.project.Rules = append(r.project.Rules, rule)
	}
}

// errNotMarkdown is the reason that a link is not followed: a repository must not
// include a text under a name that looks harmless.
var errNotMarkdown = errors.New("it is a link to something other than a .md file")

// read returns the usable part of a file, its path without links, and its size.
func (r *reader) read(path string) (data []byte, real string, size int64, err error) {
	f, real, size, err := r.files.Open(path)
	if err != nil {
		return nil, "", 0, err
	}
	defer f.Close()
	if !strings.EqualFold(filepath.Ext(real), ".md") {
		return nil, "", 0, errNotMarkdown
	}
	data, err = io.ReadAll(io.LimitReader(f, maxRule+1))
	if err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = errors.New("it is not text")
	}
	return data, real, size, err
}

// warnLeftOut warns of a path that cannot be read.
func (r *reader) warnLeftOut(path string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDenied) {
		return
	}
	r.warn("%s is left out of the system prompt: %s", oneLine(r.rel(path), maxPath), oneLine(err.Error(), maxPath))
}

func (r *reader) warn(format string, args ...any) {
	r.project.Warnings = append(r.project.Warnings, fmt.Sprintf(format, args...))
}

// rel returns a path in the form that the read tool accepts, relative if
// possible.
func (r *reader) rel(path string) string {
	if rel, err := filepath.Rel(r.cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// truncate returns at most limit bytes of a text, in whole lines if possible.
func truncate(text string, limit int) string {
	text = text[:min(len(text), limit)]
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return strings.ToValidUTF8(text, "")
}

// write writes the text of a rule, marked as the project's.
func (r Rule) write(b *strings.Builder) {
	b.WriteString("\n<" + elementName + ` path="` + oneLine(r.Path, maxPath) + "\">\n")
	if r.Text != "" {
		b.WriteString(strings.Trim(r.Text, "\n") + "\n")
	}
	b.WriteString("</" + elementName + ">\n")
	if r.Rest != "" {
		b.WriteString(r.Rest + "\n")
	}
}
