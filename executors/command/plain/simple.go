package plain

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// shellVariables matches variables that bash sets, or that bash or programs read.
var shellVariables = lazyregexp.New(`^(_|BASH.*|CDPATH|COMP.*|COPROC|DIRSTACK|ENV|EPOCH.*|EUID|EXECIGNORE|FCEDIT|FIGNORE|` +
	`FUNCN.*|GLOB.*|GROUPS|HIST.*|HOME|HOST.*|IFS|IGNOREEOF|INPUTRC|INSIDE_EMACS|LANG|LC_.*|LD_.*|LINENO|LINES|COLUMNS|` +
	`MACHTYPE|MAIL.*|MAPFILE|OLDPWD|OPT.*|OSTYPE|PATH|PIPESTATUS|POSIX.*|PPID|PROMPT.*|PS[0-9].*|PWD|RANDOM|READLINE.*|` +
	`REPLY|SECONDS|SHELL.*|SHLVL|SRANDOM|TIMEFORMAT|TMOUT|TMPDIR|UID)$`)

// settable returns why a script may not set the variable.
func settable(name string) error {
	if shellVariables.MatchString(name) {
		return errorf("it sets %s, which changes what the shell does", name)
	}
	return nil
}

// assign records the variables that a command without words sets. The plain form has
// their values instead, and sets only those that are computed, under other names.
func (b *builder) assign(list []*syntax.Assign) (string, error) {
	var texts []string
	for _, a := range list {
		if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Value == nil {
			return "", errorf("it sets %s to more than a literal", a.Name.Value)
		}
		if err := settable(a.Name.Value); err != nil {
			return "", err
		}
		w, err := b.assignedValue(a.Value)
		if err != nil {
			return "", err
		}
		before, was := b.vars[a.Name.Value]
		switch {
		case was && before.name != "" && len(before.word.Values) > 0:
			return "", errorf("it sets the variable of a loop, %s", a.Name.Value)
		case b.conditionalDepth > 0 && (was && before.name == "" || len(w.Values) > 0):
			return "", errorf("it may or may not set %s", a.Name.Value)
		case len(w.Values) == 1:
			b.vars[a.Name.Value] = variable{word: w}
			continue
		case len(w.Values) > 0:
			return "", errorf("it sets %s to more than a literal", a.Name.Value)
		case before.name == "":
			before.name = b.newVariable()
		}
		b.vars[a.Name.Value] = variable{name: before.name}
		texts = append(texts, before.name+"="+w.source)
	}
	if len(texts) == 0 {
		return "true", nil
	}
	return strings.Join(texts, " "), nil
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
	case p.xargs:
		return "", errComputedNames
	}
	return b.finish(c, p, redirs)
}

