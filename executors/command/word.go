package command

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Word is one word of a command as the program would get it.
type Word struct {
	Text    string     // with quotes and escapes resolved; the source if the word is not literal
	Literal bool       // no part of it is computed by the running shell
	Glob    bool       // it is a pattern: the program gets the files that match
	Split   bool       // computed and not quoted: it may become any number of words
	From    []*Command // commands whose output may be in it

	otherHome    bool // begins with ~user
	number       bool // computed, but surely a number
	processSubst bool // <(...), the name of a pipe
}

// words returns the words that a word of the source becomes: more than one if it has
// braces to expand.
func (w *walker) words(src *syntax.Word) []Word {
	split := *src
	split.Parts = slices.Clone(src.Parts)
	if !syntax.SplitBraces(&split) {
		return []Word{w.word(src)}
	}
	var out []Word
	if len(split.Parts) > maxBraceParts { // expanding them takes long even for the first word
		w.dynamic("braces expand to more than %d words", maxBraces)
		return []Word{{Text: source(src), Split: true}}
	}
	for word, err := range expand.BracesSeq(nil, &split) {
		if err != nil || len(out) == maxBraces {
			w.dynamic("braces expand to more than %d words: %s", maxBraces, source(src))
			return []Word{{Text: source(src), Split: true}}
		}
		out = append(out, w.word(word))
	}
	if w.count += len(out); w.count > maxWords {
		w.err = fmt.Errorf("it has more than %d words", maxWords)
	}
	return out
}

// Limits on the braces in one word.
const (
	maxBraces     = 256 // words that they expand to
	maxBraceParts = 64  // parts of the word
)

// wordBuilder is a word that is being resolved.
type wordBuilder struct {
	strings.Builder
	word         Word
	openBracket  bool // an unquoted "[" is open
	guess        bool // variables have the values that the script last assigned
	namesProgram bool // an unset variable is empty in the name of a program
}

// word resolves the quotes and escapes of a word, and the variables and "~" whose
// values are known.
func (w *walker) word(src *syntax.Word) Word { return w.resolve(src, wordBuilder{}) }

func (w *walker) resolve(src *syntax.Word, p wordBuilder) Word {
	p.word.Literal = true
	if src == nil {
		return p.word
	}
	for i, part := range src.Parts {
		where := inWord
		if i == 0 {
			where = wordStart
		}
		if !w.part(part, where, &p) {
			return w.computed(src)
		}
	}
	p.word.Text = p.String()
	return p.word
}

// computed returns a word whose text only the running shell can compute.
func (w *walker) computed(src *syntax.Word) Word {
	out := Word{Text: source(src)}
	for _, part := range src.Parts {
		switch p := part.(type) {
		case *syntax.ArithmExp:
			out.number = len(src.Parts) == 1
		case *syntax.ProcSubst:
			out.processSubst = len(src.Parts) == 1
		case *syntax.ParamExp:
			special := p.Param != nil && strings.Contains("#?$!", p.Param.Value)
			out.number = len(src.Parts) == 1 && (p.Length || special)
			out.Split = out.Split || !p.Length && !special
		case *syntax.CmdSubst:
			out.Split = true
		case *syntax.DblQuoted:
			if strings.Contains(source(p), "@") {
				out.Split = true // "$@", "${a[@]}"
			}
		}
		if len(w.sources) > 0 {
			syntax.Walk(part, func(n syntax.Node) bool {
				if p, ok := n.(*syntax.ParamExp); ok && p.Param != nil {
					out.From = append(out.From, w.sources[p.Param.Value]...)
				}
				return true
			})
		}
	}
	return out
}

// partPlace is where a part of a word is.
type partPlace int

const (
	wordStart partPlace = iota // "~" is a home directory
	inWord
	inQuotes
)

