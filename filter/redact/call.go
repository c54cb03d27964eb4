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
	end := text.NameSet.RunEnd(l, i+1)
	if end == i+1 || end >= len(l) || l[end] != '>' {
		return
	}
	name := l[i+1 : end]
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
	to := bytes.Index(value, []byte("</"))
	if to >= 0 && isBelievable(value[:to], n, form{quoted: true, asData: n == passwordName}) {
		m.addHit(at, at+to, kindOfName(name))
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
	at := i + 1
	for at < len(l) && l[at] == ' ' {
		at++
	}
	if at == len(l) || !isQuote(l[at]) {
		return
	}
	name := l[nameStart(l, i):i]
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
