package plain

import "strings"

// quote returns text as one word of a shell: unquoted if every character is plain, else
// in single quotes.
func quote(text string) string {
	if text != "" && strings.IndexFunc(text, notPlain) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// notPlain reports whether a character may have a meaning for a shell.
func notPlain(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("_./:,+@-", r)
}

// reserved are words that have a meaning for bash at the beginning of a
// command.
const reserved = " if then else elif fi case esac for select while until do done in function time coproc "

// quoteProgram returns the name of a program as the first word of a command.
func quoteProgram(name string) string {
	if strings.Contains(reserved, " "+name+" ") {
		return "'" + name + "'"
	}
	return quote(name)
}

// quoted returns each text as one word of a shell.
func quoted(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = quote(t)
	}
	return out
}