// command returns a simple command and the words that it has in the plain form. A
// command that the table of read-only programs lacks must be allowed.
func (b *builder) command(n *syntax.CallExpr, redirs []*syntax.Redirect) (c *Command, p *acceptedCommand, err error) {
	c = &Command{Dirs: slices.Clone(b.dirs)}
	var values []string
	for _, a := range n.Assigns {
		value, err := b.literalValue(a)
		if err != nil {
			return nil, nil, err
		}
		c.Assigns = append(c.Assigns, a.Name.Value)
		values = append(values, value)
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
	for _, w := range wrapper {
		if slices.Contains(wrappers, w.text()) {
			c.Starts = append(c.Starts, w.text())
		}
	}
	ownAssigns := len(c.Assigns)
	c.words, c.Assigns, values = inner, append(c.Assigns, names...), append(values, set...)
	for _, w := range c.words {
		c.Words = append(c.Words, w.text())
	}
	p, why := b.accept(c)
	if why == nil {
		why = b.checkInput(p, redirs)
	}
	for i, name := range c.Assigns {
		if why == nil && !printsOnly(name, values[i]) {
			why = errorf("it sets %s", name)
		}
	}
	if why == nil && b.allow(c, ErrOnlyReads) == nil {
		if asked, err := b.askAllowed(c, redirs, ErrOnlyReads); err == nil { // else it runs as one that only reads
			p, why = asked, ErrOnlyReads
		}
	}
	if c.ReadOnly = why == nil; why != nil && why != ErrOnlyReads {
		if p, err = b.askAllowed(c, redirs, why); err != nil {
			return nil, nil, err
		}
	}
	c.Starts = append(c.Starts, p.starts...)
	if err := p.wrap(wrapper, c.Words[0]); err != nil {
		return nil, nil, err
	}
	for i, name := range c.Assigns[:ownAssigns] {
		p.env = append(p.env, name+"="+quote(values[i]))
	}
	return c, p, nil
}

// checkInput returns an error if redirections open an endless file as standard input.
func (b *builder) checkInput(p *acceptedCommand, redirs []*syntax.Redirect) error {
	r, err := b.redirects(redirs)
	if err != nil {
		return err
	}
	return p.checkEnd(r.reads)
}

// literalValue returns the value of an assignment before a command.
func (b *builder) literalValue(a *syntax.Assign) (string, error) {
	if a.Append || a.Naked || a.Index != nil || a.Array != nil || a.Value == nil {
		return "", errorf("it sets %s to more than a literal", a.Name.Value)
	}
	w, err := b.assignedValue(a.Value)
	if err != nil {
		return "", err
	}
	if !w.literal() {
		return "", errorf("it sets %s to more than a literal", a.Name.Value)
	}
	return w.text(), nil
}

// askAllowed returns a command that the table lacks, if it is allowed. why is the reason
// for the question.
func (b *builder) askAllowed(c *Command, redirs []*syntax.Redirect, why error) (*acceptedCommand, error) {
	p := &acceptedCommand{}
	for i, w := range c.words {
		switch {
		case len(w.Values) == 0:
			return nil, errorf("%s, and one of its words is computed at run time", why)
		case w.varies:
			return nil, errorf("%s, and it is in a loop", why)
		case w.Glob && w.mayBegin('-'):
			return nil, errorf("%s, and %s may match a name that begins with -", why, w.source)
		case i == 0:
			p.words = append(p.words, quoteProgram(w.text()))
		default:
			p.words = append(p.words, w.source)
		}
	}
	r, err := b.redirects(redirs)
	switch {
	case err != nil:
		return nil, err
	case r.hasText && !b.anyInput:
		return nil, errorf("%s, and the script spells out its input", why)
	}
	c.Writes = r.writes
	if err := b.allow(c, why); err != nil {
		return nil, err
	}
	b.form.ReadOnly = false
	return p, nil
}

// finish adds a command to the form and prints it with its redirections.
func (b *builder) finish(c *Command, p *acceptedCommand, redirs []*syntax.Redirect) (string, error) {
	r, err := b.redirects(redirs)
	if err != nil {
		return "", err
	}
	if c.ReadOnly && len(r.writes) > 0 {
		c.Writes = r.writes
		if err := b.allow(c, errorf("it writes %s", r.writes[0].Text)); err != nil {
			return "", err
		}
		b.form.ReadOnly = false
	}
	if c.ReadOnly {
		if err := p.checkEnd(r.reads); err != nil {
			return "", err
		}
		b.form.note(c, p)
	} else { // a rule may allow an input without an end
		for i := range r.reads {
			r.reads[i].Opens = false
		}
	}
	b.form.Commands = append(b.form.Commands, c)
	b.form.Files = append(append(b.form.Files, p.files...), r.reads...)
	if p.cd != "" {
		if err := b.changeDir(p.cd); err != nil {
			return "", err
		}
	}
	text, err := c.withoutPatterns(p.print())
	return text + r.text, err
}

// withoutPatterns prints a command with an unquoted substitution in a subshell that
// expands no patterns: the output of the substitution may look like one.
func (c *Command) withoutPatterns(text string) (string, error) {
	switch {
	case !slices.ContainsFunc(c.words, func(w Word) bool { return w.splits }):
		return text, nil
	case slices.ContainsFunc(c.words, func(w Word) bool { return w.Glob }):
		return "", errors.New("it has a pattern beside a substitution without quotes")
	}
	return "(set -f; " + text + ")", nil
}

// changeDir records the directories in which the shell may be after a cd, which may fail. Each
// cd may double them.
func (b *builder) changeDir(dir string) error {
	before := b.dirs
	b.dirs = dirsAfterCd(before, dir)
	b.cdDirs = b.dirs
	return b.addDirs(before)
}

// dirsAfterCd returns the directories to which a cd leads from each of dirs.
func dirsAfterCd(dirs []string, dir string) []string {
	var to []string
	for _, d := range dirs {
		if filepath.IsAbs(dir) {
			d = ""
		}
		if at := filepath.Join(d, dir); !slices.Contains(to, at) {
			to = append(to, at)
		}
	}
	return to
}

// printSettings matches NAME=VALUE of variables that only change how a program prints. In
// a locale such as zh_CN.GBK, a byte of a character may be a backslash or a delimiter. A
// sed program could then have other commands.
var printSettings = lazyregexp.New(`^(LANG|LC_[A-Z]+)=(C|POSIX|([A-Za-z_]+\.)?(UTF-8|UTF8|utf-8|utf8))?$|^TZ=[A-Za-z]+(/[A-Za-z_]+)?$|^(NO_COLOR|CLICOLOR|COLUMNS)=[0-9a-z]*$|^(GIT_)?PAGER=(cat)?$`)

// printsOnly reports whether setting a variable for a command changes only how it
// prints.
func printsOnly(name, value string) bool { return printSettings.MatchString(name + "=" + value) }
