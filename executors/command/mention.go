package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
)

// maxMentions bounds the parts of a command's words that are treated as files.
const maxMentions = 2048

// compares are programs with an operand that is a search pattern, never the
// name of a file.
var compares = []string{"egrep", "fgrep", "grep", "rg"}

// Mentions lists the parts of the command that could name a file although its
// program may not open them: any operand, the rest of an option, and names
// within longer texts. A "~" in them stays. Sure is set for a whole word, or a
// part of one that is not a text. Some of the results are not files.
func (c *Command) Mentions() []Path {
	var out []Path
	prints := plain.PrintsOnly(c.Program())
	for i, w := range c.Words {
		if !w.Literal || w.Glob || strings.HasPrefix(w.Text, "--exclude") || strings.HasPrefix(w.Text, "--ignore") || i > 0 && (prints || slices.Contains(compares, c.Program())) {
			continue
		}
		one := !strings.ContainsAny(w.Text, " \t\n\"'`(;|")
		for part := range strings.FieldsFuncSeq(w.Text, endsName) {
			part = strings.TrimPrefix(part, "file://")
			out = append(out, c.mention(w, part, one))
			if one && len(part) > 2 && part[0] == '-' && part[1] != '-' { // -fFILE
				out = append(out, c.mention(w, part[2:], true))
			}
		}
		if strings.IndexFunc(w.Text, endsName) >= 0 {
			out = append(out, c.mention(w, w.Text, true))
		}
		if len(out) > maxMentions {
			return out[:maxMentions]
		}
	}
	return out
}

// endsName reports whether names in a text usually end before r.
func endsName(r rune) bool { return strings.ContainsRune(" \t\n\"'`(){}[]<>;|&,=:@?#!$*", r) }

func (c *Command) mention(w Word, text string, sure bool) Path {
	w.Text = text
	return c.path(w, sure)
}
