package plain

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
)

// builder walks a script in the order in which it runs, and prints it.
type builder struct {
	shell Shell
	allow func(*Command, error) error
	form  *Form

	dirs  []string // directories in which the shell may be, the likely one first
	moved []string // directories after the last statement if that is a cd and has worked, else nil
	vars  map[string]variable
	nest  int // statements around this one
	maybe int // statements around this one that may not run
	loops int // loops so far, each with a variable of its own
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

func (b *builder) stmt(s *syntax.Stmt) (text string, err error) {
	if b.nest++; b.nest > maxNest {
		return "", fmt.Errorf("it is nested more than %d deep", maxNest)
	}
	defer func() { b.nest-- }()
	b.moved = nil
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
		text, b.moved = "! "+text, nil
	}
	return text, err
}

// compound prints a statement that holds other statements.
func (b *builder) compound(cmd syntax.Command, redirs []*syntax.Redirect) (text string, err error) {
	switch n := cmd.(type) {
	case *syntax.Subshell:
		end := b.subshell()
		text, err = b.list(n.Stmts)
		text = "(" + apart(text) + ")"
		end()
	case *syntax.Block:
		text, err = b.list(n.Stmts)
		text = "{ " + text + "; }"
	case *syntax.IfClause:
		text, err = b.conditional(n)
	case *syntax.ForClause:
		text, err = b.loop(n)
	default:
		return "", fmt.Errorf("it has %s", nodeName(cmd))
	}
	b.moved = nil
	if err != nil {
		return "", err
	}
	r, err := b.redirects(redirs)
	if err == nil && (len(r.reads) > 0 || len(r.writes) > 0) {
		err = errors.New("it has a redirection of several commands")
	}
	return text + r.text, err
}

// apart returns text with a space before it if it begins with a parenthesis: "((" would
// be another operator.
func apart(text string) string {
	if strings.HasPrefix(text, "(") {
		return " " + text
	}
	return text
}

// subshell is called before statements that run in a subshell, and end after them: it
// undoes their changes of the directory and of variables.
func (b *builder) subshell() (end func()) {
	dirs, vars := b.dirs, maps.Clone(b.vars)
	return func() { b.dirs, b.vars, b.moved = dirs, vars, nil }
}

// branch prints statements that may not run, or more than once.
func (b *builder) branch(stmts []*syntax.Stmt) (string, error) {
	before := b.dirs
	b.maybe++
	text, err := b.list(stmts)
	b.maybe--
	if err != nil {
		return "", err
	}
	return text, b.either(before)
}

// either adds dirs to the directories in which the shell may be.
func (b *builder) either(dirs []string) error {
	out := slices.Clone(b.dirs)
	for _, d := range dirs {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if b.dirs = out; len(out) > maxDirs {
		return fmt.Errorf("it may run in more than %d directories", maxDirs)
	}
	return nil
}

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
	}
	if len(items) == 0 || len(all.Values) > maxValues {
		return "", fmt.Errorf("it loops over no word, or over more than %d", maxValues)
	}
	b.loops++
	name := fmt.Sprintf("v%d", b.loops)
	before, was := b.vars[it.Name.Value]
	b.vars[it.Name.Value] = variable{word: all, loop: name}
	dirs := b.dirs
	body, err := b.branch(n.Do)
	if err != nil {
		return "", err
	}
	if !slices.Equal(dirs, b.dirs) {
		return "", errors.New("a loop changes the directory")
	}
	delete(b.vars, it.Name.Value)
	if was && before.loop != "" {
		return "", errors.New("two loops inside of each other set the same variable")
	}
	return "for " + name + " in " + strings.Join(items, " ") + "; do " + body + "; done", nil
}

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
	moved := b.moved
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
		err = b.either(start)
	}
	switch {
	case n.Op != syntax.AndStmt:
		b.moved = nil
	case b.moved == nil: // the right side is not a cd
		b.moved = moved
	}
	return left + op + right, err
}

// shellVariables matches variables that bash sets, or that bash or programs read.
var shellVariables = lazyregexp.New(`^(_|BASH.*|CDPATH|COMP.*|COPROC|DIRSTACK|ENV|EPOCH.*|EUID|EXECIGNORE|FCEDIT|FIGNORE|FUNCN.*|GLOB.*|GROUPS|HIST.*|HOME|HOST.*|IFS|IGNOREEOF|INPUTRC|INSIDE_EMACS|LANG|LC_.*|LD_.*|LINENO|LINES|COLUMNS|MACHTYPE|MAIL.*|MAPFILE|OLDPWD|OPT.*|OSTYPE|PATH|PIPESTATUS|POSIX.*|PPID|PROMPT.*|PS[0-9].*|PWD|RANDOM|READLINE.*|REPLY|SECONDS|SHELL.*|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|TMPDIR|UID)$`)

// settable returns why a script may not set the variable.
func settable(name string) error {
	if shellVariables.MatchString(name) {
		return fmt.Errorf("it sets %s, which changes what the shell does", name)
	}
	return nil
}

// assign records the variables that a command without words sets. The plain form of
// the script has their values in the place of the variables, so the command becomes
// "true".
func (b *builder) assign(list []*syntax.Assign) (string, error) {
	for _, a := range list {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Value == nil {
			return "", fmt.Errorf("it sets %s to more than a literal", a.Name.Value)
		}
		if err := settable(a.Name.Value); err != nil {
			return "", err
		}
		if b.maybe > 0 {
			return "", fmt.Errorf("it may or may not set %s", a.Name.Value)
		}
		if v, ok := b.vars[a.Name.Value]; ok && v.loop != "" {
			return "", fmt.Errorf("it sets the variable of a loop, %s", a.Name.Value)
		}
		w, err := b.word(a.Value, true)
		if err != nil {
			return "", err
		}
		if len(w.Values) != 1 {
			return "", fmt.Errorf("it sets %s to more than a literal", a.Name.Value)
		}
		b.vars[a.Name.Value] = variable{word: w}
	}
	return "true", nil
}

