package filter

import (
	"bytes"
	"encoding/base64"
)

// nameBefore gives the name in front of a place, past blanks and what closes a
// quoted or indexed one. A key that another word tells the kind of has it in its
// name: "Secret Access Key".
func nameBefore(l []byte, at int) (from, to int) {
	to = at
	for to > 0 && at-to < 40 && spaceSet[l[to-1]] {
		to--
	}
	for to > 0 && (l[to-1] == '"' || l[to-1] == '\'' || l[to-1] == ']' || l[to-1] == '\\' || l[to-1] == '`') {
		to--
	}
	from = nameFrom(l, to)
	for i := 0; i < 3 && from > 1 && l[from-1] == ' ' && (isKey(l[from:to]) || digitSet.all(l[from:to]) && to-from < 3 && to > from); i++ {
		start := nameFrom(l, from-1)
		if start == from-1 {
			break
		}
		from = start
	}
	return from, to
}

func nameFrom(l []byte, to int) int {
	from := to
	for from > 0 && to-from < maxName && nameSet[l[from-1]] {
		from--
	}
	if from > 0 && from < to && l[from-1] == '\\' && (l[from] == 'n' || l[from] == 't' || l[from] == 'r') { // of a string in a string
		from++
	}
	return from
}

// isKey reports whether a name ends in "key" and begins with it, or goes on in
// another one's.
func isKey(name []byte) bool {
	const word = "key"
	if len(name) < len(word) || !hasFold(name, []byte(word)) && !hasFold(name, []byte("access")) {
		return false
	}
	return len(name) == len(word) || hasFold(name, []byte("access key")) || hasFold(name, []byte("key ")) && len(name) < len("key 00")
}

// assigned is the value behind a separator.
type assigned struct {
	from, to int
	quoted   bool
}

