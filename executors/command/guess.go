package command

import (
	"errors"
	"io"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Limits on guesses, in bytes.
const (
	maxValue = 4096          // of the value of a variable
	maxGuess = 16 * maxValue // of the values in one word
)

// guess returns the words of a command, assuming that variables still hold the
// values of the script. It returns nil if these do not determine the program.
func (w *walker) guess(args []*syntax.Word) []Word {
	var words []Word
	for _, a := range args {
		for _, word := range w.guessWords(a, len(words) == 0) {
			if len(words) > 0 || word.Text != "" { // an empty variable disappears
				words = append(words, word)
			}
		}
	}
	if len(words) == 0 || !words[0].Literal {
		return nil
	}
	return words
}

// guessWords returns the words, assuming that variables hold the values of the
// script. program means that the first word names a program; an unset variable
// is then empty.
func (w *walker) guessWords(src *syntax.Word, program bool) []Word {
	if fields, ok := w.expandGuess(src, program); ok {
		var out []Word
		for _, f := range fields {
			out = append(out, Word{Text: f, Literal: true, Glob: strings.ContainsAny(f, "*?[")})
		}
		return out
	}
	return []Word{w.resolve(src, wordBuilder{guess: true, namesProgram: program})}
}

// expandGuess returns the words that src becomes, assuming that variables hold the
// values of the script. ok is false if these do not determine the words.
func (w *walker) expandGuess(src *syntax.Word, program bool) (fields []string, ok bool) {
	if !w.determines(src, program) {
		return nil, false
	}
	split := *src
	split.Parts = slices.Clone(src.Parts)
	if syntax.SplitBraces(&split) { // may be endless
		return nil, false
	}
	defer func() { // the library panics at unknown expressions
		if recover() != nil {
			fields, ok = nil, false
		}
	}()
	fields, err := expand.Fields(w.expandConfig(), src)
	return fields, err == nil && len(strings.Join(fields, " ")) <= maxValue
}

// valueGuess returns the text that an assignment stores, under the same assumption.
func (w *walker) valueGuess(src *syntax.Word) (text string, ok bool) {
	if !w.determines(src, false) {
		return "", false
	}
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	text, err := expand.Literal(w.expandConfig(), src)
	return text, err == nil && len(text) <= maxValue
}

func (w *walker) expandConfig() *expand.Config {
	return &expand.Config{Env: &lastValues{w}, CmdSubst: w.writeSubstitution}
}

// determines reports whether the script determines every computed part of a word.
func (w *walker) determines(src *syntax.Word, program bool) bool {
	if len(src.Parts) == 0 || strings.HasPrefix(src.Lit(), "~") {
		return false
	}
	known, computed, size := true, false, 0
	syntax.Walk(src, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			computed = true
			return false // writeSubstitution decides about it
		case *syntax.ParamExp:
			computed = true
			size += w.sizeOf(n, 0)
			known = known && size <= maxGuess && w.determinesParam(n, program)
		case *syntax.Lit:
			known = known && !strings.HasPrefix(n.Value, "~")
		case *syntax.ProcSubst, *syntax.ArithmExp, *syntax.ExtGlob:
			known = false
		}
		return known
	})
	return known && computed
}

// maxReplacements is how deep replacements may contain each other.
const maxReplacements = 4

// sizeOf returns the largest size of a parameter's text, in bytes, in a replacement of that
// depth. It returns more than maxGuess if the text may be longer.
func (w *walker) sizeOf(n *syntax.ParamExp, depth int) int {
	switch {
	case n.Param == nil:
		return 0
	case depth > maxReplacements:
		return maxGuess + 1
	}
	v := (&lastValues{w}).Get(n.Param.Value)
	size := len(v.Str)
	for _, text := range v.List {
		size += len(text)
	}
	if n.Repl == nil || n.Repl.With == nil {
		return size
	}
	each := 1 + len(source(n.Repl.With)) // "${a//x/y}" replaces each byte at most
	syntax.Walk(n.Repl.With, func(n syntax.Node) bool {
		p, inner := n.(*syntax.ParamExp)
		if inner {
			each += w.sizeOf(p, depth+1)
		}
		return !inner
	})
	if each > maxGuess { // also for an empty value, so that nothing deeper is looked at
		return each
	}
	return min(size*each, maxGuess+1)
}