// simple prints a simple command.
func (b *builder) simple(n *syntax.CallExpr, redirs []*syntax.Redirect) (string, error) {
	if len(n.Args) == 0 {
		if len(redirs) > 0 {
			return "", errors.New("it has a redirection without a command")
		}
		return b.assign(n.Assigns)
	}
	c, p, err := b.command(n, redirs)
	switch {
	case err != nil:
		return "", err
	case p.xargs != nil:
		return "", errUnfed
	}
	return b.finish(c, p, redirs)
}

// command places the words of a simple command. p is nil if the table of
// read-only programs does not have it.
func (b *builder) command(n *syntax.CallExpr, redirs []*syntax.Redirect) (c *Command, p *placed, err error) {
	c = &Command{Dirs: slices.Clone(b.dirs)}
	var values []string
	for _, a := range n.Assigns {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Value == nil {
			return nil, nil, fmt.Errorf("it sets %s to more than a literal", a.Name.Value)
		}
		w, err := b.word(a.Value, true)
		if err != nil {
			return nil, nil, err
		}
		if !w.literal() {
			return nil, nil, fmt.Errorf("it sets %s to more than a literal", a.Name.Value)
		}
		c.Assigns = append(c.Assigns, a.Name.Value)
		values = append(values, w.text())
	}
	for _, src := range n.Args {
		words, err := b.words(src)
		if err != nil {
			return nil, nil, err
		}
		c.words = append(c.words, words...)
	}
	if len(c.words) == 0 || !c.words[0].literal() || c.words[0].text() == "" {
		return nil, nil, errors.New("the name of a program is computed")
	}
	wrapper, inner, names, set := unwrap(c.words)
	own := len(c.Assigns)
	c.words, c.Assigns, values = inner, append(c.Assigns, names...), append(values, set...)
	for _, w := range c.words {
		c.Words = append(c.Words, w.text())
	}
	p, why := b.place(c)
	for i, name := range c.Assigns {
		if why == nil && !printsOnly(name, values[i]) {
			why = fmt.Errorf("it sets %s", name)
		}
	}
	if c.ReadOnly = why == nil; why != nil {
		if p, err = b.allowed(c, redirs, why); err != nil {
			return nil, nil, err
		}
	}
	if err := p.wrap(wrapper, c.Words[0]); err != nil {
		return nil, nil, err
	}
	for i, name := range c.Assigns[:own] {
		p.env = append(p.env, name+"="+quote(values[i]))
	}
	return c, p, nil
}

// allowed places a command that the table does not have, if it is allowed.
func (b *builder) allowed(c *Command, redirs []*syntax.Redirect, why error) (*placed, error) {
	p := &placed{}
	for i, w := range c.words {
		switch {
		case len(w.Values) == 0:
			return nil, fmt.Errorf("%s, and one of its words is computed at run time", why)
		case w.varies:
			return nil, fmt.Errorf("%s, and it is in a loop", why)
		case w.Glob && w.mayBegin('-'):
			return nil, fmt.Errorf("%s, and %s may match a name that begins with -", why, w.source)
		case i == 0:
			p.words = append(p.words, quoteProgram(w.text()))
		default:
			p.words = append(p.words, w.source)
		}
	}
	r, err := b.redirects(redirs)
	if err != nil {
		return nil, err
	}
	c.Writes = r.writes
	if err := b.allow(c, why); err != nil {
		return nil, err
	}
	b.form.ReadOnly = false
	return p, nil
}

// finish adds a command to the form and prints it.
func (b *builder) finish(c *Command, p *placed, redirs []*syntax.Redirect) (string, error) {
	r, err := b.redirects(redirs)
	if err != nil {
		return "", err
	}
	if c.ReadOnly && len(r.writes) > 0 {
		c.Writes = r.writes
		if err := b.allow(c, fmt.Errorf("it writes %s", r.writes[0].Text)); err != nil {
			return "", err
		}
		b.form.ReadOnly = false
	}
	b.form.Commands = append(b.form.Commands, c)
	b.form.Files = append(append(b.form.Files, p.files...), r.reads...)
	if p.cd != "" {
		b.change(p.cd)
	}
	return p.print() + r.text, nil
}

// change records the directories in which the shell may be after a cd, which may fail.
func (b *builder) change(dir string) {
	var to []string
	for _, d := range b.dirs {
		if filepath.IsAbs(dir) {
			d = ""
		}
		if at := filepath.Join(d, dir); !slices.Contains(to, at) {
			to = append(to, at)
		}
	}
	before := b.dirs
	b.dirs = to
	_ = b.either(before) // if these are too many, the next branch that adds to them fails
	b.moved = to
}

// locale matches NAME=VALUE of variables that only change how a program prints.
var locale = lazyregexp.New(`^(LANG|LC_[A-Z]+)=[A-Za-z0-9_.@-]*$|^TZ=[A-Za-z]+(/[A-Za-z_]+)?$|^(NO_COLOR|CLICOLOR|COLUMNS)=[0-9a-z]*$`)

// printsOnly reports whether setting a variable for a command changes only how it
// prints.
func printsOnly(name, value string) bool { return locale.MatchString(name + "=" + value) }
