package mcp

import (
	"slices"
	"strings"
	"unicode"
)

// values returns the values of a prompt's arguments. Words count by position, "NAME=VALUE"
// by name, and the last argument gets the words that are left. It returns false if a
// required one is missing, or words are left over.
func (p prompt) values(rest string) (map[string]string, bool) {
	values := map[string]string{}
	var words []string
	for _, w := range splitWords(rest) {
		if name, value, ok := strings.Cut(w, "="); ok && p.hasArgument(name) {
			values[name] = unquote(value)
		} else {
			words = append(words, w)
		}
	}
	var free []argument
	for _, a := range p.arguments {
		if _, named := values[a.name]; !named {
			free = append(free, a)
		}
	}
	for i, a := range free {
		switch {
		case len(words) == 0:
		case i == len(free)-1 && len(words) > 1:
			values[a.name], words = strings.Join(words, " "), nil
		default:
			values[a.name], words = unquote(words[0]), words[1:]
		}
	}
	for _, a := range p.arguments {
		if _, ok := values[a.name]; a.required && !ok {
			return nil, false
		}
	}
	return values, len(words) == 0
}

func (p prompt) hasArgument(name string) bool {
	return slices.ContainsFunc(p.arguments, func(a argument) bool { return a.name == name })
}

// splitWords splits a line at spaces. A quote at the beginning of a word or of a value
// extends to the closing one, if there is one; the quotes stay.
func splitWords(text string) []string {
	var words []string
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return words
		}
		n := wordLen(text)
		words, text = append(words, text[:n]), text[n:]
	}
}

// wordLen returns the length of the first word.
func wordLen(text string) int {
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	from := strings.IndexByte(text[:end], '=') + 1 // 0 without a name
	for _, at := range []int{0, from} {
		if n := quotedLen(text[at:]); n > 0 {
			return at + n
		}
	}
	return end
}

// quotedLen returns the length of the quoted text at the beginning, with its quotes. It
// returns 0 if there is none, or if it does not end a word.
func quotedLen(text string) int {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0]:
			if rest := text[i+1:]; rest == "" || strings.IndexFunc(rest, unicode.IsSpace) == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// unquote returns a word without its quotes. In double quotes a backslash escapes a quote
// and a backslash.
func unquote(word string) string {
	if n := quotedLen(word); n == 0 || n < len(word) {
		return word
	}
	inner := word[1 : len(word)-1]
	if word[0] == '"' {
		inner = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(inner)
	}
	return inner
}
