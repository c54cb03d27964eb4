package redact

import (
	"bytes"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// isPlaceholder reports whether a value only stands for a credential: a variable,
// a template, an example or a mask.
func isPlaceholder(v []byte) bool {
	if len(v) == 0 || isMask(v) || isLowEntropy(v) {
		return true
	}
	switch b := v[0]; b {
	case '<', '{', '[', '`':
		if !isRandom(v) || bytes.IndexByte(v[1:], closingMark(b)) >= 0 {
			return true
		}
	case '$':
		if len(v) > 1 && (v[1] == '{' || v[1] == '(' || !isPasswordHash(v) && isShellVariable(v)) {
			return true
		}
	case '%':
		if v[len(v)-1] == '%' || len(v) <= 3 {
			return true
		}
	case '@', ':', '&', '*', '!', '#', '?':
		if isIdentifier(v[1:]) && !text.HasDigit(v) {
			return true
		}
	}
	if bytes.Contains(v, []byte("${")) ||
		bytes.Contains(v, []byte("$var$")) || // a name of a bundler
		bytes.Contains(v, []byte("{{")) ||
		bytes.Contains(v, []byte("...")) ||
		bytes.Contains(v, []byte("…")) ||
		bytes.Contains(v, []byte("•")) {
		return true
	}
	return exampleWords.Find(v) || dummyWordSet.Find(v) && !(isWhollyRandom(v) && len(v) >= 40) && !isDisguised(v) || isDummy(v)
}

// isDisguised reports whether a value with words of placeholders has enough other
// text to be a password.
func isDisguised(v []byte) bool {
	const marks, least = "!@#$%^&*+=?~", 3
	if !text.HasDigit(v) || bytes.IndexByte(v, ' ') >= 0 {
		return false
	}
	var buf, lowBuf [64]byte
	rest := append(buf[:0], v...)
	low := text.AppendLower(lowBuf[:0], v)
	for _, word := range dummyWords {
		for i := bytes.Index(low, []byte(word)); i >= 0; i = bytes.Index(low, []byte(word)) {
			low = slices.Delete(low, i, i+len(word))
			rest = slices.Delete(rest, i, i+len(word))
		}
	}
	if isMixedWords(rest) {
		return true
	}
	letters := 0
	for _, b := range rest {
		if text.IsLetter(b) {
			letters++
		}
	}
	return letters >= least && bytes.ContainsAny(v, marks)
}

func closingMark(b byte) byte {
	switch b {
	case '<':
		return '>'
	case '{':
		return '}'
	case '[':
		return ']'
	}
	return b
}

// isShellVariable reports whether a value is a shell variable.
func isShellVariable(v []byte) bool {
	end := text.NameSet.RunEnd(v, 1)
	return end == len(v) && (inCapitals(v[1:]) || isIdentifier(v[1:]) || len(v) == 2) || len(v) < 3
}

// exampleWords occur in values that call themselves examples.
var exampleWords = text.NewWords("example", "placeholder", "redacted", "xxxxxx", "dummy", "sample", "your-", "your_")

// dummyWordSet occur in made-up values.
var dummyWordSet = text.NewWords(dummyWords...)

var dummyWords = []string{
	"p@ssw0rd", "p@ssword", "passw0rd", "passwort", "kennwort", "contrase", "wachtwoord",
	"changeme", "changeit", "change-me", "change_me", "change-this", "change_this", "your-", "your_",
	"yourpass", "yoursecret", "yourtoken", "yourkey", "masked",
	"insert", "replace", "fake", "mock", "foobar", "hidden", "filtered", "password", "passwd", "passphrase",
	"mysecret", "my-secret", "my_secret", "supersecret", "super-secret", "super_secret", "topsecret",
	"notsecret", "not-a-secret", "token_here", "goes-here", "goes_here",
	"some-", "some_", "test", "qwerty", "letmein", "xxx", "p@ss", "undefined", "omitted", "removed",
	"invalid", "abcdef", "abc123", "123456",
}

// isDummy reports whether the letters of a value are a common stand-in.
func isDummy(v []byte) bool {
	var buf [24]byte
	low := buf[:0]
	for _, b := range v {
		if !text.AlnumSet[b] || text.DigitSet[b] {
			continue
		}
		if len(low) == len(buf) {
			return false
		}
		low = text.AppendLower(low, []byte{b})
	}
	switch string(low) {
	case "pass", "secret", "token", "key", "apikey", "foo", "bar", "baz", "admin", "demo", "user", "root",
		"guest", "none", "null", "nil", "true", "false", "unset", "empty", "default", "local", "localhost", "dev",
		"postgres", "mysql", "mongo", "redis", "rabbitmq", "minio", "minioadmin", "sa", "todo", "tbd",
		"string", "str", "int", "bool", "value", "abc", "abcd", "yes", "no", "required", "optional", "pw",
		"pwd", "mypass", "mypwd", "mytoken", "mykey",
		"secretkey", "accesskey", "privatekey", "username", "hello", "helloworld", "any", "anything",
		"something", "whatever", "blah", "xyz", "utf", "unknown", "never", "enabled", "disabled", "asdf",
		"asdfgh", "asdfghjkl":
		return true
	}
	return false
}

// isLowEntropy reports whether a value has too few different characters, or mostly
// characters in alphabetical order.
func isLowEntropy(v []byte) bool {
	if len(v) == 0 {
		return true
	}
	var seen [256]bool
	distinct, next := 0, 0
	for i, b := range v {
		if !seen[b] {
			seen[b] = true
			distinct++
		}
		if i > 0 && (b == v[i-1]+1 || b == v[i-1] || b == '0' && v[i-1] == '9') {
			next++
		}
	}
	switch {
	case len(v) >= 16 && distinct < 6, len(v) >= 8 && distinct < 4, distinct < 3:
		return true
	}
	return len(v) >= 6 && next*10 >= len(v)*6
}
