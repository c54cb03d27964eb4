package command

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command as the program would get it.
type Word struct {
	Text    string // plain: quotes and escapes resolved; the source of what is not literal
	Literal bool   // nothing in it is computed by the running shell
	Glob    bool   // it is a pattern: the program gets the files that match
}

// words gives the words that a word of the source becomes: more than one where
// there are braces to expand.
func (w *walker) words(src *syntax.Word) []Word {
	split := *src
	split.Parts = slices.Clone(src.Parts)
	if !syntax.SplitBraces(&split) {
		return []Word{w.word(src)}
	}
	var out []Word
	for word, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(out) == maxBraces {
			return []Word{{Text: source(src)}}
		}
		out = append(out, w.word(word))
	}
	return out
}

// maxBraces is how many words braces may expand to.
const maxBraces = 256

// word resolves quotes, escapes and what is known of the shell.
func (w *walker) word(src *syntax.Word) Word {
	if src == nil {
		return Word{Literal: true}
	}
	out := Word{Literal: true}
	var b strings.Builder
	for i, part := range src.Parts {
		if !w.part(part, i == 0, false, &b, &out) {
			return Word{Text: source(src)}
		}
	}
	out.Text = b.String()
	return out
}

// part adds one part of a word; false means that it is computed.
func (w *walker) part(part syntax.WordPart, first, quoted bool, b *strings.Builder, out *Word) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		text := p.Value
		if first && strings.HasPrefix(text, "~") {
			rest, home := strings.CutPrefix(text, "~")
			if !home || rest != "" && rest[0] != '/' || w.shell.Home == "" {
				return false // ~user, ~+
			}
			b.WriteString(w.shell.Home)
			text = rest
		}
		unescape(text, quoted, b, out)
	case *syntax.SglQuoted:
		if !p.Dollar {
			b.WriteString(p.Value)
			return true
		}
		text, _, err := expand.Format(nil, p.Value, nil)
		if err != nil {
			return false
		}
		text, _, _ = strings.Cut(text, "\x00")
		b.WriteString(text)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if !w.part(q, false, true, b, out) {
				return false
			}
		}
	case *syntax.ParamExp:
		value, ok := w.variable(p)
		b.WriteString(value)
		return ok
	default: // substitutions, arithmetic, extended globs
		return false
	}
	return true
}

// variable gives the value of a variable that every shell has, unless the script
// may have changed it.
func (w *walker) variable(p *syntax.ParamExp) (string, bool) {
	plain := syntax.ParamExp{Dollar: p.Dollar, Rbrace: p.Rbrace, Short: p.Short, Param: p.Param}
	if p.Param == nil || source(&plain) != source(p) || slices.Contains(w.script.Assigns, p.Param.Value) {
		return "", false
	}
	switch p.Param.Value {
	case "HOME":
		return w.shell.Home, w.shell.Home != ""
	case "PWD":
		if len(w.dirs) == 1 {
			return w.dirs[0], true
		}
	}
	return "", false
}

// unescape resolves the backslashes of literal text and notes patterns.
func unescape(text string, quoted bool, b *strings.Builder, out *Word) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			i++
			if text[i] != '\n' { // a continued line
				b.WriteByte(text[i])
			}
			continue
		case !quoted && (c == '*' || c == '?' || c == '['):
			out.Glob = true
		}
		b.WriteByte(c)
	}
}

// heredoc gives the text of a here document.
func (w *walker) heredoc(r *syntax.Redirect) (string, bool) {
	var b strings.Builder
	var out Word
	// With any quote in its delimiter, a here document is taken as it is.
	plain := len(r.Word.Parts) == 1
	if plain {
		lit, ok := r.Word.Parts[0].(*syntax.Lit)
		plain = ok && !strings.Contains(lit.Value, `\`)
	}
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && !plain {
			b.WriteString(lit.Value)
			continue
		}
		if !w.part(part, false, true, &b, &out) {
			return source(r.Hdoc), false
		}
	}
	return b.String(), true
}

// source prints a node as it is in the script.
func source(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return "?" // nothing matches that allows anything
	}
	return strings.TrimSpace(b.String())
}

// cd notes where the shell is after a cd.
func (w *walker) cd(c *Command) {
	target, ok := w.cdTarget(c)
	if !ok {
		w.dirs = nil
		w.dynamic("the directory of %q is known only when it runs", c.Text())
		return
	}
	// It may fail, and what follows then runs where the shell was.
	w.dirs = union(w.join(target), w.dirs)
}

// cdDone gives the directories after a cd that has worked, nil if s is no cd.
func (w *walker) cdDone(s *syntax.Stmt) []string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || len(call.Args) == 0 || len(w.dirs) == 0 {
		return nil
	}
	var words []Word
	for _, a := range call.Args {
		words = append(words, w.words(a)...)
	}
	c := &Command{Words: words}
	if p := c.Program(); p != "cd" && p != "pushd" {
		return nil
	}
	if _, ok := w.cdTarget(c); !ok {
		return nil
	}
	return w.dirs[:1] // cd put the new one first
}

// cdTarget gives the operand of a cd.
func (w *walker) cdTarget(c *Command) (string, bool) {
	if c.Program() == "popd" {
		return "", false
	}
	for _, a := range c.Args() {
		switch {
		case !a.Literal || a.Glob || a.Text == "-" || len(w.dirs) == 0:
			return "", false
		case a.Text == "--" || a.Text == "-L" || a.Text == "-P" || a.Text == "-e":
		default:
			return a.Text, a.Text != "" && a.Text[0] != '+' && a.Text[0] != '-'
		}
	}
	return w.shell.Home, w.shell.Home != ""
}

// join gives dir seen from each directory in which the shell may be.
func (w *walker) join(dir string) []string {
	if filepath.IsAbs(dir) {
		return []string{filepath.Clean(dir)}
	}
	var out []string
	for _, d := range w.dirs {
		out = union(out, []string{filepath.Join(d, dir)})
	}
	return out
}

// maxDirs is how many directories are told apart.
const maxDirs = 64

// union adds what is new of b to a; nil if that is too much to follow.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}
