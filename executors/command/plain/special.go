package plain

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// special accepts a command of a program that a list of options does not fit. args are the words after
// the program.
func (p *program) special(name string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	accept := acceptNamed(p.Accept)
	if accept == nil {
		return nil, errorf("%s is not known to be read-only", name) // a test checks the names
	}
	return accept(p, name, b, c, args)
}

// acceptNamed returns the function of that name, nil if there is none.
func acceptNamed(accept string) func(p *program, name string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	type simple = func(b *builder, c *Command, args []Word) (*acceptedCommand, error)
	var f simple
	switch accept {
	case "cd":
		f = acceptCd
	case "date":
		return func(p *program, _ string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
			return p.accept(b, c.words[0].source, args)
		}
	case "echo":
		f = acceptEcho
	case "expr":
		f = acceptExpr
	case "find":
		f = acceptFind
	case programs.Git:
		f = acceptGit
	case "go":
		return acceptGo
	case "openssl":
		f = acceptOpenssl
	case "printf":
		f = acceptPrintf
	case "ps":
		f = acceptPs
	case "python":
		f = acceptPython
	case "set":
		f = acceptSet
	case "subcommand":
		return func(_ *program, name string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
			return acceptSubcommand(name, b, c, args)
		}
	case "tar":
		f = acceptTar
	case "test":
		f = acceptTest
	case "unzip":
		f = acceptUnzip
	case "xargs":
		f = acceptXargs
	case "zipinfo":
		f = acceptZipinfo
	default:
		return nil
	}
	return func(_ *program, _ string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
		return f(b, c, args)
	}
}

// inScriptOrder returns the command with its words in the order of the script.
func inScriptOrder(c *Command) *acceptedCommand {
	p := &acceptedCommand{words: []string{quoteProgram(c.words[0].text())}}
	for _, w := range c.words[1:] {
		p.words = append(p.words, w.source)
	}
	return p
}

// acceptCd accepts "cd DIR". A relative directory is printed with "./", so that CDPATH has no
// effect, and one with "..", as an absolute one: bash removes ".." before it follows links, but
// follows the links first if the resulting directory does not exist.
func acceptCd(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) > 0 && args[0].literal() && args[0].text() == "--" {
		args = args[1:]
	}
	if len(args) != 1 || !args[0].literal() || args[0].text() == "" || args[0].text()[0] == '-' || args[0].text()[0] == '+' {
		return nil, errors.New("the directory of a cd is not a literal")
	}
	dir := args[0].text()
	word := dir
	switch {
	case slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".."):
		to := dirsAfterCd(b.dirs, dir)
		if len(to) > 1 {
			return nil, errors.New("the directory of a cd depends on whether an earlier cd worked")
		}
		dir = strings.Join(to, "")
		word = dir
	case !strings.HasPrefix(dir, "/") && !strings.HasPrefix(dir, "./") && dir != ".":
		word = "./" + dir
	}
	return &acceptedCommand{words: []string{"cd", quote(word)}, cd: dir, files: []File{{Text: dir, Dirs: b.dirs}}}, nil
}

// acceptEcho accepts any words. The names that a pattern matches are printed.
func acceptEcho(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	p := inScriptOrder(c)
	p.files = patterns(b, args)
	return p, nil
}

// patterns returns the files that the patterns among words match.
func patterns(b *builder, words []Word) []File {
	var out []File
	for _, w := range words {
		if !w.Glob {
			continue
		}
		for _, v := range w.Values {
			out = append(out, File{Text: v, Dirs: b.dirs, Glob: true})
		}
	}
	return out
}

// printfFormat matches a format that only prints. The conversion "%n" sets a variable,
// such as PATH.
var printfFormat = lazyregexp.New(`^([^%]|%%|%[-+ #0']*([0-9]+|\*)?(\.([0-9]+|\*)?)?(hh|h|ll|l|j|z|t|L)?[diouxXeEfFgGaAcsbqQ]|%\([^()]*\)T)*$`)

// acceptPrintf refuses formats that set a variable, and "printf -v NAME".
func acceptPrintf(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) > 0 && args[0].literal() && args[0].text() == "--" {
		args = args[1:]
	}
	if len(args) == 0 || !args[0].literal() || strings.HasPrefix(args[0].text(), "-") {
		return nil, errors.New("printf: its format is not a literal")
	}
	if !printfFormat.MatchString(args[0].text()) {
		return nil, errorf("printf: the format %s may do more than print", args[0].source)
	}
	return acceptEcho(b, c, args)
}

func acceptExpr(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	for _, w := range args {
		if len(w.Values) == 0 || w.Glob {
			return nil, errors.New("expr: a word is computed at run time")
		}
	}
	return inScriptOrder(c), nil
}

const (
	testFiles     = " -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -u -w -x "
	testTexts     = " -n -z "
	testTextPairs = " = == != < > "
	testNumbers   = " -eq -ne -lt -le -gt -ge "
	testFilePairs = " -nt -ot -ef "
)

