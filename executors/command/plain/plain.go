// Package plain parses scripts in a small subset of the shell grammar and prints them
// again in one plain form.
//
// A script that runs without a question is checked by its text. A shell may
// parse that text differently than the parser here does. [Parse] therefore
// returns the script to run: a new text, printed from the words that were
// checked. Every word with a special character is single-quoted. Options and
// operands keep the positions in which they were checked, and the text contains
// nothing else.
//
// The grammar has simple commands, pipelines, "&&", "||", ";", "!", "cd", "time",
// subshells, "if", "for", "case" and "while read". It has redirections of /dev/null, of one
// descriptor to another, and of files, and literal texts as input. Words are
// literals, file name patterns, $HOME, $PWD, variables that the script sets, computed
// numbers, and the output of commands, also as a file. A
// "[[" with simple tests becomes "[". Everything else is an error that names the
// unsupported part. Comments are left out.
//
// Start with [Parse]. It promises that a command counts as read-only only if a
// table declares its program, all of its options and the position of each word.
// It reads no file. Package policy decides about the result.
//
// Why is there a table of options and not a list of dangerous ones? Because an
// option that is missing from the table costs a question. An option that is
// missing from a list of dangerous ones costs the user's files.
package plain

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// ErrOnlyReads is the reason with which [Parse] asks about a command that needs no permission.
var ErrOnlyReads = errors.New("it only reads")

// Shell is the state in which a script starts.
type Shell struct {
	Dir  string // absolute working directory
	Home string // absolute; empty means unknown
}

// Form is the plain form of a script.
type Form struct {
	// Script is the bash text to run instead of the one that was parsed.
	Script string
	// ReadOnly means that the table of read-only programs contains every
	// command.
	ReadOnly bool
	// Files are the files that the read-only commands name, and the files that
	// any command has as its standard input.
	Files []File
	// Commands are all commands in the order of the script.
	Commands []*Command
	// Reach is the widest of its read-only commands.
	Reach Reach
	// Emits is a word by which a command may print a control character, which a terminal
	// obeys; empty means that there is none.
	Emits string
}

// File is a file that a command names.
type File struct {
	Text   string
	Dirs   []string // absolute directories that a relative Text may be seen from
	Glob   bool     // Text is a pattern of file names
	Opens  bool     // the program reads it, and perhaps all of it
	Tested bool     // only its existence, type or age is tested
}

// Command is one simple command.
type Command struct {
	Words    []string // the program first
	Assigns  []string // names of variables set for this command alone
	Starts   []string // further programs that it looks for in PATH, such as a wrapper
	Dirs     []string // absolute directories in which it may run
	Writes   []File   // targets of its redirections, other than /dev/null
	ReadOnly bool     // the table has it
	Reach    Reach    // of a read-only command

	words []Word // Words with further details of each
}

// Program returns the name that the command is called by, without its directory.
func (c *Command) Program() string { return c.Words[0][strings.LastIndexByte(c.Words[0], '/')+1:] }

// Limits on the size of a script.
const (
	maxScript = 16 << 10 // bytes of the text, and of its plain form
	maxNest   = 32       // statements inside of each other
	maxDirs   = 64       // directories that a command may run in
	maxValues = 64       // values that one word may have
	// maxExpansion bounds the texts of all words with variables, in bytes: a variable that is
	// assigned from itself, as in a=$a$a, doubles each time.
	maxExpansion = 4 << 20
)

// Parse returns the plain form of a bash script. allow decides about each
// command that the table of read-only programs lacks, or that writes a file;
// why is the reason for the question. A nil allow refuses all of them with why.
// For a command that only reads, why is [ErrOnlyReads]: if allow returns nil, the command
// runs as written, and the form is not read-only. The error of Parse names the unsupported part for
// people, or is the error of allow.
func Parse(script *Tree, sh Shell, allow func(c *Command, why error) error) (*Form, error) {
	return (&builder{shell: sh, allow: allow}).parse(script)
}

// Clear reports whether a script belongs to the grammar, whatever programs it runs. It then runs the commands that
// it spells out, and no others.
func Clear(script *Tree, sh Shell) bool {
	b := &builder{shell: sh, anyInput: true, allow: func(*Command, error) error { return nil }}
	_, err := b.parse(script)
	return err == nil
}

func (b *builder) parse(tree *Tree) (*Form, error) {
	script := tree.Text
	if len(script) > maxScript {
		return nil, errorf("it is longer than %d KiB", maxScript>>10)
	}
	for _, r := range script {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\uFFFD' {
			return nil, errors.New("it holds control characters or is not UTF-8")
		}
	}
	file, err := tree.File()
	if err != nil {
		return nil, errorf("it cannot be parsed: %w", err)
	}
	if b.allow == nil {
		b.allow = func(_ *Command, why error) error { return why }
	}
	b.form, b.dirs, b.vars = &Form{ReadOnly: true}, []string{filepath.Clean(b.shell.Dir)}, map[string]variable{}
	text := "true" // of a script that is empty or has only comments
	if len(file.Stmts) > 0 {
		if text, err = b.list(file.Stmts); err != nil {
			return nil, err
		}
	}
	if len(text) > maxScript {
		return nil, errorf("its plain form is longer than %d KiB", maxScript>>10)
	}
	if mark := lostExpansion(script, text, b.computed); mark != "" {
		return nil, errorf("it has %s where its plain form has none", mark)
	}
	b.form.Script = text
	return b.form, nil
}

// bracedName matches the name of a variable in braces, which does not mark an operator.
var bracedName = lazyregexp.New(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// lostExpansion returns an expansion character, such as "$", that occurs more often in
// the script than in its plain form, which has the values of computed expressions. It compares only bytes, so a mistake of the parser
// cannot affect it.
func lostExpansion(script, form string, computed int) string {
	script, form = bracedName.ReplaceAllString(script, ""), bracedName.ReplaceAllString(form, "")
	for _, mark := range []string{"$(", "`", "<(", ">(", "${"} {
		n := strings.Count(script, mark)
		if mark == "$(" {
			n -= computed
		}
		if n > strings.Count(form, mark) {
			return mark
		}
	}
	return ""
}

// ReadOnly reports whether the table of read-only programs accepts a command with these words. A
// word that is not literal is accepted if the program only prints or compares it.
func ReadOnly(words []Word) bool {
	if len(words) == 0 || !words[0].literal() || words[0].text() == "" {
		return false
	}
	c := &Command{words: words}
	for _, w := range words {
		c.Words = append(c.Words, w.text())
	}
	b := &builder{form: &Form{}, vars: map[string]variable{}}
	_, err := b.accept(c)
	return err == nil && !opensComputed(c)
}

// Literal returns the word whose text is known.
func Literal(text string) Word { return literalWord(text) }

// Pattern returns the word that a shell replaces by the names of files.
func Pattern(text string) Word { return Word{Values: []string{text}, Glob: true, source: text} }

// Computed returns a word that only the running shell can compute.
func Computed(source string) Word { return Word{source: source} }

// ExitCode returns the word "$?".
func ExitCode() Word { return Word{source: `"$?"`, number: true} }
