package command

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/programs"
)

// HarmlessVariable reports whether setting an environment variable changes neither the code that
// a program runs nor what it contacts.
func HarmlessVariable(name string) bool {
	return programs.Has(programs.Block(programs.Any).Variables, name)
}

// Options are the declared options of a command.
type Options struct {
	flags, values, switches []string
	// Texts means that operands are programs in a language of the program, such as SQL.
	Texts bool
	// Names means that no operand is such a program, whatever it looks like.
	Names bool
}

// OptionsOf returns the options declared for commands that begin with these words, the program
// first.
func OptionsOf(words []string) Options {
	var all Options
	for i := range words {
		f := programs.Of(words[:i+1]...)
		all.flags = append(all.flags, strings.Fields(f.Harmless)...)
		all.values = append(all.values, strings.Fields(f.HarmlessValues)...)
		all.switches = append(all.switches, strings.Fields(f.Switches)...)
		all.Texts, all.Names = all.Texts || f.Operands == "texts", all.Names || f.Operands == "names"
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
