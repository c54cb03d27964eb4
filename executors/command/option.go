package command

import (
	"slices"
	"strings"
)

// operands returns the words that are not options; every word after "--" is an
// operand.
func operands(args []Word) []Word {
	var out []Word
	for i, a := range args {
		if a.Literal && a.Text == "--" {
			return append(out, args[i+1:]...)
		}
		if !a.Literal || a.Text == "-" || !strings.HasPrefix(a.Text, "-") {
			out = append(out, a)
		}
	}
	return out
}

func hasFlag(args []Word, names ...string) bool { return flagAt(args, names...) >= 0 }

func flagAt(args []Word, names ...string) int {
	return slices.IndexFunc(args, func(a Word) bool { return slices.Contains(names, a.Text) })
}

// shortFlag reports whether one of args is a bundle of short options with one
// of letters.
func shortFlag(args []Word, letters string) bool {
	return slices.ContainsFunc(args, func(a Word) bool {
		return len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.ContainsAny(a.Text[1:], letters)
	})
}

// valueOf returns the value of an option: the next word, or the rest of the
// same word.
func valueOf(args []Word, option string) (Word, bool) {
	for i, a := range args {
		if a.Text == "--" {
			break
		}
		value, next, ok := optionValue(a, option)
		switch {
		case ok && !next:
			return value, true
		case ok && i+1 < len(args):
			return args[i+1], true
		}
	}
	return Word{}, false
}

// optionValue reports whether a is the option: as written, abbreviated or at
// the end of a bundle. next means that its value is the next word.
func optionValue(a Word, option string) (value Word, next, ok bool) {
	name, text, glued := strings.Cut(a.Text, "=")
	value = a
	value.Text = text
	switch {
	case strings.HasPrefix(option, "--"):
		if len(name) > 3 && strings.HasPrefix(option, name) {
			return value, !glued, true
		}
	case len(option) > 2: // as find writes them
		return value, true, a.Text == option
	case len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-':
		if a.Text[1] == option[1] && len(a.Text) > 2 {
			value.Text = strings.TrimPrefix(a.Text[2:], "=")
			return value, false, true
		}
		return value, true, a.Text[len(a.Text)-1] == option[1]
	}
	return value, false, false
}

func allLiteral(args []Word) bool {
	return !slices.ContainsFunc(args, func(a Word) bool { return !a.Literal })
}
