package permission

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/executors/workspace/steering"
)

// controlsGitOrAgent reports whether a file controls version control or this agent later, by any
// name that some file system has for it.
func controlsGitOrAgent(abs string) bool { return steering.Of(abs, false) == steering.Control }

// steeringReasons are the reasons to ask about a change of a file that steers something.
var steeringReasons = map[steering.Kind]string{
	steering.Control:      "default: changes in .git, .zeph and the like always need permission",
	steering.Programs:     "default: editors, shells, hooks or other agents start programs from this file",
	steering.Instructions: "default: agents take this file for instructions",
}

// steered returns what a file steers, an absolute path without links. Its names below the innermost of
// the session's roots count: a whole project may be inside of ".claude/worktrees". dir is as of
// [steering.Of].
func (p permissionCheck) steered(abs string, dir bool) steering.Kind {
	innermost := ""
	for _, root := range p.Roots.Dirs() {
		if workspace.Within(root, abs) && len(root) > len(innermost) {
			innermost = root
		}
	}
	if innermost == "" { // ".hidden/x" is at the top of a root alone
		abs = "/" + filepath.ToSlash(abs)[len(filepath.VolumeName(abs)):]
		return steering.Of("outside"+abs, dir)
	}
	if kind := steering.Of(strings.TrimPrefix(abs, innermost), dir); kind != steering.Nothing {
		return kind
	}
	for link, target := range p.steeringLinks() {
		if workspace.Within(target, abs) {
			return steering.Of(link, true)
		}
	}
	return p.environmentProgram(abs, innermost)
}

// steeringLinks returns the links at the tops of the roots whose names steer, and their targets: a file
// that ".vscode" leads to is a setting too.
func (p permissionCheck) steeringLinks() map[string]string {
	if p.links == nil {
		return nil
	}
	if *p.links != nil {
		return *p.links
	}
	*p.links = map[string]string{}
	for _, root := range p.Roots.Dirs() {
		entries, _ := os.ReadDir(root)
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink == 0 || steering.Of(e.Name(), true) == steering.Nothing {
				continue
			}
			if real, err := filepath.EvalSymlinks(filepath.Join(root, e.Name())); err == nil {
				(*p.links)[e.Name()] = real
			}
		}
	}
	return *p.links
}

// environmentProgram checks a program of a virtual environment of Python with any name.
func (p permissionCheck) environmentProgram(abs, root string) steering.Kind {
	for at := abs; len(at) > len(root); at = filepath.Dir(at) {
		if name := strings.ToLower(filepath.Base(at)); name != "bin" && name != "scripts" {
			continue
		}
		if _, err := p.stats.Lstat(filepath.Join(filepath.Dir(at), "pyvenv.cfg")); err == nil {
			return steering.Programs
		}
	}
	return steering.Nothing
}

// steeredFile returns why a change of a file needs permission; "" means that it needs none for what it
// steers. pattern comes from the rule that allows the call, and exempts the files that it names.
func (p permissionCheck) steeredFile(abs string, dir bool, pattern string) string {
	kind := p.steered(abs, dir)
	for _, root := range p.Roots.Dirs() {
		pattern = strings.TrimPrefix(pattern, root+string(filepath.Separator))
	}
	if kind != steering.Control && steering.Of(pattern, false) != steering.Nothing {
		return ""
	}
	return steeringReasons[kind]
}

// steeredByCall returns why a call of a tool other than a shell needs permission for the files that it
// changes. pattern returns the pattern of the rule for a file.
func (p permissionCheck) steeredByCall(call *executors.Call, pattern func(file string) string) string {
	isDir := func(file string) bool {
		info, err := p.stats.Lstat(file)
		return err == nil && info.IsDir()
	}
	paths := call.Card.Paths
	moves := len(paths) > 1 && slices.ContainsFunc(paths, isDir) // or copies, a directory
	for _, file := range paths {
		if why := p.steeredFile(file, moves || isDir(file), pattern(file)); why != "" {
			return why
		}
	}
	if moves {
		return p.steeredByTree(paths[0], paths[len(paths)-1])
	}
	return ""
}

