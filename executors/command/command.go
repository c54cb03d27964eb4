// Package command tells what a shell script would run, without running it, so
// that each simple command can be judged by itself.
//
// Start with [Parse]. It promises that a command is found wherever the script
// spells it out: behind operators, in substitutions, functions and here
// documents, behind programs that run other programs ("env", "xargs", "find
// -exec"), and in text that a shell will parse again ("bash -c", "eval"). What
// only the running shell can know is not guessed but listed as [Script.Dynamic].
// It decides nothing; what may run is for package policy.
package command

import (
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
	Words   []Word   // the program first; never empty
	Dirs    []string // absolute directories in which it may run, the likely one first; none if nobody knows
	Assigns []string // names of variables set for this command alone
	Input   *Command // the command that feeds its standard input through a pipe, if it is a simple one
	Wrapped bool     // another command of the script runs it
	Wraps   bool     // it runs another command of the script
}

// Redirect is a redirection of a file.
type Redirect struct {
	Target Word
	Dirs   []string // as of Command
	Write  bool     // truncates, appends or creates
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
func (c *Command) Text() string {
	words := make([]string, len(c.Words))
	for i, w := range c.Words {
		words[i] = w.Text
	}
	return strings.Join(words, " ")
}

// Args are the words after the program.
func (c *Command) Args() []Word { return c.Words[1:] }

// Parse reads a bash script. The error means that it is none, or that it is
// nested beyond reason.
func Parse(script string, sh Shell) (*Script, error) {
	w := &walker{shell: sh, script: &Script{}, dirs: []string{filepath.Clean(sh.Dir)}}
	if err := w.parse(script); err != nil {
		return nil, err
	}
	return w.script, nil
}

// maxDepth is how deep texts that a shell parses again may be nested.
const maxDepth = 16

// maxCommands bounds the work that a script made for that can cause.
const maxCommands = 4096

// walker goes through a script in the order in which it would run.
type walker struct {
	shell  Shell
	script *Script
	dirs   []string // current directory: as of Command.Dirs
	depth  int
	err    error
}

// parse walks a script text within the current one.
func (w *walker) parse(text string) error {
	if w.depth++; w.depth > maxDepth {
		return fmt.Errorf("commands are nested more than %d deep", maxDepth)
	}
	defer func() { w.depth-- }()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return err
	}
	w.stmts(file.Stmts)
	return w.err
}

// nested walks a text that a shell parses again; a text that does not parse is
// something only that shell knows.
func (w *walker) nested(text, where string) {
	if err := w.parse(text); err != nil && w.err == nil {
		w.dynamic("%s gets text that does not parse", where)
	}
}

func (w *walker) dynamic(format string, args ...any) {
	w.script.Dynamic = append(w.script.Dynamic, fmt.Sprintf(format, args...))
}

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s, nil)
	}
}

// stmt walks one statement. It returns its command if that is a simple one, for
// the pipe behind it.
func (w *walker) stmt(s *syntax.Stmt, input *Command) *Command {
	if w.err != nil {
		return nil
	}
	stdin := w.redirects(s.Redirs)
	if s.Background || s.Coprocess {
		defer w.subshell()()
	}
	switch c := s.Cmd.(type) {
	case nil: // redirections alone
	case *syntax.CallExpr:
		return w.call(c, stdin, input)
	case *syntax.BinaryCmd:
		return w.binary(c, input)
	case *syntax.Subshell:
		defer w.subshell()()
		w.stmts(c.Stmts)
	case *syntax.Block:
		w.stmts(c.Stmts)
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.stmts(c.Cond)
			w.branch(c.Then)
		}
	case *syntax.WhileClause:
		w.stmts(c.Cond)
		w.branch(c.Do)
	case *syntax.ForClause:
		w.inside(c.Loop)
		if it, ok := c.Loop.(*syntax.WordIter); ok {
			w.assign(it.Name.Value)
		}
		w.branch(c.Do)
	case *syntax.CaseClause:
		w.inside(c.Word)
		for _, item := range c.Items {
			for _, p := range item.Patterns {
				w.inside(p)
			}
			w.branch(item.Stmts)
		}
	case *syntax.FuncDecl:
		w.branch([]*syntax.Stmt{c.Body})
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return w.stmt(c.Stmt, input)
		}
	case *syntax.CoprocClause:
		defer w.subshell()()
		w.stmt(c.Stmt, nil)
	case *syntax.DeclClause:
		w.declare(c)
	default: // [[ ]], (( )), let: run nothing but what is substituted in them
		w.inside(c)
	}
	return nil
}

