package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// scanElement looks for a value in an XML element that is named, or holds the name,
// of a credential.
func (m *Stream) scanElement(l []byte, i int) {
	if text.HasAnyPrefix(l[i:], "<<<") {
		m.scanHereString(l, i)
		return
	}
	from := i + 1
	end := text.NameSet.RunEnd(l, from)
	if end < len(l) && end > from && l[end] == ':' { // after a name space
		from = end + 1
		end = text.NameSet.RunEnd(l, from)
	}
	name := l[from:end]
	if end == from || end >= len(l) || l[end] != '>' && (l[end] != ' ' || classifyName(name) == otherName) {
		return
	}
	if l[end] == ' ' { // attributes
		const longest = 200
		if end = from + bytes.IndexAny(l[from:min(len(l), from+longest)], "<>"); end < from || l[end] != '>' || l[end-1] == '/' {
			return
		}
	}
	names := equalFold(name, "name") || equalFold(name, "key")
	n := classifyName(name)
	if n == otherName && m.lineNumber <= m.valueUntil && (equalFold(name, "value") || equalFold(name, "string")) {
		n, m.valueUntil = m.valueClass, 0
	}
	if n == otherName && !names {
		return
	}
	if n != otherName {
		m.scanElementText(l, end+1, n, name)
		return
	}
	value := l[end+1 : min(len(l), end+1+maxValue)]
	if to := bytes.Index(value, []byte("</")); to >= 0 {
		if n := classifyName(value[:to]); n >= tokenName {
			m.valueUntil, m.valueClass = m.lineNumber+2, n
		}
	}
}

// scanElementText looks for a value in the text of an element.
func (m *Stream) scanElementText(l []byte, at int, n nameClass, name []byte) {
	value := l[at:min(len(l), at+maxValue)]
	if section := "<![CDATA["; bytes.HasPrefix(value, []byte(section)) {
		at, value = at+len(section), value[len(section):]
	}
	to := bytes.Index(value, []byte("</"))
	if end := bytes.Index(value, []byte("]]>")); end >= 0 && end < to {
		to = end
	}
	switch {
	case to >= 0 && isBelievable(value[:to], n, form{quoted: true, asData: n == passwordName}):
		m.addHit(at, at+to, kindOfName(name))
	case to < 0 && len(value) == 0 || bytes.HasPrefix(value, []byte("<Value>")): // an element inside may have the value
		m.valueUntil, m.valueClass = m.lineNumber+2, n
	}
}

// scanArgument looks for a value in the arguments of a call. Either the function
// has the name of a credential, or the first argument is such a name:
// os.Setenv("API_TOKEN", "...").
func (m *Stream) scanArgument(l []byte, i int) {
	if i > 0 && (l[i-1] == 'p' || l[i-1] == 'x') && (bytes.HasSuffix(l[:i], []byte("@tcp")) || bytes.HasSuffix(l[:i], []byte("@unix"))) {
		m.scanDatabaseLogin(l, bytes.LastIndexByte(l[:i], '@'))
		return
	}
	name := l[nameStart(l, i):i]
	if n := passwordArgument(l[:i]); n > 0 {
		m.scanPositional(l, i+1, n)
	}
	at := i + 1
	for at < len(l) && l[at] == ' ' {
		at++
	}
	if at == len(l) || !isQuote(l[at]) {
		return
	}
	if bytes.HasSuffix(name, []byte("BasicAuth")) ||
		bytes.HasSuffix(name, []byte("basic_auth")) ||
		bytes.HasSuffix(l[:i], []byte("auth=")) {
		m.scanLoginCall(l, at)
	}
	n := classifyName(name)
	if n == otherName {
		end := text.NameSet.RunEnd(l, at+1)
		if end+1 >= len(l) || l[end] != l[at] || l[end+1] != ',' {
			return
		}
		if n = classifyName(l[at+1 : end]); n == otherName {
			return
		}
		for at = end + len(`",`); at < len(l) && l[at] == ' '; {
			at++
		}
		if at == len(l) || !isQuote(l[at]) {
			return
		}
	}
	v := valueFrom(l, at)
	if value := l[v.from:v.to]; isBelievable(value, n, quotedForm) && isRandom(value) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// passwordArguments are functions with the argument that is a password.
var passwordArguments = []struct {
	function string
	argument int
}{
	{"getConnection", 3}, {"mysql_connect", 3}, {"mysqli_connect", 3}, {"new mysqli", 3}, {"new PDO", 3}, {"PDO->__construct", 3},
	{"DBI->connect", 3}, {"ftp_login", 3}, {"ssh2_auth_password", 3}, {"db.auth", 2},
	{"NetworkCredential", 2}, {"PasswordCredentials", 2}, {"PasswordAuthenticationToken", 2}, {"PasswordAuthentication", 2},
}

// passwordArgument returns which argument is a password in a call of the function whose name
// ends the text, or 0.
func passwordArgument(before []byte) int {
	for i := range passwordArguments {
		if f := &passwordArguments[i]; bytes.HasSuffix(before, []byte(f.function)) {
			return f.argument
		}
	}
	return 0
}

// scanPositional looks for a password in argument n of a call, whose arguments begin at at.
func (m *Stream) scanPositional(l []byte, at, n int) {
	for ; n > 1; n-- {
		if _, _, at = cellAt(l, at, ','); at < 0 {
			return
		}
	}
	if v := valueFrom(l, at); v.quoted && text.HasDigit(l[v.from:v.to]) && isBelievable(l[v.from:v.to], passwordName, quotedForm) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// scanLoginCall looks for a password after the user in a call: SetBasicAuth("user",
// "password").
func (m *Stream) scanLoginCall(l []byte, at int) {
	user := valueFrom(l, at)
	rest := l[min(user.to+1, len(l)):]
	if user.to-user.from > 64 || !text.HasAnyPrefix(rest, ", ", ",") {
		return
	}
	v := valueFrom(l, user.to+len(`",`))
	if v.quoted && text.HasDigit(l[v.from:v.to]) && isBelievable(l[v.from:v.to], passwordName, quotedForm) {
		m.addHit(v.from, v.to, namedSecret)
	}
}