// maxArriving bounds the files of a tree that is copied or moved and whose names are checked.
const maxArriving = 20_000

// steeredByTree returns why it needs permission to copy or move the directory from to the new name
// to, for the files in it.
func (p permissionCheck) steeredByTree(from, to string) (why string) {
	dirs := p.Roots.Dirs()
	inside := !slices.Contains(dirs, to) && slices.ContainsFunc(dirs, func(root string) bool { return workspace.Within(root, from) })
	n := 0
	_ = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read cannot be copied
		}
		if n++; n > maxArriving {
			why = "default: it has too many files to look for those from which programs start"
			return fs.SkipAll
		}
		rel, _ := filepath.Rel(from, path)
		kind := p.steered(filepath.Join(to, rel), d.IsDir())
		if kind == steering.Nothing || inside && p.steered(path, d.IsDir()) == kind { // it has the same effect where it is now
			return nil
		}
		why = steeringReasons[kind]
		return fs.SkipAll
	})
	return why
}

// steeredByCommand returns why a command needs permission for the files that it may change. pattern
// comes from the rule that allows the command.
func (p permissionCheck) steeredByCommand(c *command.Command, pattern string, t *follow.Trail) string {
	var named []string // words of the pattern that name such files
	for word := range strings.FieldsSeq(pattern) {
		if steering.Of(strings.TrimLeft(word, "*"), false) != steering.Nothing {
			named = append(named, word)
		}
	}
	exempts := func(text string) bool {
		return slices.ContainsFunc(named, func(word string) bool {
			_, ok := firstMatch([]Rule{{Pattern: word, Action: Allow}}, text, asWritten)
			return ok
		})
	}
	for _, dir := range c.Dirs { // many programs write in their working directory
		if found, err := follow.Path(dir, t); err == nil && p.steered(found[0], true) != steering.Nothing {
			return steeringReasons[p.steered(found[0], true)]
		}
	}
	for _, f := range changedFiles(c) {
		for _, place := range p.placesOf(f, t) {
			info, err := p.stats.Lstat(place)
			kind := p.steered(place, err == nil && info.IsDir() || err != nil && namesDir(f.Text))
			if kind == steering.Control || kind != steering.Nothing && !exempts(f.Text) {
				return steeringReasons[kind]
			}
		}
	}
	if why := p.steeredByTransfer(c, t); why != "" {
		return why
	}
	for _, dir := range unpackedInto(c) {
		if len(dir.Abs) == 0 {
			return unknownNames
		}
		for _, place := range p.placesOf(dir, t) {
			if p.steered(place, true) != steering.Nothing || slices.ContainsFunc(p.Roots.Dirs(), func(root string) bool { return workspace.Within(place, root) }) {
				return unknownNames
			}
		}
	}
	return ""
}

// unknownNames is the reason to ask about an archive or a patch at the top of a root.
const unknownNames = "default: it writes files with names that only it knows, which may start programs"