// branch walks statements that may not run: a cd in them may or may not hold.
func (w *walker) branch(list []*syntax.Stmt) {
	before := w.dirs
	w.stmts(list)
	w.either(before)
}

// either says that the directory may also be one of others.
func (w *walker) either(others []string) {
	if w.dirs == nil || others == nil {
		w.dirs = nil
		return
	}
	w.dirs = union(w.dirs, others)
}

// subshell keeps a cd from holding after what is walked now.
func (w *walker) subshell() (end func()) {
	before := w.dirs
	return func() { w.dirs = before }
}

func (w *walker) binary(c *syntax.BinaryCmd, input *Command) *Command {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		end := w.subshell()
		from := w.stmt(c.X, input)
		end()
		defer w.subshell()()
		return w.stmt(c.Y, from)
	case syntax.AndStmt:
		start := w.dirs
		w.stmt(c.X, nil)
		if cd := w.cdDone(c.X); cd != nil { // behind && the cd has worked
			w.dirs = cd
		}
		w.stmt(c.Y, nil)
		if w.cdDone(c.X) != nil {
			w.either(start)
		}
	default: // ||
		w.stmt(c.X, nil)
		w.branch([]*syntax.Stmt{c.Y})
	}
	return nil
}

// call walks a simple command: what is substituted in it runs first.
func (w *walker) call(c *syntax.CallExpr, stdin *stdin, input *Command) *Command {
	var assigns []string
	for _, a := range c.Assigns {
		w.inside(a)
		if len(c.Args) == 0 {
			w.assign(a.Name.Value)
		} else {
			assigns = append(assigns, a.Name.Value)
		}
	}
	var words []Word
	for _, a := range c.Args {
		w.inside(a)
		words = append(words, w.words(a)...)
	}
	if len(words) == 0 {
		return nil
	}
	return w.command(&Command{Words: words, Assigns: assigns, Input: input}, stdin)
}

// command lists a command, and what it runs in turn.
func (w *walker) command(c *Command, stdin *stdin) *Command {
	if len(w.script.Commands) >= maxCommands {
		w.err = fmt.Errorf("more than %d commands", maxCommands)
		return nil
	}
	c.Dirs = w.dirs
	w.script.Commands = append(w.script.Commands, c)
	if c.Program() == "" {
		w.dynamic("the name of the program in %q is computed", c.Text())
		return c
	}
	if c.Program() == "cd" || c.Program() == "pushd" || c.Program() == "popd" {
		w.cd(c)
		return c
	}
	w.unwrap(c, stdin)
	return c
}

func (w *walker) declare(c *syntax.DeclClause) {
	words := []Word{{Text: c.Variant.Value, Literal: true}}
	for _, a := range c.Args {
		w.inside(a)
		if a.Name != nil {
			w.assign(a.Name.Value)
			words = append(words, Word{Text: a.Name.Value, Literal: true})
		}
	}
	w.command(&Command{Words: words}, nil)
}

func (w *walker) assign(name string) { w.script.Assigns = append(w.script.Assigns, name) }

// inside walks the commands that are substituted somewhere in node.
func (w *walker) inside(node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			defer w.subshell()()
			w.stmts(n.Stmts)
			return false
		case *syntax.ProcSubst:
			defer w.subshell()()
			w.stmts(n.Stmts)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
				w.assign(n.Param.Value)
			}
		}
		return true
	})
}

// stdin is text that a redirection feeds to a command.
type stdin struct {
	text    string
	literal bool
	file    bool // from a file
}

// redirects lists the files of redirections, and gives what the last one of the
// standard input feeds.
func (w *walker) redirects(list []*syntax.Redirect) *stdin {
	var in *stdin
	for _, r := range list {
		w.inside(r.Word)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				w.inside(r.Hdoc)
				text, literal := w.heredoc(r)
				in = &stdin{text: text, literal: literal}
			}
		case syntax.WordHdoc:
			word := w.word(r.Word)
			in = &stdin{text: word.Text, literal: word.Literal}
		case syntax.DplIn, syntax.DplOut: // >&2, <&3; but >&file is a file
			word := w.word(r.Word)
			if word.Literal && strings.Trim(word.Text, "0123456789-") == "" {
				continue
			}
			w.file(word, true)
		case syntax.RdrIn:
			in = &stdin{file: true}
			w.file(w.word(r.Word), false)
		default: // <> writes too
			w.file(w.word(r.Word), true)
		}
	}
	return in
}

func (w *walker) file(target Word, write bool) {
	w.script.Redirects = append(w.script.Redirects, Redirect{Target: target, Dirs: w.dirs, Write: write})
	if !target.Literal {
		w.dynamic("the file of a redirection is computed: %s", target.Text)
	}
}
