package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// scanElement looks for a value in an XML element that is named, or holds the name,
// of a credential.
func (m *Stream) scanElement(l []byte, i int) {
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
	name := l[nameStart(l, i):i]
	at := i + 1
	for at < len(l) && l[at] == ' ' {
		at++
	}
	if at == len(l) || !isQuote(l[at]) {
		return
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
