package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// Path is a word of a command that names a file, or may name one.
type Path struct {
	Text string
	Abs  []string // absolute and cleaned, seen from each directory of the command; none if nobody knows
	// Sure says that the program takes the word for a file. Another word only
	// looks like one: it may as well be a part of a message.
	Sure bool
}

// fileCommand tells which operands of a program are files.
type fileCommand struct {
	lead    int    // operands before the files, such as a pattern
	leadBy  string // short options that bring the leading operand, so that all operands are files
	options string // short options whose value is no file
}

// fileCommands are programs whose operands are files.
var fileCommands = map[string]fileCommand{
	"awk": {lead: 1, leadBy: "f", options: "vF"}, "b2sum": {}, "base64": {options: "w"}, "bat": {}, "bzip2": {}, "cat": {}, "cd": {},
	"chgrp": {lead: 1}, "chmod": {lead: 1}, "chown": {lead: 1}, "cksum": {}, "cmp": {options: "in"}, "comm": {}, "cp": {options: "S"},
	"csplit": {}, "cut": {options: "bcdf"}, "dd": {}, "diff": {options: "UCW"}, "dirname": {}, "du": {options: "dBt"}, "egrep": {lead: 1, leadBy: "ef", options: "ABCem"},
	"fgrep": {lead: 1, leadBy: "ef", options: "ABCem"}, "file": {options: "m"}, "find": {}, "fold": {options: "w"}, "gawk": {lead: 1, leadBy: "f", options: "vF"},
	"grep": {lead: 1, leadBy: "ef", options: "ABCemd"}, "gunzip": {}, "gzip": {}, "head": {options: "nc"}, "hexdump": {options: "nsevf"}, "install": {options: "mog"},
	"jq": {lead: 1, leadBy: "f"}, "less": {}, "link": {}, "ln": {options: "S"}, "ls": {options: "ITw"}, "md5sum": {}, "mkdir": {options: "m"}, "mkfifo": {options: "m"},
	"mktemp": {}, "more": {}, "mv": {options: "S"}, "nl": {}, "od": {options: "ANjtw"}, "paste": {options: "d"}, "patch": {options: "pFD"}, "pushd": {},
	"readlink": {}, "realpath": {}, "rg": {lead: 1, leadBy: "ef", options: "ABCegmtTjMd"}, "rm": {}, "rmdir": {}, "rsync": {options: "e"}, "sed": {lead: 1, leadBy: "ef", options: "el"},
	"sha1sum": {}, "sha224sum": {}, "sha256sum": {}, "sha384sum": {}, "sha512sum": {}, "shred": {options: "ns"}, "sort": {options: "ktS"}, "source": {}, ".": {},
	"split": {options: "abClnt"}, "stat": {options: "cf"}, "strings": {options: "nt"}, "tac": {}, "tail": {options: "nc"}, "tar": {}, "tee": {}, "touch": {options: "dt"},
	"tree": {options: "LIP"}, "truncate": {options: "s"}, "unexpand": {}, "uniq": {options: "fsw"}, "unlink": {}, "unzip": {}, "vi": {}, "vim": {}, "wc": {}, "xxd": {options: "clgs"},
	"zcat": {}, "zip": {},
}

// Paths lists the files that the command names. A program called by its full
// path is not among them, one called by a relative path is.
func (c *Command) Paths() []Path {
	var out []Path
	program := c.Words[0]
	if program.Literal && strings.ContainsRune(program.Text, '/') && !filepath.IsAbs(program.Text) {
		out = append(out, c.path(program.Text, true))
	}
	how, known := fileCommands[c.Program()]
	lead := how.lead
	if lead > 0 && slices.ContainsFunc(c.Args(), func(a Word) bool { return shortFlag(a.Text, how.leadBy) }) {
		lead = 0
	}
	ended := false
	for i, a := range c.Args() {
		switch {
		case !a.Literal:
			if known && !strings.HasPrefix(a.Text, "-") {
				out = append(out, Path{Text: a.Text, Sure: true})
			}
		case a.Text == "--" && !ended:
			ended = true
		case strings.HasPrefix(a.Text, "-") && !ended:
			out = append(out, c.optionPaths(a.Text)...)
		case known && lead > 0 && !(i > 0 && takesValue(c.Args()[i-1].Text, how.options)):
			lead--
			if looksLikePath(a.Text) && filepath.IsAbs(a.Text) && how.lead == 0 {
				out = append(out, c.path(a.Text, false))
			}
		case known && i > 0 && !ended && takesValue(c.Args()[i-1].Text, how.options):
		case known && !isURL(a.Text):
			out = append(out, c.path(a.Text, true))
		case looksLikePath(a.Text):
			out = append(out, c.path(a.Text, false))
		}
	}
	return out
}

// optionPaths finds files glued to an option: --file=PATH, -fPATH.
func (c *Command) optionPaths(option string) []Path {
	if _, value, ok := strings.Cut(option, "="); ok {
		if looksLikePath(value) {
			return []Path{c.path(value, false)}
		}
		return nil
	}
	if i := strings.IndexAny(option, "/~"); i > 1 && option[1] != '-' {
		return []Path{c.path(option[i:], false)}
	}
	return nil
}

func (c *Command) path(text string, sure bool) Path { return newPath(text, c.Dirs, sure) }

// Path gives the file of the redirection.
func (r Redirect) Path() Path { return newPath(r.Target.Text, r.Dirs, true) }

func newPath(text string, dirs []string, sure bool) Path {
	p := Path{Text: text, Sure: sure}
	if filepath.IsAbs(text) {
		p.Abs = []string{filepath.Clean(text)}
		return p
	}
	for _, d := range dirs {
		p.Abs = append(p.Abs, filepath.Join(d, text))
	}
	return p
}

// looksLikePath reports whether a word may be the name of a file somewhere else
// than in the directory of the command.
func looksLikePath(text string) bool {
	if text == "" || isURL(text) || strings.ContainsAny(text, " \t\n") {
		return false
	}
	if text == ".." || strings.HasPrefix(text, "~") || filepath.IsAbs(text) {
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

// takesValue reports whether option is a short one, alone, whose value is the
// next word.
func takesValue(option, valued string) bool {
	return len(option) >= 2 && option[0] == '-' && option[1] != '-' && strings.IndexByte(valued, option[len(option)-1]) >= 0
}

// shortFlag reports whether word is an option that has one of letters.
func shortFlag(word, letters string) bool {
	if long, ok := strings.CutPrefix(word, "--"); ok {
		long, _, _ = strings.Cut(long, "=")
		return strings.Contains(letters, "e") && (long == "regexp" || long == "expression") || strings.Contains(letters, "f") && (long == "file" || long == "from-file")
	}
	return len(word) > 1 && word[0] == '-' && strings.ContainsAny(word[1:], letters)
}
