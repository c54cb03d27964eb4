package plain

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

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

// operandKind is the meaning of a program's operands.
type operandKind int

const (
	fileOperands     operandKind = iota // files to read
	textOperands                        // texts that open no file
	patternThenFiles                    // a text, then files
	noOperands                          // no operands
)

// program declares the words of a read-only program.
type program struct {
	// options are the options that it has, separated by spaces:
	//
	//	-abc     short options without a value, which may stand together
	//	--long   a long option without a value
	//	-n= --name=   the next word, or the rest of this one, is a text
	//	-n: --name:   likewise, the name of a file to read
	//	-n# --name#   likewise, a number
	//	-U? --color?  a value may follow in the same word
	//	-#       a number instead of a letter: -20
	options string

	operands     operandKind
	maxOperands  int  // 0 means any number
	singleDash   bool // long options have one dash, and short ones do not stand together
	noDoubleDash bool // "--" does not end the options
	// ownParser means that the program does not parse its options as getopt does: a value
	// must not begin with a dash.
	ownParser bool
	// leadingWildcard means that an operand may begin with a wildcard: no option of the
	// program changes or runs anything, and "--" precedes the operands.
	leadingWildcard bool

	opensNothing   bool // it looks at its operands without opening them
	expandsAtFiles bool // it replaces a word "@FILE" by the words in that file
	// bounds are the options whose value is how many bytes it reads at most, unless it also has
	// one of unbounds.
	bounds, unbounds string

	// listOptions are the options that keep a list of file names free of other text, such as
	// colours, counts and statistics.
	listOptions string
	// lineFilters are the options with which it writes a part of its input lines,
	// unchanged. Empty means that it changes lines.
	lineFilters string
	nullOption  string // with it, lines end with NUL instead of a newline

	insertedWords   []string                   // added in the plain form, after the program
	env             []string                   // assignments in the plain form, before the program
	startedPrograms []string                   // see acceptedCommand.starts
	check           func(*parsedOptions) error // refuses what the fields above allow
}

// smallNumber matches a number of bytes that is read in a moment.
var smallNumber = lazyregexp.New(`^([0-9]{1,9}|[0-9]{1,3}[kKM])$`)

// bounded reports whether the program reads only a small beginning of its files.
func (p *program) bounded(o *parsedOptions) bool {
	var bounds []parsedOption
	for _, g := range o.options {
		switch {
		case slices.Contains(strings.Fields(p.unbounds), g.name), g.name[1] >= '0' && g.name[1] <= '9':
			return false
		case slices.Contains(strings.Fields(p.bounds), g.name):
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
		env:    slices.Clone(p.env),
		words:  append([]string{name}, quoted(p.insertedWords)...),
		files:  named,
		starts: p.startedPrograms,

		bounded: p.bounded(opts),
	}
	for _, g := range opts.options {
		out.words = append(out.words, p.print(g)...)
	}
	mayBeOption := func(w Word) bool { return w.mayBegin('-') && !(w.literal() && w.text() == "-") }
	if !p.noDoubleDash && slices.ContainsFunc(opts.operands, mayBeOption) {
		out.words = append(out.words, "--")
	}
	read, err := p.fileOperands(opts, name)
	if err != nil {
		return nil, err
	}
	for _, w := range opts.operands {
		if w.Glob && p.maxOperands > 0 { // the second file may be one that is written
			return nil, errorf("%s may be more files than %s reads", w.source, name)
		}
		out.words = append(out.words, w.source)
	}
	if p.operands == textOperands {
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
	if p.check != nil {
		if err := p.check(o); err != nil {
			return err
		}
	}
	switch {
	case p.expandsAtFiles && o.mayExpandAtFiles():
		return errors.New("it would read its words from a file")
	case p.operands == noOperands && len(o.operands) > 0, p.maxOperands > 0 && len(o.operands) > p.maxOperands:
		return errorf("it has more operands than %s reads", name)
	}
	return nil
}

// fileOperands returns the operands without a leading pattern.
func (p *program) fileOperands(o *parsedOptions, name string) ([]Word, error) {
	hasPattern := p.operands == patternThenFiles && !o.has("-e", "-f", "--regexp", "--expression", "--file", "--files")
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
	case len(w.Values) == 0 && (w.splits && p.maxOperands > 0 || p.noDoubleDash): // it may be written, or an option
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
			out = append(out, File{Text: v, Dirs: b.dirs, Glob: w.Glob, Opens: !p.opensNothing})
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
			if name == "npm" || name == "tsc" {
				out.starts = []string{"node"}
			}
			return out, nil
		case printsHelp(name, option):
			return out, nil
		}
	}
	if accept := specialAccept(name); accept != nil {
		return accept(b, c, args)
	}
	p, ok := programs()[name]
	if !ok {
		return nil, errorf("%s is not known to be read-only", name)
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
	switch name {
	case "echo", "printf", "expr", "test", "[", "export", "local", "readonly", "declare", "return":
		return true
	}
	p, ok := programs()[name]
	return ok && p.operands == textOperands
}

// errorf is short for fmt.Errorf.
func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }
