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

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

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

// scanColon looks for a value around a colon.
func (m *Stream) scanColon(l []byte, i int) {
	rest := l[i+1:]
	switch {
	case len(rest) == 0:
		if bytes.Contains(l, []byte("following password")) {
			m.below = belowName{m.lineNumber + 1, passwordName, false}
		}
	case rest[0] == '=':
		return
	case len(rest) > 1 && rest[0] == '/' && rest[1] == '/':
		m.scanURL(l, i+3)
		return
	case rest[0] == 'A':
		m.scanTelegramToken(l, i)
	case rest[0] == '*' || rest[0] == '5' || rest[0] == '6':
		m.scanPgpass(l, i)
	}
	from, to := nameBefore(l, i)
	if string(l[from:to]) == "thin" { // Oracle: user/password@host
		m.scanOracleLogin(l, i+1)
	}
	if to-from < 3 {
		switch {
		case to-from == 1 && isQuote(l[to]):
			m.scanWebKey(l, from, i)
			return
		case string(l[from:to]) != "is": // "your token is:"
			return
		}
		if from, to = nameBefore(l, from); to-from < 3 {
			return
		}
	}
	m.scanPair(l, from, to, i+1, ':')
}

// scanOracleLogin looks for the password in user/password@host.
func (m *Stream) scanOracleLogin(l []byte, at int) {
	rest := l[at:min(len(l), at+maxUser)]
	slash, sign := bytes.IndexByte(rest, '/'), bytes.IndexByte(rest, '@')
	if slash > 0 && sign-slash > minValue && isBelievable(rest[slash+1:sign], passwordName, true, true) {
		m.addHit(at+slash+1, at+sign, urlPassword)
	}
}

// scanDatabaseLogin looks for the password in user:password@tcp(host). sign is the index
// of the @.
func (m *Stream) scanDatabaseLogin(l []byte, sign int) {
	from := sign
	for from > 0 && sign-from < maxUser && l[from-1] > ' ' && !isQuote(l[from-1]) {
		from--
	}
	if colon := bytes.IndexByte(l[from:sign], ':'); colon > 0 && isBelievable(l[from+colon+1:sign], passwordName, true, true) {
		m.addHit(from+colon+1, sign, urlPassword)
	}
}

// scanEquals looks for a value around an equals sign.
func (m *Stream) scanEquals(l []byte, i int) {
	at, value := i, i+1
	if at > 0 {
		switch l[at-1] {
		case ':', '?', '|':
			at--
		case '+':
			return
		case '!', '<', '>', '~', '=':
			return
		}
	}
	if value < len(l) {
		switch l[value] {
		case '~':
			return
		case '>':
			value++
		}
	}
	from, to := nameBefore(l, at)
	if isTypeName(l[from:to]) { // password string = "..."
		end := from
		for end > 0 && bytes.IndexByte([]byte(" :*&[]"), l[end-1]) >= 0 {
			end--
		}
		from, to = nameStart(l, end), end
	}
	if to-from >= 3 {
		m.scanPair(l, from, to, value, '=')
	}
}

func isTypeName(name []byte) bool {
	switch string(name) {
	case "string", "String", "str", "byte", "char", "SecretStr", "std.string", "auto", "static":
		return true
	}
	return false
}

// scanPair looks for the value of a name after its separator.
func (m *Stream) scanPair(l []byte, from, to, at int, separator byte) {
	if at < m.judgedTo {
		return
	}
	name := l[from:to]
	n := classifyName(name)
	if n == otherName {
		m.scanSpecialName(l, from, to, at, separator)
		return
	}
	tight := to == at-1
	switch {
	case separator == ':' && from > 0 && l[from-1] == ':' && at < len(l) && text.AlnumSet[l[at]]: // arn:...:secret:name
		return
	case from > 1 && l[from-1] == ' ' && voidsName(l[nameStart(l, from-1):from-1]):
		return
	case (string(name) == "PWD" || string(name) == "OLDPWD") && (from == 0 || l[from-1] != ';'): // a working directory
		return
	case tight && from > 0 && at < len(l) && isQuote(l[at]) && l[at] == l[from-1]: // "PASSWORD=" + x
		return
	case separator == ':' && at < len(l) && l[at] == '[' && !isMask(l[at:]): // X-Api-Key:[...], as Go prints headers
		m.scanListed(l, at+1)
		return
	}
	start := from == 0 || text.SpaceSet[l[from-1]]
	connection := tight && separator == '=' && isInConnection(l, from)
	asData := connection || tight && inCapitals(name) && (separator == '=' || start && isRestOfLine(l, at))
	v := parseValue(l, at, asData && start)
	if connection && l[from-1] == ';' && !v.quoted {
		v.to = v.from + connectionSet.RunEnd(l[v.from:min(len(l), v.from+maxValue)], 0)
	}
	value := l[v.from:v.to]
	asData = asData || v.quoted && n == passwordName && isAccountPassword(name)
	if n == tokenName && isUUID(value) && (asData || kindOfName(name) == npmToken) {
		n = secretName
	}
	switch {
	case !v.quoted && separator == '=' && tight && v.from > at: // name= has no value
	case !isBelievable(value, n, v.quoted, asData):
		if !v.quoted {
			m.scanElsewhere(l, v, n, separator)
		}
	case bytes.Equal(value, name), bytes.Contains(l[:from], []byte("badge.")): // tokens of badges are public
	default:
		m.addHit(v.from, v.to, kindOfName(name))
		if arrow := `" -> "`; v.quoted && text.HasAnyPrefix(l[v.to:], arrow) { // a Terraform plan
			if v = valueFrom(l, v.to+len(arrow)-1); isBelievable(l[v.from:v.to], n, true, asData) {
				m.addHit(v.from, v.to, kindOfName(name))
			}
		}
	}
}

