package plain

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// printsVersion reports whether a program with this one option prints its version. With the usual
// ones, some programs would start a shell or an interpreter, and BSD's make would build the project by
// "-v". A file of the directory may select another version of some, or code that they load, which then
// runs in the box.
func printsVersion(name, option string) bool { return programs.Has(programs.Of(name).Version, option) }

// printsHelp reports whether a program of the table prints only its help or version by this
// option.
func printsHelp(name, option string) bool {
	facts := programs.Of(name)
	known := facts.Plain != nil && facts.Plain.Accept == "" && facts.Plain.Starts == nil && !facts.OfShell || facts.Help
	return known && (option == "--help" || option == "--version")
}

// hasCheck reports whether more than the options and the number of operands is checked.
func (p *program) hasCheck() bool {
	return p.Check != "" || p.Needs != "" || p.OperandsNeed != "" || p.First != nil
}

// checkWords returns an error about words that the table declares, but not together.
func (p *program) checkWords(o *parsedOptions) error {
	switch {
	case p.Needs != "" && !o.has(strings.Fields(p.Needs)...):
		return errorf("without %s it may do more than read", strings.Fields(p.Needs)[0])
	case p.OperandsNeed != "" && len(o.operands) > 0 && !o.has(strings.Fields(p.OperandsNeed)...):
		return errors.New("it may create the reference that it names")
	case p.First != nil:
		return hasFirst(o, p.First)
	}
	if check, ok := checkNamed(p.Check); ok {
		return check(p, o)
	}
	return errorf("its check %q is unknown", p.Check) // a test checks the names
}

// checkNamed returns the check of that name; "" accepts everything.
func checkNamed(name string) (check func(*program, *parsedOptions) error, ok bool) {
	plain := func(check func(*parsedOptions) error) (func(*program, *parsedOptions) error, bool) {
		return func(_ *program, o *parsedOptions) error { return check(o) }, true
	}
	switch name {
	case "":
		return plain(func(*parsedOptions) error { return nil })
	case "awk":
		return plain(awkReads)
	case "bat":
		return plain(dropPaging)
	case "command":
		return plain(queriesCommand)
	case "config":
		return plain(gitReadsConfig)
	case "date":
		return plain(datePrints)
	case "decompresses":
		return decompresses, true
	case "go":
		return plain(goNames)
	case "jq":
		return plain(jqReads)
	case "names":
		return plain(plainNames)
	case "numbers":
		return plain(numericOperands)
	case "one-reference":
		return plain(gitOneReference)
	case "printenv":
		return plain(showsVariables)
	case "rpm":
		return plain(queriesPackages)
	case "sed":
		return plain(sedPrints)
	case "stat":
		return plain(statFormat)
	case "yq":
		return plain(yqReads)
	}
	return nil, false
}

// hasFirst accepts operands whose first is one of the words; "" accepts none.
func hasFirst(o *parsedOptions, words []string) error {
	first := ""
	if len(o.operands) > 0 {
		if first = "-"; o.operands[0].literal() && o.operands[0].text() != "" {
			first = o.operands[0].text()
		}
	}
	if !slices.Contains(words, first) {
		return errorf("%q is not known to be read-only", first)
	}
	return nil
}

// decompresses accepts a program that prints the text of compressed files, or lists them. With
// another ending it would look for a file with one of these.
func decompresses(p *program, o *parsedOptions) error {
	if !o.has("-c", "--stdout") && (!o.has("-l", "--list") || o.has("-d", "--decompress")) { // the last of these may count
		return errors.New("it may write the text of the file")
	}
	for _, w := range o.operands {
		known := func(ending string) bool { return strings.HasSuffix(w.text(), ending) }
		if !w.literal() || !slices.ContainsFunc(strings.Fields(p.Endings), known) {
			return errorf("%s may stand for a file with another name", w.source)
		}
	}
	return nil
}