// valueFrom gives the value at a place. tight says that it is data to its end:
// only a blank ends it, or a separator with the next name.
func valueFrom(l []byte, at int, tight bool) assigned {
	for n := 0; n < 64 && at < len(l) && spaceSet[l[at]]; n++ {
		at++
	}
	if bytes.HasPrefix(l[at:], []byte("Some(")) && at+len("Some(") < len(l) {
		at += len("Some(")
	}
	for n := 0; n < 2 && at+1 < len(l) && bytes.IndexByte([]byte("bBrRuUfFLN@"), l[at]) >= 0; n++ { // of literals
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
	for n := 0; n < 8 && at+1 < len(l) && l[at] == '\\' && (isQuote(l[at+1]) || l[at+1] == '\\'); n++ { // of strings in strings
		at++
		escaped = true
	}
	if at < len(l) && isQuote(l[at]) {
		return assigned{at + 1, closes(l, at+1, l[at], escaped), true}
	}
	end := at
	for ; end < len(l) && end-at <= maxValue; end++ {
		b := l[end]
		if b <= ' ' || isQuote(b) || b == '\\' && end+1 < len(l) && bytes.IndexByte([]byte("nrt\"'u\\"), l[end+1]) >= 0 {
			break
		}
		if b == ',' || b == ';' || b == '&' || b == ')' || b == '}' || b == ']' || b == '>' || b == '<' || b == '|' {
			if next := nameSet.run(l, end+1); !tight && b != '&' || next > end+1 && next < len(l) && l[next] == '=' {
				break
			}
		}
	}
	for !tight && end > at && bytes.IndexByte([]byte(".,;:"), l[end-1]) >= 0 {
		end--
	}
	return assigned{at, end, false}
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// closes gives the place of the quote that ends a text, or where it is too long
// or the line ends.
func closes(l []byte, at int, mark byte, escaped bool) int {
	l = l[:min(len(l), at+maxValue+1)]
	for ; at < len(l); at++ {
		switch {
		case l[at] == mark:
			if mark == '\'' && bytes.HasPrefix(l[at:], []byte(`'\''`)) { // a quote within, as a shell prints it
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

// colon looks at what a colon is between.
func (m *masking) colon(l []byte, i int) {
	rest := l[i+1:]
	switch {
	case len(rest) == 0:
		if bytes.Contains(l, []byte("following password")) {
			m.below = belowName{m.n + 1, passwordName, false}
		}
	case rest[0] == '=':
		return
	case len(rest) > 1 && rest[0] == '/' && rest[1] == '/':
		m.url(l, i+3)
		return
	case rest[0] == 'A':
		m.telegram(l, i)
	case rest[0] == '*' || rest[0] == '5' || rest[0] == '6':
		m.pgpass(l, i)
	}
	from, to := nameBefore(l, i)
	if string(l[from:to]) == "thin" { // of Oracle: user/password@host
		m.thin(l, i+1)
	}
	if to-from < 3 {
		if to-from == 1 && isQuote(l[to]) {
			m.webKey(l, from, i)
		}
		return
	}
	m.pair(l, from, to, i+1, ':')
}

// thin looks at user/password@host.
func (m *masking) thin(l []byte, at int) {
	rest := l[at:min(len(l), at+maxUser)]
	slash, sign := bytes.IndexByte(rest, '/'), bytes.IndexByte(rest, '@')
	if slash > 0 && sign-slash > minValue && believable(rest[slash+1:sign], passwordName, true, true) {
		m.hit(at+slash+1, at+sign, urlPassword)
	}
}

// equals looks at both sides of an equals sign.
func (m *masking) equals(l []byte, i int) {
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
	if typeName(l[from:to]) { // password string = "..."
		end := from
		for end > 0 && bytes.IndexByte([]byte(" :*&[]"), l[end-1]) >= 0 {
			end--
		}
		from, to = nameFrom(l, end), end
	}
	if to-from >= 3 {
		m.pair(l, from, to, value, '=')
	}
}

func typeName(name []byte) bool {
	switch string(name) {
	case "string", "String", "str", "byte", "char", "SecretStr", "std.string", "auto", "static":
		return true
	}
	return false
}

// pair looks at a name and the value behind its separator.
func (m *masking) pair(l []byte, from, to, at int, separator byte) {
	if at < m.judged {
		return
	}
	name := l[from:to]
	n := classify(name)
	if n == otherName {
		m.special(l, from, to, at, separator)
		return
	}
	if separator == ':' && from > 0 && l[from-1] == ':' && at < len(l) && alnumSet[l[at]] { // arn:...:secret:name
		return
	}
	if from > 1 && l[from-1] == ' ' && voidsName(l[nameFrom(l, from-1):from-1]) {
		return
	}
	start := from == 0 || spaceSet[l[from-1]]
	shout := to == at-1 && (shouting(name) && (separator == '=' || start && endsLine(l, at)) || separator == '=' && ofConnection(l, from))
	v := valueFrom(l, at, shout && start)
	value := l[v.from:v.to]
	if (string(name) == "PWD" || string(name) == "OLDPWD") && (from == 0 || l[from-1] != ';') { // no directory
		return
	}
	if from > 0 && to == at-1 && at < len(l) && l[at] == l[from-1] && isQuote(l[at]) { // "PASSWORD=" + x
		return
	}
	shout = shout || v.quoted && n == passwordName && accountPassword(name)
	if n == tokenName && uuid(value) && (shout || kindOf(name) == npmToken) {
		n = secretName
	}
	if !v.quoted && separator == '=' && to == at-1 && v.from > at { // name= is empty
		return
	}
	if believable(value, n, v.quoted, shout) {
		if bytes.Equal(value, name) || bytes.Contains(l[:from], []byte("badge.")) { // the tokens of badges are for everybody
			return
		}
		m.hit(v.from, v.to, kindOf(name))
		return
	}
	if v.quoted {
		return
	}
	if len(value) == 0 || hasAny(value, "|", ">", "Some(") {
		m.below = belowName{m.n + 1, n, len(value) > 0 || separator == '='}
	}
	m.fallback(l, v.to, n)
	const long = 512
	if len(value) > long {
		m.judged = v.to - long/2
	}
}

// belowName is the name of a credential whose value is in a line of its own.
type belowName struct {
	at   int // the line
	is   naming
	sure bool // the line can be nothing else
}

// belowIt looks at a line below such a name: a block of YAML, a dump of PHP or
// Rust, a password that a person is told.
func (m *masking) belowIt(l []byte) {
	from := len(l) - len(unindent(l))
	if from == len(l) { // a blank one is between
		if !m.below.sure {
			m.below.at++
		}
		return
	}
	if hasAny(l[from:], "string(") {
		from += bytes.IndexByte(l[from:], ' ') + 1
	}
	v := valueFrom(l, from, true)
	value := l[v.from:v.to]
	if rest := bytes.TrimRight(l[v.to:], "\"'`,;) \r"); len(rest) > 0 {
		return
	}
	if believable(value, m.below.is, v.quoted, false) && (m.below.sure || hasDigit(value) && randomText(value)) {
		m.hit(v.from, v.to, namedSecret)
	}
}

// endsLine reports whether what is behind a colon and a blank is all of the line,
// as it is in YAML, and no member of a list.
func endsLine(l []byte, at int) bool {
	l = bytes.TrimRight(l, " \t\r")
	return at+1 < len(l) && l[at] == ' ' && bytes.IndexByte([]byte(",;({["), l[len(l)-1]) < 0
}

// ofConnection reports whether a name is one of a connection string or a query.
func ofConnection(l []byte, from int) bool {
	if from < 2 {
		return false
	}
	switch l[from-1] {
	case '&':
		return alnumSet[l[from-2]]
	case ';':
		return near(l, from, "erver=") || near(l, from, "ource=") || near(l, from, "jdbc:")
	case ' ':
		return near(l, from, "host=") && near(l, from, "user=")
	}
	return false
}

// fallback looks at a text that is taken where an expression has no value:
// password: process.env.DB_PASSWORD || "...".
func (m *masking) fallback(l []byte, at int, n naming) {
	rest := l[at:]
	if !hasAny(rest, " || ", " ?? ", " or ") {
		return
	}
	v := valueFrom(l, at+bytes.IndexByte(rest[1:], ' ')+2, false)
	if v.quoted && believable(l[v.from:v.to], n, true, false) {
		m.hit(v.from, v.to, namedSecret)
	}
}

// kindOf tells the kind of a value by its name.
func kindOf(name []byte) credKind {
	var buf [maxName]byte
	low := appendLower(buf[:0], name[max(0, len(name)-maxName):])
	switch {
	case bytes.HasSuffix(low, []byte("_authtoken")):
		return npmToken
	case bytes.HasSuffix(low, []byte("secret_access_key")), bytes.HasSuffix(low, []byte("secretaccesskey")), bytes.HasSuffix(low, []byte("secret access key")), bytes.Contains(low, []byte("aws")):
		return awsKey
	case bytes.HasSuffix(low, []byte("accountkey")), bytes.HasSuffix(low, []byte("sharedaccesskey")), bytes.HasPrefix(low, []byte("azure")):
		return azureKey
	}
	return namedSecret
}

// special looks at names that are no credential's by themselves.
func (m *masking) special(l []byte, from, to, at int, separator byte) {
	if space := bytes.LastIndexByte(l[from:to], ' '); space >= 0 { // see nameBefore
		from += space + 1
	}
	name := l[from:to]
	switch len(name) {
	case len("key"), len("name"), len("value"), len("keyName"), len("response"):
		switch {
		case equalFold(name, "name"), equalFold(name, "key"):
			v := valueFrom(l, at, false)
			n := classify(l[v.from:v.to])
			if n < tokenName {
				return
			}
			m.valueAt, m.valueIs = m.n+2, n
			if rest := l[v.to:]; hasAny(rest, `">`, "'>") { // <property name="...">value</property>
				m.content(l, v.to+len(`">`), n, l[v.from:v.to])
			}
			return
		case equalFold(name, "keyName"): // of an account of Azure
			m.valueAt, m.valueIs = m.n+2, weakName
			return
		case equalFold(name, "response") && near(l, at, "Digest "):
			if v := valueFrom(l, at, false); v.quoted && fingerprint(l[v.from:v.to]) {
				m.hit(v.from, v.to, authorization)
			}
			return
		case equalFold(name, "value"):
			if m.n <= m.valueAt {
				m.valueAt = 0
				if v := valueFrom(l, at, false); believable(l[v.from:v.to], m.valueIs, v.quoted, false) {
					m.hit(v.from, v.to, namedSecret)
				}
			}
			return
		case equalFold(name, "sig") && near(l, at, "se=") && near(l, at, "sv="):
			m.signature(l, at, azureKey)
			return
		}
	}
	switch b := name[0] | 0x20; {
	case separator == '=' && len(name) >= len("signature") && (b == 's' || b == 'x') && equalFold(name[len(name)-len("signature"):], "signature"):
		switch {
		case b == 'x' && bytes.Contains(name, []byte("mz")), near(l, at, "AWSAccessKeyId="), near(l, at, "AWS4-HMAC-"):
			m.signature(l, at, awsKey)
		case b == 'x', near(l, at, "GoogleAccessId="):
			m.signature(l, at, googleKey)
		}
	case len(name) >= len("authorization") && equalFold(name[len(name)-len("authorization"):], "authorization"):
		if separator == ':' || at < len(l) && isQuote(l[at]) {
			m.authorize(l, at)
		}
	case separator == '=' && m.ofCookies(l):
		m.cookie(l, from, to, at)
	case separator == ':' && m.encodedURL(l, at):
	case separator == ':' && equalFold(name, "private-lines"):
		m.block = keyBlock{open: true}
	}
}

// encodedURL looks at a value in Base64, as the secrets of a cluster are, of a URL
// with a password.
func (m *masking) encodedURL(l []byte, at int) bool {
	const least, most = 24, 1 << 10
	from := at
	for n := 0; n < 64 && from < len(l) && spaceSet[l[from]]; n++ {
		from++
	}
	const before = 4 // at most: quotes and the like. What follows tells of most values that they are none
	if base64Set.run(l, from+before) < from+least {
		return false
	}
	v := valueFrom(l, at, false)
	value := l[v.from:v.to]
	if n := len(value); n < least || n > most || n%4 != 0 || !base64Set.all(value) {
		return false
	}
	if !bytes.Contains(value, []byte("Oi8v")) && !bytes.Contains(value, []byte("ovL")) && !bytes.Contains(value, []byte("6Ly")) { // "://" at each place
		return false
	}
	text := make([]byte, base64.StdEncoding.DecodedLen(len(value)))
	n, err := base64.StdEncoding.Decode(text, value)
	host := bytes.Index(text[:n], []byte("://"))
	if err != nil || host < 0 {
		return false
	}
	inside := masking{}
	inside.url(text[:n], host+len("://"))
	if len(inside.hits) == 0 {
		return false
	}
	m.hit(v.from, v.to, urlPassword)
	return true
}

func equalFold(name []byte, low string) bool {
	return len(name) == len(low) && hasFold(name, []byte(low))
}

// ofCookies reports whether a line tells of cookies.
func (m *masking) ofCookies(l []byte) bool {
	if m.cookies == 0 {
		m.cookies = -1
		if bytes.Contains(l, []byte("ookie")) {
			m.cookies = 1
		}
	}
	return m.cookies > 0
}

// near reports whether a text is near a place.
func near(l []byte, at int, text string) bool {
	const around = 1 << 10
	return bytes.Contains(l[max(0, at-around):min(len(l), at+around)], []byte(text))
}

// signature masks the one of a URL, by which whoever has it may do something.
func (m *masking) signature(l []byte, at int, k credKind) {
	end := urlSet.run(l, at)
	if v := l[at:end]; len(v) >= 20 && !placeholder(v) {
		m.hit(at, end, k)
	}
}

// element looks at an element of XML that has the name of a credential, or a
// name in it.
func (m *masking) element(l []byte, i int) {
	end := nameSet.run(l, i+1)
	if end == i+1 || end >= len(l) || l[end] != '>' {
		return
	}
	name := l[i+1 : end]
	names := equalFold(name, "name") || equalFold(name, "key")
	n := classify(name)
	if n == otherName && m.n <= m.valueAt && (equalFold(name, "value") || equalFold(name, "string")) {
		n, m.valueAt = m.valueIs, 0
	}
	if n == otherName && !names {
		return
	}
	if n != otherName {
		m.content(l, end+1, n, name)
		return
	}
	value := l[end+1 : min(len(l), end+1+maxValue)]
	if to := bytes.Index(value, []byte("</")); to >= 0 {
		if n := classify(value[:to]); n >= tokenName {
			m.valueAt, m.valueIs = m.n+2, n
		}
	}
}

// content looks at the text of an element, which is data.
func (m *masking) content(l []byte, at int, n naming, name []byte) {
	value := l[at:min(len(l), at+maxValue)]
	to := bytes.Index(value, []byte("</"))
	if to >= 0 && believable(value[:to], n, true, n == passwordName) {
		m.hit(at, at+to, kindOf(name))
	}
}

// argument looks at a call with a text, of a function that has the name of a
// credential, or whose text is such a name and which has the value behind it:
// os.Setenv("API_TOKEN", "...").
func (m *masking) argument(l []byte, i int) {
	at := i + 1
	for at < len(l) && l[at] == ' ' {
		at++
	}
	if at == len(l) || !isQuote(l[at]) {
		return
	}
	name := l[nameFrom(l, i):i]
	if len(name) == 0 && i > 0 && l[i-1] == '=' {
		name = l[nameFrom(l, i-1) : i-1]
	}
	n := classify(name)
	if n == tokenName && equalFold(name[len(name)-len("auth"):], "auth") {
		m.login(l, at)
	}
	if n == otherName {
		end := nameSet.run(l, at+1)
		if end+1 >= len(l) || l[end] != l[at] || l[end+1] != ',' {
			return
		}
		if n = classify(l[at+1 : end]); n == otherName {
			return
		}
		for at = end + len(`",`); at < len(l) && l[at] == ' '; {
			at++
		}
		if at == len(l) || !isQuote(l[at]) {
			return
		}
	}
	v := valueFrom(l, at, false)
	if value := l[v.from:v.to]; believable(value, n, true, false) && randomText(value) {
		m.hit(v.from, v.to, namedSecret)
	}
}

// login looks at what follows the user in a call: SetBasicAuth("user", "password").
func (m *masking) login(l []byte, at int) {
	user := valueFrom(l, at, false)
	rest := l[min(user.to+1, len(l)):]
	if user.to-user.from > 64 || !hasAny(rest, ", ", ",") {
		return
	}
	v := valueFrom(l, user.to+len(`",`), false)
	if v.quoted && hasDigit(l[v.from:v.to]) && believable(l[v.from:v.to], passwordName, true, false) {
		m.hit(v.from, v.to, namedSecret)
	}
}
