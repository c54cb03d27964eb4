package command

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// stdin describes a standard input.
type stdin struct {
	known bool       // text is all of it
	text  string     // of a here document or a here string
	from  []*Command // commands whose output it holds
}

// Socket reports whether the shell treats the redirection as a network
// connection.
func (r Redirect) Socket() bool {
	return strings.HasPrefix(r.Target.Text, "/dev/tcp/") || strings.HasPrefix(r.Target.Text, "/dev/udp/")
}

// redirects lists the files of redirections. It returns the standard input from
// the last one of them, nil if there is none.
func (w *walker) redirects(list []*syntax.Redirect) *stdin {
	var in *stdin
	for _, r := range list {
		from := w.walkSubstitutions(r.Word)
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				if mayEndElsewhere(r) {
					w.err = errors.New("where a here-document ends is not clear")
				}
				from = append(from, w.walkSubstitutions(r.Hdoc)...)
				text, literal := w.heredoc(r)
				in = &stdin{text: text, known: literal, from: from}
			}
		case syntax.WordHdoc:
			word := w.word(r.Word)
			in = &stdin{text: word.Text, known: word.Literal, from: append(from, word.From...)}
		case syntax.DplIn, syntax.DplOut: // >&2, <&3; but >&file is a file
			word := w.word(r.Word)
			if word.Literal && strings.Trim(word.Text, "0123456789-") == "" {
				continue
			}
			if !plainFile.MatchString(word.Text) { // bash expands the name twice, so quotes do not hold
				w.dynamic("the file of >& is expanded again: %s", word.Text)
				w.guessText(": " + word.Text)
			}
			w.file(r.Word, Redirect{Target: word, Write: true})
		case syntax.RdrIn:
			in = &stdin{from: from}
			w.file(r.Word, Redirect{Target: w.word(r.Word), Read: true})
		default: // <> also writes
			w.file(r.Word, Redirect{Target: w.word(r.Word), Read: r.Op == syntax.RdrInOut, Write: true})
		}
	}
	return in
}

// plainFile matches a name that an expansion does not change.
var plainFile = lazyregexp.New(`^[\w./,:@%+=-]*$`)

// plainDelimiter matches a delimiter that bash and the parser read alike. They differ about escapes in
// quotes.
var plainDelimiter = lazyregexp.New("^(\\\\?[\\w.+%@!,:/-]+|'[^'\\\\$`\n]*'|\"[^\"\\\\$`\n]*\")$")

// mayEndElsewhere reports whether bash may end a here-document at another line than the parser. Bash
// joins continued lines before it looks for the delimiter. So the delimiter ends the document where
// it continues a blank line, and does not where it continues the last line of the text.
func mayEndElsewhere(r *syntax.Redirect) bool {
	if !plainDelimiter.MatchString(source(r.Word)) {
		return true
	}
	delimiter := r.Word.Lit()
	if delimiter == "" { // quoted: no line continues another
		return false
	}
	var text strings.Builder
	for _, part := range r.Hdoc.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			text.WriteString(lit.Value)
		} else if part.Pos().Line() != part.End().Line() { // bash ends the document there, too
			return true
		} else {
			text.WriteString("$")
		}
	}
	if before := strings.TrimRight(text.String(), "\t"); before != "" && !strings.HasSuffix(before, "\n") {
		return true
	}
	for line := range strings.Lines(strings.ReplaceAll(text.String(), "\\\n", "")) {
		if r.Op == syntax.DashHdoc {
			line = strings.TrimLeft(line, "\t")
		}
		if strings.TrimSuffix(line, "\n") == delimiter {
			return true
		}
	}
	return false
}

// file lists the redirection to or from the file that is named src in the script.
func (w *walker) file(src *syntax.Word, r Redirect) {
	if len(src.Parts) == 1 {
		if _, ok := src.Parts[0].(*syntax.ProcSubst); ok {
			return // a pipe
		}
	}
	r.Dirs = w.dirs
	w.script.Redirects = append(w.script.Redirects, r)
	if !r.Target.Literal {
		w.dynamic("the file of a redirection is computed: %s", r.Target.Text)
	}
}

// runInput lists the commands that c, a shell or source, reads from its
// standard input.
func (w *walker) runInput(c *Command) {
	if c.in == nil {
		w.dynamic("%s runs the text of its standard input", c.Program())
		return
	}
	w.runOutput(c, *c.in)
}

// runOutput lists the commands in the text of in, which c runs.
func (w *walker) runOutput(c *Command, in stdin) {
	defer w.subshell()()
	outer := w.in
	w.in = nil
	defer func() { w.in = outer }()
	text, ok := in.spelledText()
	if !ok {
		w.dynamic("%s runs the text of its standard input", c.Program())
		return
	}
	if strings.ContainsAny(text, `\%`) { // echo and printf interpret these
		w.dynamic("%s runs text that another command prints", c.Program())
	}
	w.runText(c, []Word{{Text: text, Literal: true}}, c.Program())
}

// spelledText returns the text of an input, if the commands that print it are simple enough.
func (in stdin) spelledText() (string, bool) {
	if in.known {
		return in.text, true
	}
	if len(in.from) == 0 {
		return "", false
	}
	var text string
	for i, c := range in.from {
		p := c.Program()
		switch {
		case c.Guess: // the command before it is not literal
			return "", false
		case i == 0 && (p == "echo" || p == "printf" || p == "yes") && allLiteral(c.Args()):
			text, _ = c.spelledOutput()
		case i == 0 && p == "cat" && len(c.Args()) == 0 && c.in != nil && c.in.known:
			text = c.in.text
		case i > 0 && (p == "tee" || p == "cat" && len(operands(c.Args())) == 0):
		default:
			return "", false
		}
	}
	return text, true
}
