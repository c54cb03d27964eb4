package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// nameBefore returns the name before at, skipping blanks, quotes and brackets.
// A key whose kind is another word includes that word: "Secret Access Key".
func nameBefore(l []byte, at int) (from, to int) {
	to = at
	for to > 0 && at-to < 40 && text.SpaceSet[l[to-1]] {
		to--
	}
	for to > 0 && (l[to-1] == '"' || l[to-1] == '\'' || l[to-1] == ']' || l[to-1] == '\\' || l[to-1] == '`') {
		to--
	}
	from = nameStart(l, to)
	for i := 0; i < 3 && from > 1 && l[from-1] == ' ' &&
		(isKeyPhrase(l[from:to]) || text.DigitSet.All(l[from:to]) && to-from < 3 && to > from); i++ {
		start := nameStart(l, from-1)
		if start == from-1 {
			break
		}
		from = start
	}
	return from, to
}

func nameStart(l []byte, to int) int {
	from := to
	for from > 0 && to-from < maxName && text.NameSet[l[from-1]] {
		from--
	}
	// an escape of a string, not a letter of the name
	if from > 0 && from < to && l[from-1] == '\\' && (l[from] == 'n' || l[from] == 't' || l[from] == 'r') {
		from++
	}
	return from
}

// isKeyPhrase reports whether a name is "key", begins with "key " or "access", or is
// "access key".
func isKeyPhrase(name []byte) bool {
	const word = "key"
	if len(name) < len(word) || !text.HasPrefixFold(name, []byte(word)) && !text.HasPrefixFold(name, []byte("access")) {
		return false
	}
	return len(name) == len(word) ||
		text.HasPrefixFold(name, []byte("access key")) ||
		text.HasPrefixFold(name, []byte("key ")) && len(name) < len("key 00")
}

// assignedValue is the value after a separator.
type assignedValue struct {
	from, to int
	quoted   bool
}

// valueFrom returns the value at at. Without quotes it ends at a blank or at
// punctuation.
func valueFrom(l []byte, at int) assignedValue { return parseValue(l, at, false) }

// tightValueFrom is valueFrom for a value that may contain punctuation. It ends at
// a blank, or at a separator with the next name.
func tightValueFrom(l []byte, at int) assignedValue { return parseValue(l, at, true) }

// parseValue parses the value at at, after blanks, wrappers and quotes.
func parseValue(l []byte, at int, tight bool) assignedValue {
	for n := 0; n < 64 && at < len(l) && text.SpaceSet[l[at]]; n++ {
		at++
	}
	for _, dump := range [...]string{"Some(", "(string) (len="} { // wrappers of Rust and spew
		if rest := l[at:]; text.HasAnyPrefix(rest, dump) {
			at += len(dump)
			if dump[0] == '(' {
				at = text.DigitSet.RunEnd(l, at) + len(") ")
			}
			at = min(at, len(l))
		}
	}
	at = afterYAMLMark(l, at)
	if at+2 < len(l) && isQuote(l[at]) && l[at+1] == l[at] && l[at+2] == l[at] { // a string of several lines
		at += 2
	}
	for n := 0; n < 2 && at+1 < len(l) && bytes.IndexByte([]byte("bBrRuUfFLN@"), l[at]) >= 0; n++ { // prefixes of string literals
		if isQuote(l[at+1]) {
			at++
			break
		}
		if n > 0 || !isQuote(l[min(at+2, len(l)-1)]) {
			break
		}
		at++
	}
	escaped := false
	for n := 0; n < 8 && at+1 < len(l) && l[at] == '\\' && (isQuote(l[at+1]) || l[at+1] == '\\'); n++ { // strings in strings
		at++
		escaped = true
	}
	if at < len(l) && isQuote(l[at]) {
		return assignedValue{at + 1, closingQuote(l, at+1, l[at], escaped), true}
	}
	end := at
	if n := saltedHashPrefix(l[at:]); n > 0 {
		end += n
	}
	for ; end < len(l) && end-at <= maxValue; end++ {
		b := l[end]
		if b <= ' ' || isQuote(b) || b == '\\' && end+1 < len(l) && bytes.IndexByte([]byte("nrt\"'u\\"), l[end+1]) >= 0 {
			break
		}
		if b == ',' || b == ';' || b == '&' || b == ')' || b == '}' || b == ']' || b == '>' || b == '<' || b == '|' {
			if next := text.NameSet.RunEnd(l, end+1); !tight && b != '&' || next > end+1 && next < len(l) && l[next] == '=' {
				break
			}
		}
	}
	for !tight && end > at && bytes.IndexByte([]byte(".,;:"), l[end-1]) >= 0 {
		end--
	}
	return assignedValue{at, end, false}
}

// afterYAMLMark returns the index after an anchor or a tag of YAML, such as &name and !!str.
func afterYAMLMark(l []byte, at int) int {
	end := at
	for end < len(l) && (l[end] == '&' || l[end] == '!') {
		end++
	}
	if end == at {
		return at
	}
	for end < len(l) && (text.IsLetter(l[end]) || l[end] == '_' || l[end] == '-') {
		end++
	}
	if end-at > 1 && end+1 < len(l) && l[end] == ' ' {
		return end + 1
	}
	return at
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// withoutQuotes returns the bounds of a value without the quotes around it.
func withoutQuotes(l []byte, from, to int) (int, int) {
	for to-from >= 2 && isQuote(l[from]) && isQuote(l[to-1]) {
		from, to = from+1, to-1
	}
	return from, to
}

// closingQuote returns the index of the closing quote. It returns the end of the
// line, or of the longest value, if there is no quote.
func closingQuote(l []byte, at int, mark byte, escaped bool) int {
	l = l[:min(len(l), at+maxValue+1)]
	for ; at < len(l); at++ {
		switch {
		case l[at] == mark:
			if mark == '\'' && bytes.HasPrefix(l[at:], []byte(`'\''`)) { // a quote in a quoted word, as shells print it
				at += len(`'\'`)
				break
			}
			return at
		case l[at] == '\\' && escaped:
			return at
		case l[at] == '\\':
			at++
		}
	}
	return min(at, len(l))
}
