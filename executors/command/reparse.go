package command

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// The shell evaluates the text of some variables and words a second time: in
// arithmetic the value "a[$(cmd)]" runs cmd. This file finds these places.

var (
	number        = lazyregexp.New(`^([-+]?[0-9]+|0[xX][0-9a-fA-F]+)?$`)
	variableNames = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_]*`)
	// plainArithmetic matches text that arithmetic reads as numbers, names and operators only.
	plainArithmetic = lazyregexp.New(`^[\w\s+*/%<>=!&|^~?:,()#@.-]*$`)
)

// isNumber reports whether the word is a number, so that arithmetic cannot run a command
// in it.
func isNumber(w Word) bool { return w.number || w.Literal && number.MatchString(w.Text) }

// reevaluatedNode records the parts of a node that the shell evaluates a second time.
func (w *walker) reevaluatedNode(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.ArithmExp:
		w.arithm(n.X)
	case *syntax.ArithmCmd:
		w.arithm(n.X)
	case *syntax.LetClause:
		for _, x := range n.Exprs {
			w.arithm(x)
		}
	case *syntax.CStyleLoop:
		w.arithm(n.Init)
		w.arithm(n.Cond)
		w.arithm(n.Post)
	case *syntax.Assign:
		w.arithm(n.Index)
	case *syntax.ArrayElem:
		w.arithm(n.Index)
		if n.Value != nil && slices.ContainsFunc(n.Value.Parts, isExtGlob) {
			w.err = errors.New("an array has an extended pattern") // an error without extglob: bash then runs the next line
		}
	case *syntax.ParamExp:
		w.reevaluatedParam(n)
	case *syntax.UnaryTest:
		if word, ok := n.X.(*syntax.Word); ok && (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) {
			w.checkVariableName(w.word(word), "[[")
		}
	case *syntax.BinaryTest:
		switch n.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{n.X, n.Y} {
				if word, ok := side.(*syntax.Word); ok {
					w.arithm(word)
				}
			}
		}
	}
}

func isExtGlob(part syntax.WordPart) bool { _, ok := part.(*syntax.ExtGlob); return ok }

// reevaluatedParam records the parts of a parameter expansion that the shell evaluates a second
// time.
func (w *walker) reevaluatedParam(n *syntax.ParamExp) {
	w.arithm(n.Index)
	if n.Slice != nil {
		w.arithm(n.Slice.Offset)
		w.arithm(n.Slice.Length)
	}
	keys := false
	if word, ok := n.Index.(*syntax.Word); ok {
		keys = word.Lit() == "@" || word.Lit() == "*"
	}
	if n.Excl && n.Names == 0 && !keys {
		w.dynamic("the name of a variable is computed: %s", source(n))
	}
	w.literalQuotes(n)
	if n.Repl != nil {
		w.hiddenSubstitution(n.Repl.Orig)
		w.hiddenSubstitution(n.Repl.With)
	}
	if n.Exp == nil {
		return
	}
	w.hiddenSubstitution(n.Exp.Word)
	switch n.Exp.Op {
	case syntax.OtherParamOps:
		if n.Exp.Word != nil && n.Exp.Word.Lit() == "P" {
			w.dynamic("the value of a variable is expanded again: %s", source(n))
		}
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if n.Param != nil {
			w.assign(n.Param.Value, isNumber(w.word(n.Exp.Word)))
		}
	}
}

// processSubstitution matches the beginning of a process substitution, and its commands.
var processSubstitution = lazyregexp.New(`(?s)[<>]\((.+)`)

// hiddenSubstitution records a process substitution in a word of a parameter expansion, such as
// ${x:-<(ls)}. Bash runs it, but the parser takes it for text.
func (w *walker) hiddenSubstitution(word *syntax.Word) {
	if word == nil || !slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.Lit); return ok }) {
		return
	}
	if m := processSubstitution.FindStringSubmatch(source(word)); m != nil {
		w.dynamic("it has a process substitution in %s", source(word))
		w.guessText(strings.TrimRight(m[1], ")"))
	}
}

// literalQuotes records single quotes in a word of an expansion such as "${x:-'$(ls)'}". Between
// double quotes and in a here-document bash takes them for text and runs the substitution. Other
// shells also end the expansion at a "}" between them. The parser takes them for quotes.
func (w *walker) literalQuotes(n *syntax.ParamExp) {
	var word *syntax.Word
	special := "$`\"}"
	switch {
	case n.Repl != nil: // up to bash 4.2; in the pattern they quote
		word, special = n.Repl.With, "$`"
	case n.Exp == nil:
	case slices.Contains([]syntax.ParExpOperator{
		syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull,
	}, n.Exp.Op):
		word = n.Exp.Word
	}
	if word == nil {
		return
	}
	for _, part := range word.Parts {
		if q, ok := part.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, special) {
			w.dynamic("single quotes may be text in %s", source(n))
			w.guessText(q.Value)
		}
	}
}

