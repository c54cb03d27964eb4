package plain

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Word is one word of a command as the program receives it.
type Word struct {
	// Values are the possible values of the word: one, or for a loop variable the
	// values of all rounds. It is empty if only the shell can compute the value.
	Values []string
	// Glob means that the values are patterns of file names.
	Glob bool
	// source is the word in the plain form.
	source string
	// varies means that the word contains a variable of a loop.
	varies bool
	// number means that the word is $?, which is a number.
	number bool
	// splits means that the word has a computed part without quotes, which
	// becomes any number of words.
	splits bool
	// pipe means that the word is a file with the output of commands.
	pipe bool
}

// literal reports whether the word has exactly one text, known before it runs.
func (w Word) literal() bool { return len(w.Values) == 1 && !w.Glob && !w.varies }

// text returns the word's text, or its source if there is more than one text.
func (w Word) text() string {
	if len(w.Values) == 1 && !w.varies {
		return w.Values[0]
	}
	return w.source
}

// known reports whether all possible values of the word are known. The values of
// a pattern depend on the existing files.
func (w Word) known() bool { return len(w.Values) > 0 && !w.Glob }

// mayBegin reports whether one of the word's texts may begin with c.
func (w Word) mayBegin(c byte) bool {
	for _, v := range w.Values {
		if v != "" && (v[0] == c || w.Glob && strings.IndexByte("*?[", v[0]) >= 0) {
			return true
		}
	}
	return len(w.Values) == 0
}

// beginsWithWildcard reports whether the word is a pattern that matches names by their first
// character.
func (w Word) beginsWithWildcard() bool {
	return w.Glob && !w.varies && strings.IndexByte("*?[", w.Values[0][0]) >= 0
}

// inCurrentDir returns a pattern with "./" before it, so that a name that it matches is nothing else.
func (w Word) inCurrentDir() Word {
	w.Values, w.source = []string{"./" + w.Values[0]}, "./"+w.source
	return w
}

func literalWord(text string) Word { return Word{Values: []string{text}, source: quote(text)} }

// variable is the value of a variable at one point in the script.
type variable struct {
	word Word
	// name is the variable's name in the plain form, if a loop or the output of a command
	// sets it. Empty means that the plain form has the value instead.
	name string
}

// wordBuilder collects the parts of one word.
type wordBuilder struct {
	word    Word
	pending strings.Builder // literal text that is not yet in word.source
	inValue bool            // the value of an assignment: no patterns
	// hasWildcard means that the word itself has a wildcard, and not only the variable of a loop.
	hasWildcard bool
}

// addLiteral adds text that stands for itself.
func (p *wordBuilder) addLiteral(text string) {
	for i := range p.word.Values {
		p.word.Values[i] += text
	}
	p.pending.WriteString(text)
}

// quotePending adds the literal text so far to the source.
func (p *wordBuilder) quotePending() {
	if p.pending.Len() > 0 {
		p.word.source += quote(p.pending.String())
		p.pending.Reset()
	}
}

// addSource adds text to the source that the shell expands.
func (p *wordBuilder) addSource(text string) {
	p.quotePending()
	p.word.source += text
}