// part adds one part of a word; false means that it is computed.
func (w *walker) part(part syntax.WordPart, where partPlace, out *wordBuilder) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		text := p.Value
		if where == wordStart && strings.HasPrefix(text, "~") {
			var ok bool
			if text, ok = w.tilde(text, out); !ok {
				return false
			}
		}
		unescape(text, where == inQuotes, out)
	case *syntax.SglQuoted:
		if !p.Dollar {
			out.WriteString(p.Value)
			return true
		}
		text, _, err := expand.Format(nil, p.Value, nil)
		if err != nil {
			return false
		}
		text, _, _ = strings.Cut(text, "\x00")
		out.WriteString(text)
	case *syntax.DblQuoted:
		for _, q := range p.Parts {
			if !w.part(q, inQuotes, out) {
				return false
			}
		}
	case *syntax.ParamExp:
		value, ok := w.variable(p, out)
		if out.Len()+len(value) > maxGuess && value != "" {
			return false
		}
		out.WriteString(value)
		return ok
	case *syntax.CmdSubst:
		if !out.guess || len(w.dirs) == 0 || len(p.Stmts) != 1 || len(p.Stmts[0].Redirs) > 0 {
			return false
		}
		call, ok := p.Stmts[0].Cmd.(*syntax.CallExpr)
		if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "pwd" {
			return false
		}
		out.WriteString(w.dirs[0])
	default: // arithmetic, extended globs
		return false
	}
	return true
}

// tilde resolves a leading "~", the home directory, and "~+", the current one. The
// home directory of another user stays as written: it is only known to be elsewhere.
func (w *walker) tilde(text string, out *wordBuilder) (rest string, ok bool) {
	user, _, _ := strings.Cut(text[1:], "/")
	rest = text[1+len(user):]
	switch {
	case user == "" && w.shell.Home != "" && !w.assigned["HOME"]:
		out.WriteString(w.shell.Home)
	case user == "+" && len(w.dirs) == 1:
		out.WriteString(w.dirs[0])
	case user == "" || strings.Trim(user, "+-0123456789") == "": // the directory stack
		return "", false
	default:
		out.word.otherHome = true
		return text, true
	}
	return rest, true
}

// variable returns the value of a variable that every shell has, unless the script
// may have changed it.
func (w *walker) variable(p *syntax.ParamExp, out *wordBuilder) (string, bool) {
	bare := syntax.ParamExp{Dollar: p.Dollar, Rbrace: p.Rbrace, Short: p.Short, Param: p.Param}
	if p.Param == nil || source(&bare) != source(p) {
		return "", false
	}
	name := p.Param.Value
	if out.guess {
		if value, ok := w.values[name]; ok {
			return value, true
		}
		if name >= "0" && name <= "9" && len(name) == 1 && int(name[0]-'0') < len(w.params) {
			return w.params[name[0]-'0'], true
		}
		if out.namesProgram && !w.assigned[name] && name != "HOME" && name != "PWD" {
			return "", true
		}
	}
	switch {
	case w.assigned[name]:
	case name == "HOME":
		return w.shell.Home, w.shell.Home != ""
	case name == "PWD" && len(w.dirs) == 1:
		return w.dirs[0], true
	}
	return "", false
}

// unescape resolves the backslashes of literal text, and records whether the text is
// a pattern.
func unescape(text string, quoted bool, out *wordBuilder) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\\n", text[i+1]) >= 0):
			i++
			if text[i] != '\n' { // a continued line
				out.WriteByte(text[i])
			}
			continue
		case quoted:
		case c == '[':
			out.openBracket = true
		case c == '*' || c == '?' || c == ']' && out.openBracket:
			out.word.Glob = true
		}
		out.WriteByte(c)
	}
}

// heredoc returns the text of a here document.
func (w *walker) heredoc(r *syntax.Redirect) (string, bool) {
	var out wordBuilder
	// If any part of its delimiter is quoted, the shell expands nothing in a here
	// document.
	bare := len(r.Word.Parts) == 1
	if bare {
		lit, ok := r.Word.Parts[0].(*syntax.Lit)
		bare = ok && !strings.Contains(lit.Value, `\`)
	}
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok && !bare {
			out.WriteString(lit.Value)
			continue
		}
		if !w.part(part, inQuotes, &out) {
			return source(r.Hdoc), false
		}
	}
	return out.String(), true
}

// source prints a node as it is in the script.
func source(n syntax.Node) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, n); err != nil {
		return "?" // no rule that allows a command matches this text
	}
	return strings.TrimSpace(b.String())
}
