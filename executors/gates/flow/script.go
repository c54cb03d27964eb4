package flow

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/command/follow"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// sendingPart returns the part of a script that can send data out, or "". A nil script has none.
func sendingPart(s *command.Script) string {
	if s == nil {
		return ""
	}
	if s.Err != nil {
		return "a command that cannot be parsed"
	}
	for _, r := range s.Redirects {
		if r.Socket() {
			return "the connection " + r.Target.Text
		}
	}
	for _, c := range s.Commands {
		if how := sendingCommand(c); how != "" {
			return how
		}
	}
	return ""
}

// sendingCommand returns the name of a command that can send data out, or "".
func sendingCommand(c *command.Command) string {
	program := c.Program()
	switch {
	case program == "":
		return "a program with a computed name"
	case directions(c)&sends != 0:
		if word := decidingWord(c); word != "" {
			return program + " " + word
		}
		return program
	case c.ReadOnly() || slices.Contains([]string{"echo", "printf"}, program):
		return ""
	case (c.Interprets() || command.IsShell(program) && !c.Wraps) && hasCode(c):
		return "the code of " + program
	}
	for _, w := range c.Args() {
		if w.Literal && address.MatchString(w.Text) {
			return program + " with an address"
		}
	}
	return ""
}

// directions returns the directions in which a command moves data. A computed
// subcommand may be any of the program's.
func directions(c *command.Command) flow {
	facts := c.Facts()
	_, open := c.Subcommand()
	word := decidingWord(c)
	decides := func(list string) bool { return programs.Has(list, word) || word == "" && open && list != "" }
	switch {
	case facts.Flow == "both", decides(facts.SendsBoth):
		return both
	case facts.Flow != "", decides(facts.Sends):
		return sends
	}
	return 0
}

// decidingWord returns the word of a command that decides about the direction by the table: an option
// or one of the first operands, as in "docker image push".
func decidingWord(c *command.Command) string {
	facts := c.Facts()
	operands := cmp.Or(facts.SendsAt, 2)
	for _, w := range c.Operands() {
		name, _, _ := strings.Cut(strings.ToLower(w.Text), "=")
		option := strings.HasPrefix(name, "-")
		if !option {
			operands--
		}
		if w.Literal && (option || operands >= 0) && (programs.Has(facts.Sends, name) || programs.Has(facts.SendsBoth, name)) {
			return name
		}
	}
	return ""
}

// address matches a word with a place on another machine: each scheme but file://.
var address = lazyregexp.New(`(?i)\b(?:[a-eg-z][a-z0-9+.-]*|f[a-hj-z][a-z0-9+.-]*)://|^[\w.-]+@[\w.-]+:`)

// codeFlags are options of interpreters whose value is code.
var codeFlags = []string{"-c", "-e", "-p", "-r", "--eval", "--print"}

// hasCode reports whether the script itself has code for an interpreter: in an
// option, or on standard input.
func hasCode(c *command.Command) bool {
	if c.Input() != "" || len(c.Inputs) > 0 || strings.HasSuffix(c.Program(), "awk") {
		return true
	}
	operands := false
	for _, w := range c.Args() {
		name, _, _ := strings.Cut(w.Text, "=")
		if !w.Literal || !operands && name == "eval" || slices.Contains(codeFlags, name) ||
			len(name) > 2 && name[0] == '-' && name[1] != '-' && strings.ContainsAny(name, "ce") {
			return true
		}
		operands = operands || !strings.HasPrefix(w.Text, "-")
	}
	return !operands
}

// strangersIn returns, as a source, the command of a script that prints text of strangers, or "".
func strangersIn(s *command.Script) string {
	if s == nil || s.Err != nil {
		return ""
	}
	for _, c := range s.Commands {
		if directions(c)&reads != 0 {
			return "the output of " + c.Program()
		}
	}
	return ""
}

// maxFiles bounds the files of one script that are checked.
const maxFiles = 512

// shownByScript returns the files whose content a script may show.
func shownByScript(s *command.Script) []string {
	if s == nil {
		return nil
	}
	var out []string
	if s.Err != nil {
		out = namesIn(s.Text, s.Shell.Dir)
		return out[:min(len(out), maxFiles)]
	}
	for _, r := range s.Redirects {
		if r.Read {
			out = append(out, wordFiles(r.Path())...)
		}
	}
	for _, c := range s.Commands {
		if isSilent(c) {
			continue
		}
		for _, p := range slices.Concat(c.Paths(), certain(c.Mentions())) {
			out = append(out, wordFiles(p)...)
		}
		if len(c.Dirs) > 0 && (c.Interprets() || command.IsShell(c.Program())) {
			out = append(out, namesIn(c.Text()+" "+c.Input(), c.Dirs[0])...)
		}
	}
	return out[:min(len(out), maxFiles)]
}

// isSilent reports whether a command shows no content of the files that it names.
func isSilent(c *command.Command) bool {
	first, open := c.Subcommand()
	return c.Facts().ShowsNothing || !open && programs.Of(c.Program(), first).ShowsNothing
}

// certain returns the paths that are not parts of texts.
func certain(paths []command.Path) []command.Path {
	return slices.DeleteFunc(paths, func(p command.Path) bool { return !p.Sure })
}

// wordFiles returns the files that a word of a command stands for: as written, and
// those that match it if it is a pattern.
func wordFiles(p command.Path) []string {
	if !p.Glob {
		return p.Abs
	}
	out, trail := slices.Clone(p.Abs), &follow.Trail{}
	for _, abs := range p.Abs {
		found, _ := follow.Files(abs, p.Glob, trail) // with an error, those found so far
		out = append(out, found[:min(len(found), maxFiles)]...)
	}
	return out
}

// namesIn returns the names of files in a text, such as the code of a program.
func namesIn(text, dir string) []string {
	var out []string
	for name := range strings.FieldsFuncSeq(text, endsName) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		if out = append(out, name); len(out) == maxFiles {
			break
		}
	}
	return out
}

func endsName(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("\"'`(){}[]<>;|&,=:", r)
}
