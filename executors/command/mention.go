package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
)

// maxMentions bounds the parts of a command's words that are taken for files.
const maxMentions = 2048

// compares are programs of which an operand is a pattern to look for, never the
// name of a file.
var compares = []string{"egrep", "fgrep", "grep", "rg"}

// Mentions lists what in the command could name a file although nothing says
// that it does: any operand, what is glued to an option, and names within longer
// texts; a "~" in them is left as it is. Sure are those that are a word, or a
// part of one that is no text. There are false ones among them.
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