// arithm records the variables whose values an arithmetic expression evaluates.
func (w *walker) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		w.arithm(x.X)
		w.arithm(x.Y)
		if left, ok := x.X.(*syntax.Word); ok && isAssignment(x.Op.String()) && isName(left.Lit()) {
			w.assign(left.Lit(), true)
		}
	case *syntax.UnaryArithm:
		w.arithm(x.X)
	case *syntax.ParenArithm:
		w.arithm(x.X)
	case *syntax.Word:
		if x != nil {
			for _, part := range x.Parts {
				w.arithmPart(part)
			}
		}
	}
}

// isAssignment reports whether an operator of arithmetic sets its left side.
func isAssignment(operator string) bool {
	return strings.HasSuffix(operator, "=") && !slices.Contains([]string{"==", "!=", "<=", ">="}, operator)
}

func (w *walker) arithmPart(part syntax.WordPart) {
	switch p := part.(type) {
	case *syntax.Lit:
		w.arithmText(p.Value)
	case *syntax.SglQuoted:
		w.arithmText(p.Value)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			w.arithmPart(q)
		}
	case *syntax.ArithmExp: // a number; walkSubstitutions records the expression in it
	case *syntax.ParamExp:
		named := p.Param != nil && isName(p.Param.Value) && p.Param.Value[0] > '9'
		switch {
		case p.Length || p.Param != nil && strings.Contains("#?$!", p.Param.Value):
		case named && (p.Exp == nil || p.Exp.Word == nil || isNumber(w.word(p.Exp.Word))):
			w.inArithmetic[p.Param.Value] = true
		default:
			w.dynamic("computed text is used as a number, which may run commands: %s", source(p))
		}
	default:
		w.dynamic("computed text is used as a number, which may run commands: %s", source(p))
	}
}

func (w *walker) arithmText(text string) {
	if !plainArithmetic.MatchString(text) {
		w.dynamic("text is used as a number, which may run commands: %s", text)
	}
	for _, name := range variableNames.FindAllString(text, -1) {
		w.inArithmetic[name] = true
	}
}

// checkVariableName records a word that a command reads as the name of a variable.
// The shell evaluates a subscript of it, which a computed name may have.
func (w *walker) checkVariableName(word Word, where string) {
	name, _, _ := strings.Cut(word.Text, "=")
	if !word.Literal || strings.ContainsAny(name, "[$`") {
		w.dynamic("%s gets a variable name that is computed: %s", where, word.Text)
	}
}

// reevaluatedWords records the words of a command that the shell evaluates a second time.
func (w *walker) reevaluatedWords(c *Command) {
	p, args := c.Program(), c.Args()
	switch p {
	case "test", "[":
		for i, a := range args[:max(0, len(args)-1)] {
			if a.Text == "-v" || a.Text == "-R" {
				w.checkVariableName(args[i+1], p)
			}
		}
	case "printf", "wait":
		for i, a := range args {
			if strings.HasPrefix(a.Text, "-v") || strings.HasPrefix(a.Text, "-p") && p == "wait" {
				w.assignNames(append([]Word{{Text: a.Text[2:], Literal: a.Literal}}, args[i+1:min(i+2, len(args))]...), p)
			}
		}
	case "compgen", "fc":
		w.dynamic("%s evaluates its arguments, or commands of the history", p)
	case "let": // after an assignment or a builtin; syntax.LetClause is any other
		w.dynamic("let evaluates its arguments")
	case "read", "mapfile", "readarray", "getopts", "unset", "declare", "typeset", "local", "export", "readonly":
		if declares := slices.Contains([]string{"declare", "typeset", "local"}, p); declares && shortFlag(args, "in") {
			w.dynamic("%s makes variables whose values are computed again", p)
		}
		w.assignNames(args, p)
	}
}

// assignNames records the variables that a command sets to an unknown text.
func (w *walker) assignNames(words []Word, where string) {
	for _, a := range words {
		if strings.HasPrefix(a.Text, "-") || a.Text == "" {
			continue
		}
		w.checkVariableName(a, where)
		name, _, assigns := strings.Cut(a.Text, "=")
		assigns = assigns || slices.Contains([]string{"read", "printf", "getopts", "mapfile", "readarray"}, where)
		if a.Literal && isName(name) && assigns {
			w.assign(name, false)
		}
	}
}
