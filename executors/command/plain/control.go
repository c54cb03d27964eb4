package plain

import (
	"errors"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// caseClause prints a case. Its word and patterns are quoted like all others.
func (b *builder) caseClause(n *syntax.CaseClause) (string, error) {
	w, err := b.assignedValue(n.Word) // as there, the word is neither split nor a pattern
	if err != nil {
		return "", err
	}
	text := "case " + w.source + " in "
	for _, item := range n.Items {
		if item.Op != syntax.Break {
			return "", errors.New("it has a case that falls through")
		}
		var patterns []string
		for _, src := range item.Patterns {
			p, err := b.word(src)
			switch {
			case err != nil:
				return "", err
			case len(p.Values) != 1 || p.varies || strings.Contains(p.source, "[!.]"): // see leaveOutParent
				return "", errors.New("it has a case with a pattern that is not plain")
			}
			patterns = append(patterns, p.source)
		}
		body := "true"
		if len(item.Stmts) > 0 {
			if body, err = b.branch(item.Stmts); err != nil {
				return "", err
			}
		}
		text += "(" + strings.Join(patterns, "|") + ") " + body + ";; "
	}
	return text + "esac", nil
}

// whileRead prints a loop over the lines of its input: "while IFS= read -r a b". Its variables get
// new names, like the variable of a for loop.
func (b *builder) whileRead(n *syntax.WhileClause) (string, error) {
	errPlain := errors.New("it has a while loop that does not read lines")
	if n.Until || len(n.Cond) != 1 || n.Cond[0].Negated || n.Cond[0].Background || len(n.Cond[0].Redirs) > 0 {
		return "", errPlain
	}
	call, ok := n.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 || call.Args[0].Lit() != "read" || len(call.Assigns) > 1 {
		return "", errPlain
	}
	text := "while "
	for _, a := range call.Assigns {
		value, err := "", error(nil)
		if a.Value != nil {
			value, err = b.literalValue(a)
		}
		if err != nil || a.Append || a.Index != nil || a.Array != nil || a.Name.Value != "IFS" || strings.Trim(value, ",:;|/ \t") != "" {
			return "", errPlain
		}
		text += "IFS=" + quote(value) + " "
	}
	text += "read"
	var names []string
	for _, src := range call.Args[1:] {
		switch name := src.Lit(); {
		case name == "-r" && len(names) == 0:
			text += " -r"
		case !syntax.ValidName(name):
			return "", errPlain
		default:
			if err := settable(name); err != nil {
				return "", err
			}
			if v, was := b.vars[name]; was && v.name != "" {
				return "", errorf("a loop sets %s, which has another computed value", name)
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", errPlain
	}
	for _, name := range names {
		v := variable{name: b.newVariable()}
		b.vars[name] = v
		text += " " + v.name
	}
	dirs := b.dirs
	body, err := b.branch(n.Do)
	if err != nil {
		return "", err
	}
	if len(dirs) != len(b.dirs) {
		return "", errors.New("a loop changes the directory")
	}
	for _, name := range names {
		delete(b.vars, name)
	}
	return text + "; do " + body + "; done", nil
}

// processSubstitution adds a file that contains the output of commands.
func (b *builder) processSubstitution(p *wordBuilder, n *syntax.ProcSubst) error {
	if n.Op != syntax.CmdIn {
		return errors.New("it has a process substitution that writes")
	}
	end := b.subshell()
	text, err := b.list(n.Stmts)
	end()
	if err != nil {
		return err
	}
	p.word.Values, p.word.pipe = nil, true
	p.addSource("<(" + spaced(text) + ")")
	return nil
}

// arithmetic adds the value of an expression of numbers and of variables that are literal numbers.
func (b *builder) arithmetic(p *wordBuilder, n *syntax.ArithmExp) error {
	v, err := b.compute(n.X, 0)
	if err != nil {
		return err
	}
	b.computed++
	p.addLiteral(strconv.FormatInt(v, 10))
	return nil
}

var errArithmetic = errors.New("it has arithmetic with more than numbers")

// compute returns the value of an expression. Bash computes with 64 bits, too.
func (b *builder) compute(x syntax.ArithmExpr, depth int) (int64, error) {
	if depth > maxNest {
		return 0, errArithmetic
	}
	switch n := x.(type) {
	case *syntax.Word:
		return b.operand(n)
	case *syntax.ParenArithm:
		return b.compute(n.X, depth+1)
	case *syntax.UnaryArithm:
		v, err := b.compute(n.X, depth+1)
		switch {
		case n.Post:
			return 0, errArithmetic
		case n.Op == syntax.Minus:
			return -v, err
		case n.Op == syntax.Plus:
			return v, err
		}
	case *syntax.BinaryArithm:
		l, err := b.compute(n.X, depth+1)
		if err != nil {
			return 0, err
		}
		r, err := b.compute(n.Y, depth+1)
		if err != nil {
			return 0, err
		}
		switch n.Op {
		case syntax.Add:
			return l + r, nil
		case syntax.Sub:
			return l - r, nil
		case syntax.Mul:
			return l * r, nil
		case syntax.Quo, syntax.Rem:
			if r == 0 || r == -1 {
				return 0, errArithmetic
			}
			if n.Op == syntax.Quo {
				return l / r, nil
			}
			return l % r, nil
		}
	}
	return 0, errArithmetic
}

// operand returns the value of a number or of a variable of the script.
func (b *builder) operand(w *syntax.Word) (int64, error) {
	text := w.Lit()
	if len(w.Parts) == 1 {
		if param, ok := w.Parts[0].(*syntax.ParamExp); ok && param.Short && param.Param != nil {
			text = param.Param.Value
		}
	}
	if v, ok := b.vars[text]; ok && v.name == "" && len(v.word.Values) == 1 {
		text = v.word.Values[0]
	}
	if len(text) > 1 && text[0] == '0' { // octal
		return 0, errArithmetic
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errArithmetic
	}
	return v, nil
}
