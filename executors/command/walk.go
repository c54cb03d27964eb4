package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

func (w *walker) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// stmt walks one statement.
func (w *walker) stmt(s *syntax.Stmt) {
	if w.err != nil {
		return
	}
	if w.nest++; w.nest > maxNest {
		w.err = fmt.Errorf("it is nested more than %d deep", maxNest)
		return
	}
	outer := w.in
	defer func() { w.in = outer; w.nest-- }()
	if in := w.redirects(s.Redirs); in != nil {
		w.in = in
	}
	if s.Background || s.Coprocess {
		defer w.subshell()()
	}
	switch c := s.Cmd.(type) {
	case nil: // redirections alone
	case *syntax.CallExpr:
		w.call(c)
	case *syntax.BinaryCmd:
		w.binary(c)
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
		defer w.repeated()()
		w.stmts(c.Cond)
		w.branch(c.Do)
	case *syntax.ForClause:
		defer w.repeated()()
		w.loop(c)
	case *syntax.LetClause: // bash ends its words at operators that the parser reads as arithmetic
		w.dynamic("let evaluates its arguments")
		w.walkSubstitutions(c)
	case *syntax.CaseClause:
		w.caseClause(c)
	case *syntax.FuncDecl:
		w.function(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		defer w.subshell()()
		if !isClearCoproc(c) {
			w.err = errors.New("bash may run another word of this coproc as its program")
		}
		w.stmt(c.Stmt)
	case *syntax.DeclClause:
		w.declare(c)
	default: // [[ ]] and (( )) run only the commands that are substituted in them
		w.walkSubstitutions(c)
	}
}

// isClearCoproc reports whether bash and the parser agree about the program of a coproc. In bash
// only a compound command has a name. The parser also takes "sudo" for one in "coproc sudo ls | x",
// the assignment for the program in "coproc a=1 sudo ls", the descriptor of a redirection for the
// program in "coproc 2>&1 sudo ls", and the operand for an assignment in "coproc make a=1".
func isClearCoproc(c *syntax.CoprocClause) bool {
	switch cmd := c.Stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if c.Name != nil || len(cmd.Args) == 0 || len(cmd.Assigns) > 0 {
			return false
		}
		program := source(cmd.Args[0])
		return !strings.ContainsAny(program, "=[{") && strings.Trim(program, "0123456789") != ""
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return !c.Stmt.Negated
	default:
		return c.Name == nil
	}
}

func (w *walker) caseClause(c *syntax.CaseClause) {
	w.walkSubstitutions(c.Word)
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			w.walkSubstitutions(p)
		}
		w.branch(item.Stmts)
	}
}

// repeated is called before statements that may run more than once, and end after
// them. A cd in them starts in another directory in each round, so the directory is
// then unknown.
func (w *walker) repeated() (end func()) {
	before := w.dirs
	return func() {
		if !slices.Equal(before, w.dirs) {
			w.dirs = nil
			w.dynamic("a loop changes the directory")
		}
	}
}

// loop walks a for loop. The variable of a loop over numbers is a number.
func (w *walker) loop(c *syntax.ForClause) {
	w.walkSubstitutions(c.Loop)
	if it, ok := c.Loop.(*syntax.WordIter); ok {
		number := !c.Select && len(it.Items) > 0
		var last *syntax.Word
		for _, item := range it.Items {
			for _, word := range w.words(item) {
				number = number && isNumber(word)
			}
			last = item
		}
		w.assign(it.Name.Value, number)
		w.guessLoop(c, it)
		if last != nil {
			w.remember(it.Name.Value, last, nil)
		}
	}
	w.branch(c.Do)
}

// maxRounds bounds the rounds of a loop that are walked.
const maxRounds = 16

// guessLoop lists the commands of all rounds of a loop but the last as guesses.
// The walk of the loop's body lists the commands of the last round.
func (w *walker) guessLoop(c *syntax.ForClause, it *syntax.WordIter) {
	if w.guessing || len(it.Items) > maxRounds {
		return
	}
	w.guessing = true
	dirs := w.dirs
	defer func() { w.guessing, w.dirs = false, dirs }()
	for _, item := range it.Items[:max(0, len(it.Items)-1)] {
		w.remember(it.Name.Value, item, nil)
		w.stmts(c.Do)
		w.dirs = dirs
	}
}

// function walks the body of a function at its declaration. The body runs later,
// with operands that are not followed. A function may hide a program of the same
// name.
func (w *walker) function(c *syntax.FuncDecl) {
	before, first := w.params, len(w.script.Commands)
	w.params = nil
	w.branch([]*syntax.Stmt{c.Body})
	w.params = before
	if c.Name == nil {
		return
	}
	name := c.Name.Value
	w.functions[name] = slices.Clip(w.script.Commands[first:])
	w.addCommand(&Command{Words: []Word{{Text: "function", Literal: true}, {Text: name, Literal: true}}, Wraps: true})
}

// branch walks statements that may not run, so that a cd in them may or may not
// have an effect.
func (w *walker) branch(list []*syntax.Stmt) {
	before := w.dirs
	w.stmts(list)
	w.addDirs(before)
}

// addDirs adds to the directories in which the shell may be. They are unknown if either
// list is unknown.
func (w *walker) addDirs(dirs []string) {
	if w.dirs == nil || dirs == nil {
		w.dirs = nil
		return
	}
	w.dirs = union(w.dirs, dirs)
}

