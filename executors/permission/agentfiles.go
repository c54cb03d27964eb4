package permission

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// agentFiles returns zeph-acp's own files as of the check.
func (g guardCheck) agentFiles() *workspace.HiddenFiles {
	if g.AgentFiles == nil {
		return nil
	}
	return g.AgentFiles(g.stats)
}

// ownFileFailure returns the failure of a call that would touch zeph-acp's own
// files.
func ownFileFailure(name string) *executors.Failure {
	return executors.Failuref(executors.PolicyBlocked, "%s is protected: no tool may touch zeph-acp's own files (configuration, keys, sessions, audit log)", name).
		Hint("Do not try another way. The user changes these files, with zeph-acp's own commands or in the editor.")
}

// ownFiles searches one script for zeph-acp's own files.
type ownFiles struct {
	hidden    *workspace.HiddenFiles
	home      string
	trail     follow.Trail
	namedFile string // the first word that certainly names one
	dirAbove  string // the first word that names a directory above them which the command processes as a whole
	ask       []string
}

// checkOwnFiles checks the effect of a script on zeph-acp's own files. blocked is set if
// it would certainly touch them; ask holds reasons to ask where it may.
func (g guardCheck) checkOwnFiles(card executors.Card, s *command.Script) (blocked *executors.Failure, ask []string) {
	hidden := g.agentFiles()
	if hidden == nil {
		return nil, nil
	}
	own := &ownFiles{hidden: hidden, home: g.Home, trail: follow.Trail{Lstat: g.stats.Lstat}}
	for _, r := range s.Redirects {
		own.checkFile(certain(r.Path()))
	}
	for _, c := range s.Commands {
		if len(c.Dirs) > 0 { // many commands read their working directory
			own.checkFile(command.Path{Text: c.Dirs[0], Abs: c.Dirs, Sure: true})
		}
		paths := c.Paths()
		for _, p := range paths {
			own.checkFile(certain(p))
		}
		for _, p := range c.Mentions() {
			own.checkFile(own.expandHome(p))
		}
		own.checkCopies(c, paths)
		own.checkDirsAbove(c, paths)
	}
	switch {
	case own.namedFile != "":
		return ownFileFailure(own.namedFile), nil
	case own.dirAbove != "":
		return executors.Failuref(executors.PolicyBlocked, "zeph-acp's own files are below %s, and no tool may touch them", own.dirAbove).
			Hint("Name directories that do not contain them, or use grep, find_path and list_directory, which leave them out."), nil
	}
	own.checkText(card)
	slices.Sort(own.ask)
	return nil, slices.Compact(own.ask)
}

// certain returns a path with Sure set, for a word that the program uses as a file or that
// must be checked as one.
func certain(p command.Path) command.Path {
	p.Sure = true
	return p
}

// checkFile checks a word that names a file, or may name one.
func (o *ownFiles) checkFile(p command.Path) {
	for i, places := range o.places(p) {
		switch {
		case !slices.ContainsFunc(places, o.hidden.Hides):
		case p.Sure && i == 0:
			if o.namedFile == "" {
				o.namedFile = p.Text
			}
		default:
			o.addReason("%s may be one of zeph-acp's own files", p.Text)
		}
	}
}

// places returns where a path leads, with the files that match its pattern.
func (o *ownFiles) places(p command.Path) [][]string {
	var out [][]string
	for _, abs := range p.Abs {
		if harmlessDevice(abs) { // before links are resolved: /dev/stdin leads to a file of ours
			out = append(out, []string{abs})
			continue
		}
		found, err := follow.Files(abs, p.Glob, &o.trail)
		if err != nil {
			o.addReason("the file that %s names is unknown", p.Text)
		}
		out = append(out, found)
	}
	return out
}

// expandHome expands the "~" and "$HOME" of a path within a text, as a program
// would.
func (o *ownFiles) expandHome(p command.Path) command.Path {
	if rest, ok := strings.CutPrefix(p.Text, "~/"); ok && o.home != "" {
		p.Abs = []string{filepath.Join(o.home, rest)}
	}
	return p
}

