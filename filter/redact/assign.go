package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// scanColon looks for a value around a colon.
func (m *Stream) scanColon(l []byte, i int) {
	rest := l[i+1:]
	switch {
	case len(rest) == 0:
		if bytes.Contains(l, []byte("following password")) {
			m.below = belowName{line: m.lineNumber + 1, class: passwordName}
		}
	case rest[0] == '=':
		return
	case len(rest) > 1 && rest[0] == '/' && rest[1] == '/':
		m.scanURL(l, i+3)
		return
	}
	from, to := nameBefore(l, i)
	if to-from < 3 {
		if string(l[from:to]) != "is" { // "your token is:"
			return
		}
		if from, to = nameBefore(l, from); to-from < 3 {
			return
		}
	}
	m.scanPair(l, from, to, i+1, ':')
}

// scanDatabaseLogin looks for the password in user:password@tcp(host). sign is the index
// of the @.
func (m *Stream) scanDatabaseLogin(l []byte, sign, _ int) {
	from := sign
	for from > 0 && sign-from < maxUser && l[from-1] > ' ' && !isQuote(l[from-1]) {
		from--
	}
	if colon := bytes.IndexByte(l[from:sign], ':'); colon > 0 && isBelievable(l[from+colon+1:sign], passwordName, dataForm) {
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
	if isWord(l[from:to], typeWord) { // password string = "..."
		end := from
		for end > 0 && bytes.IndexByte([]byte(" :*&[]"), l[end-1]) >= 0 {
			end--
		}
		from, to = nameStart(l, end), end
		if equalFold(l[from:to], "as") { // Const PASSWORD As String
			end = len(bytes.TrimRight(l[:from], " "))
			from, to = nameStart(l, end), end
		}
	}
	if to-from >= 3 {
		m.scanPair(l, from, to, value, '=')
	}
}

// scanPair looks for the value of a name after its separator.
func (m *Stream) scanPair(l []byte, from, to, at int, separator byte) {
	if at < m.passedTo {
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
	case from > 1 && l[from-1] == ' ' && isWord(l[nameStart(l, from-1):from-1], harmlessWord):
		return
	case (string(name) == "PWD" || string(name) == "OLDPWD") && (from == 0 || l[from-1] != ';'): // a working directory
		return
	case string(name) == "PASS" && separator == ':': // the result of a test
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
	if n == tokenName && hasShape(value, "uuid") && (asData || kindOfName(name) == npmToken) {
		n = secretName
	}
	switch {
	case !v.quoted && separator == '=' && tight && v.from > at: // name= has no value
	case !v.quoted && separator == ':' && hasShape(value, "generic-type"):
	case !isBelievable(value, n, form{quoted: v.quoted, asData: asData}):
		if !v.quoted {
			m.scanElsewhere(l, v, n, separator)
			m.below.asMember = to < len(l) && l[to] == '"'
		}
	case bytes.Equal(value, name), bytes.Contains(l[:from], []byte("badge.")): // tokens of badges are public
	default:
		m.addHit(v.from, v.to, kindOfName(name))
		if arrow := `" -> "`; v.quoted && text.HasAnyPrefix(l[v.to:], arrow) { // a Terraform plan
			if v = valueFrom(l, v.to+len(arrow)-1); isBelievable(l[v.from:v.to], n, form{quoted: true, asData: asData}) {
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
	if v := l[at:end]; isBelievable(v, secretName, bareForm) {
		m.addHit(at, end, namedSecret)
	}
}

// scanElsewhere looks for the value of a name without a value next to it.
func (m *Stream) scanElsewhere(l []byte, v assignedValue, n nameClass, separator byte) {
	const long = 512
	switch value := l[v.from:v.to]; {
	case len(value) > long:
		m.passedTo = v.to - long/2
	case len(value) == 0 || text.HasAnyPrefix(value, "|", ">", "Some("):
		block := text.HasAnyPrefix(l[v.from:], "|", ">") // of YAML
		m.below = belowName{line: m.lineNumber + 1, class: n, certain: len(value) > 0 || separator == '=' || block}
	case value[0] == '{': // "password": {"value": "..."}
		m.valueUntil, m.valueClass = m.lineNumber+3, n
	default:
		m.scanFallback(l, v.to, n)
	}
}

// belowName is the name of a credential whose value is on its own line.
type belowName struct {
	line    int       // number of that line
	class   nameClass // of the name
	certain bool      // the line can only be the value

	asMember bool // the name is a member of JSON, so that a string on the line can only be the value
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
	if rest := bytes.TrimRight(l[v.to:], "\"'`,;)]} \r"); len(rest) > 0 {
		return
	}
	if isBelievable(value, m.below.class, form{quoted: v.quoted}) &&
		(m.below.certain || m.below.asMember && v.quoted || text.HasDigit(value) && (isRandom(value) || isMixedWords(value))) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// isRestOfLine reports whether the text after a colon and a blank is the rest of
// the line, as in YAML. Otherwise it is a member of a list.
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
	if v.quoted && isBelievable(l[v.from:v.to], n, quotedForm) {
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
