package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

// Facts returns what the table says about the command's program.
func (c *Command) Facts() *programs.Facts { return programs.Of(c.Program()) }

// Forms returns the texts that a rule against the command is matched with: as
// written, with the program's plain name, and without the options between
// program and subcommand.
func (c *Command) Forms() []string {
	forms := []string{c.Text()}
	program := c.Program()
	if program == "" {
		return forms
	}
	forms = append(forms, strings.TrimSpace(program+" "+join(c.Args())))
	rest, ok := c.fromSubcommand()
	if ok {
		forms = append(forms, strings.TrimSpace(program+" "+join(rest)))
	}
	if program == "yarn" && ok && len(rest) > 2 && rest[0].Text == "workspace" {
		forms = append(forms, "yarn "+join(rest[2:]))
	}
	if len(rest) > 0 && c.Facts().Aliases[rest[0].Text] != "" {
		forms = append(forms, strings.TrimSpace(program+" "+c.Facts().Aliases[rest[0].Text]+" "+join(rest[1:])))
	}
	return slices.Compact(forms)
}

// WordForms returns the texts that [wildcard.CompileWords] is for: the words of the command,
// separated by single spaces, with another character for the spaces in them. The program is as
// written in the first text, and by its plain name in the second.
func (c *Command) WordForms() []string {
	words := make([]Word, len(c.Words))
	for i, w := range c.Words {
		words[i].Text = spacesInWords.Replace(w.Text)
	}
	forms := []string{join(words)}
	if program := c.Program(); program != "" && program != c.Words[0].Text {
		words[0].Text = program
		forms = append(forms, join(words))
	}
	return forms
}

var spacesInWords = strings.NewReplacer(" ", "\x1f", "\t", "\x1f", "\n", "\x1f")

// Later yields texts in which the program is followed by a later part of the command's words:
// from each word on, then the same without options, each of which has the next word as its value or
// not. A rule that denies "git push" means "git --unknown x push" too.
func (c *Command) Later(yield func(text []byte) bool) {
	program := c.Program()
	if program == "" || len(c.Words) < 2 {
		return
	}
	valued := 0 // options that may have a value
	for i, w := range c.Args()[1:] {
		if strings.HasPrefix(c.Args()[i].Text, "-") && !strings.HasPrefix(w.Text, "-") {
			valued++
		}
	}
	const maxValued = 6
	for hasValue := -1; hasValue < 1<<min(valued, maxValued); hasValue++ {
		words := c.Args()
		if hasValue >= 0 {
			words = withoutOptions(words, uint(hasValue))
		}
		// Each text overwrites the words before it, since all texts together would be too long.
		text := []byte(program + " " + join(words))
		if hasValue >= 0 && !yield(text) {
			return
		}
		at := len(program) + 1
		for _, w := range words {
			if at += len(w.Text) + 1; at >= len(text) {
				break
			}
			start := at - len(program) - 1
			copy(text[start:], program)
			text[at-1] = ' '
			if !yield(text[start:]) {
				return
			}
		}
	}
}

// withoutOptions returns the words that are not options. The bit n of hasValue says that the word
// after the option n is its value; the last bit applies to all further options.
func withoutOptions(args []Word, hasValue uint) []Word {
	var out []Word
	n := 0
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i].Text, "-"):
			out = append(out, args[i])
		case i+1 < len(args) && !strings.HasPrefix(args[i+1].Text, "-"):
			if hasValue>>min(n, 5)&1 == 1 {
				i++
			}
			n++
		}
	}
	return out
}

// MayBegin reports whether the command may begin with these words, in lower case, the program
// first. It may have options before each of them. An option that no table lists has a value or not.
func (c *Command) MayBegin(words []string) bool {
	if len(words) == 0 || c.Program() != words[0] {
		return false
	}
	args := c.Args()
	isOption := func(i int) bool {
		return i < len(args) && args[i].Text != "" && strings.ContainsAny(args[i].Text[:1], "-+")
	}
	begins := map[int]bool{0: true} // positions that the next of the words may have, apart from options
	for n, word := range words[1:] {
		next, declared := map[int]bool{}, OptionsOf(words[:n+1])
		for i := range args {
			if !begins[i] {
				continue
			}
			if strings.EqualFold(args[i].Text, word) {
				next[i+1] = true
			}
			if isOption(i) {
				begins[i+1] = true
				use := declared.Use(args[i].Text)
				begins[i+2] = begins[i+2] || !isOption(i+1) && use != OptionSwitch && use != OptionHarmless
			}
		}
		begins = next
	}
	return len(begins) > 0
}

// fromSubcommand returns the words from the subcommand on; false if the program is
// not known to have any.
func (c *Command) fromSubcommand() ([]Word, bool) {
	facts := c.Facts()
	if facts.Global == nil {
		return nil, false
	}
	rest := afterOptions(c.Args(), *facts.Global)
	if facts.Commands != "" && len(rest) > 0 && rest[0].Literal {
		rest = slices.Clone(rest)
		rest[0].Text = wholeCommand(facts, rest[0].Text)
	}
	return rest, true
}

// wholeCommand returns the subcommand that a word is short for: a program may accept the beginning of
// a name if no other name begins so.
func wholeCommand(facts *programs.Facts, word string) string {
	found := word
	for _, name := range slices.AppendSeq(strings.Fields(facts.Commands), maps.Keys(facts.Aliases)) {
		switch {
		case name == word:
			return word
		case word == "" || !strings.HasPrefix(name, word):
		case found != word:
			return word
		default:
			found = name
		}
	}
	return found
}

// afterOptions returns the words after leading options. valued are those whose value
// is the next word, separated by spaces.
func afterOptions(args []Word, valued string) []Word {
	for len(args) > 0 && args[0].Literal && strings.ContainsAny(args[0].Text[:min(1, len(args[0].Text))], "-+") {
		n := 1
		if slices.Contains(strings.Fields(valued), args[0].Text) {
			n = 2
			if len(args) > 1 && args[1].Split {
				return args[1:] // its value may be more than one word
			}
		}
		args = args[min(n, len(args)):]
	}
	return args
}

// Operands are the words after the options that are before the subcommand.
func (c *Command) Operands() []Word {
	if rest, ok := c.fromSubcommand(); ok {
		return rest
	}
	return c.Args()
}

// Subcommand returns the program's first operand. open reports that this operand or a
// word before it is computed, so that the subcommand may be another one.
func (c *Command) Subcommand() (name string, open bool) {
	args, ok := c.fromSubcommand()
	if !ok {
		args = c.Args()
	}
	for _, a := range args {
		switch {
		case a.number:
		case !a.Literal || a.Glob:
			return "", c.Facts().Files == nil && !plain.PrintsOnly(c.Program()) // has no subcommands
		case !strings.HasPrefix(a.Text, "-"):
			return a.Text, false
		}
	}
	return "", false
}

// Prefixed reports whether the command has options between program and
// subcommand.
func (c *Command) Prefixed() bool {
	rest, ok := c.fromSubcommand()
	return ok && len(rest) < len(c.Args()) && len(rest) > 0
}
