package plain

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
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
	// xargs is set if the command is an xargs, and describes the command that it
	// runs.
	xargs *xargsCommand
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

	opensNothing     bool     // it looks at its operands without opening them
	showsContents    bool     // it shows the contents of the files that it reads
	recursiveOptions []string // options with which it reads the files below a directory
	followedLinks    string   // see File.Follows
	expandsAtFiles   bool     // it replaces a word "@FILE" by the words in that file
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

// option is one supported option of a program.
type option struct {
	valueKind byte // the mark after its name, one of "=:#?"; 0 means that it has no value
}

// parsedOption is an option of a command.
type parsedOption struct {
	name     string
	value    string
	hasValue bool // it has a value, which may be empty
}

// parsedOptions are the words of a command after the program.
type parsedOptions struct {
	options  []parsedOption
	operands []Word
}

func (o *parsedOptions) has(names ...string) bool {
	return slices.ContainsFunc(o.options, func(g parsedOption) bool { return slices.Contains(names, g.name) })
}

// hasOnly reports whether the names of all options are in the list; "-#" stands for a number.
func (o *parsedOptions) hasOnly(list string) bool {
	names := strings.Fields(list)
	return !slices.ContainsFunc(o.options, func(g parsedOption) bool {
		name := g.name
		if strings.Trim(name, "-0123456789") == "" {
			name = "-#"
		}
		return !slices.Contains(names, name)
	})
}

