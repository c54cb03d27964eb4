// Package command parses a shell script without running it. It lists each simple command
// that the script would run, so that each can be checked on its own.
//
// Start with [Parse]. The tool that runs a script parses it once, in Prepare; the [Script] is part of
// the call's card, and every gate, link and filter reads it there. Parse finds every command that the
// script spells out: after operators, in substitutions, functions and here documents, after programs
// that run other programs ("env", "xargs", "find -exec"), and in text that a shell parses again ("bash
// -c", "eval"). It does not guess values that only the running shell can compute, but lists them as
// [Script.Dynamic]. Package permission decides which commands may run. [Script.Outputs] is for the
// filter: it returns the commands that wrote a script's output.
//
// Why are there guesses in addition? "c=sudo; $c" should be recognised, but
// "c=ls; $c" must not count as known: a loop or another shell may change c. So
// a guess can only make a check stricter.
//
// Why does Outputs not use the list of commands? Parse refuses scripts that cannot be
// checked, such as very large ones, but the output of every script is filtered.
// Parse also lists commands whose output the script captures, and keeps the source
// of computed words, which the patterns of filters should not see. So Outputs
// visits the syntax tree with the library's walker, and selects by the same table
// of programs.
package command

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Shell is the state of the shell that would run a script.
type Shell = plain.Shell

// Script is a parsed script with the commands that it would run. Any goroutine may read it.
type Script struct {
	Text  string // as written
	Shell Shell
	// Err means that the text is not a script, or that it is too large or too deeply nested. The
	// commands are then guesses, from each statement before an error and from the lines after it.
	// A shell runs the lines before a syntax error, and may accept what the parser refuses.
	Err error

	Commands  []*Command // in the order of the source; nested and wrapped ones included
	Redirects []Redirect
	Assigns   []string // names of variables that the script sets
	Exports   []string // names of variables that the script passes to the programs it runs
	// ExportsAll means that the script may pass all of its variables to programs, as with set -a.
	ExportsAll bool
	// Dynamic describes, for people, the parts that only the running shell can
	// compute. A check of the other parts does not cover the whole script.
	Dynamic []string

	tree *plain.Tree
}

// Equal reports whether two scripts have the same text in the same shell.
func (s *Script) Equal(other *Script) bool {
	if s == nil || other == nil {
		return s == other
	}
	return s.Text == other.Text && s.Shell == other.Shell
}

// Plain returns the plain form of the script: see [plain.Parse].
func (s *Script) Plain(allow func(c *plain.Command, why error) error) (*plain.Form, error) {
	return plain.Parse(s.tree, s.Shell, allow)
}

// Clear reports whether every shell runs the commands that the script spells out, and no others: see
// [plain.Clear].
func (s *Script) Clear() bool { return s.Err == nil && plain.Clear(s.tree, s.Shell) }

// Command is one simple command.
type Command struct {
	Words   []Word     // the program first; never empty
	Dirs    []string   // absolute directories in which it may run, the likely one first; none if unknown
	Assigns []string   // names of variables set for this command alone
	Inputs  []*Command // commands whose output may be its standard input
	Wrapped bool       // another command of the script runs it
	Wraps   bool       // it runs another command of the script
	// Guess means that the script runs this command if its variables hold their
	// last assigned values. A guess is a reason to refuse, never one to allow.
	Guess bool

	in *stdin
}

// Redirect is a redirection of a file.
type Redirect struct {
	Target Word
	Dirs   []string // as of Command
	Read   bool     // it is a standard input
	Write  bool     // truncates, appends or creates
}

// New returns the command that consists of literal words.
func New(words, dirs, assigns []string) *Command {
	c := &Command{Dirs: dirs, Assigns: assigns}
	for _, text := range words {
		c.Words = append(c.Words, Word{Text: text, Literal: true})
	}
	return c
}