// checkCopies checks the files that a copy would write into a directory.
func (o *ownFiles) checkCopies(c *command.Command, paths []command.Path) {
	if !c.Facts().Copies {
		return
	}
	const maxPaths = 32
	if len(paths) > maxPaths {
		paths = append(slices.Clone(paths[:maxPaths]), paths[len(paths)-1])
	}
	for _, dir := range paths {
		for _, p := range paths {
			for _, place := range slices.Concat(o.places(p)...) {
				o.checkFile(certain(within(dir, filepath.Base(place))))
			}
		}
	}
}

// within returns the path of the file with this name in a directory.
func within(dir command.Path, name string) command.Path {
	in := dir
	in.Abs = nil
	for _, abs := range dir.Abs {
		in.Abs = append(in.Abs, abs+string(filepath.Separator)+name)
	}
	return in
}

// checkDirsAbove checks directories that contain zeph-acp's own files. A command that
// would process them is blocked; one that may descend into them needs
// permission.
func (o *ownFiles) checkDirsAbove(c *command.Command, paths []command.Path) {
	program := c.Program()
	walks := c.Facts().Walks != ""
	switch {
	case c.Wraps || slices.Contains([]string{"cd", "mkdir", "pushd"}, program):
		return
	case c.ReadOnly() && (!walks || !descends(c)):
		return
	}
	if c.Facts().Walks == "here" && !slices.ContainsFunc(paths, func(p command.Path) bool { return p.Sure }) {
		paths = append(slices.Clone(paths), command.Path{Text: "the current directory", Abs: c.Dirs, Sure: true})
	}
	if handlesContents(c) && o.hidden.Linked() {
		o.addReason("some of zeph-acp's own files have hard links, which it may reach")
	}
	dirs, glued := operands(c, paths)
	for i, p := range dirs {
		target := i == len(dirs)-1 && c.Facts().Copies // the destination of a copy
		if o.checkDirAbove(c, p) && o.dirAbove == "" && !target && handlesContents(c) {
			o.dirAbove = p.Text
		}
	}
	for _, p := range glued {
		if !walks { // "--grep=." is not a directory
			o.checkDirAbove(c, p)
		}
	}
}

// operands returns the words of a command that may be directories, and other
// paths that may be one.
func operands(c *command.Command, paths []command.Path) (words, other []command.Path) {
	words = slices.Clone(paths)
	for _, p := range c.Mentions() {
		same := func(o command.Path) bool { return o.Text == p.Text }
		switch {
		case !p.Sure || strings.HasPrefix(p.Text, "-") || slices.ContainsFunc(words, same):
		case slices.ContainsFunc(c.Args(), func(w command.Word) bool { return w.Text == p.Text }):
			words = append(words, p)
		default:
			other = append(other, p)
		}
	}
	return words, other
}

// checkDirAbove adds a reason to ask if p may be a directory above zeph-acp's own files. It
// reports whether p certainly is one.
func (o *ownFiles) checkDirAbove(c *command.Command, p command.Path) (sure bool) {
	for i, places := range o.places(o.expandHome(p)) {
		if slices.ContainsFunc(places, func(place string) bool { return o.reachesOwnFiles(c, place) }) {
			o.addReason("zeph-acp's own files are below %s", p.Text)
			sure = sure || i == 0
		}
	}
	return sure
}

// handlesContents reports whether a command shows, copies or moves everything below the
// directories among its operands.
func handlesContents(c *command.Command) bool {
	switch c.Program() {
	case "diff", "mv", "rg", "rsync", "scp", "zip":
		return true
	case "egrep", "fgrep", "grep":
		return descends(c)
	case "cp":
		return hasOption(c, "rRa", "--recursive", "--archive")
	case "bsdtar", "gtar", "tar":
		// The options may come without a dash: "tar cf".
		return hasOption(c, "cru", "--create", "--append", "--update") ||
			len(c.Words) > 1 && c.Words[1].Text != "" && strings.ContainsRune("cru", rune(c.Words[1].Text[0]))
	}
	return isGit(c) && descends(c)
}