// mayExpandAtFiles reports whether one of the words may begin with "@".
func (o *parsedOptions) mayExpandAtFiles() bool {
	return slices.ContainsFunc(o.options, func(g parsedOption) bool { return strings.HasPrefix(g.value, "@") }) ||
		slices.ContainsFunc(o.operands, func(w Word) bool { return w.mayBegin('@') })
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

// tables holds the parsed options of programs, by a tableKey. Each is parsed at its
// first use.
var tables sync.Map

type tableKey struct {
	options    string
	singleDash bool
}

// table returns the options of the program by their names.
func (p *program) table() map[string]option {
	key := tableKey{p.options, p.singleDash}
	if t, ok := tables.Load(key); ok {
		return t.(map[string]option)
	}
	out := map[string]option{}
	for s := range strings.FieldsSeq(p.options) {
		var o option
		if last := s[len(s)-1]; strings.IndexByte("=:#?", last) >= 0 && s != "-#" {
			o.valueKind, s = last, s[:len(s)-1]
		}
		if p.singleDash || strings.HasPrefix(s, "--") || len(s) == 2 {
			out[s] = o
			continue
		}
		for _, c := range s[1:] {
			out["-"+string(c)] = o
		}
	}
	tables.Store(key, out)
	return out
}

var number = lazyregexp.New(`^[+-]?[0-9]{1,18}[a-zA-Z]{0,3}$`)

// parse divides words into options and operands of the program. It also returns the files
// that are values of options.
func (p *program) parse(b *builder, words []Word) (*parsedOptions, []File, error) {
	s := scanner{program: p, options: p.table(), dirs: b.dirs}
	for s.words = words; len(s.words) > 0; {
		w := s.words[0]
		s.words = s.words[1:]
		switch {
		case s.afterDoubleDash || !w.mayBegin('-') || w.literal() && w.text() == "-":
			s.out.operands = append(s.out.operands, w)
		case len(w.Values) == 0 && !w.splits && p.operands == textOperands && !p.noDoubleDash:
			s.out.operands = append(s.out.operands, w) // likewise
		case w.Glob && p.leadingWildcard && !strings.HasPrefix(w.Values[0], "-"), w.varies && !p.noDoubleDash:
			s.out.operands = append(s.out.operands, w) // "--" is before it
		case w.beginsWithWildcard() && p.operands != textOperands:
			s.out.operands = append(s.out.operands, w.inCurrentDir()) // never an option
		case w.Glob && !w.varies && len(w.Values) == 1 && optionValue.MatchString(w.Values[0]):
			if err := s.option(w.Values[0]); err != nil { // --include=*.go matches no file
				return nil, nil, err
			}
		case !w.literal() && p.operands == textOperands && !p.noDoubleDash && p.check == nil:
			s.out.operands = append(s.out.operands, w) // "--" is before it
		case !w.literal():
			return nil, nil, errorf("%s may be an option", w.source)
		case w.text() == "--" && !p.noDoubleDash:
			s.afterDoubleDash = true
		default:
			if err := s.option(w.text()); err != nil {
				return nil, nil, err
			}
		}
	}
	return &s.out, s.files, nil
}

// optionValue is a long option with wildcards in its value alone. The plain form
// quotes it, so that it stays the option that it looks like.
var optionValue = lazyregexp.New(`^--[a-z-]+=`)

type scanner struct {
	program         *program
	options         map[string]option
	dirs            []string
	words           []Word // not parsed yet
	afterDoubleDash bool   // "--" was there
	out             parsedOptions
	files           []File
}

// option parses one word that begins with a dash.
func (s *scanner) option(text string) error {
	if strings.HasPrefix(text, "--") || s.program.singleDash {
		name, value, glued := strings.Cut(text, "=")
		o, ok := s.options[name]
		switch {
		case !ok:
			return errorf("the option %s is not known to be read-only", name)
		case o.valueKind == 0 && glued:
			return errorf("the option %s has no value", name)
		case o.valueKind == 0 || o.valueKind == '?' && !glued:
			s.add(parsedOption{name: name})
			return nil
		case glued:
			return s.set(name, o, value)
		}
		return s.setFromNextWord(name, o)
	}
	if _, ok := s.options["-#"]; ok && strings.Trim(text[1:], "0123456789") == "" {
		s.add(parsedOption{name: text})
		return nil
	}
	for i, c := range text[1:] {
		name := "-" + string(c)
		o, ok := s.options[name]
		rest := text[1+i+len(string(c)):]
		switch {
		case !ok:
			return errorf("the option %s is not known to be read-only", name)
		case o.valueKind == 0 || o.valueKind == '?' && rest == "":
			s.add(parsedOption{name: name})
		case rest != "":
			return s.set(name, o, rest)
		default:
			return s.setFromNextWord(name, o)
		}
	}
	return nil
}

// setFromNextWord sets an option to the next word.
func (s *scanner) setFromNextWord(name string, o option) error {
	if len(s.words) == 0 {
		return errorf("the option %s has no value", name)
	}
	w := s.words[0]
	s.words = s.words[1:]
	if !w.literal() {
		return errorf("the value of the option %s is computed", name)
	}
	return s.set(name, o, w.text())
}

func (s *scanner) set(name string, o option, value string) error {
	switch {
	case o.valueKind == '#' && !number.MatchString(value):
		return errorf("the value of the option %s is not a number", name)
	case o.valueKind != '#' && strings.HasPrefix(value, "-") && (s.program.ownParser || value == "--" || o.valueKind == ':'):
		return errorf("the value of the option %s begins with -", name)
	case o.valueKind == ':' && value == "":
		return errorf("the value of the option %s is empty", name)
	case o.valueKind == ':':
		s.files = append(s.files, File{Text: value, Dirs: s.dirs, Opens: !s.program.opensNothing})
	}
	s.add(parsedOption{name: name, value: value, hasValue: true})
	return nil
}

func (s *scanner) add(g parsedOption) { s.out.options = append(s.out.options, g) }

// print returns the option in the plain form. A short option stays short, since BSD's
// programs have no long ones.
func (p *program) print(g parsedOption) []string {
	long, optional := strings.HasPrefix(g.name, "--"), p.table()[g.name].valueKind == '?'
	switch {
	case !g.hasValue:
		return []string{quote(g.name)}
	case long && !p.noDoubleDash, p.singleDash && optional:
		return []string{quote(g.name + "=" + g.value)}
	case !p.singleDash && !p.noDoubleDash && (optional || strings.HasPrefix(g.value, "-")):
		return []string{quote(g.name + g.value)}
	}
	return []string{g.name, quote(g.value)}
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
	if opts.has(p.recursiveOptions...) {
		if len(read) == 0 {
			out.files = append(out.files, File{Text: ".", Dirs: b.dirs})
		}
		for i := range out.files {
			out.files[i].Follows, out.files[i].GNUFollowsNone = "*", true
		}
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
	if pattern := o.operands[0]; !pattern.known() {
		return nil, errorf("%s is a pattern of %s that is computed at run time", pattern.source, name)
	}
	return o.operands[1:], nil
}

// operandFiles returns the files that an operand names.
func (p *program) operandFiles(b *builder, w Word) ([]File, error) {
	if len(w.Values) == 0 {
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
			out = append(out, File{Text: v, Dirs: b.dirs, Glob: w.Glob, Opens: !p.opensNothing, Follows: p.followedLinks})
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

// errorf is fmt.Errorf, which the compiler would copy into eighty callers.
//
//go:noinline
func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }
