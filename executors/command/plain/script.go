package plain

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builder walks a script in the order in which it runs, and prints it.
type builder struct {
	shell Shell
	allow func(*Command, error) error
	form  *Form
	// anyInput accepts commands with input that the script spells out, which their plain form lacks.
	anyInput bool

	dirs             []string // directories in which the shell may be, the likely one first
	cdDirs           []string // directories after the last statement if that is a cd and has worked, else nil
	vars             map[string]variable
	depth            int // statements around this one
	conditionalDepth int // statements around this one that may not run
	variableCount    int // variables so far that the plain form sets

	computed     int // arithmetic expressions so far that the plain form has the values of
	patternCount int // words so far that are patterns of file names
	expansion    int // bytes of the texts of words with variables, after each variable
}

// list prints statements that run one after the other.
func (b *builder) list(stmts []*syntax.Stmt) (string, error) {
	texts := make([]string, len(stmts))
	for i, s := range stmts {
		text, err := b.stmt(s)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	if len(texts) == 0 {
		return "", errors.New("it runs nothing")
	}
	return strings.Join(texts, "; "), nil
}

// stmt returns the plain form of one statement.
func (b *builder) stmt(s *syntax.Stmt) (text string, err error) {
	if b.depth++; b.depth > maxNest {
		return "", errorf("it is nested more than %d deep", maxNest)
	}
	defer func() { b.depth-- }()
	b.cdDirs = nil
	switch {
	case s.Background:
		return "", errors.New("it runs a command in the background")
	case s.Coprocess || s.Disown:
		return "", errors.New("it has a coprocess")
	}
	switch n := s.Cmd.(type) {
	case *syntax.CallExpr:
		text, err = b.simple(n, s.Redirs)
	case *syntax.BinaryCmd:
		if len(s.Redirs) > 0 {
			return "", errors.New("it has a redirection of several commands")
		}
		text, err = b.binary(n)
	case nil:
		return "", errors.New("it has a redirection without a command")
	default:
		text, err = b.compound(n, s.Redirs)
	}
	if err == nil && s.Negated {
		text, b.cdDirs = "! "+text, nil
	}
	return text, err
}

// compound prints a statement that contains other statements.
func (b *builder) compound(cmd syntax.Command, redirs []*syntax.Redirect) (text string, err error) {
	before := len(b.form.Commands)
	switch n := cmd.(type) {
	case *syntax.Subshell:
		end := b.subshell()
		text, err = b.list(n.Stmts)
		text = "(" + spaced(text) + ")"
		end()
	case *syntax.Block:
		text, err = b.list(n.Stmts)
		text = "{ " + text + "; }"
	case *syntax.IfClause:
		text, err = b.conditional(n)
	case *syntax.ForClause:
		text, err = b.loop(n)
	case *syntax.CaseClause:
		text, err = b.caseClause(n)
	case *syntax.WhileClause:
		text, err = b.whileRead(n)
	case *syntax.TestClause:
		text, err = b.tests(n.X)
	case *syntax.TimeClause:
		text, err = b.timed(n)
	default:
		return "", errorf("it has %s", nodeName(cmd))
	}
	b.cdDirs = nil
	if err != nil {
		return "", err
	}
	r, err := b.redirects(redirs)
	_, reads := cmd.(*syntax.WhileClause)
	if err == nil && (len(r.reads) > 0 && !reads || len(r.writes) > 0) {
		err = errors.New("it has a redirection of several commands")
	}
	b.form.Files = append(b.form.Files, r.reads...)
	if r.hasText && slices.ContainsFunc(b.form.Commands[before:], func(c *Command) bool { return !c.ReadOnly }) {
		err = errors.New("the script spells out the input of several commands")
	}
	return text + r.text, err
}

// timed prints a statement with the keyword "time".
func (b *builder) timed(n *syntax.TimeClause) (string, error) {
	if n.Stmt == nil || n.PosixFormat || n.Stmt.Negated {
		return "", errors.New("it has a time that is not plain")
	}
	text, err := b.stmt(n.Stmt)
	return "time " + text, err
}

// spaced returns text with a space before it if it begins with a parenthesis: "((" would
// be another operator.
func spaced(text string) string {
	if strings.HasPrefix(text, "(") {
		return " " + text
	}
	return text
}

// subshell is called before statements that run in a subshell, and end after them: it
// undoes their changes of the directory and of variables.
func (b *builder) subshell() (end func()) {
	dirs, vars := b.dirs, maps.Clone(b.vars)
	return func() { b.dirs, b.vars, b.cdDirs = dirs, vars, nil }
}

// branch prints statements that may not run, or more than once.
func (b *builder) branch(stmts []*syntax.Stmt) (string, error) {
	before := b.dirs
	b.conditionalDepth++
	text, err := b.list(stmts)
	b.conditionalDepth--
	if err != nil {
		return "", err
	}
	return text, b.addDirs(before)
}

// addDirs adds dirs to the directories in which the shell may be.
func (b *builder) addDirs(dirs []string) error {
	out := slices.Clone(b.dirs)
	for _, d := range dirs {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if b.dirs = out; len(out) > maxDirs {
		return errorf("it may run in more than %d directories", maxDirs)
	}
	return nil
}

// conditional returns the plain form of an "if" with all its branches.
func (b *builder) conditional(n *syntax.IfClause) (string, error) {
	text := ""
	for word := "if "; n != nil; n = n.Else {
		if len(n.Cond) > 0 {
			cond, err := b.branch(n.Cond)
			if err != nil {
				return "", err
			}
			text += word + cond + "; then "
		} else {
			text += "else "
		}
		then, err := b.branch(n.Then)
		if err != nil {
			return "", err
		}
		text += then + "; "
		word = "elif "
	}
	return text + "fi", nil
}

// loop prints a for loop. Its variable gets a new name, so that the loop cannot set a
// variable that bash or a program reads.
func (b *builder) loop(n *syntax.ForClause) (string, error) {
	it, ok := n.Loop.(*syntax.WordIter)
	if !ok || n.Select || !it.InPos.IsValid() {
		return "", errors.New("it has a loop that is not over a list of words")
	}
	if err := settable(it.Name.Value); err != nil {
		return "", err
	}
	all := Word{}
	var items []string
	for i, src := range it.Items {
		words, err := b.words(src)
		if err != nil {
			return "", err
		}
		for _, w := range words {
			if len(w.Values) == 0 {
				return "", errors.New("it loops over words that are computed at run time")
			}
			if (i > 0 || len(items) > 0) && w.Glob != all.Glob {
				return "", errors.New("it loops over both words and patterns")
			}
			all.Glob = w.Glob
			all.Values = append(all.Values, w.Values...)
			items = append(items, w.source)
		}
		b.form.Files = append(b.form.Files, patterns(b, words)...) // the number of rounds shows how many there are
	}
	if len(items) == 0 || len(all.Values) > maxValues {
		return "", errorf("it loops over no word, or over more than %d", maxValues)
	}
	name := b.newVariable()
	before, was := b.vars[it.Name.Value]
	b.vars[it.Name.Value] = variable{word: all, name: name}
	dirs := b.dirs
	body, err := b.branch(n.Do)
	if err != nil {
		return "", err
	}
	if !slices.Equal(dirs, b.dirs) {
		return "", errors.New("a loop changes the directory")
	}
	delete(b.vars, it.Name.Value)
	if was && before.name != "" {
		return "", errorf("a loop sets %s, which has another computed value", it.Name.Value)
	}
	return "for " + name + " in " + strings.Join(items, " ") + "; do " + body + "; done", nil
}

// newVariable returns the name of another variable of the plain form.
func (b *builder) newVariable() string {
	b.variableCount++
	return fmt.Sprintf("v%d", b.variableCount)
}

// binary returns the plain form of a pipeline, or of two statements joined by "&&" or "||".
func (b *builder) binary(n *syntax.BinaryCmd) (string, error) {
	if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
		return b.pipeline(n)
	}
	start := b.dirs
	left, err := b.stmt(n.X)
	if err != nil {
		return "", err
	}
	op := " || "
	moved := b.cdDirs
	if n.Op == syntax.AndStmt {
		op = " && "
		if moved != nil { // after "&&" the cd has worked
			b.dirs = moved
		}
	}
	right, err := b.branch([]*syntax.Stmt{n.Y})
	if err != nil {
		return "", err
	}
	if moved != nil {
		err = b.addDirs(start)
	}
	switch {
	case n.Op != syntax.AndStmt:
		b.cdDirs = nil
	case b.cdDirs == nil: // the right side is not a cd
		b.cdDirs = moved
	}
	return left + op + right, err
}