// reachesOwnFiles reports whether the command would reach zeph-acp's own files below a
// directory: many programs skip names that begin with a dot.
func (o *ownFiles) reachesOwnFiles(c *command.Command, dir string) bool {
	return slices.ContainsFunc(o.hidden.Below(dir), func(rel string) bool {
		return !skipsDotFiles(c) || !strings.HasPrefix(rel, ".") && !strings.Contains(rel, string(filepath.Separator)+".")
	})
}

// descends reports whether a recursive program descends into its operands.
func descends(c *command.Command) bool {
	switch c.Program() {
	case "grep", "egrep", "fgrep":
		return hasOption(c, "rRd", "--recursive", "--dereference-recursive", "--directories")
	case "ls":
		return hasOption(c, "R", "--recursive")
	}
	first, _ := c.Subcommand()
	return !isGit(c) || first == "diff" || first == "grep"
}

// skipsDotFiles reports whether a recursive program skips names that begin with a dot.
func skipsDotFiles(c *command.Command) bool {
	switch c.Program() {
	case "rg":
		return !hasOption(c, ".ug", "--hidden", "--unrestricted", "--glob", "--iglob")
	case "fd", "fdfind":
		return !hasOption(c, "Hu", "--hidden", "--unrestricted")
	case "ls", "tree":
		return !hasOption(c, "aAf", "--all", "--almost-all")
	}
	return false
}

// hasOption reports whether one of the options may be present: a letter in a
// bundle, or a long option, abbreviated or not.
func hasOption(c *command.Command, letters string, long ...string) bool {
	for _, w := range c.Args() {
		name, _, _ := strings.Cut(w.Text, "=")
		abbreviates := func(l string) bool { return strings.HasPrefix(l, name) }
		switch {
		case !w.Literal || w.Glob:
			return true
		case len(name) > 2 && strings.HasPrefix(name, "--"):
			if slices.ContainsFunc(long, abbreviates) {
				return true
			}
		case strings.HasPrefix(name, "-") && strings.ContainsAny(name, letters):
			return true
		}
	}
	return false
}

// pathLikeText matches parts of a script that look like paths, even in code for an
// interpreter.
var pathLikeText = lazyregexp.Build(func() string {
	const name = "[^\\s\"'`(){}<>;|&,=:@$*?]*"
	return name + "/" + name
})

// checkText adds a reason to ask if the script contains the name of one of
// zeph-acp's own files anywhere, such as in a program for an interpreter.
func (o *ownFiles) checkText(card executors.Card) {
	for _, name := range pathLikeText.FindAllString(card.Command(), 1024) {
		p := command.Path{Text: name, Abs: []string{name}}
		if !filepath.IsAbs(name) {
			p.Abs = []string{card.Dir() + string(filepath.Separator) + name}
		}
		o.checkFile(o.expandHome(p))
	}
	for _, dir := range o.hidden.Dirs() { // also the part of $HOME/.config/zeph-acp after the variable
		parts := strings.Split(filepath.ToSlash(dir), "/")
		tail := strings.Join(parts[max(0, len(parts)-2):], "/")
		if mentionsPath(filepath.ToSlash(card.Command()), tail) {
			o.addReason("it mentions zeph-acp's own directory %s", tail)
		}
	}
}

// mentionsPath reports whether text mentions name as whole path elements.
func mentionsPath(text, name string) bool {
	inName := func(r rune) bool { return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	text, name = strings.ToLower(text), strings.ToLower(name)
	for before, rest, ok := strings.Cut(text, name); ok; before, rest, ok = strings.Cut(rest, name) {
		last, _ := utf8.DecodeLastRuneInString(before)
		first, _ := utf8.DecodeRuneInString(rest)
		if !inName(last) && !inName(first) {
			return true
		}
	}
	return false
}

func (o *ownFiles) addReason(format string, args ...any) {
	o.ask = append(o.ask, fmt.Sprintf(format, args...))
}