// connectionSet are the bytes of a value in a connection string.
var connectionSet = func() *text.ByteSet {
	c := &text.ByteSet{}
	for b := range c {
		c[b] = b > ' ' && b != ';' && b != '\\' && !isQuote(byte(b))
	}
	return c
}()

// scanListed looks for the only value of a list.
func (m *Stream) scanListed(l []byte, at int) {
	end := base64OrDotSet.RunEnd(l, at)
	if end == len(l) || l[end] != ']' || end+1 < len(l) && l[end+1] != ']' && l[end+1] != ' ' {
		return
	}
	if v := l[at:end]; isBelievable(v, secretName, false, false) {
		m.addHit(at, end, namedSecret)
	}
}

// scanElsewhere looks for the value of a name without a value next to it.
func (m *Stream) scanElsewhere(l []byte, v assignedValue, n nameClass, separator byte) {
	const long = 512
	switch value := l[v.from:v.to]; {
	case len(value) > long:
		m.judgedTo = v.to - long/2
	case len(value) == 0 || text.HasAnyPrefix(value, "|", ">", "Some("):
		block := text.HasAnyPrefix(l[v.from:], "|", ">") // of YAML
		m.below = belowName{m.lineNumber + 1, n, len(value) > 0 || separator == '=' || block}
	case value[0] == '{': // "password": {"value": "..."}
		m.valueUntil, m.valueClass = m.lineNumber+3, n
	default:
		m.scanFallback(l, v.to, n)
	}
}

// belowName is the name of a credential whose value is on a line of its own.
type belowName struct {
	line    int       // number of that line
	class   nameClass // of the name
	certain bool      // the line can only be the value
}

// scanBelow looks for a value on the line below such a name: a block of YAML, a
// dump of PHP or Rust, or a password printed for a person.
func (m *Stream) scanBelow(l []byte) {
	from := len(l) - len(text.Unindent(l))
	if from == len(l) { // a blank line between
		if !m.below.certain {
			m.below.line++
		}
		return
	}
	if text.HasAnyPrefix(l[from:], "string(") {
		from += bytes.IndexByte(l[from:], ' ') + 1
	}
	v := tightValueFrom(l, from)
	value := l[v.from:v.to]
	if rest := bytes.TrimRight(l[v.to:], "\"'`,;) \r"); len(rest) > 0 {
		return
	}
	if isBelievable(value, m.below.class, v.quoted, false) &&
		(m.below.certain || text.HasDigit(value) && (isRandom(value) || isMixedWords(value))) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// isRestOfLine reports whether the text after a colon and a blank is the rest of
// the line, as in YAML, and not a member of a list.
func isRestOfLine(l []byte, at int) bool {
	if len(l)-at > maxValue {
		return false
	}
	l = bytes.TrimRight(l, " \t\r")
	return at+1 < len(l) && l[at] == ' ' && bytes.IndexByte([]byte(",;({["), l[len(l)-1]) < 0
}

// isInConnection reports whether a name belongs to a connection string or a
// query.
func isInConnection(l []byte, from int) bool {
	if from < 2 {
		return false
	}
	switch l[from-1] {
	case '&':
		return text.AlnumSet[l[from-2]]
	case ';':
		return occursNear(l, from, "erver=") || occursNear(l, from, "ource=") || occursNear(l, from, "jdbc:")
	case ' ':
		return occursNear(l, from, "host=") && occursNear(l, from, "user=")
	}
	return false
}

// scanFallback looks for the default of an expression: password:
// process.env.DB_PASSWORD || "...".
func (m *Stream) scanFallback(l []byte, at int, n nameClass) {
	rest := l[at:]
	if !text.HasAnyPrefix(rest, " || ", " ?? ", " or ") {
		return
	}
	v := valueFrom(l, at+bytes.IndexByte(rest[1:], ' ')+2)
	if v.quoted && isBelievable(l[v.from:v.to], n, true, false) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// kindOfName returns the kind of a value by its name.
func kindOfName(name []byte) credKind {
	var buf [maxName]byte
	low := text.AppendLower(buf[:0], name[max(0, len(name)-maxName):])
	switch {
	case bytes.HasSuffix(low, []byte("_authtoken")):
		return npmToken
	case bytes.HasSuffix(low, []byte("secret_access_key")),
		bytes.HasSuffix(low, []byte("secretaccesskey")),
		bytes.HasSuffix(low, []byte("secret access key")),
		bytes.Contains(low, []byte("aws")):
		return awsKey
	case bytes.HasSuffix(low, []byte("accountkey")), bytes.HasSuffix(low, []byte("sharedaccesskey")), bytes.HasPrefix(low, []byte("azure")):
		return azureKey
	}
	return namedSecret
}
