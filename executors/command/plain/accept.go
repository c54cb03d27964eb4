package plain

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// acceptedCommand is a command in the plain form. It is read-only, since the table of its
// program declares each of its words, or it was allowed.
type acceptedCommand struct {
	env   []string // assignments before the program
	words []string // in the plain form
	files []File
	cd    string // the directory that a cd changes to
	opens bool   // it is a git that opens the files of its operands
	// bounded means that it reads only a beginning of each file.
	bounded bool
	// starts are the programs that the program itself looks for in PATH.
	starts []string

	// xargsInput describes how the command may precede xargs; nil if it must not.
	xargsInput *nameLister
	xargs      bool // the command is an xargs
}

func (p *acceptedCommand) print() string { return strings.Join(slices.Concat(p.env, p.words), " ") }

// The kinds of operands: see [programs.Plain].
const (
	fileOperands     = ""        // files to read
	textOperands     = "text"    // texts that open no file
	patternThenFiles = "pattern" // a text, then files
	noOperands       = "none"
)

// program declares the words of a read-only program.
type program struct{ programs.Plain }

// programOf returns what the table declares for a command; false if it declares nothing.
func programOf(words ...string) (program, bool) {
	p := programs.Of(words...).Plain
	if p == nil {
		return program{}, false
	}
	return program{*p}, true
}

// smallNumber matches a number of bytes that is read in a moment.
var smallNumber = lazyregexp.New(`^([0-9]{1,9}|[0-9]{1,3}[kKM])$`)

// bounded reports whether the program reads only a small beginning of its files.
func (p *program) bounded(o *parsedOptions) bool {
	var bounds []parsedOption
	for _, g := range o.options {
		switch {
		case slices.Contains(strings.Fields(p.Unbounds), g.name), g.name[1] >= '0' && g.name[1] <= '9':
			return false
		case slices.Contains(strings.Fields(p.Bounds), g.name):
			bounds = append(bounds, g)
		}
	}
	return len(bounds) > 0 && !slices.ContainsFunc(bounds, func(g parsedOption) bool { return !smallNumber.MatchString(g.value) })
}

// endlessDevices are devices that any command may read and that never end.
var endlessDevices = []string{"/dev/full", "/dev/random", "/dev/urandom", "/dev/zero"}

// checkEnd returns an error if the command would read an endless device without a limit. It
// marks the devices as not opened if the command reads only a small beginning of them.
func (p *acceptedCommand) checkEnd(files []File) error {
	for i, f := range files {
		switch {
		case !f.Opens || !slices.Contains(endlessDevices, f.Text):
		case !p.bounded:
			return errorf("%s has no end", f.Text)
		default:
			files[i].Opens = false
		}
	}
	return nil
}

// accept returns the plain form of a command of the program, if the table declares all
// of its words. name is the program's, as a word of the plain form.
func (p *program) accept(b *builder, name string, words []Word) (*acceptedCommand, error) {
	opts, named, err := p.parse(b, words)
	if err == nil {
		err = p.checkParsed(opts, name)
	}
	if err != nil {
		return nil, err
	}
	out := &acceptedCommand{
		env:    slices.Clone(p.Env),
		words:  append([]string{name}, quoted(p.Inserts)...),
		files:  named,
		starts: p.Starts,

		bounded: p.bounded(opts),
	}
	for _, g := range opts.options {
		out.words = append(out.words, p.print(g)...)
	}
	mayBeOption := func(w Word) bool { return w.mayBegin('-') && !(w.literal() && w.text() == "-") }
	if !p.NoDoubleDash && slices.ContainsFunc(opts.operands, mayBeOption) {
		out.words = append(out.words, "--")
	}
	read, err := p.fileOperands(opts, name)
	if err != nil {
		return nil, err
	}
	for _, w := range opts.operands {
		if w.Glob && p.MaxOperands > 0 { // the second file may be one that is written
			return nil, errorf("%s may be more files than %s reads", w.source, name)
		}
		out.words = append(out.words, w.source)
	}
	if p.Operands == textOperands {
		out.files = append(out.files, patterns(b, opts.operands)...)
		return out, nil
	}
	for _, w := range read {
		fs, err := p.operandFiles(b, w)
		if err != nil {
			return nil, err
		}
		out.files = append(out.files, fs...)
	}
	out.xargsInput = p.nameLister(opts, len(read) == 0, out)
	return out, nil
}

