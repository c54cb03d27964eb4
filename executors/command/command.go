// Package command tells what a shell script would run, without running it, so
// that each simple command can be judged by itself.
//
// Start with [Parse]. It promises that a command is found wherever the script
// spells it out: behind operators, in substitutions, functions and here
// documents, behind programs that run other programs ("env", "xargs", "find
// -exec"), and in text that a shell will parse again ("bash -c", "eval"). What
// only the running shell can know is not guessed but listed as [Script.Dynamic].
// It decides nothing; what may run is for package policy.
// [Output] is for the filter: it returns the command that wrote most of a script's
// output.
//
// Why are there guesses beside what is known? Because "c=sudo; $c" should be
// recognised, and "c=ls; $c" must not be taken for known: a loop or another
// shell may change c. So a guess can only make a judgement stricter.
package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Shell is what is known of the shell that would run a script.
type Shell struct {
	Dir  string // absolute; where it starts
	Home string // absolute; empty means unknown
}

// Script is what a script would run.
type Script struct {
	Commands  []*Command // in the order of the source; nested and wrapped ones included
	Redirects []Redirect
	Assigns   []string // names of variables that the script sets
	// Dynamic tells, as reasons for people, what only the running shell can
	// know: a judgement of the rest is not a judgement of the whole.
	Dynamic []string
}

// Command is one simple command.
type Command struct {
	Words   []Word     // the program first; never empty
	Dirs    []string   // absolute directories in which it may run, the likely one first; none if nobody knows
	Assigns []string   // names of variables set for this command alone
	Inputs  []*Command // commands whose output may be its standard input
	Wrapped bool       // another command of the script runs it
	Wraps   bool       // it runs another command of the script
	// Guess says that this is what a command listed before it would be if the
	// script's own variables hold what it last gave them: a reason to refuse,
	// never one to allow.
	Guess bool

	in *input
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

// Program is the name of the program without its directory. It is empty if only
// the running shell knows.
func (c *Command) Program() string {
	w := c.Words[0]
	if !w.Literal || w.Glob {
		return ""
	}
	name := w.Text[strings.LastIndexAny(w.Text, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(name), ".exe") // file systems of some systems do not tell Sudo from sudo
}

// Text is the command as rules match it: its words in their plain form, with
// single spaces between.
func (c *Command) Text() string { return join(c.Words) }

// Args are the words after the program.
func (c *Command) Args() []Word { return c.Words[1:] }

func join(words []Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}

// What Parse takes on: a script made to cost time is refused instead.
const (
	maxScript   = 64 << 10 // bytes
	maxDepth    = 16       // of texts that a shell parses again
	maxNest     = 200      // of statements in statements
	maxCommands = 4096
	maxWords    = 32768
)

// Parse reads a bash script. The error means that it is none, or that it is
// large or nested beyond reason.
func Parse(script string, sh Shell) (*Script, error) {
	if len(script) > maxScript {
		return nil, fmt.Errorf("it is longer than %d KiB", maxScript>>10)
	}
	w := &walker{
		shell: sh, script: &Script{}, dirs: []string{filepath.Clean(sh.Dir)},
		values: map[string]string{}, arrays: map[string][]string{}, functions: map[string][]*Command{}, sources: map[string][]*Command{}, assigned: map[string]bool{}, text: map[string]bool{}, counted: map[string]bool{},
	}
	if err := w.parse(script); err != nil {
		return nil, err
	}
	for name := range w.counted {
		if w.text[name] {
			w.dynamic("a variable holds text that is computed as a number, which may run commands: %s", name)
		}
	}
	return w.script, nil
}

// walker goes through a script in the order in which it would run.
type walker struct {
	shell  Shell
	script *Script
	dirs   []string // current directory: as of Command.Dirs
	in     *input   // current standard input; nil is the script's own
	depth  int
	nest   int // statements around the current one
	count  int // words so far
	err    error

	guessing bool                // what is listed now is a guess
	values   map[string]string   // variables, where the last value is spelled out
	arrays   map[string][]string // likewise
	// functions are the commands of those that the script declares.
	functions map[string][]*Command
	params    []string              // $0, $1 ... where they are spelled out
	sources   map[string][]*Command // commands whose output a variable may hold
	assigned  map[string]bool       // variables that the script sets
	text      map[string]bool       // those of them that may hold more than a number
	counted   map[string]bool       // variables that are computed as numbers
}

// parse walks a script text within the current one.
func (w *walker) parse(text string) error {
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("commands are nested more than %d deep", maxDepth)
	}
	defer func() { w.depth-- }()
	if strings.ContainsAny(text, "\x00\r") { // shells and the parser do not agree where lines with these end
		return errors.New("it holds a NUL or a carriage return")
	}
	if n := strings.Count(text, "$(") + strings.Count(text, "<(") + strings.Count(text, "`"); n > maxSubstitutions {
		return fmt.Errorf("it has more than %d substitutions", maxSubstitutions)
	}
	hashes := strings.Contains(text, "#")
	if hashes && hiddenByComment(text) {
		return errors.New("where a comment ends is not clear")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(hashes)).Parse(strings.NewReader(text), "")
	if err != nil {
		return err
	}
	if hashes && !commentsBegin(file, text) {
		return errors.New("where a comment begins is not clear")
	}
	w.stmts(file.Stmts)
	return w.err
}

// maxSubstitutions bounds the work that substitutions inside of each other cause.
const maxSubstitutions = 256

// hiddenByComment reports whether a line with a "#" ends in a backslash: bash
// ends a comment there, and the parser takes the next line into it.
func hiddenByComment(text string) bool {
	for line := range strings.Lines(text) {
		line, more := strings.CutSuffix(strings.TrimSuffix(line, "\n"), `\`)
		if more && strings.Contains(line, "#") {
			return true
		}
	}
	return false
}

// commentsBegin reports whether every comment begins where bash begins one. The
// parser also takes the "#" of "(\n$x#;" for one, and would hide what follows.
func commentsBegin(file *syntax.File, text string) bool {
	ok := true
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, is := n.(*syntax.Comment); is {
			at := int(c.Hash.Offset())
			ok = ok && (at == 0 || at <= len(text) && strings.IndexByte(" \t\n;&|(", text[at-1]) >= 0 && !strings.HasSuffix(text[:at-1], `\`))
		}
		return ok
	})
	return ok
}

// nested walks a text that a shell parses again; a text that does not parse is
// something only that shell knows.
func (w *walker) nested(text, where string) {
	if err := w.parse(text); err != nil && w.err == nil {
		w.dynamic("%s gets text that does not parse", where)
	}
}

// maxDynamic is how many reasons are told: nobody reads more.
const maxDynamic = 16

func (w *walker) dynamic(format string, args ...any) {
	if !w.guessing && len(w.script.Dynamic) < maxDynamic { // of a guess, the first reading has told it
		w.script.Dynamic = append(w.script.Dynamic, fmt.Sprintf(format, args...))
	}
}
