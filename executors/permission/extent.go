package permission

import (
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// maxExtent is the length of the longest extent of an "always", in bytes.
const maxExtent = 400

// nameOperand matches an operand that is a file, a package, a branch or the like. Anything else
// may be a text in a language of the program: "+old:main", ".once |x", "@options".
var nameOperand = lazyregexp.New(`^[\pL\pN_./][\pL\pN_./,~^@%-]*$`)

// optionExtent returns the part of an "always" that follows the program and its subcommand: the
// options with their values, sorted, then the operands that may be texts in a language of the
// program, then the options after "--". what are the words before, and rest the other arguments.
// Options that [command.OptionsOf] declares harmless are left out. ok is false if only the
// exact text can be remembered: parts of it are computed, come from the standard input, or depend
// on the order of options.
func optionExtent(c *command.Command, what string, rest []command.Word) (text string, ok bool) {
	declared := command.OptionsOf(strings.Fields(programWords(c, what)))
	if declared.Texts && (len(c.Inputs) > 0 || c.Input() != "") {
		return "", false
	}
	var options, names, texts, passed []string
	ended := false
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		switch {
		case !w.Literal, w.Glob && strings.ContainsAny(w.Text[:1], "*?[-+@"), slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0"}, w.Text):
			return "", false
		case !ended && w.Text == "--":
			ended = true
		case ended && strings.HasPrefix(w.Text, "-"):
			passed = append(passed, keyWord(w.Text))
		case strings.HasPrefix(w.Text, "-"):
			use := declared.Use(w.Text)
			hasNext := i+1 < len(rest) && rest[i+1].Literal && !strings.HasPrefix(rest[i+1].Text, "-")
			token := keyWord(w.Text)
			switch {
			case use == command.OptionHarmless:
				continue
			case use == command.OptionHarmlessValue && i+1 < len(rest):
				if i++; !rest[i].Literal || rest[i].Glob {
					return "", false
				}
				continue
			case use == command.OptionUnknown && hasNext && !strings.Contains(w.Text, "="):
				i++
				token += " " + keyWord(rest[i].Text)
				if rest[i].Glob {
					return "", false
				}
			}
			name, _, _ := strings.Cut(w.Text, "=")
			options, names = append(options, token), append(names, strings.Replace(name, "--no-", "--", 1))
		case declared.Texts, !declared.Names && !w.Glob && !nameOperand.MatchString(w.Text):
			texts = append(texts, keyWord(w.Text))
		}
	}
	slices.Sort(options)
	slices.Sort(names)
	if count := len(names); count != len(slices.Compact(names)) { // the last one holds
		return "", false
	}
	all := slices.Concat(options, texts)
	if len(passed) > 0 {
		all = append(append(all, "--"), passed...)
	}
	if len(all) == 0 {
		return "", true
	}
	text = " " + strings.Join(all, " ")
	return text, len(what)+len(text) <= maxExtent
}

// programWords returns the words of an extent with the plain name of the program.
func programWords(c *command.Command, what string) string {
	_, words, _ := strings.Cut(what, " ")
	return c.Program() + " " + words
}

// keyWord returns a word as it is in the key of an "always": quoted, if it has spaces or the like.
func keyWord(text string) string {
	if text == "" || strings.ContainsAny(text, " \t\n\"\\") || strconv.Quote(text) != `"`+text+`"` {
		return strconv.Quote(text)
	}
	return text
}

// coarserKeys returns the keys of the same command with fewer options and texts, the longest
// first.
func coarserKeys(key string) []string {
	words, ok := strings.CutPrefix(key, "command ")
	if !ok {
		return nil
	}
	var out []string
	at := 0
	for i, word := range strings.Split(words, " ") {
		if i > 0 && (len(out) > 0 || !nameOperand.MatchString(word)) {
			out = append(out, "command "+words[:at-1])
		}
		at += len(word) + 1
	}
	slices.Reverse(out)
	return out
}
