// Package wildcard compiles the patterns of rules.
//
// Start with [Compile]. "*" matches any text, including "/" and line ends; "?"
// matches one character, "[a-z]" one of these and "[!a-z]" any other. Letter case
// does not matter. Matching takes linear time.
package wildcard

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// compiled caches patterns. They are few, and each call is matched against them.
var compiled sync.Map // string -> *regexp.Regexp

// maxPattern is the longest pattern, in bytes. Matching takes time proportional to
// the length of the pattern times that of the text.
const maxPattern = 4 << 10

// Compile returns the regular expression of a pattern. It matches whole texts.
func Compile(pattern string) (*regexp.Regexp, error) {
	if re, ok := compiled.Load(pattern); ok {
		return re.(*regexp.Regexp), nil
	}
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern has %d bytes, more than the limit of %d", len(pattern), maxPattern)
	}
	var b strings.Builder
	b.WriteString(`(?is)^`)
	for i := 0; i < len(pattern); i++ {
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
			end := strings.IndexAny(pattern[i:], "*?[")
			if end < 0 {
				end = len(pattern) - i
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+end]))
			i += end - 1
		}
	}
	b.WriteString(`$`)
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("not a pattern: %q", pattern)
	}
	compiled.Store(pattern, re)
	return re, nil
}
