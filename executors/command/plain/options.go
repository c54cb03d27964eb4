package plain

import (
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

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

// tables holds the parsed options of programs, by a tableKey. Each is parsed at its
// first use.
var tables sync.Map

type tableKey struct {
	options    string
	singleDash bool
}

// table returns the options of the program by their names.
func (p *program) table() map[string]option {
	key := tableKey{p.Options, p.SingleDash}
	if t, ok := tables.Load(key); ok {
		return t.(map[string]option)
	}
	out := map[string]option{}
	for s := range strings.FieldsSeq(p.Options) {
		var o option
		if last := s[len(s)-1]; strings.IndexByte("=:#?", last) >= 0 && s != "-#" {
			o.valueKind, s = last, s[:len(s)-1]
		}
		if p.SingleDash || strings.HasPrefix(s, "--") || len(s) == 2 {
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
		case w.pipe, len(w.Values) == 0 && !p.NoDoubleDash && (p.Operands != textOperands || !w.splits):
			s.out.operands = append(s.out.operands, w) // likewise
		case w.Glob && p.LeadingWildcard && !strings.HasPrefix(w.Values[0], "-"), w.varies && !p.NoDoubleDash:
			s.out.operands = append(s.out.operands, w) // "--" is before it
		case w.beginsWithWildcard() && p.Operands != textOperands:
			s.out.operands = append(s.out.operands, w.inCurrentDir()) // never an option
		case w.Glob && !w.varies && len(w.Values) == 1 && optionValue.MatchString(w.Values[0]):
			if err := s.option(w.Values[0]); err != nil { // --include=*.go matches no file
				return nil, nil, err
			}
		case !w.literal() && p.Operands == textOperands && !p.NoDoubleDash && !p.hasCheck():
			s.out.operands = append(s.out.operands, w) // "--" is before it
		case !w.literal():
			return nil, nil, errorf("%s may be an option", w.source)
		case w.text() == "--" && !p.NoDoubleDash:
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
	if strings.HasPrefix(text, "--") || s.program.SingleDash {
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
	case o.valueKind != '#' && strings.HasPrefix(value, "-") && (s.program.OwnParser || value == "--" || o.valueKind == ':'):
		return errorf("the value of the option %s begins with -", name)
	case o.valueKind == ':' && value == "":
		return errorf("the value of the option %s is empty", name)
	case o.valueKind == ':':
		s.files = append(s.files, File{Text: value, Dirs: s.dirs, Opens: !s.program.OpensNothing})
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
	case long && !p.NoDoubleDash, p.SingleDash && optional:
		return []string{quote(g.name + "=" + g.value)}
	case !p.SingleDash && !p.NoDoubleDash && (optional || strings.HasPrefix(g.value, "-")):
		return []string{quote(g.name + g.value)}
	}
	return []string{g.name, quote(g.value)}
}