// subshell is called before statements that run in a subshell, and end after
// them: it undoes their cd.
func (w *walker) subshell() (end func()) {
	before := w.dirs
	return func() { w.dirs = before }
}

// binary walks a pipeline, or two statements with "&&" or "||" between them.
func (w *walker) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		end := w.subshell()
		from := len(w.script.Commands)
		w.stmt(c.X)
		end()
		defer w.subshell()()
		outer := w.in
		w.in = &stdin{from: w.withBodies(w.script.Commands[from:])}
		w.stmt(c.Y)
		w.in = outer
	case syntax.AndStmt:
		start := w.dirs
		w.stmt(c.X)
		if cd := w.dirsAfterCd(c.X); cd != nil { // after && the cd has worked
			w.dirs = cd
		}
		w.stmt(c.Y)
		if w.dirsAfterCd(c.X) != nil {
			w.addDirs(start)
		}
	default: // ||
		w.stmt(c.X)
		w.branch([]*syntax.Stmt{c.Y})
	}
}

// withBodies adds the commands of the functions that list calls.
func (w *walker) withBodies(list []*Command) []*Command {
	out := slices.Clone(list)
	for _, c := range list {
		out = append(out, w.functions[c.Words[0].Text]...)
	}
	return out
}

// call walks a simple command, the commands that are substituted in it first.
func (w *walker) call(c *syntax.CallExpr) {
	var assigns, guesses []string
	for _, a := range c.Assigns {
		from := w.walkSubstitutions(a)
		if w.err != nil {
			return
		}
		if len(c.Args) == 0 {
			w.assignValue(a, from)
		} else {
			assigns = append(assigns, a.Name.Value)
			w.nonNumeric[a.Name.Value] = true
		}
		if value := w.value(a); value.Literal && programVariables.MatchString(a.Name.Value) {
			guesses = append(guesses, value.Text)
		}
	}
	defer func() {
		for _, text := range guesses {
			w.guessText(text)
		}
	}()
	var words []Word
	for _, a := range c.Args {
		from := w.walkSubstitutions(a)
		if w.err != nil {
			return
		}
		for _, word := range w.words(a) {
			word.From = append(from, word.From...)
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return
	}
	w.callWords(c.Args, &Command{Words: words, Assigns: assigns, in: w.in})
}

// callWords lists a simple command, and as a guess the same command with the last values
// of its variables. In a guess it lists only the latter, if the values are known.
func (w *walker) callWords(args []*syntax.Word, c *Command) {
	if w.guessing {
		if guess := w.guess(args); len(guess) > 0 {
			c.Words = guess
		}
		w.command(c)
		return
	}
	in := c.in
	w.command(c)
	if allLiteral(c.Words) {
		return
	}
	w.guessing = true
	defer func() { w.guessing = false }()
	if guess := w.guess(args); len(guess) > 0 && join(guess) != join(c.Words) {
		w.command(&Command{Words: guess, Assigns: c.Assigns, in: in})
	}
}

// addCommand adds a command to the script, and reports whether a limit allows it.
func (w *walker) addCommand(c *Command) bool {
	w.count += len(c.Words)
	if len(w.script.Commands) >= maxCommands || w.count > maxWords {
		w.err = fmt.Errorf("it has more than %d commands or %d words", maxCommands, maxWords)
		return false
	}
	c.Dirs, c.Guess = w.dirs, w.guessing
	if c.in != nil {
		c.Inputs = c.in.from
	}
	w.script.Commands = append(w.script.Commands, c)
	return true
}

// command lists a command, and the commands that it runs.
func (w *walker) command(c *Command) {
	if !w.addCommand(c) {
		return
	}
	if !w.guessing {
		w.export(c)
	}
	switch c.Program() {
	case "":
		w.dynamic("the name of the program in %q is computed", c.Text())
	case "cd", "pushd", "popd":
		w.cd(c)
	default:
		w.reevaluatedWords(c)
		w.rememberBuiltin(c)
		w.unwrap(c)
		w.guessEmbedded(c)
	}
}

// walkSubstitutions walks the command and process substitutions in node, and returns their
// commands.
func (w *walker) walkSubstitutions(node syntax.Node) []*Command {
	if node == nil || w.err != nil {
		return nil
	}
	first := len(w.script.Commands)
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			w.substitution(n.Stmts)
			return false
		case *syntax.ProcSubst:
			w.substitution(n.Stmts)
			return false
		case *syntax.ExtGlob:
			w.extendedPattern(n.Pattern.Value)
			return false
		default:
			w.reevaluatedNode(n)
		}
		return true
	})
	return slices.Clone(w.script.Commands[first:])
}

// extendedPattern walks the substitutions in a pattern such as "@(a|$(cmd))", whose text the
// parser does not parse.
func (w *walker) extendedPattern(text string) {
	if !strings.ContainsAny(text, "$`") && !strings.Contains(text, "<(") && !strings.Contains(text, ">(") {
		return
	}
	w.dynamic("a pattern has a substitution: %s", text)
	if word, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(text)); err == nil {
		w.walkSubstitutions(word)
	}
}

// substitution walks the statements of a command or process substitution.
func (w *walker) substitution(list []*syntax.Stmt) {
	defer w.subshell()()
	w.stmts(list)
}

// isName reports whether text has only characters of names of variables. It may be a
// number.
func isName(text string) bool {
	return text != "" && strings.Trim(text, letters+"0123456789_") == ""
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