// checkParsed returns an error about options or operands that the table does not declare
// together.
func (p *program) checkParsed(o *parsedOptions, name string) error {
	if err := p.checkWords(o); err != nil {
		return err
	}
	switch {
	case p.AtFiles && o.mayExpandAtFiles():
		return errors.New("it would read its words from a file")
	case p.Operands == noOperands && len(o.operands) > 0, p.MaxOperands > 0 && len(o.operands) > p.MaxOperands:
		return errorf("it has more operands than %s reads", name)
	}
	return nil
}

// fileOperands returns the operands without a leading pattern.
func (p *program) fileOperands(o *parsedOptions, name string) ([]Word, error) {
	hasPattern := p.Operands == patternThenFiles && !o.has("-e", "-f", "--regexp", "--expression", "--file", "--files")
	if !hasPattern || len(o.operands) == 0 {
		return o.operands, nil
	}
	if pattern := o.operands[0]; !pattern.known() && (len(pattern.Values) > 0 || pattern.splits) {
		return nil, errorf("%s is a pattern of %s that is computed at run time", pattern.source, name)
	}
	return o.operands[1:], nil
}

// operandFiles returns the files that an operand names.
func (p *program) operandFiles(b *builder, w Word) ([]File, error) {
	switch {
	case w.pipe:
		return nil, nil
	case len(w.Values) == 0 && (w.splits && p.MaxOperands > 0 || p.NoDoubleDash): // it may be written, or an option
		return nil, errorf("%s is a file name that is computed at run time", w.source)
	}
	var out []File
	for _, v := range w.Values {
		switch {
		case v == "":
			return nil, errors.New("a file has an empty name")
		case strings.HasPrefix(v, "@"): // some programs read more names from such a file
			return nil, errorf("%s may be a list of other files", v)
		case v != "-":
			out = append(out, File{Text: v, Dirs: b.dirs, Glob: w.Glob, Opens: !p.OpensNothing})
		}
	}
	return out, nil
}

// accept returns the plain form of a command of the table of read-only programs. The
// table must declare all of its words, and no file that it reads may be endless.
func (b *builder) accept(c *Command) (*acceptedCommand, error) {
	out, err := b.acceptWords(c)
	if err != nil {
		return nil, err
	}
	return out, out.checkEnd(out.files)
}

// acceptWords is accept without the check of the files.
func (b *builder) acceptWords(c *Command) (*acceptedCommand, error) {
	name := c.words[0].text()
	if dir, base := path.Split(name); dir != "" {
		if !slices.Contains(systemDirs, dir) {
			return nil, errorf("%s is not a program of the system", name)
		}
		name = base
	}
	args, program := c.words[1:], quoteProgram(c.words[0].text())
	if len(args) == 1 && args[0].literal() {
		out, option := &acceptedCommand{words: []string{program, args[0].source}}, args[0].text()
		switch {
		case printsVersion(name, option):
			out.starts = strings.Fields(programs.Of(name).Starts)
			return out, nil
		case printsHelp(name, option):
			return out, nil
		}
	}
	p, ok := programOf(name)
	if !ok {
		return nil, errorf("%s is not known to be read-only", name)
	}
	if p.Accept != "" {
		return p.special(name, b, c, args)
	}
	out, err := p.accept(b, program, args)
	if err != nil {
		return nil, errorf("%s: %w", name, err)
	}
	return out, nil
}

// systemDirs are where systems keep their own programs.
var systemDirs = []string{"/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/usr/local/go/bin/"}

// PrintsOnly reports whether a program opens no file that its operands may
// name: it only prints or compares the words.
func PrintsOnly(name string) bool {
	facts := programs.Of(name)
	return facts.ComparesOnly || facts.Plain != nil && facts.Plain.Accept == "" && facts.Plain.Operands == textOperands
}

// errorf is short for fmt.Errorf.
func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }
