package command

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2" // the table is data, which people read and extend
)

//go:embed harmless.toml
var harmlessTOML []byte

// harmlessTable is the content of harmless.toml.
type harmlessTable struct {
	Variables []string          `toml:"variables"`
	Program   []harmlessProgram `toml:"program"`
}

type harmlessProgram struct {
	Names    []string `toml:"names"`
	Flags    string   `toml:"flags"`
	Values   string   `toml:"values"`
	Switches string   `toml:"switches"`
	Operands string   `toml:"operands"`
}

// harmless returns the parsed table. A test checks that it is valid.
var harmless = sync.OnceValue(func() *harmlessIndex {
	var table harmlessTable
	_ = toml.Unmarshal(harmlessTOML, &table)
	index := &harmlessIndex{variables: table.Variables, byName: map[string]*Options{}}
	for _, p := range table.Program {
		for _, name := range p.Names {
			o := index.byName[name]
			if o == nil {
				o = &Options{}
				index.byName[name] = o
			}
			o.add(p)
		}
	}
	return index
})

type harmlessIndex struct {
	variables []string
	byName    map[string]*Options // by the words that a command begins with
}

// HarmlessVariable reports whether setting an environment variable changes neither the code that
// a program runs nor what it contacts.
func HarmlessVariable(name string) bool { return slices.Contains(harmless().variables, name) }

// Options are the declared options of a command.
type Options struct {
	flags, values, switches []string
	// Texts means that operands are programs in a language of the program, such as SQL.
	Texts bool
	// Names means that no operand is such a program, whatever it looks like.
	Names bool
}

func (o *Options) add(p harmlessProgram) {
	o.flags = append(o.flags, strings.Fields(p.Flags)...)
	o.values = append(o.values, strings.Fields(p.Values)...)
	o.switches = append(o.switches, strings.Fields(p.Switches)...)
	o.Texts = o.Texts || p.Operands == "texts"
	o.Names = o.Names || p.Operands == "names"
}

// OptionsOf returns the options declared for commands that begin with these words, the program
// first.
func OptionsOf(words []string) Options {
	var all Options
	if len(words) == 0 {
		return all
	}
	name := ""
	for i, w := range words {
		if i > 0 {
			name += " "
		}
		name += w
		if o := harmless().byName[name]; o != nil {
			all.flags, all.values = append(all.flags, o.flags...), append(all.values, o.values...)
			all.switches = append(all.switches, o.switches...)
			all.Texts, all.Names = all.Texts || o.Texts, all.Names || o.Names
		}
	}
	return all
}

// OptionUse is what is known of an option.
type OptionUse int

// The uses of options.
const (
	OptionUnknown       OptionUse = iota // the next word may be its value
	OptionSwitch                         // it has no value in the next word
	OptionHarmless                       // likewise, and neither it nor its value matters
	OptionHarmlessValue                  // its value is the next word, and does not matter
)

// Use returns what is known of an option as written: "--color=always", "-vq". A long option must
// be written in full. A bundle is known if all its letters are.
func (o Options) Use(option string) OptionUse {
	name, _, glued := strings.Cut(option, "=")
	switch {
	case slices.ContainsFunc(o.flags, func(f string) bool {
		prefix, any := strings.CutSuffix(f, "*")
		return f == option || any && len(option) > len(prefix) && strings.HasPrefix(option, prefix)
	}):
		return OptionHarmless
	case slices.Contains(o.values, name) && glued:
		return OptionHarmless
	case slices.Contains(o.values, option):
		return OptionHarmlessValue
	case slices.Contains(o.switches, option):
		return OptionSwitch
	case strings.HasPrefix(option, "--") || len(option) < 3:
		return OptionUnknown
	}
	for i := 1; i < len(option); i++ {
		letter := "-" + option[i:i+1]
		switch {
		case slices.Contains(o.flags, letter):
		case slices.Contains(o.values, letter) && i > 1 && i == len(option)-1:
			return OptionHarmlessValue
		case slices.Contains(o.values, letter) && strings.Trim(option[i+1:], "0123456789") == "": // -n4; other text may be letters of options
			return OptionHarmless
		case slices.ContainsFunc([]byte(option[1:]), func(l byte) bool { return !slices.Contains(slices.Concat(o.flags, o.switches), "-"+string(rune(l))) }):
			return OptionUnknown
		default:
			return OptionSwitch
		}
	}
	return OptionHarmless
}
