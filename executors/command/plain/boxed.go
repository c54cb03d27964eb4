package plain

import (
	"errors"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// dropPaging leaves out the options about a pager: the plain form has none.
func dropPaging(o *parsedOptions) error {
	o.options = slices.DeleteFunc(o.options, func(g parsedOption) bool { return g.name == "-P" || g.name == "--paging" })
	return nil
}

// showsVariables accepts the names of variables that hold no secret.
func showsVariables(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || !slices.Contains(shownVariables, w.text()) && !slices.Contains([]string{"HOME", "PWD", "TZ", "CI", "LC_ALL", "LC_CTYPE", "COLUMNS", "HOSTNAME"}, w.text()) {
			return errorf("%s may hold a secret", w.source)
		}
	}
	return some(o, "it shows the whole environment")
}

// queriesPackages accepts the queries of rpm.
func queriesPackages(o *parsedOptions) error {
	if !slices.ContainsFunc(o.options, func(g parsedOption) bool { return strings.HasPrefix(g.name, "-q") || g.name == "--query" }) {
		return errors.New("it may change the installed packages")
	}
	return nil
}

// some returns an error if there are no operands.
func some(o *parsedOptions, why string) error {
	if len(o.operands) == 0 {
		return errors.New(why)
	}
	return nil
}

// yqUnsafe matches names by which a program of yq reads the environment or another file.
var yqUnsafe = lazyregexp.New(`(?i)env|load|system|splitDoc|eval\(|filename`)

// yqReads accepts a program that only looks at its input. The command "eval" may precede it.
func yqReads(o *parsedOptions) error {
	at := 0 // of the program
	if len(o.operands) > 1 && slices.Contains([]string{"e", "eval"}, o.operands[0].text()) {
		at = 1
	}
	for i, w := range o.operands {
		switch {
		case i <= at && (!w.literal() || i == at && yqUnsafe.MatchString(w.text())):
			return errors.New("its program may do more than look at its input")
		case w.mayBegin('-'):
			return errorf("%s may be an option", w.source)
		}
	}
	return some(o, "it has no program")
}

// acceptSubcommand accepts the subcommands of a program that only read.
func acceptSubcommand(name string, b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	for _, block := range programs.Under(name) {
		words := strings.Fields(block)[1:]
		if len(words) == 0 || !begins(args, words) || programs.Block(block).Plain == nil {
			continue
		}
		one := program{*programs.Block(block).Plain}
		one.Inserts = append(words, one.Inserts...)
		out, err := one.accept(b, quoteProgram(c.words[0].text()), args[len(words):])
		if err != nil {
			return nil, errorf("%s: %w", block, err)
		}
		out.starts = strings.Fields(programs.Of(name).Starts)
		return out, nil
	}
	what := name
	if len(args) > 0 {
		what += " " + args[0].source
	}
	return nil, errorf("%s is not known to be read-only", what)
}

// begins reports whether a command begins with literal words.
func begins(args []Word, words []string) bool {
	return len(args) >= len(words) && slices.EqualFunc(args[:len(words)], words, func(w Word, text string) bool { return w.literal() && w.text() == text })
}

// plainNames accepts words that no program takes for a file, a URL or an option.
func plainNames(o *parsedOptions) error {
	for _, w := range o.operands {
		if !w.literal() || !packageName.MatchString(w.text()) {
			return errorf("%s may be more than a name", w.source)
		}
	}
	return nil
}

var packageName = lazyregexp.New(`^[@A-Za-z0-9][A-Za-z0-9._*?+@:/=-]*$`)

// acceptOpenssl accepts the commands that print a certificate, a request, a list or a digest. None of
// them reads a private key or the network.
func acceptOpenssl(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) > 0 && args[0].literal() {
		if p, ok := programOf("openssl", args[0].text()); ok {
			p.Inserts = []string{args[0].text()}
			out, err := p.accept(b, quoteProgram(c.words[0].text()), args[1:])
			if err != nil {
				return nil, errorf("openssl %s: %w", args[0].text(), err)
			}
			return out, nil
		}
	}
	return nil, errors.New("openssl: it may use a private key or the network")
}

// acceptPython accepts the modules that "python3 -m" may run. The plain form has -I, so that Python
// finds no module of the project.
func acceptPython(b *builder, c *Command, args []Word) (*acceptedCommand, error) {
	if len(args) < 2 || !args[0].literal() || args[0].text() != "-m" || !args[1].literal() {
		return nil, errors.New("python: it runs a program")
	}
	name, rest := quoteProgram(c.words[0].text()), args[2:]
	if args[1].text() == "pip" {
		out, err := acceptSubcommand("pip", b, c, rest)
		if err == nil {
			out.words = slices.Concat([]string{name, "-I", "-m", "pip"}, out.words[1:])
		}
		return out, err
	}
	if p, ok := programOf("python", "-m", args[1].text()); ok {
		return p.accept(b, name, rest)
	}
	return nil, errorf("python -m %s is not known to be read-only", args[1].source)
}
