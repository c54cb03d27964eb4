// Package wildcard compiles the patterns of rules.
//
// Start with [Compile], and with [CompileWords] for the restricting rules of commands. "*" matches any text, including "/" and line ends; "?"
// matches one character, "[a-z]" one of these and "[!a-z]" any other. Letter case
// and Unicode form (NFC, NFD) do not matter. Matching takes linear time.
package wildcard

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// compiled caches patterns. They are few, and each call is matched against them.
var compiled sync.Map // string -> *regexp.Regexp

// maxPattern is the longest pattern, in bytes. The time of a match is proportional to
// the length of the pattern times the length of the text.
const maxPattern = 4 << 10

// Compile returns the regular expression of a pattern. It matches whole texts.
func Compile(pattern string) (*regexp.Regexp, error) {
	return compile(pattern, func() (string, error) { return translateForms(pattern, nil) })
}

// translateForms returns the source for a pattern in all its Unicode forms, since a file may be
// named in each of them. A pattern with a bracket has one form, as a set is one of characters.
func translateForms(pattern string, instead func(pattern string, i int) string) (string, error) {
	source, err := translate(pattern, instead)
	if err != nil || strings.Contains(pattern, "[") {
		return source, err
	}
	for _, form := range []norm.Form{norm.NFC, norm.NFD} {
		if form.IsNormalString(pattern) {
			continue
		}
		other, err := translate(form.String(pattern), instead)
		if err != nil {
			return "", err
		}
		source += "|" + other
	}
	return source, nil
}

// Word gaps of [CompileWords], in place of one space of the pattern.
const (
	optionsBetween = ` (?:[-+]\S* (?:[^-+ ]\S* )?)*` // options, each with a value or without
	wordsBetween   = ` (?:.* )?`
	// notInName ends a part of a word that further words precede: "push*" also means "pushes" there,
	// but not the file "push.go" or the branch "push-fix".
	notInName = `(?:[^._/-].*)?`
)

// CompileWords returns the regular expression of a pattern for rules that deny or ask about a
// command: each space of the pattern also stands for further words. So "git push*" matches
// "git -x y push a", and "docker compose down*" matches "docker compose -f x down". The words
// of the text are separated by single spaces, and contain none.
func CompileWords(pattern string) (*regexp.Regexp, error) {
	return compile("\x00"+pattern, func() (string, error) {
		near, err := translateForms(pattern, func(pattern string, i int) string {
			if pattern[i] == ' ' {
				return optionsBetween
			}
			return ""
		})
		if err != nil {
			return "", err
		}
		far, err := translateForms(pattern, func(pattern string, i int) string {
			switch {
			case pattern[i] == ' ':
				return wordsBetween
			case i > 0 && pattern[i] == '*' && i == len(pattern)-1 && isLetter(pattern[i-1]) && strings.Contains(pattern, " "):
				return notInName
			}
			return ""
		})
		return near + "|" + far, err
	})
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// compile returns the regular expression that translated returns, from the cache if it can.
func compile(key string, translated func() (string, error)) (*regexp.Regexp, error) {
	if re, ok := compiled.Load(key); ok {
		return re.(*regexp.Regexp), nil
	}
	text, err := translated()
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("not a pattern: %q", strings.TrimPrefix(key, "\x00"))
	}
	compiled.Store(key, re)
	return re, nil
}

// translate returns the source of a pattern's regular expression. instead returns the source for
// the byte i of the pattern outside of brackets, if it differs from the usual one.
func translate(pattern string, instead func(pattern string, i int) string) (string, error) {
	if len(pattern) > maxPattern {
		return "", fmt.Errorf("the pattern has %s, more than the limit of %d", quantity.Count(len(pattern), "byte"), maxPattern)
	}
	var b strings.Builder
	b.WriteString(`(?is)^`)
	for i := 0; i < len(pattern); i++ {
		if instead != nil {
			if text := instead(pattern, i); text != "" {
				b.WriteString(text)
				continue
			}
		}
		switch c := pattern[i]; c {
		case '*':
			if i == 0 || pattern[i-1] != '*' {
				b.WriteString(`.*`)
			}
		case '?':
			b.WriteString(`.`)
		case '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			set := pattern[i+1 : i+1+end]
			if set[0] == '!' {
				set = "^" + set[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(set, `\`, `\\`) + "]")
			i += end + 1
		default:
			end := strings.IndexAny(pattern[i:], "*?[ ")
			switch {
			case end < 0:
				end = len(pattern) - i
			case end == 0: // a space
				end = 1
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+end]))
			i += end - 1
		}
	}
	b.WriteString(`$`)
	return b.String(), nil
}
