package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// scanSpecialName looks for values of names that are not those of credentials by
// themselves.
func (m *Stream) scanSpecialName(l []byte, from, to, at int, separator byte) {
	if space := bytes.LastIndexByte(l[from:to], ' '); space >= 0 { // see nameBefore
		from += space + 1
	}
	name := l[from:to]
	switch len(name) {
	case len("key"), len("name"), len("value"), len("result"), len("keyName"), len("response"), len("ParameterKey"), len("ParameterValue"):
		if m.scanFieldName(l, name, at) {
			return
		}
	}
	switch b := name[0] | 0x20; {
	case equalFold(name, "secretid"), equalFold(name, "secret_id"): // of Consul, Nomad and Vault
		if v := valueFrom(l, at); hasShape(l[v.from:v.to], "uuid") {
			m.addHit(v.from, v.to, namedSecret)
		}
	case separator == '=' && len(name) >= len("signature") && (b == 's' || b == 'x') &&
		equalFold(name[len(name)-len("signature"):], "signature"):
		switch {
		case b == 'x' && bytes.Contains(name, []byte("mz")), occursNear(l, at, "AWSAccessKeyId="), occursNear(l, at, "AWS4-HMAC-"):
			m.scanSignature(l, at, awsKey)
		case b == 'x', occursNear(l, at, "GoogleAccessId="):
			m.scanSignature(l, at, googleKey)
		}
	case len(name) >= len("authorization") && equalFold(name[len(name)-len("authorization"):], "authorization"):
		if separator == ':' || at < len(l) && isQuote(l[at]) || text.HasAnyPrefix(l[at:], "Bearer", "Basic") {
			m.scanAuthorization(l, at)
		}
	case separator == '=' && m.isAboutCookies(l):
		m.scanCookie(l, from, to, at)
	case separator == ':' && m.scanEncodedURL(l, at):
	case separator == ':' && equalFold(name, "private-lines"):
		m.block = keyBlock{open: true}
	}
}

// scanFieldName looks for values of names that many formats use for parts of a record,
// such as "value". It reports false for other names.
func (m *Stream) scanFieldName(l, name []byte, at int) bool {
	switch {
	case equalFold(name, "type"):
		if v := valueFrom(l, at); string(l[v.from:v.to]) == "random_password" { // in a state of Terraform
			m.resultUntil = m.lineNumber + maxStateLines
		}
	case equalFold(name, "result"):
		if v := valueFrom(l, at); m.lineNumber <= m.resultUntil && v.quoted && isBelievable(l[v.from:v.to], passwordName, quotedForm) {
			m.addHit(v.from, v.to, namedSecret)
		}
	case equalFold(name, "name"), equalFold(name, "key"), string(name) == "ParameterKey":
		v := valueFrom(l, at)
		n := classifyName(l[v.from:v.to])
		if n < tokenName {
			return true
		}
		m.valueUntil, m.valueClass = m.lineNumber+2, n
		if bytes.Contains(l[:at], []byte("form-data;")) { // the value is below the headers of the part
			m.below = belowName{line: m.lineNumber + 1, class: n}
		}
		if rest := l[v.to:]; text.HasAnyPrefix(rest, `">`, "'>") { // <property name="...">value</property>
			m.scanElementText(l, v.to+len(`">`), n, l[v.from:v.to])
		}
	case equalFold(name, "default") && m.lineNumber <= m.valueUntil: // a Terraform variable
		m.valueUntil = 0
		if v := valueFrom(l, at); v.quoted && isBelievable(l[v.from:v.to], m.valueClass, quotedForm) {
			m.addHit(v.from, v.to, namedSecret)
		}
	case equalFold(name, "keyName"): // an Azure account
		m.valueUntil, m.valueClass = m.lineNumber+2, weakName
	case equalFold(name, "response") && occursNear(l, at, "Digest "):
		if v := valueFrom(l, at); v.quoted && hasShape(l[v.from:v.to], "fingerprint") {
			m.addHit(v.from, v.to, authorization)
		}
	case equalFold(name, "value"), string(name) == "ParameterValue":
		if m.lineNumber <= m.valueUntil {
			m.valueUntil = 0
			if v := valueFrom(l, at); isBelievable(l[v.from:v.to], m.valueClass, form{quoted: v.quoted}) {
				m.addHit(v.from, v.to, namedSecret)
			}
		}
	case equalFold(name, "sig") && occursNear(l, at, "se=") && occursNear(l, at, "sv="):
		m.scanSignature(l, at, azureKey)
	default:
		return false
	}
	return true
}

// maxStateLines is how far the result of a resource is from its type in a state of
// Terraform.
const maxStateLines = 40

// scanEncodedURL looks for a URL with a password that is encoded in Base64, as in
// the secrets of a cluster.
func (m *Stream) scanEncodedURL(l []byte, at int) bool {
	const minLength, maxLength = 24, 1 << 10
	from := at
	for n := 0; n < 64 && from < len(l) && text.SpaceSet[l[from]]; n++ {
		from++
	}
	const maxBefore = 4 // for quotes and the like; most values are too short after them
	if text.Base64Set.RunEnd(l, from+maxBefore) < from+minLength {
		return false
	}
	v := valueFrom(l, at)
	value := l[v.from:v.to]
	if n := len(value); n < minLength || n > maxLength || n%4 != 0 || !text.Base64Set.All(value) {
		return false
	}
	// "://" at each alignment
	if !bytes.Contains(value, []byte("Oi8v")) && !bytes.Contains(value, []byte("ovL")) && !bytes.Contains(value, []byte("6Ly")) {
		return false
	}
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(value)))
	n, err := base64.StdEncoding.Decode(decoded, value)
	host := bytes.Index(decoded[:n], []byte("://"))
	if err != nil || host < 0 {
		return false
	}
	inside := Stream{}
	inside.scanURL(decoded[:n], host+len("://"))
	if len(inside.hits) == 0 {
		return false
	}
	m.addHit(v.from, v.to, urlPassword)
	return true
}

func equalFold(name []byte, low string) bool {
	return len(name) == len(low) && text.HasPrefixFold(name, []byte(low))
}

// isAboutCookies reports whether a line is about cookies.
func (m *Stream) isAboutCookies(l []byte) bool {
	if m.cookieState == 0 {
		m.cookieState = -1
		if bytes.Contains(l, []byte("ookie")) {
			m.cookieState = 1
		}
	}
	return m.cookieState > 0
}

// occursNear reports whether a text occurs near at.
func occursNear(l []byte, at int, word string) bool {
	const around = 1 << 10
	return bytes.Contains(l[max(0, at-around):min(len(l), at+around)], []byte(word))
}

// scanSignature masks the signature of a URL, which grants access.
func (m *Stream) scanSignature(l []byte, at int, k credKind) {
	end := text.URLSet.RunEnd(l, at)
	if v := l[at:end]; len(v) >= 20 && !isPlaceholder(v) {
		m.addHit(at, end, k)
	}
}
