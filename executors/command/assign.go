package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare walks a declaration, such as export or readonly.
func (w *walker) declare(c *syntax.DeclClause) {
	words := []Word{{Text: c.Variant.Value, Literal: true}}
	for _, a := range c.Args {
		from := w.walkSubstitutions(a)
		if a.Name == nil {
			word := w.word(a.Value)
			if strings.Contains(word.Text, "(") {
				w.dynamic("%s evaluates its arguments again", c.Variant.Value)
			}
			words = append(words, word)
			continue
		}
		if word := w.word(a.Value); word.Literal && strings.Contains(word.Text, "(") || !word.Literal && len(words) > 1 && a.Array == nil {
			w.dynamic("%s may evaluate its arguments again", c.Variant.Value)
		}
		if !a.Naked {
			w.assign(a.Name.Value, isNumber(w.value(a)))
			w.remember(a.Name.Value, a.Value, from)
		}
		words = append(words, Word{Text: a.Name.Value, Literal: true})
	}
	w.command(&Command{Words: words, in: w.in})
}

// assignValue records the value that an assignment sets. from are the commands whose
// output is in it.
func (w *walker) assignValue(a *syntax.Assign, from []*Command) {
	name := a.Name.Value
	w.assign(name, isNumber(w.value(a)))
	if a.Array == nil && !a.Append && a.Index == nil {
		w.remember(name, a.Value, from)
		return
	}
	w.sources[name] = append(w.sources[name], from...)
	w.rememberArray(a)
}

// assign records that the script sets a variable. number means that the value is a number.
func (w *walker) assign(name string, number bool) {
	delete(w.values, name)
	delete(w.arrays, name)
	if w.guessing { // a guess sets no variable for certain
		return
	}
	if !w.assigned[name] {
		w.assigned[name] = true
		w.script.Assigns = append(w.script.Assigns, name)
	}
	if !number {
		w.nonNumeric[name] = true
	}
}

// remember records the value of a variable for guesses, and the commands whose
// output it may hold.
func (w *walker) remember(name string, value *syntax.Word, from []*Command) {
	if value == nil {
		w.values[name] = ""
		return
	}
	if word := w.word(value); word.Literal {
		w.values[name] = word.Text
	} else {
		if text, ok := w.valueGuess(value); ok {
			w.values[name] = text
		}
		from = append(from, word.From...)
	}
	for _, c := range from {
		if !slices.Contains(w.sources[name], c) {
			w.sources[name] = append(w.sources[name], c)
		}
	}
}

// rememberArray records the elements of a list in parentheses for guesses.
func (w *walker) rememberArray(a *syntax.Assign) {
	if a.Array == nil || a.Append {
		return
	}
	var list []string
	for _, e := range a.Array.Elems {
		if e.Index != nil || e.Value == nil {
			return
		}
		for _, word := range w.words(e.Value) {
			if !word.Literal {
				return
			}
			list = append(list, word.Text)
		}
	}
	w.arrays[a.Name.Value] = list
}

// value returns the value that an assignment sets.
func (w *walker) value(a *syntax.Assign) Word {
	switch {
	case a.Array != nil || a.Append || a.Index != nil:
		return Word{}
	case a.Value == nil:
		return Word{Literal: true}
	}
	return w.word(a.Value)
}

// export records the variables that a command exports.
func (w *walker) export(c *Command) {
	args, p := c.Args(), c.Program()
	switch p {
	case "export", "declare", "typeset", "local", "readonly":
		if p != "export" && !shortFlag(args, "x") && allLiteral(args) {
			return
		}
		for _, a := range operands(args) {
			name, _, _ := strings.Cut(a.Text, "=")
			w.script.Exports = append(w.script.Exports, strings.TrimSuffix(name, "+"))
			w.script.ExportsAll = w.script.ExportsAll || !a.Literal
		}
	case "set", "shopt":
		all := func(a Word) bool { return !a.Literal || a.Text == "allexport" }
		w.script.ExportsAll = w.script.ExportsAll || p == "set" && shortFlag(args, "a") || slices.ContainsFunc(args, all)
	default:
		w.script.ExportsAll = w.script.ExportsAll || IsShell(p) && (shortFlag(args, "a") || hasFlag(args, "allexport"))
	}
}