// queriesCommand accepts "command -v NAME" alone: without the option it runs NAME.
func queriesCommand(o *parsedOptions) error {
	if !o.has("-v", "-V") {
		return errors.New("it runs another command")
	}
	return nil
}

// statFormat accepts the formats of BSD's "stat -f". GNU's stat has no value there, and looks for
// a file of that name.
func statFormat(o *parsedOptions) error {
	for _, g := range o.options {
		if g.name == "-f" && (!strings.Contains(g.value, "%") || strings.Contains(g.value, "/")) {
			return errors.New("the value of -f is not a format")
		}
	}
	return nil
}

func numericOperands(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || !number.MatchString(w.text()) {
			return errors.New("its operand is not a number")
		}
	}
	return nil
}

// jqUnsafeNames matches names by which a jq program does more than read its input. After one
// dot such a name is a field, as in ".env".
var jqUnsafeNames = lazyregexp.New(`(?i)\$(env|__prog\w*|__loc__)\b|(^|\.\.|[^.\w])(env|import|include|modulemeta|get_search_list|input_filename|debug|stderr)\b`)

func jqReads(o *parsedOptions) error {
	for i, w := range o.operands {
		switch {
		case i == 0 && (!w.literal() || jqUnsafeNames.MatchString(w.text())):
			return errors.New("its program may do more than look at its input")
		case w.mayBegin('-'):
			return errorf("%s may be an option", w.source)
		}
	}
	return nil
}

// delimited matches the text before the delimiter of a regular expression in sed and awk.
// Programs disagree about a delimiter after a backslash or in brackets, so it matches neither.
// In brackets a backslash must precede a letter of an ordinary escape: "[ \t]".
func delimited(delimiter string) string {
	return `(?:[^\\\[\n` + delimiter + `]|\\[^\n` + delimiter + `]|\[\^?(?:\[:[a-z]+:\]|\\[nrt]|[^]\[\\^\n` + delimiter + `])+\])*`
}

// sedCommand matches the first command of a script of sed that prints, counts, edits or leaves
// out lines, with the separator after it: "5p", "1,20p", "/x/,/y/d", "$p", "5q", "/x/{p;q}",
// "s/a/b/g". The flags of a substitution neither write a file nor run a command.
var sedCommand = lazyregexp.Build(func() string {
	const simple, address = `[pPdDqQnNgGhHxlz=]`, `(?:\d+(?:~\d+)?|\$|/%s/)`
	text := delimited("/")
	addresses := strings.ReplaceAll(`(?:`+address+`(?:,(?:\+\d+|`+address+`))?)?\s*!?\s*`, "%s", text)
	commands := []string{simple, `\{\s*` + simple + `(?:\s*;\s*` + simple + `)*\s*;?\s*\}`}
	for _, d := range []string{"/", "|", "#", ",", "@", ":", "!", "%", "~"} {
		q := regexp.QuoteMeta(d)
		replacement := `(?:[^\\\n` + d + `]|\\[^\n` + d + `])*`
		commands = append(commands, `s`+q+delimited(d)+q+replacement+q+`[gIip0-9]{0,3}`, `y`+q+replacement+q+replacement+q)
	}
	return `^\s*` + addresses + `(?:` + strings.Join(commands, "|") + `)\s*(?:[;\n]|$)`
})

func sedPrints(o *parsedOptions) error {
	var scripts []string
	for _, g := range o.options {
		if g.name == "-e" || g.name == "--expression" {
			scripts = append(scripts, g.value)
		}
	}
	if len(scripts) == 0 {
		if len(o.operands) == 0 || !o.operands[0].literal() {
			return errors.New("it has no script")
		}
		scripts = append(scripts, o.operands[0].text())
	}
	for _, script := range scripts {
		for rest := script; strings.TrimSpace(rest) != ""; {
			command := sedCommand.FindString(rest)
			if command == "" {
				return errorf("its command %q may do more than print", strings.TrimSpace(rest))
			}
			rest = rest[len(command):]
		}
	}
	return nil
}
