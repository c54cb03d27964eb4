package command

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Path is a word of a command that names a file, or may name one.
type Path struct {
	Text string
	// Abs are absolute paths, one for each directory of the command; none if unknown.
	// They are not cleaned: ".." is relative to the target of a link before it.
	Abs []string
	// Glob means that Text is a pattern, which stands for all matching files.
	Glob bool
	// Sure means that the program uses the word as a file. Another word only
	// looks like one: it may also be a part of a message.
	Sure bool
}

// ExtractPaths lists the files that the script names: absolute paths and relative ones
// ("src/main.rs", "./a", "../b", "~/c"). They are found in operands, in redirections, relative to
// the target of a cd, and in values after an option ("--file=a/b"), a name ("PREFIX=/usr") or "@".
// URLs and files of other machines ("host:a/b") are excluded. For a guess only known paths are
// listed.
func (s *Script) ExtractPaths() []Path {
	var out []Path
	for _, c := range s.Commands {
		for _, p := range c.Paths() {
			if len(p.Abs) > 0 || !c.Guess {
				out = append(out, p)
			}
		}
	}
	for _, r := range s.Redirects {
		if r.Target.Literal && !r.Socket() {
			out = append(out, r.Path())
		}
	}
	return out
}

// Paths lists the files that the command names. It includes a program called by
// a relative path, but not one called by its absolute path.
func (c *Command) Paths() []Path {
	var out []Path
	program := c.Words[0]
	if program.Literal && strings.ContainsRune(program.Text, '/') && !filepath.IsAbs(program.Text) {
		out = append(out, c.path(program))
	}
	args, facts := c.Args(), c.Facts()
	known := facts.Files != nil
	var how programs.Files
	if known {
		how = *facts.Files
	}
	lead := how.Lead
	if lead > 0 && (shortFlag(args, how.Unless) || how.Unless != "" && hasLong(args, "--regexp", "--expression", "--file", "--from-file")) {
		lead = 0
	}
	ended := false
	fetches := facts.Download != nil
	for i := 0; i < len(args); i++ {
		a := args[i]
		if fetches && a.Literal {
			out = append(out, c.sentPaths(a)...)
		}
		switch {
		case a.processSubst, a.Literal && !a.Glob && facts.Prints:
		case !ended && a.Text == "--":
			ended = true
		case !ended && strings.HasPrefix(a.Text, "-"):
			file, next, ok := optionFile(a, facts.FileOptions)
			if !ok {
				out = append(out, c.gluedPaths(a)...)
				continue
			}
			if next {
				if i++; i == len(args) {
					break
				}
				file = args[i]
			}
			out = append(out, c.path(file))
		case known && i > 0 && !ended && takesValue(args[i-1].Text, how.Valued):
		case known && lead > 0 && a.Literal:
			lead--
		case known && !isURL(a.Text):
			out = append(out, c.path(a))
		case a.Literal && looksLikePath(a):
			out = append(append(out, c.maybePath(a)), c.valuePaths(a)...)
		case a.Literal && !fetches:
			out = append(out, c.valuePaths(a)...)
		}
	}
	return out
}

// valuePaths finds files after "=" and "@": PREFIX=/usr, @/tmp/list.
func (c *Command) valuePaths(a Word) []Path {
	name, text, ok := strings.Cut(a.Text, "=")
	if !ok || strings.ContainsAny(name, " \t\n/") {
		text, ok = strings.CutPrefix(a.Text, "@")
	}
	value := a
	if value.Text = strings.TrimPrefix(text, "@"); ok && looksLikePath(value) {
		return []Path{c.maybePath(value)}
	}
	return nil
}

// sentPath matches a file that curl sends or shows: "@FILE", "name=@FILE",
// "name=<FILE", "file://FILE".
var sentPath = lazyregexp.New(`(?i)(?:^(?:-[a-z])?|=)[@<]([^;]+)|^file://(?:localhost)?([^?#]+)`)

func (c *Command) sentPaths(a Word) []Path {
	m := sentPath.FindStringSubmatch(a.Text)
	if m == nil || m[1]+m[2] == "-" {
		return nil
	}
	a.Text = m[1] + m[2]
	return []Path{c.path(a)}
}

// optionFile returns the value of a word that is an option whose value is a file.
func optionFile(a Word, options string) (file Word, next, ok bool) {
	for o := range strings.FieldsSeq(options) {
		if file, next, ok = optionValue(a, o); ok {
			return file, next, true
		}
	}
	return Word{}, false, false
}

// gluedPaths returns files attached to an option: --file=PATH, -fPATH.
func (c *Command) gluedPaths(option Word) []Path {
	if !option.Literal {
		return nil
	}
	value := option
	if _, text, ok := strings.Cut(option.Text, "="); ok {
		if value.Text = text; looksLikePath(value) {
			return []Path{c.maybePath(value)}
		}
		return nil
	}
	if i := strings.IndexAny(option.Text, "/~"); i > 1 && option.Text[1] != '-' && !strings.ContainsAny(option.Text[:i], " \t\n") {
		value.Text = option.Text[i:]
		return []Path{c.maybePath(value)}
	}
	return nil
}

// path returns the file that a word certainly names.
func (c *Command) path(w Word) Path {
	p := newPath(w, c.Dirs)
	p.Sure = true
	return p
}

// maybePath returns the file that a word may name.
func (c *Command) maybePath(w Word) Path { return newPath(w, c.Dirs) }

// Path returns the file of the redirection.
func (r Redirect) Path() Path {
	p := newPath(r.Target, r.Dirs)
	p.Sure = true
	return p
}

func newPath(w Word, dirs []string) Path {
	p := Path{Text: w.Text, Glob: w.Glob}
	switch {
	case !w.Literal:
	case w.otherHome:
		p.Abs = []string{string(filepath.Separator) + w.Text} // outside every directory
	case filepath.IsAbs(w.Text):
		p.Abs = []string{w.Text}
	default:
		for _, d := range dirs {
			p.Abs = append(p.Abs, d+string(filepath.Separator)+w.Text)
		}
	}
	return p
}

// looksLikePath reports whether a word may name a file outside the command's own
// directory.
func looksLikePath(w Word) bool {
	text := w.Text
	if text == "" || isURL(text) || strings.ContainsAny(text, " \t\n") {
		return false
	}
	if text == ".." || w.otherHome || strings.HasPrefix(text, "~") || filepath.IsAbs(text) {
		return true
	}
	return strings.Contains(text, "/") && !strings.Contains(text, "=")
}

// isURL reports whether a word is a URL, or names a host as scp and git do.
func isURL(text string) bool {
	if i := strings.Index(text, "://"); i > 0 && !strings.ContainsAny(text[:i], "/.") {
		return text[:i] != "file"
	}
	at, rest, ok := strings.Cut(text, "@")
	return ok && at != "" && !strings.ContainsAny(at, "/.") && strings.Contains(rest, ":") && !strings.HasPrefix(rest, "/")
}

// takesValue reports whether option is a single short option whose value is the
// next word.
func takesValue(option, valued string) bool {
	return len(option) >= 2 && option[0] == '-' && option[1] != '-' && strings.IndexByte(valued, option[len(option)-1]) >= 0
}

// hasLong reports whether one of args is one of the long options.
func hasLong(args []Word, names ...string) bool {
	return slices.ContainsFunc(args, func(a Word) bool {
		name, _, _ := strings.Cut(a.Text, "=")
		return slices.Contains(names, name)
	})
}
