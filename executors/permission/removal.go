package permission

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// checkRemoval checks recursive removal. It blocks the removal of a protected
// directory, and asks about an unknown one.
func (g guardCheck) checkRemoval(c *command.Command) (ask []string, blocked string) {
	var targets []command.Path
	switch {
	case c.Program() == "rm" && recursive(c.Args()):
		if slices.ContainsFunc(c.Args(), func(w command.Word) bool { return strings.HasPrefix(w.Text, "--no-p") }) {
			return nil, "it removes everything"
		}
		targets = c.Paths()
	case c.Program() == "mv": // a file that is moved away no longer exists under its old name
		targets = movedFiles(c)
	case c.Program() == "rimraf":
		targets = findStarts(c)
	case (c.Program() == "find" || c.Program() == "gfind") && removesAllFound(c.Args()):
		targets = findStarts(c)
	}
	if c.Wrapped && c.Program() == "rm" && recursive(c.Args()) {
		targets = append(targets, listedDirs(c.Inputs)...)
	}
	for _, t := range targets {
		for i, abs := range t.Abs {
			if !g.protected(abs) {
				continue
			}
			if i == 0 {
				return nil, "it removes all of " + filepath.Clean(abs)
			}
			ask = append(ask, "it removes all of "+filepath.Clean(abs)+" if a cd before it fails")
		}
	}
	return ask, ""
}

// movedFiles returns the files that mv moves away.
func movedFiles(c *command.Command) []command.Path {
	paths := c.Paths()
	namesTarget := slices.ContainsFunc(c.Args(), func(w command.Word) bool { // -t, --target-directory
		return strings.HasPrefix(w.Text, "-t") || strings.HasPrefix(w.Text, "--t")
	})
	if !namesTarget && len(paths) > 0 { // the last path is the target
		paths = paths[:len(paths)-1]
	}
	return paths
}

// listedDirs returns the directories whose whole contents a pipeline prints, for
// xargs to pass on.
func listedDirs(inputs []*command.Command) []command.Path {
	if len(inputs) != 1 {
		return nil
	}
	switch c := inputs[0]; c.Program() {
	case "find", "gfind":
		if all := append(slices.Clone(c.Args()), command.Word{Text: "-delete", Literal: true}); removesAllFound(all) {
			return findStarts(c)
		}
	case "ls":
		return findStarts(c)
	}
	return nil
}

// recursive reports whether rm descends into directories, in any spelling of
// the option.
func recursive(args []command.Word) bool {
	for _, a := range args {
		switch {
		case a.Text == "--":
			return false
		case strings.HasPrefix(a.Text, "--"):
			if len(a.Text) > 2 && strings.HasPrefix("--recursive", a.Text) {
				return true
			}
		case strings.HasPrefix(a.Text, "-") && strings.ContainsAny(a.Text, "rR"):
			return true
		case !a.Literal && strings.HasPrefix(a.Text, "$"): // rm $flags /
			return true
		}
	}
	return false
}

// removesAllFound reports whether find removes everything that it finds: no test before
// the removal excludes any file.
func removesAllFound(args []command.Word) bool {
	for _, alternative := range alternatives(args) {
		picked := false
		for i := 0; i < len(alternative); i++ {
			switch alternative[i].Text {
			case "-delete":
				if !picked {
					return true
				}
			case "-exec", "-execdir", "-ok", "-okdir":
				if !picked && i+1 < len(alternative) && strings.HasSuffix(alternative[i+1].Text, "rm") {
					return true
				}
			case "(":
				inner := parenthesised(alternative[i+1:])
				if !picked && removesAllFound(inner) {
					return true
				}
				picked = picked || !negated(alternative, i) && groupExcludes(inner)
				i += len(inner)
			default:
				picked = picked || excludesFiles(alternative, i)
			}
		}
	}
	return false
}

// alternatives splits find's expression at each "-o" and "," outside
// parentheses.
func alternatives(args []command.Word) [][]command.Word {
	var out [][]command.Word
	depth, from := 0, 0
	for i, a := range args {
		switch a.Text {
		case "(":
			depth++
		case ")":
			depth--
		case "-o", "-or", ",":
			if depth == 0 {
				out = append(out, args[from:i])
				from = i + 1
			}
		}
	}
	return append(out, args[from:])
}

// parenthesised returns the words up to the closing parenthesis.
func parenthesised(args []command.Word) []command.Word {
	depth := 1
	for i, a := range args {
		switch a.Text {
		case "(":
			depth++
		case ")":
			if depth--; depth == 0 {
				return args[:i]
			}
		}
	}
	return args
}

// groupExcludes reports whether every alternative of a group excludes some files.
func groupExcludes(args []command.Word) bool {
	for _, alternative := range alternatives(args) {
		if !slices.ContainsFunc(alternative, func(a command.Word) bool { return strings.HasPrefix(a.Text, "-") }) {
			return false
		}
		one := false
		for i := range alternative {
			one = one || excludesFiles(alternative, i)
		}
		if !one {
			return false
		}
	}
	return true
}

// excludesFiles reports whether the word is a test that most files do not pass.
func excludesFiles(args []command.Word, i int) bool {
	if negated(args, i) {
		return false
	}
	switch args[i].Text {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-lname":
		return i+1 < len(args) && args[i+1].Literal && strings.Trim(args[i+1].Text, "*?./[]!^$+\\") != ""
	case "-mtime", "-mmin", "-atime", "-newer", "-size", "-empty":
		return true
	}
	return false
}

func negated(args []command.Word, i int) bool {
	return i > 0 && (args[i-1].Text == "!" || args[i-1].Text == "-not")
}

// findStarts returns the directories in which find begins: the operands before its
// expression, else the working directory.
func findStarts(c *command.Command) []command.Path {
	var words []command.Word
	for _, a := range c.Args() {
		if slices.Contains([]string{"-H", "-L", "-P", "-E", "-X", "-d", "-s", "-x", "--"}, a.Text) {
			continue
		}
		if strings.HasPrefix(a.Text, "-") || a.Text == "(" || a.Text == "!" {
			break
		}
		words = append(words, a)
	}
	if len(words) == 0 {
		words = []command.Word{{Text: ".", Literal: true}}
	}
	return (&command.Command{Words: append([]command.Word{{Text: "rm", Literal: true}}, words...), Dirs: c.Dirs}).Paths()
}

// protected reports whether abs must not be removed as a whole. Protected are the file system's
// root, the home directory, the roots of the session and zeph-acp's own directories. So are any
// directory above them and a pattern for all their contents.
func (g guardCheck) protected(abs string) bool {
	for {
		abs = strings.TrimRight(filepath.ToSlash(abs), "/")
		i := strings.LastIndexByte(abs, '/')
		if base := abs[i+1:]; i < 0 || !strings.Contains(base, "*") || strings.Trim(base, "*?.[]!^{},") != "" {
			break
		}
		abs = abs[:i]
	}
	if abs == "" {
		return true
	}
	place := filepath.Clean(filepath.FromSlash(abs))
	if found, err := follow.Path(filepath.FromSlash(abs), &follow.Trail{Lstat: g.stats.Lstat}); err == nil {
		place = found[0]
	}
	keep := append(g.commandDirs(), string(filepath.Separator))
	if g.Home != "" {
		keep = append(keep, g.Home)
	}
	if len(g.agentFiles().Below(place)) > 0 {
		return true
	}
	return slices.ContainsFunc(keep, func(k string) bool { return workspace.Within(place, k) })
}
