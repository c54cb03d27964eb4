package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// element looks for a value in an XML element that is named, or holds the name,
// of a credential.
func (m *Stream) element(l []byte, i int) {
	end := text.NameSet.Run(l, i+1)
	if end == i+1 || end >= len(l) || l[end] != '>' {
		return
	}
	name := l[i+1 : end]
	names := equalFold(name, "name") || equalFold(name, "key")
	n := classifyName(name)
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
		if n := classifyName(value[:to]); n >= tokenName {
			m.valueAt, m.valueIs = m.n+2, n
		}
	}
}

// content looks for a value in the text of an element.
func (m *Stream) content(l []byte, at int, n naming, name []byte) {
	value := l[at:min(len(l), at+maxValue)]
	to := bytes.Index(value, []byte("</"))
	if to >= 0 && believable(value[:to], n, true, n == passwordName) {
		m.hit(at, at+to, kindOf(name))
	}
}

// argument looks for a value in the arguments of a call. Either the function
// has the name of a credential, or the first argument is such a name:
// os.Setenv("API_TOKEN", "...").
func (m *Stream) argument(l []byte, i int) {
	if i > 0 && (l[i-1] == 'p' || l[i-1] == 'x') && (bytes.HasSuffix(l[:i], []byte("@tcp")) || bytes.HasSuffix(l[:i], []byte("@unix"))) {
		m.address(l, bytes.LastIndexByte(l[:i], '@'))
		return
	}
	at := i + 1
	for at < len(l) && l[at] == ' ' {
		at++
	}
	if at == len(l) || !isQuote(l[at]) {
		return
	}
	name := l[nameFrom(l, i):i]
	if bytes.HasSuffix(name, []byte("BasicAuth")) || bytes.HasSuffix(name, []byte("basic_auth")) || bytes.HasSuffix(l[:i], []byte("auth=")) {
		m.login(l, at)
	}
	n := classifyName(name)
	if n == otherName {
		end := text.NameSet.Run(l, at+1)
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
	v := valueFrom(l, at, false)
	if value := l[v.from:v.to]; believable(value, n, true, false) && randomText(value) {
		m.hit(v.from, v.to, namedSecret)
	}
}

// login looks for a password after the user in a call: SetBasicAuth("user",
// "password").
func (m *Stream) login(l []byte, at int) {
	user := valueFrom(l, at, false)
	rest := l[min(user.to+1, len(l)):]
	if user.to-user.from > 64 || !text.HasAnyPrefix(rest, ", ", ",") {
		return
	}
	v := valueFrom(l, user.to+len(`",`), false)
	if v.quoted && text.HasDigit(l[v.from:v.to]) && believable(l[v.from:v.to], passwordName, true, false) {
		m.hit(v.from, v.to, namedSecret)
	}
}
