package plain

import (
	"errors"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// nameLister describes how xargs may read the names that a command prints.
type nameLister struct {
	separateByNUL func() error // makes the command separate the names by NUL
	readsNames    bool         // the command prints some of the names that it reads
}

// pipeline prints commands whose output the next one reads.
func (b *builder) pipeline(n *syntax.BinaryCmd) (string, error) {
	stages, ops := flatten(n)
	text := ""
	var before []*acceptedCommand
	type stage struct {
		c *Command
		p *acceptedCommand
	}
	list := make([]stage, len(stages))
	texts := make([]string, len(stages))
	for i, s := range stages {
		_, timed := s.Cmd.(*syntax.TimeClause) // only the shell's word at the beginning of a pipeline
		if s.Negated || s.Background || s.Coprocess || s.Disown || timed {
			return "", errors.New("it has a pipeline that is not plain")
		}
		end := b.subshell()
		call, ok := s.Cmd.(*syntax.CallExpr)
		var err error
		if ok && len(call.Args) > 0 {
			list[i].c, list[i].p, err = b.command(call, s.Redirs)
			if err == nil {
				err = b.checkNames(list[i].p, s.Redirs)
			}
			if err == nil && list[i].p.xargs {
				err = feedXargs(before, ops[:i])
			}
		} else {
			texts[i], err = b.stmt(s)
		}
		end()
		if err != nil {
			return "", err
		}
		before = append(before, list[i].p)
	}
	for i, s := range list {
		if s.c != nil {
			end := b.subshell()
			var err error
			if texts[i], err = b.finish(s.c, s.p, stages[i].Redirs); err != nil {
				return "", err
			}
			end()
		}
		if i > 0 {
			text += " | "
		}
		if text += texts[i]; i < len(ops) && ops[i] == " |& " {
			text += " 2>&1" // "|&" is missing in bash 3
		}
	}
	b.cdDirs = nil
	return text, nil
}

// checkNames makes sure that xargs gets names only from the pipe: no other input is
// redirected to it, and no messages are mixed with the names.
func (b *builder) checkNames(p *acceptedCommand, redirs []*syntax.Redirect) error {
	r, err := b.redirects(redirs)
	if err != nil || len(r.reads) == 0 && !r.hasText && !strings.Contains(r.text, " 2>&1") {
		return err
	}
	if p.xargs && (len(r.reads) > 0 || r.hasText) {
		return errComputedNames
	}
	p.xargsInput = nil
	return nil
}

// flatten returns the stages of a pipeline and the operators between them.
func flatten(n *syntax.BinaryCmd) (stages []*syntax.Stmt, ops []string) {
	if x, ok := n.X.Cmd.(*syntax.BinaryCmd); ok && (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && !n.X.Negated && len(n.X.Redirs) == 0 {
		stages, ops = flatten(x)
	} else {
		stages = []*syntax.Stmt{n.X}
	}
	op := " | "
	if n.Op == syntax.PipeAll {
		op = " |& "
	}
	return append(stages, n.Y), append(ops, op)
}

var errComputedNames = errors.New("xargs: its files are computed at run time")

// feedXargs makes the commands before xargs separate names by NUL, so that xargs does not
// split a name.
func feedXargs(before []*acceptedCommand, ops []string) error {
	for i, p := range slices.Backward(before) {
		if p == nil || p.xargsInput == nil || ops[i] != " | " {
			return errComputedNames
		}
		if err := p.xargsInput.separateByNUL(); err != nil {
			return err
		}
		if !p.xargsInput.readsNames {
			return nil
		}
	}
	return errComputedNames
}

// nameLister returns how the command may precede xargs, nil if it must not. stdin means
// that the command reads its standard input.
func (p *program) nameLister(o *parsedOptions, stdin bool, out *acceptedCommand) *nameLister {
	add := func(option string) func() error {
		return func() error {
			if !slices.Contains(out.words, option) {
				at := 1 + len(p.Inserts)
				out.words = slices.Insert(out.words, at, option)
			}
			return nil
		}
	}
	lists := o.has("-l", "-L", "--files-with-matches", "--files-without-match") && o.hasOnly(p.Lists)
	switch out.words[0] {
	case "grep", "egrep", "fgrep":
		if lists && o.has("-r", "--recursive") {
			return &nameLister{separateByNUL: add("--null")}
		}
	case "rg":
		if lists || o.has("--files") && o.hasOnly(p.Lists) {
			return &nameLister{separateByNUL: add("--null")}
		}
		return nil
	case "fd", "fdfind":
		if o.hasOnly(p.Lists) {
			return &nameLister{separateByNUL: add("-0")}
		}
		return nil
	}
	if p.Filters == "" || !stdin || runtime.GOOS != "linux" {
		return nil
	}
	if !o.hasOnly(p.Filters) {
		return nil
	}
	return &nameLister{separateByNUL: add(p.Null), readsNames: true}
}

// acceptXargs accepts a read-only command for which xargs reads the operands. They
// stand after "--" and come from a command that lists files of the workspace.
func acceptXargs(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	out := &acceptedCommand{words: []string{"xargs", "-0"}}
	i, replaceString := 0, ""
	for ; i < len(args) && args[i].literal() && strings.HasPrefix(args[i].text(), "-"); i++ {
		switch text := args[i].text(); {
		case text == "-0" || text == "--null":
		case strings.HasPrefix(text, "-I") && replaceString == "" && len(out.words) == 2: // "-n 1" needs no replace string
			if replaceString = text[2:]; replaceString == "" && i+1 < len(args) && args[i+1].literal() {
				i++
				replaceString = args[i].text()
			}
			if replaceString == "" {
				return nil, errors.New("xargs: -I has no value")
			}
			out.words = append(out.words, "-r", "-n", "1")
		case text == "-r" || text == "--no-run-if-empty" || text == "-t":
			out.words = append(out.words, text)
		case (text == "-n" || text == "-P" || text == "-L") && i+1 < len(args) && isNumber(args[i+1]):
			out.words = append(out.words, text, args[i+1].text())
			i++
		case len(text) > 2 && strings.Contains("-n-P-L", text[:2]) && strings.Trim(text[2:], "0123456789") == "":
			out.words = append(out.words, text[:2], text[2:])
		default:
			return nil, errorf("xargs: the option %s is not known to be read-only", text)
		}
	}
	if i == len(args) || !args[i].literal() {
		return nil, errors.New("xargs: it names no program")
	}
	inner, err := b.acceptForFiles(c, args[i:], replaceString)
	if err != nil {
		return nil, errorf("xargs: %w", err)
	}
	out.words, out.files = append(out.words, inner.words...), inner.files
	out.xargs = true
	return out, nil
}

// fileCommand is a read-only command. Another program adds names of files to it. Its
// words end with "--" or with operands after it.
type fileCommand struct {
	words []string
	files []File
}

// acceptForFiles accepts a read-only command that xargs or find runs for files. If the names
// replace a string, as in "xargs -I{}", the last word must be that string. The command is
// returned without it.
func (b *builder) acceptForFiles(c *Command, words []Word, replaceString string) (*fileCommand, error) {
	if replaceString != "" {
		last := len(words) - 1
		isPlace := func(w Word) bool { return strings.Contains(w.source, replaceString) }
		if !words[last].literal() || words[last].text() != replaceString || slices.ContainsFunc(words[:last], isPlace) {
			return nil, errorf("the last word, and no other, must be %s", replaceString)
		}
		words = words[:last]
	}
	if len(words) == 0 {
		return nil, errors.New("it names no program")
	}
	inner := &Command{words: words, Dirs: c.Dirs}
	p, err := b.acceptInner(inner)
	if err != nil {
		return nil, err
	}
	how, ok := programOf(inner.Program())
	if !ok || how.Accept != "" || how.NoDoubleDash || how.SingleDash || how.AtFiles || how.MaxOperands > 0 || how.Operands == noOperands {
		return nil, errorf("%s does not read a list of files", inner.Words[0])
	}
	for _, e := range p.env {
		return nil, errorf("it sets %s", e)
	}
	out := &fileCommand{words: p.words, files: p.files}
	if !slices.Contains(out.words, "--") {
		// The operands are the last words, and more of them are added.
		n := len(out.words) - operandCount(b, &how, inner.words[1:])
		out.words = slices.Insert(slices.Clone(out.words), n, "--")
	}
	return out, nil
}

// operandCount returns how many of the words after the program are operands.
func operandCount(b *builder, p *program, words []Word) int {
	o, _, err := p.parse(b, words)
	if err != nil {
		return 0
	}
	return len(o.operands)
}