func (w *walker) determinesParam(n *syntax.ParamExp, program bool) bool {
	if n.Param == nil || n.Excl {
		return false
	}
	if n.Exp != nil {
		switch n.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			return true
		case syntax.OtherParamOps:
			return false
		}
	}
	return program || (&lastValues{w}).Get(n.Param.Value).IsSet()
}

// writeSubstitution writes the output of a substituted command, if the script spells out this
// output.
func (w *walker) writeSubstitution(out io.Writer, c *syntax.CmdSubst) error {
	if len(c.Stmts) == 1 && len(c.Stmts[0].Redirs) == 0 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Assigns) == 0 && len(call.Args) > 0 {
			var words []Word
			for _, a := range call.Args {
				words = append(words, w.words(a)...)
			}
			cmd := &Command{Words: words}
			if cmd.Program() == "pwd" && len(words) == 1 && len(w.dirs) > 0 {
				_, err := io.WriteString(out, w.dirs[0])
				return err
			}
			if text, ok := cmd.spelledOutput(); ok {
				_, err := io.WriteString(out, text)
				return err
			}
		}
	}
	return errors.New("only the running shell knows")
}

// spelledOutput returns the standard output of a command, if its words spell out this
// output.
func (c *Command) spelledOutput() (string, bool) {
	args := c.Args()
	if !allLiteral(args) {
		return "", false
	}
	switch c.Program() {
	case "true", ":":
		return "", true
	case "echo", "yes":
		return join(operands(args)), true
	case "printf":
		rest := operands(args)
		if len(rest) > 1 && strings.Contains(rest[0].Text, "%") && strings.Trim(rest[0].Text, `%sbq\n "'`) == "" {
			rest = rest[1:]
		}
		return join(rest), len(rest) > 0
	}
	return "", false
}

// lastValues is an environment with the last values that the script spells out.
type lastValues struct{ w *walker }

// Get implements [expand.Environ].
func (e *lastValues) Get(name string) expand.Variable {
	text := func(s string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: s} }
	params := e.w.params
	if value, ok := e.w.values[name]; ok {
		return text(value)
	}
	if list, ok := e.w.arrays[name]; ok {
		return expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	}
	switch {
	case (name == "@" || name == "*") && len(params) > 1:
		return expand.Variable{Set: true, Kind: expand.Indexed, List: params[1:]}
	case len(name) == 1 && name >= "0" && name <= "9" && int(name[0]-'0') < len(params):
		return text(params[name[0]-'0'])
	case e.w.assigned[name]:
	case name == "HOME" && e.w.shell.Home != "":
		return text(e.w.shell.Home)
	case name == "PWD" && len(e.w.dirs) > 0:
		return text(e.w.dirs[0])
	}
	return expand.Variable{}
}

// Each implements [expand.Environ]: nothing lists variables.
func (e *lastValues) Each(func(string, expand.Variable) bool) {}

// Set implements [expand.WriteEnviron] for "${x:=y}". It does not store the value,
// which is a guess.
func (e *lastValues) Set(string, expand.Variable) error { return nil }

// rememberBuiltin records the values that builtins assign to variables: read, printf -v
// and set.
func (w *walker) rememberBuiltin(c *Command) {
	args := c.Args()
	switch c.Program() {
	case "read":
		var from []*Command
		if c.in != nil {
			from = c.in.from
		}
		for _, a := range operands(args) {
			w.sources[a.Text] = append(w.sources[a.Text], from...)
			if c.in != nil && c.in.known && len(c.in.text) <= maxValue {
				w.values[a.Text] = strings.TrimSpace(c.in.text)
			}
		}
	case "mapfile", "readarray":
		if c.in != nil {
			for _, a := range operands(args) {
				w.sources[a.Text] = append(w.sources[a.Text], c.in.from...)
			}
		}
	case "printf":
		if len(args) > 2 && args[0].Text == "-v" && allLiteral(args) {
			if text, ok := (&Command{Words: append([]Word{c.Words[0]}, args[2:]...)}).spelledOutput(); ok {
				w.values[args[1].Text] = text
			}
		}
	case "set":
		for i, a := range args {
			if a.Text != "--" || !allLiteral(args[i:]) {
				continue
			}
			params := []string{"bash"}
			for _, p := range args[i+1:] {
				params = append(params, p.Text)
			}
			w.params = params
			return
		}
	}
}