// acceptTest accepts tests of files, texts and numbers. Tests of variables are
// missing, since the subscript of a variable's name is computed.
func acceptTest(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if c.words[0].text() == "[" {
		if len(args) == 0 || args[len(args)-1].text() != "]" {
			return nil, errors.New("[ has no ]")
		}
		args = args[:len(args)-1]
	}
	p := inScriptOrder(c)
	is := func(i int, list string) bool {
		return i < len(args) && args[i].literal() && strings.Contains(list, " "+args[i].text()+" ")
	}
	file := func(w Word) {
		for _, v := range w.Values {
			if v != "" {
				p.files = append(p.files, File{Text: v, Dirs: b.dirs, Glob: w.Glob, Tested: true})
			}
		}
	}
	if slices.ContainsFunc(args, func(w Word) bool { return !w.known() && !w.number }) {
		if is(0, " ! ") {
			args = args[1:]
		}
		if is(0, testFiles) && len(args) == 2 {
			file(args[1])
		}
		return p, testsOnce(args, is)
	}
	for i := 0; i < len(args); {
		switch {
		case is(i, " ! ") && i+1 < len(args):
			i++
			continue
		case is(i, testFiles) && i+1 < len(args):
			file(args[i+1])
			i += 2
		case is(i, testTexts) && i+1 < len(args):
			i += 2
		case is(i+1, testTextPairs) && i+2 < len(args):
			i += 3
		case is(i+1, testNumbers) && i+2 < len(args) && mayBeNumber(args[i]) && mayBeNumber(args[i+2]):
			i += 3
		case is(i+1, testFilePairs) && i+2 < len(args):
			file(args[i])
			file(args[i+2])
			i += 3
		default:
			return nil, errors.New("a test is not one of files, texts or numbers")
		}
		if i < len(args) {
			if !is(i, " -a -o ") || i+1 == len(args) {
				return nil, errors.New("a test is not one of files, texts or numbers")
			}
			i++
		}
	}
	return p, nil
}

// testsOnce returns an error unless the words are one test in which no computed word can
// act as an operator.
func testsOnce(args []Word, is func(i int, list string) bool) error {
	var one bool
	switch len(args) {
	case 2:
		one = is(0, testTexts) || is(0, testFiles) && len(args[1].Values) > 0
	case 3:
		one = is(1, testTextPairs) || is(1, testNumbers) && mayBeNumber(args[0]) && mayBeNumber(args[2])
	}
	if !one || slices.ContainsFunc(args, func(w Word) bool { return w.splits || w.Glob && !w.varies }) {
		return errors.New("a word of a test is computed at run time")
	}
	return nil
}

// tests prints the tests in "[[ ]]" as commands "[".
func (b *builder) tests(x syntax.TestExpr) (string, error) {
	errPlain := errors.New("it has a [[ ]] with more than simple tests")
	var words []Word
	add := func(n syntax.TestExpr) error {
		src, ok := n.(*syntax.Word)
		if !ok {
			return errPlain
		}
		w, err := b.assignedValue(src) // as there, words are neither split nor patterns
		words = append(words, w)
		return err
	}
	switch n := x.(type) {
	case *syntax.UnaryTest:
		op := n.Op.String()
		if n.Op == syntax.TsNot {
			text, err := b.tests(n.X)
			return "{ ! " + text + "; }", err
		}
		words = append(words, literalWord(op))
		if err := add(n.X); err != nil {
			return "", err
		}
	case *syntax.BinaryTest:
		if n.Op == syntax.AndTest || n.Op == syntax.OrTest {
			left, err := b.tests(n.X)
			if err != nil {
				return "", err
			}
			right, err := b.tests(n.Y)
			return "{ " + left + " " + n.Op.String() + " " + right + "; }", err
		}
		if err := add(n.X); err != nil {
			return "", err
		}
		words = append(words, literalWord(n.Op.String()))
		if err := add(n.Y); err != nil {
			return "", err
		}
		comparesTexts := strings.Contains(testTextPairs, " "+n.Op.String()+" ")
		if right := words[2]; comparesTexts && (hasWildcard(right.Values) || !right.known() || strings.ContainsAny(n.Op.String(), "<>")) {
			return "", errPlain
		}
	default:
		return "", errPlain
	}
	c := &Command{Dirs: slices.Clone(b.dirs), ReadOnly: true, words: slices.Concat([]Word{literalWord("[")}, words, []Word{literalWord("]")})}
	for _, w := range c.words {
		c.Words = append(c.Words, w.text())
	}
	p, err := b.accept(c)
	if err != nil {
		return "", err
	}
	return b.finish(c, p, nil)
}

// mayBeNumber reports whether a word is a number or computed. Bash computes any other text in "[[".
func mayBeNumber(w Word) bool {
	return !slices.ContainsFunc(w.Values, func(v string) bool { return w.Glob || !integer.MatchString(v) })
}

func isNumber(w Word) bool { return w.literal() && integer.MatchString(w.text()) }

var integer = lazyregexp.New(`^-?[0-9]+$`)