// words returns the words that one word of the source becomes, with its braces
// expanded.
func (b *builder) words(src *syntax.Word) ([]Word, error) {
	split := *src
	split.Parts = slices.Clone(src.Parts)
	if !syntax.SplitBraces(&split) {
		w, err := b.word(src)
		return []Word{w}, err
	}
	var out []Word
	for one, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(out) == maxValues {
			return nil, errorf("braces expand to more than %d words", maxValues)
		}
		w, err := b.word(one)
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// word resolves one word of a command.
func (b *builder) word(src *syntax.Word) (Word, error) { return b.resolve(src, &wordBuilder{}) }

// assignedValue resolves the value of an assignment.
func (b *builder) assignedValue(src *syntax.Word) (Word, error) {
	return b.resolve(src, &wordBuilder{inValue: true})
}

func (b *builder) resolve(src *syntax.Word, p *wordBuilder) (Word, error) {
	p.word.Values = []string{""}
	for i, part := range src.Parts {
		if err := b.part(p, part, position{first: i == 0, last: i == len(src.Parts)-1}); err != nil {
			return Word{}, err
		}
	}
	p.quotePending()
	w := p.word
	w.number = w.number && w.source == `"$?"`
	if w.source == "" {
		w.source = "''"
	}
	if len(w.Values) == 0 {
		if p.hasWildcard {
			return Word{}, errors.New("a pattern has a substitution in it")
		}
		w.Glob = false // the patterns of a loop's variable have become names
	}
	if w.Glob {
		b.patternCount++
		w.leaveOutParent()
	}
	return w, nil
}

// leaveOutParent replaces each name ".*" of a pattern by ".[!.]*". Before version 5.2, bash expands
// ".*" to the directory above, too.
func (w *Word) leaveOutParent() {
	if len(w.Values) != 1 || w.Values[0] != w.source { // quoted in part
		return
	}
	names := strings.Split(w.source, "/")
	for i, name := range names {
		if name == ".*" {
			names[i] = ".[!.]*"
		}
	}
	w.source = strings.Join(names, "/")
	w.Values = []string{w.source}
}

// position is where a part is in its word.
type position struct {
	first, last bool
	quoted      bool // in double quotes
}

// part adds one part of a word.
func (b *builder) part(p *wordBuilder, part syntax.WordPart, at position) error {
	switch n := part.(type) {
	case *syntax.Lit:
		return b.literalPart(p, n.Value, at)
	case *syntax.SglQuoted:
		text := n.Value
		if n.Dollar {
			if !simpleEscapes.MatchString(text) {
				return errors.New("$'…' has escapes that shells read differently")
			}
			text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`, `\'`, `'`).Replace(text)
		}
		return p.addQuoted(text)
	case *syntax.DblQuoted:
		if n.Dollar {
			return errors.New(`$"…" is translated by the shell`)
		}
		for _, q := range n.Parts {
			if err := b.part(p, q, position{quoted: true}); err != nil {
				return err
			}
		}
		return nil
	case *syntax.ParamExp:
		return b.parameter(p, n, at.quoted)
	case *syntax.CmdSubst:
		return b.substitution(p, n, at.quoted)
	case *syntax.ProcSubst:
		if at.first && at.last && !p.inValue {
			return b.processSubstitution(p, n)
		}
	case *syntax.ArithmExp:
		if !n.Bracket && !n.Unsigned {
			return b.arithmetic(p, n)
		}
	}
	return errorf("it has %s", nodeName(part))
}

var simpleEscapes = lazyregexp.New(`^([^\\]|\\[nt\\'])*$`)

// hasWildcard reports whether a text contains a character that is special in a pattern.
func hasWildcard(texts []string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsAny(s, `*?[]\`) })
}

// addQuoted adds text that stood in quotes.
func (p *wordBuilder) addQuoted(text string) error {
	if p.word.Glob && strings.ContainsAny(text, `*?[]\`) {
		return errors.New("a pattern has quoted wildcards")
	}
	p.addLiteral(text)
	return nil
}

// literalPart adds literal text of the source with its backslashes.
func (b *builder) literalPart(p *wordBuilder, text string, at position) error {
	quoted := at.quoted
	if at.first && !quoted && strings.HasPrefix(text, "~") {
		if continued := len(text) == 1 && !at.last; continued || len(text) > 1 && text[1] != '/' || b.shell.Home == "" {
			return errors.New("it has a ~ that only the shell can resolve")
		}
		p.addLiteral(b.shell.Home)
		text = text[1:]
	}
	if p.inValue && !quoted && strings.Contains(text, ":~") {
		return errors.New("it has a ~ that only the shell can resolve")
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			i++
			if text[i] == '\n' { // a continued line
				continue
			}
			if err := p.addQuoted(text[i : i+1]); err != nil {
				return err
			}
		case !quoted && !p.inValue && strings.IndexByte("*?[", c) >= 0:
			n, err := p.addWildcard(text[i:])
			if err != nil {
				return err
			}
			i += n - 1
		case p.word.Glob && strings.IndexByte(`]*?[\`, c) >= 0:
			return errors.New("a pattern has quoted wildcards")
		default:
			n := 1
			for i+n < len(text) && strings.IndexByte(`\*?[]`, text[i+n]) < 0 {
				n++
			}
			p.addLiteral(text[i : i+n])
			i += n - 1
		}
	}
	return nil
}

// bracketSet matches a bracket expression that has the same meaning in all shells.
var bracketSet = lazyregexp.New(`^\[(!?[A-Za-z0-9_]+(-[A-Za-z0-9])?|!\.)\]`)

// addWildcard adds the wildcard that text begins with, and returns its length.
func (p *wordBuilder) addWildcard(text string) (int, error) {
	n := 1
	if text[0] == '[' {
		if n = len(bracketSet.FindString(text)); n == 0 {
			if !strings.Contains(text, "]") && text == "[" {
				p.addLiteral("[")
				return 1, nil
			}
			return 0, errors.New("a pattern has a bracket expression that shells read differently")
		}
	}
	if !p.word.Glob && hasWildcard(p.word.Values) {
		return 0, errors.New("a pattern has quoted wildcards")
	}
	for i := range p.word.Values {
		p.word.Values[i] += text[:n]
	}
	p.word.Glob, p.hasWildcard = true, true
	p.addSource(text[:n])
	return n, nil
}

// parameter adds the value of a variable.
func (b *builder) parameter(p *wordBuilder, n *syntax.ParamExp, quoted bool) error {
	if n.Param == nil || n.Flags != nil || n.Excl || n.Length || n.Width || n.IsSet || n.NestedParam != nil || n.Index != nil ||
		len(n.Modifiers) > 0 || n.Slice != nil || n.Repl != nil || n.Names != 0 || n.Exp != nil {
		return errors.New("it expands a parameter with an operator")
	}
	name := n.Param.Value
	v, set := b.vars[name]
	switch {
	case set && len(v.word.Values) == 0: // computed
		p.word.Values = nil
		if quoted || p.inValue {
			p.addSource(`"$` + v.name + `"`)
			return nil
		}
		p.word.splits = true
		p.addSource("${" + v.name + "}") // a letter may follow
		return nil
	case set && v.name != "":
		return b.limit(p, p.addLoopVariable(v))
	case set:
		return b.limit(p, p.addValue(v.word.Values[0], name, quoted))
	case name == "HOME" && b.shell.Home != "":
		return b.limit(p, p.addValue(b.shell.Home, name, quoted))
	case name == "PWD" && len(b.dirs) == 1:
		return b.limit(p, p.addValue(b.dirs[0], name, quoted))
	case name == "?":
		p.word.number = len(p.word.Values) == 1 && p.word.Values[0] == ""
		p.word.Values = nil
		p.addSource(`"$?"`)
		return nil
	}
	if slices.Contains(shownVariables, name) {
		p.word.Values = nil
		p.addSource(`"${` + name + `}"`)
		return nil
	}
	return errorf("it uses $%s, which the script does not set to a literal", name)
}

// limit fails, if err is nil, once words with variables have become too long together. It is
// called after each variable.
func (b *builder) limit(p *wordBuilder, err error) error {
	for _, v := range p.word.Values {
		b.expansion += len(v)
	}
	if err == nil && b.expansion > maxExpansion {
		return errors.New("the values of its variables are too long")
	}
	return err
}

// shownVariables are variables of the environment that may be printed. They hold no secrets.
var shownVariables = []string{"EDITOR", "GOBIN", "GOPATH", "GOROOT", "JAVA_HOME", "LANG", "LOGNAME", "NODE_ENV", "PATH", "SHELL", "TERM", "USER", "VIRTUAL_ENV"}

// addValue adds the literal value of a variable. Without quotes a shell would split
// it and expand its wildcards.
func (p *wordBuilder) addValue(text, name string, quoted bool) error {
	if !quoted && !p.inValue && (text == "" || strings.IndexFunc(text, notPlain) >= 0) {
		return errorf("it uses $%s without quotes, and its value has spaces or other special characters", name)
	}
	return p.addQuoted(text)
}

// addLoopVariable adds a variable of a loop. It is quoted in the plain form, so that
// a file name with spaces stays one word.
func (p *wordBuilder) addLoopVariable(v variable) error {
	if len(p.word.Values)*len(v.word.Values) > maxValues {
		return errorf("a word has more than %d values", maxValues)
	}
	if v.word.Glob && !p.word.Glob && hasWildcard(p.word.Values) || p.word.Glob && !v.word.Glob && hasWildcard(v.word.Values) {
		return errors.New("a pattern has quoted wildcards")
	}
	var all []string
	for _, a := range p.word.Values {
		for _, o := range v.word.Values {
			all = append(all, a+o)
		}
	}
	p.word.Values, p.word.Glob, p.word.varies = all, p.word.Glob || v.word.Glob, true
	p.addSource(`"$` + v.name + `"`)
	return nil
}

// substitution adds the output of commands, which is known only after they ran.
func (b *builder) substitution(p *wordBuilder, n *syntax.CmdSubst, quoted bool) error {
	if n.TempFile || n.ReplyVar {
		return errors.New("it has a substitution that changes the shell")
	}
	end, before := b.subshell(), b.patternCount
	text, err := b.list(n.Stmts)
	end()
	if err != nil {
		return err
	}
	p.word.Values = nil
	if b.patternCount > before && !p.inValue { // another word may split, see withoutPatterns
		text = "set +f; " + text
	}
	if quoted || p.inValue {
		p.addSource(`"$(` + spaced(text) + `)"`)
		return nil
	}
	p.word.splits = true
	p.addSource("$(" + spaced(text) + ")")
	return nil
}

// nodeName names a part of the grammar for people.
func nodeName(n syntax.Node) string {
	switch n.(type) {
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause:
		return "arithmetic"
	case *syntax.ProcSubst:
		return "a process substitution"
	case *syntax.ExtGlob:
		return "an extended pattern"
	case *syntax.TestClause:
		return "[[ ]]"
	case *syntax.CaseClause:
		return "a case"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.DeclClause:
		return "a declaration of variables"
	case *syntax.CoprocClause:
		return "a coprocess"
	case *syntax.WhileClause:
		return "a while loop"
	}
	return "a form that is not plain"
}