// Program returns the name of the program without its directory. It is empty if
// only the running shell can compute it.
func (c *Command) Program() string {
	w := c.Words[0]
	if !w.Literal || w.Glob {
		return ""
	}
	name := w.Text[strings.LastIndexAny(w.Text, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") // some file systems do not distinguish Sudo from sudo
}

// Text returns the command in the form that rules match: its words in their
// plain form, separated by single spaces.
func (c *Command) Text() string { return join(c.Words) }

// Args returns the words after the program.
func (c *Command) Args() []Word { return c.Words[1:] }

func join(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// Limits of Parse: a script that would take too long to parse is refused.
const (
	maxScript   = 64 << 10 // bytes
	maxDepth    = 16       // of texts that a shell parses again
	maxNest     = 200      // of statements in statements
	maxCommands = 4096
	maxWords    = 32768
)

// Parse parses a bash script.
func Parse(script string, sh Shell) *Script {
	tree := plain.NewTree(script)
	w := newWalker(sh)
	err := w.parseAll(tree)
	if err != nil {
		w = newWalker(sh)
		w.parseParts(script)
	}
	w.script.Text, w.script.Shell, w.script.Err, w.script.tree = script, sh, err, tree
	return w.script
}

// parseAll walks a whole script.
func (w *walker) parseAll(script *plain.Tree) error {
	if len(script.Text) > maxScript {
		return fmt.Errorf("it is longer than %d KiB", maxScript>>10)
	}
	if err := w.parse(script); err != nil {
		return err
	}
	for name := range w.inArithmetic {
		if w.nonNumeric[name] {
			w.dynamic("a variable holds text that is computed as a number, which may run commands: %s", name)
		}
	}
	return nil
}

func newWalker(sh Shell) *walker {
	return &walker{
		shell:        sh,
		script:       &Script{},
		dirs:         []string{filepath.Clean(sh.Dir)},
		values:       map[string]string{},
		arrays:       map[string][]string{},
		functions:    map[string][]*Command{},
		sources:      map[string][]*Command{},
		assigned:     map[string]bool{},
		nonNumeric:   map[string]bool{},
		inArithmetic: map[string]bool{},
	}
}

// parseParts walks the parts of a script that cannot be parsed, as guesses: see [Script.Err].
func (w *walker) parseParts(script string) {
	w.guessing = true
	if len(script) > maxScript {
		script = script[:maxScript]
	}
	text := strings.NewReplacer("\x00", "", "\r", "", "\\\n", "").Replace(script)
	for rounds := 0; text != "" && w.count <= maxWords; rounds++ {
		part, rest := text, ""
		if rounds >= maxErrors { // line by line, in linear time
			part, rest, _ = strings.Cut(text, "\n")
		}
		var err error
		for stmt, wrong := range syntax.NewParser(syntax.Variant(syntax.LangBash)).StmtsSeq(strings.NewReader(part)) {
			if err = cmp.Or(err, wrong); wrong == nil && w.count <= maxWords { // a break would panic in the parser after an error
				w.err = nil // of an earlier statement
				w.stmt(stmt)
			}
		}
		if rounds >= maxErrors || err == nil {
			text = rest
			continue
		}
		var lines uint = 1
		if syntaxError, ok := errors.AsType[syntax.ParseError](err); ok {
			lines = max(lines, syntaxError.Pos.Line())
		}
		for range lines {
			_, text, _ = strings.Cut(text, "\n")
		}
	}
}

// maxErrors is how many syntax errors parseParts continues after in the same way.
const maxErrors = 8

// dividedOperator matches an operator with a continued line in it. Bash joins the lines first, so
// that "$" and "(" on the next line begin a substitution, and "(" and "(" an arithmetic command.
// The parser takes them for text and for two subshells. Between backquotes the backslash is escaped.
var dividedOperator = lazyregexp.New(`\$(\\+\n)+\S|\((\\+\n)+\(|[<>&|](\\+\n)+[(<>&|-]`)

// unclearEscape matches an escape in $'…' that the parser takes for text: "\x{6f}" is a letter, and
// "\c@" may end the word.
var unclearEscape = lazyregexp.New(`\$'(?:[^'\\]|\\.)*?\\(?:c|x\{)`)

// walker visits a script in the order in which it would run.
type walker struct {
	shell  Shell
	script *Script
	dirs   []string // current directory: as of Command.Dirs
	in     *stdin   // current standard input; nil is the script's own
	depth  int      // texts that a shell parses again around the current one
	nest   int      // statements around the current one
	count  int      // words so far
	err    error    // ends the walk: a limit was exceeded

	guessing bool                // the commands listed now are guesses
	values   map[string]string   // last values of variables that the script spells out
	arrays   map[string][]string // likewise
	// functions are the commands of the functions that the script declares.
	functions    map[string][]*Command
	params       []string              // $0, $1 ... if the script spells them out
	sources      map[string][]*Command // commands whose output a variable may hold
	assigned     map[string]bool       // variables that the script sets
	nonNumeric   map[string]bool       // variables that may hold more than a number
	inArithmetic map[string]bool       // variables that are computed as numbers
}

// parse walks a script text within the current one.
func (w *walker) parse(script *plain.Tree) error {
	text := script.Text
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("commands are nested more than %d deep", maxDepth)
	}
	defer func() { w.depth-- }()
	if strings.ContainsAny(text, "\x00\r") { // shells and the parser disagree about the ends of lines with these
		return errors.New("it holds a NUL or a carriage return")
	}
	if dividedOperator.MatchString(text) {
		return errors.New("a line is continued within an operator")
	}
	if unclearEscape.MatchString(text) {
		return errors.New("$'…' has an escape that shells read differently")
	}
	if n := strings.Count(text, "$(") + strings.Count(text, "<(") + strings.Count(text, "`"); n > maxSubstitutions {
		return fmt.Errorf("it has more than %d substitutions", maxSubstitutions)
	}
	hashes := strings.Contains(text, "#")
	if hashes && hiddenByComment(text) {
		return errors.New("where a comment ends is not clear")
	}
	file, err := script.File()
	if err != nil {
		return err
	}
	if hashes && !commentsBegin(file, text) {
		return errors.New("where a comment begins is not clear")
	}
	w.stmts(file.Stmts)
	return w.err
}

// maxSubstitutions bounds the work for nested substitutions.
const maxSubstitutions = 256

// hiddenByComment reports whether a line with a "#" ends in a backslash: bash
// ends a comment there, but the parser continues it on the next line.
func hiddenByComment(text string) bool {
	for line := range strings.Lines(text) {
		line, more := strings.CutSuffix(strings.TrimSuffix(line, "\n"), `\`)
		if more && strings.Contains(line, "#") {
			return true
		}
	}
	return false
}

// commentsBegin reports whether every comment begins where bash begins one. After
// "(" and a line break, the parser also treats the "#" of "$x#;" as a comment, which
// would hide the text after it.
func commentsBegin(file *syntax.File, text string) bool {
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.Comment); is {
			ok = ok && mayBeginComment(text, int(c.Hash.Offset()))
		}
		return ok
	})
	return ok
}

// mayBeginComment reports whether bash begins a comment at the "#" at this offset.
func mayBeginComment(text string, offset int) bool {
	if offset == 0 {
		return true
	}
	return offset <= len(text) && strings.IndexByte(" \t\n;&|(", text[offset-1]) >= 0 && !strings.HasSuffix(text[:offset-1], `\`)
}

// parseAgain walks a text that a shell parses again. It reports a text that does not
// parse as dynamic.
func (w *walker) parseAgain(text, where string) {
	if err := w.parse(plain.NewTree(text)); err != nil && w.err == nil {
		w.dynamic("%s gets text that does not parse", where)
	}
}

// maxDynamic is how many reasons are listed: further ones do not help.
const maxDynamic = 16

// dynamic adds a reason why the script is not known before it runs.
func (w *walker) dynamic(format string, args ...any) {
	if !w.guessing && len(w.script.Dynamic) < maxDynamic { // a guess repeats the parts that were reported before
		w.script.Dynamic = append(w.script.Dynamic, fmt.Sprintf(format, args...))
	}
}