var setOptions = lazyregexp.New(`^-[eux]*( pipefail| errexit| nounset)?$|^-[eux]*o (pipefail|errexit|nounset)$`)

// acceptSet accepts the options that end a script at its first failure.
func acceptSet(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	for _, w := range args {
		if !w.literal() {
			return nil, errors.New("set: its options are computed")
		}
	}
	text := strings.Join(c.Words[1:], " ")
	if text == "" || text == "-" || !setOptions.MatchString(text) || strings.Contains(text, " ") && !strings.Contains(text, "o ") {
		return nil, errors.New("set: it changes more than how the script ends")
	}
	return inScriptOrder(c), nil
}

// namesTimeZone reports whether a date names a time zone, which GNU's programs read from a
// file: TZ="/a/file" now.
func namesTimeZone(date string) bool { return strings.Contains(date, "TZ=") }

// datePrints refuses the operand that sets the clock, and files.
func datePrints(o *parsedOptions) error {
	if len(o.operands) > 0 && (!o.operands[0].literal() || !strings.HasPrefix(o.operands[0].text(), "+")) {
		return errors.New("it may set the clock")
	}
	if slices.ContainsFunc(o.options, func(g parsedOption) bool { return namesTimeZone(g.value) }) {
		return errors.New("it may read a file as a time zone")
	}
	return nil
}

var psWords = lazyregexp.New(`^(aux|auxf|auxww|ax|axf|-e|-f|-ef|-A|-Af|-a|-l|-ax|-p [0-9,]+|-[Ae]?o [a-z,%]+|--sort=[-+]?[a-z%]+|-p|-[aA]?e?o)$`)

// acceptPs refuses formats that show environment variables, which may hold secrets. On BSD "-e"
// shows them, so the plain form has "-A", which selects the same processes elsewhere.
func acceptPs(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	for i := 0; i < len(args); i++ {
		if !args[i].literal() {
			return nil, errors.New("ps: its options are computed")
		}
		text := args[i].text()
		if strings.HasPrefix(text, "-") && (strings.HasSuffix(text, "o") || text == "-p") && i+1 < len(args) {
			i++
			text += " " + args[i].text()
		}
		if !psWords.MatchString(text) || strings.Contains(text, "env") {
			return nil, errorf("ps: %s may show more than the list of processes", text)
		}
	}
	out := inScriptOrder(c)
	for i, w := range out.words {
		if strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") {
			out.words[i] = strings.ReplaceAll(w, "e", "A")
		}
	}
	return out, nil
}

// acceptInner accepts a command that another program runs. It must be a program: a
// builtin of the shell is not one, and a cd would change nothing.
func (b *builder) acceptInner(c *Command) (*acceptedCommand, error) {
	if !c.words[0].literal() || c.words[0].text() == "" {
		return nil, errors.New("the name of a program is computed")
	}
	for _, w := range c.words {
		c.Words = append(c.Words, w.text())
	}
	if programs.Of(c.Words[0]).OfShell {
		return nil, errorf("%s is part of the shell", c.Words[0])
	}
	p, err := b.accept(c)
	if err != nil {
		return nil, err
	}
	c.ReadOnly, c.Starts = true, p.starts
	b.form.note(c, p)
	b.form.Commands = append(b.form.Commands, c)
	return p, nil
}

// acceptGo accepts the commands of go that look at modules and packages. They
// start no other toolchain, load nothing and ask no version control.
func acceptGo(all *program, _ string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) == 0 || !args[0].literal() {
		return nil, errors.New("go: its command is computed")
	}
	sub, rest := args[0].text(), args[1:]
	one, ok := programOf("go", sub)
	if len(rest) > 0 && rest[0].literal() && !ok {
		one, ok = programOf("go", sub, rest[0].text())
		sub, rest = sub+" "+rest[0].text(), rest[1:]
	}
	if !ok {
		return nil, errorf("go %s is not known to be read-only", args[0].text())
	}
	one.Inserts = append(strings.Fields(sub), one.Inserts...)
	one.Env = append([]string{"GOTOOLCHAIN=local"}, one.Env...)
	one.Starts = all.Starts // some of them to query their features
	out, err := one.accept(b, quoteProgram(c.words[0].text()), rest)
	if err != nil {
		return nil, errorf("go %s: %w", sub, err)
	}
	for _, w := range rest {
		if w.literal() && strings.HasPrefix(w.text(), ".") { // the directory of a package may be a link
			out.files = append(out.files, File{Text: strings.TrimSuffix(w.text(), "..."), Dirs: b.dirs})
		}
	}
	return out, nil
}

// goNames accepts names of packages, modules and variables, and no files.
func goNames(o *parsedOptions) error {
	for _, w := range o.operands {
		text := w.text()
		parent := strings.Contains(text, "../") || strings.Contains(text, "..") && !strings.HasSuffix(text, "...")
		if !w.literal() || parent || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "-") || strings.HasSuffix(text, ".go") {
			return errorf("%s may be a file", w.source)
		}
	}
	return nil
}