func namesDir(text string) bool { return strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.") }

// placesOf returns where a path of a command may lead, links resolved.
func (p permissionCheck) placesOf(f command.Path, t *follow.Trail) []string {
	var out []string
	for _, abs := range f.Abs {
		places, _ := follow.Files(abs, f.Glob, t)
		out = append(append(out, places...), filepath.Clean(abs)) // the name of a link counts too
	}
	return out
}

// changedFiles returns the files that a command may change. A word of a program that no table lists may be
// one.
func changedFiles(c *command.Command) []command.Path {
	c = withoutProgramPath(c)
	program := c.Program()
	first, _ := c.Subcommand()
	if c.ReadOnly() || c.Facts().ReadsNamed || isGit(c) && !programs.Of(program, first).Changes {
		return nil
	}
	words, glued := operands(c, c.Paths())
	out := slices.Concat(words, glued)
	if c.Interprets() || slices.Contains([]string{"awk", "gawk", "mawk", "ed", "ex", "gsed", "sed", "vi", "vim", "nvim", "emacs"}, program) {
		out = append(out, c.Mentions()...) // names in its program
	}
	name := c.Words[0].Text
	if !slices.ContainsFunc(c.Args(), func(w command.Word) bool { return w.Text == name }) {
		out = slices.DeleteFunc(out, func(f command.Path) bool { return f.Text == name })
	}
	switch {
	case slices.Contains([]string{"cp", "install", "rsync", "scp", "ditto"}, program):
		from, _ := transfer(c)
		out = slices.DeleteFunc(out, func(f command.Path) bool {
			return slices.ContainsFunc(from, func(s command.Path) bool { return s.Text == f.Text })
		})
	case runsText(c) && len(c.Operands()) > 0 && !hasCode(c): // the script
		out = slices.DeleteFunc(out, func(f command.Path) bool { return f.Text == c.Operands()[0].Text })
	}
	return out
}

// withoutProgramPath returns the command with the bare name of its program: a program is read, not written.
func withoutProgramPath(c *command.Command) *command.Command {
	bare := *c
	bare.Words = slices.Clone(c.Words)
	if w := &bare.Words[0]; w.Literal {
		w.Text = w.Text[strings.LastIndexByte(w.Text, '/')+1:]
	}
	return &bare
}

// transfer returns the sources and the target of a program that copies, moves or links files.
func transfer(c *command.Command) (from []command.Path, to *command.Path) {
	if !slices.Contains([]string{"cp", "mv", "ln", "install", "rsync", "scp", "ditto", "gcp", "gmv", "gln", "ginstall"}, strings.TrimSuffix(c.Program(), ".exe")) {
		return nil, nil
	}
	paths := c.Paths()
	for i, a := range c.Args() {
		value, ok := strings.CutPrefix(a.Text, "-t")
		name, long, glued := strings.Cut(a.Text, "=")
		switch {
		case strings.HasPrefix(name, "--") && len(name) > 3 && strings.HasPrefix("--target-directory", name):
			value, ok = long, true
			if !glued {
				value = ""
			}
		case ok || isBundleWith(a.Text, 't') && c.Program() != "rsync":
			if !ok {
				value, ok = "", true
			}
		}
		if !ok || c.Program() == "rsync" || c.Program() == "scp" {
			continue
		}
		if value == "" && i+1 < len(c.Args()) {
			value = c.Args()[i+1].Text
		}
		for j, f := range paths {
			if f.Text == value {
				return slices.Delete(slices.Clone(paths), j, j+1), &paths[j]
			}
		}
	}
	if len(paths) < 2 {
		return nil, nil
	}
	return paths[:len(paths)-1], &paths[len(paths)-1]
}

// isBundleWith reports whether a word is a bundle of short options that ends with letter.
func isBundleWith(word string, letter byte) bool {
	return len(word) > 2 && word[0] == '-' && word[1] != '-' && word[len(word)-1] == letter
}

// steeredByTransfer checks the new names of the files that a program copies, moves or links.
func (p permissionCheck) steeredByTransfer(c *command.Command, t *follow.Trail) string {
	from, to := transfer(c)
	if to == nil {
		return ""
	}
	for _, target := range p.placesOf(*to, t) {
		into, err := p.stats.Lstat(target)
		for _, source := range from {
			for _, place := range p.placesOf(source, t) {
				name := target
				contents := c.Program() == "rsync" && strings.HasSuffix(source.Text, "/") || filepath.Base(source.Text) == "."
				if !contents && (err == nil && into.IsDir() || namesDir(to.Text) || len(from) > 1) {
					name = filepath.Join(target, filepath.Base(source.Text))
					if source.Glob || filepath.Base(source.Text) == ".." {
						name = filepath.Join(target, filepath.Base(place))
					}
				}
				info, err := os.Stat(place)
				isDir := err == nil && info.IsDir()
				if kind := p.steered(name, isDir); kind != steering.Nothing && name != target {
					return steeringReasons[kind]
				} else if kind != steering.Nothing && isDir {
					return steeringReasons[kind]
				}
				if isDir {
					if why := p.steeredByTree(place, name); why != "" {
						return why
					}
				}
			}
		}
	}
	return ""
}

// unpackedInto returns the directories into which a command writes files that it does not name, from an
// archive or a patch.
func unpackedInto(c *command.Command) []command.Path {
	args := c.Args()
	has := func(words ...string) bool {
		return slices.ContainsFunc(args, func(a command.Word) bool { return slices.Contains(words, a.Text) })
	}
	first, _ := c.Subcommand()
	var options []string // name the directory
	switch program := strings.TrimSuffix(c.Program(), "-static"); program {
	case "tar", "gtar", "bsdtar", "star":
		bundle := len(args) > 0 && args[0].Text != "" && args[0].Text[0] != '-' && strings.Contains(args[0].Text, "x")
		if !bundle && !hasOption(c, "x", "--extract", "--get") || hasOption(c, "", "--to-stdout") {
			return nil
		}
		options = []string{"-C", "--directory", "--cd"}
	case "unzip":
		if hasOption(c, "lptzZ") {
			return nil
		}
		options = []string{"-d"}
	case "7z", "7za", "7zr", "7zz", "unrar", "rar":
		if first != "x" && first != "e" {
			return nil
		}
		options = []string{"-o"}
	case "cpio", "bsdcpio":
		if !hasOption(c, "ip", "--extract", "--pass-through") || hasOption(c, "t", "--list") {
			return nil
		}
		options = []string{"-D", "--directory"}
	case "pax":
		if !hasOption(c, "r") {
			return nil
		}
	case "jar":
		if first == "" || !strings.Contains(first, "x") && !has("--extract", "-x") {
			return nil
		}
		options = []string{"-C", "--dir"}
	case "patch":
		if has("--dry-run") || hasOption(c, "o", "--output") {
			return nil
		}
		options = []string{"-d", "--directory"}
	case programs.Git:
		if first != "apply" && first != "am" || first == "apply" && has("--check", "--stat", "--numstat", "--summary", "--cached") {
			return nil
		}
		options = []string{"--directory"}
	case "unsquashfs", "unar", "cabextract", "unshar", "uudecode", "ditto", "innoextract", "asar":
		options = []string{"-d", "-o", "--dest"}
	case "dpkg", "dpkg-deb":
		if !hasOption(c, "xXR", "--extract", "--vextract", "--raw-extract") {
			return nil
		}
	default:
		if !(c.Interprets() && has("zipfile", "tarfile") && has("-e", "--extract")) {
			return nil
		}
	}
	named := operandsOf(c, options)
	if len(named) == 0 {
		named = append(named, command.Path{Text: ".", Abs: c.Dirs, Sure: true})
	}
	return named
}

// operandsOf returns the values of options as directories of a command. Where no option names one, an operand
// that ends with a slash does.
func operandsOf(c *command.Command, options []string) []command.Path {
	var words []string
	args := c.Args()
	for i, a := range args {
		for _, o := range options {
			value, ok := strings.CutPrefix(a.Text, o)
			if !ok && len(o) == 2 && isBundleWith(a.Text, o[1]) {
				value, ok = "", true
			}
			if !ok {
				continue
			}
			if value = strings.TrimPrefix(value, "="); value == "" && i+1 < len(args) {
				value = args[i+1].Text
			}
			words = append(words, value)
		}
	}
	if len(words) == 0 {
		for _, a := range args {
			if strings.HasSuffix(a.Text, "/") {
				words = append(words, a.Text)
			}
		}
	}
	if len(words) == 0 {
		return nil
	}
	return command.New(append([]string{"ls"}, words...), c.Dirs, nil).Paths()
}
