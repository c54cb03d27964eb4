package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// maxMentions bounds the parts of a command's words that are treated as files.
const maxMentions = 2048

// sedOpens matches the beginning of a command of sed that opens a file: its name
// follows, up to the end of the line.
var sedOpens = lazyregexp.New(`(?:^|[^A-Za-z.])[gpimIMe0-9]*[rRwW][ \t]*`)

// Mentions lists the parts of the command that could name a file although its program
// may not open them: any operand, the rest of an option, and names within longer texts,
// such as a program for an interpreter. A "~" in them is not expanded. Sure is set for
// a whole word, or a part of one that is not a text. Some of the results are not files.
func (c *Command) Mentions() []Path {
	var out []Path
	opensNone := plain.PrintsOnly(c.Program()) || c.Facts().Searches
	for i, w := range c.Words {
		excludes := strings.HasPrefix(w.Text, "--exclude") || strings.HasPrefix(w.Text, "--ignore")
		if !w.Literal || w.Glob || excludes || i > 0 && opensNone {
			continue
		}
		wholeWord := !strings.ContainsAny(w.Text, " \t\n\"'`(;|")
		for part := range strings.FieldsFuncSeq(w.Text, delimitsNames) {
			part = strings.TrimPrefix(part, "file://")
			m := c.mention(w, part)
			m.Sure = wholeWord
			out = append(out, m)
			if wholeWord && len(part) > 2 && part[0] == '-' && part[1] != '-' { // -fFILE
				out = append(out, c.sureMention(w, part[2:]))
			}
		}
		if strings.IndexFunc(w.Text, delimitsNames) >= 0 {
			out = append(out, c.sureMention(w, w.Text))
		}
		if strings.ContainsAny(w.Text, " \t") {
			out = append(out, c.namesWithBlanks(w)...)
		}
		if c.Program() == "sed" || c.Program() == "gsed" {
			out = append(out, c.sedFiles(w)...)
		}
		if len(out) > maxMentions {
			return out[:maxMentions]
		}
	}
	out = append(out, c.inputNames()...)
	return out[:min(len(out), maxMentions)]
}

// namesWithBlanks lists the parts of a word that contain blanks, such as a path in
// --volume="/home/u/my project:/w".
func (c *Command) namesWithBlanks(w Word) (out []Path) {
	for part := range strings.FieldsFuncSeq(w.Text, func(r rune) bool { return r != ' ' && r != '\t' && delimitsNames(r) }) {
		if part = strings.Trim(part, " \t"); part != w.Text && strings.ContainsAny(part, " \t") {
			out = append(out, c.sureMention(w, part))
		}
	}
	return out
}

// sedFiles lists the files that a word names if it is a program of sed.
func (c *Command) sedFiles(w Word) []Path {
	var out []Path
	text := w.Text
	for len(out) < maxMentions {
		at := sedOpens.FindStringIndex(text)
		if at == nil {
			break
		}
		text = text[at[1]:]
		line, _, _ := strings.Cut(text, "\n")
		name, _, _ := strings.Cut(line[:min(len(line), maxValue)], ";")
		out = append(out, c.mention(w, strings.TrimRight(name, "} \t")))
	}
	return out
}

// inputNames lists the names in a spelled-out standard input of a program that
// treats it as code or as names of files.
func (c *Command) inputNames() []Path {
	gitReadsNames := c.Program() == programs.Git && slices.ContainsFunc(c.Args(), func(w Word) bool {
		return strings.Contains(w.Text, "stdin") || strings.Contains(w.Text, "-from-file")
	})
	if !gitReadsNames && !c.Interprets() &&
		!c.Facts().Escapes && !c.Facts().FilesInInput {
		return nil
	}
	var out []Path
	for name := range strings.FieldsFuncSeq(c.Input(), delimitsNames) {
		if out = append(out, c.mention(Word{Literal: true}, name)); len(out) == maxMentions {
			break
		}
	}
	return out
}

// delimitsNames reports whether names in a text usually end before r.
func delimitsNames(r rune) bool { return strings.ContainsRune(" \t\n\"'`(){}[]<>;|&,=:@?#!$*", r) }

// mention returns the path that a part of a word may name.
func (c *Command) mention(w Word, text string) Path {
	w.Text = text
	p := newPath(w, c.Dirs)
	p.Sure = false
	return p
}

// sureMention returns the path of a part that is not a text.
func (c *Command) sureMention(w Word, text string) Path {
	p := c.mention(w, text)
	p.Sure = true
	return p
}
