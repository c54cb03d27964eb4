package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// scanAuthorization looks for a scheme and a credential in the value of a header.
func (m *Stream) scanAuthorization(l []byte, at int) {
	v := tightValueFrom(l, at)
	from, to := v.from, v.to
	if scheme := l[from:to]; v.quoted {
		if i := bytes.IndexByte(scheme, ' '); i > 0 {
			from += i + 1
		}
	} else if letters := len(scheme) > 0 && len(scheme) < 16 && isWordy(scheme); letters && to < len(l) && l[to] == ' ' {
		from = to + 1
	}
	for from < to && l[from] == ' ' {
		from++
	}
	to = from
	for to < len(l) && to-from < maxValue && l[to] > ' ' && !isQuote(l[to]) && l[to] != ',' && l[to] != '\\' && l[to] != '<' {
		to++
	}
	value := l[from:to]
	if len(value) < 8 ||
		isPlaceholder(value) ||
		isCodeLike(value) ||
		isReference(value) ||
		bytes.IndexByte(bytes.TrimRight(value, "="), '=') >= 0 {
		return
	}
	if isRandom(value) || from > v.from && isMixedText(value) {
		m.addHit(from, to, authorization)
	}
}

var base64OrDotSet = text.SetOf("A-Za-z0-9_+/=.~-")

func (m *Stream) scanQuotedPassword(l []byte, at int) {
	v := valueFrom(l, at)
	if v.quoted && isBelievable(l[v.from:v.to], passwordName, dataForm) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// scanCookie looks for the cookie of a session.
func (m *Stream) scanCookie(l []byte, from, to, at int) {
	var buf [maxName]byte
	low := text.AppendLower(buf[:0], l[from:to])
	if !bytes.Contains(low, []byte("sess")) && !bytes.HasSuffix(low, []byte("sid")) &&
		!bytes.Contains(low, []byte("auth")) && !bytes.Contains(low, []byte("remember")) {
		return
	}
	end := at
	for end < len(l) && end-at < maxValue && l[end] > ' ' && l[end] != ';' && !isQuote(l[end]) && l[end] != ',' {
		end++
	}
	if v := l[at:end]; len(v) >= 12 && !isPlaceholder(v) && isRandom(v) {
		m.addHit(at, end, sessionToken)
	}
}

// maxUser is the longest user and password in a URL, in bytes.
const maxUser = 512

// scanURL looks for a password before the host of a URL. at is the index of its
// authority.
func (m *Stream) scanURL(l []byte, at int) {
	if at < len(l) && l[at] == '[' { // an IPv6 address
		return
	}
	if bytes.IndexByte(l[at:min(len(l), at+maxUser)], '@') < 0 { // no user, as in most URLs
		return
	}
	end, slash, colon, sign := at, -1, -1, -1
	for ; end < len(l) && end-at < maxUser; end++ {
		b := l[end]
		if b <= ' ' || b == '"' || b == '<' || b == '>' && sign < 0 || b == '`' || b == '\\' {
			break
		}
		switch b {
		case '/', '?', '#':
			if slash < 0 {
				slash = end
			}
		case ':':
			if colon < 0 && sign < 0 && slash < 0 {
				colon = end
			}
		case '@':
			if slash < 0 || sign < 0 && colon > 0 && (text.DigitSet.RunEnd(l, colon+1) < slash || slash == colon+1) {
				sign = end
			}
		}
		if slash >= 0 && (colon < 0 || sign >= 0) {
			break
		}
	}
	switch {
	case sign < 0:
	case colon < 0 || colon > sign:
		user := l[at:sign]
		if isTokenUser(user) && !bytes.Contains(l[sign:], []byte("sentry")) {
			m.addHit(at, sign, urlPassword)
		}
	default:
		user, password := l[at:colon], l[colon+1:sign]
		if len(password) < minValue || isWordy(password) && isTokenUser(user) { // https://TOKEN:x-oauth-basic@
			if isTokenUser(user) {
				m.addHit(at, colon, urlPassword)
			}
			return
		}
		if !isPlaceholder(password) && !bytes.Equal(user, password) {
			m.addHit(colon+1, sign, urlPassword)
		}
	}
}

// isTokenUser reports whether the user of a URL is a token.
func isTokenUser(user []byte) bool {
	return len(user) >= 20 && text.TokenSet.All(user) && !isPlaceholder(user) && isRandom(user)
}

// scanPasswordWord looks for a value after "password" and a blank: in a .netrc, in SQL, or
// in the output of an installer.
func (m *Stream) scanPasswordWord(l []byte, i int) {
	end := i + len("word")
	if end > len(l) && i+1 == len(l) || i < 4 || !text.HasPrefixFold(l[i-4:], []byte("passw")) {
		return
	}
	if text.HasPrefixFold(l[i:], []byte("word")) {
		end = i + len("word")
	} else if text.HasPrefixFold(l[i:], []byte("wd")) {
		end = i + len("wd")
	}
	if text.HasAnyPrefix(l[min(end, len(l)):], `" {`) { // a Terraform variable
		m.valueUntil, m.valueClass = m.lineNumber+4, passwordName
		return
	}
	m.beginTable(l)
	if end >= len(l) || l[end] != ' ' && l[end] != '\t' || len(l)-end > maxValue {
		return
	}
	at := end
	for at < len(l) && (l[at] == ' ' || l[at] == '\t') {
		at++
	}
	rest := bytes.TrimRight(l[at:], " \t\r")
	bare := withoutPunctuation(rest)
	switch one := bytes.IndexByte(rest, ' ') < 0; {
	case len(rest) == 0:
	case isQuote(rest[0]):
		if l[i] == 'W' || len(bytes.TrimSpace(l[:nameStart(l, end)])) == 0 { // SQL or a setting
			m.scanQuotedPassword(l, at)
		} else { // a sentence of a log
			v := valueFrom(l, at)
			m.addIfLikely(l, v.from, v.to)
		}
	case one && m.isNetrcLogin(l[:i-len("pass")]):
		if !isPlaceholder(rest) {
			m.addHit(at, at+len(rest), namedSecret)
		}
	case one && (at-end > 1 || l[end] == '\t' || i > 4 && l[i] == 'W' && l[i-5] == '_'): // the last case is ENV DB_PASSWORD value
		m.addIfLikely(l, at, at+len(rest))
	case one && (isRandom(bare) || isMixedWords(bare)): // a setting, or the end of a sentence
		m.addIfLikely(l, at, at+len(bare))
	case text.HasAnyPrefix(rest, "is ", "for ", "is: ", "set to "):
		from := at + bytes.LastIndexByte(rest, ' ') + 1
		m.addIfLikely(l, from, at+len(bytes.TrimRight(rest, ".")))
	}
}

// withoutPunctuation returns a value without the end of a sentence, a command or a quotation.
func withoutPunctuation(v []byte) []byte { return bytes.TrimRight(v, "`'\".,;:)") }

// addIfLikely adds a value to the hits if its bytes alone show that it is a password.
func (m *Stream) addIfLikely(l []byte, from, to int) {
	from, to = withoutQuotes(l, from, to)
	if isLikely(l[from:to]) {
		m.addHit(from, to, namedSecret)
	}
}

// isLikely reports whether the bytes of a value alone show that it is a password.
func isLikely(v []byte) bool {
	return len(v) >= 8 && text.HasDigit(v) && !isPlaceholder(v) && !isWordy(v) && !isReference(v) &&
		(isRandom(v) || isBelievable(v, passwordName, bareForm))
}

// checkNetrc recognises a line of a .netrc that has pairs of words and no password: the
// password may be on the next line.
func (m *Stream) checkNetrc(l []byte) {
	if len(l) == 0 || l[0] != 'm' && l[0] != 'l' && !text.SpaceSet[l[0]] {
		return
	}
	if l = text.Unindent(l); text.HasAnyPrefix(l, "machine ", "login ") && bytes.Count(l, []byte(" "))%2 == 1 && len(l) < 200 {
		m.loginUntil = m.lineNumber + 2
	}
}

// isNetrcLogin reports whether the words before a password belong to a .netrc.
func (m *Stream) isNetrcLogin(before []byte) bool {
	before = bytes.TrimSpace(before)
	if len(before) == 0 {
		return m.lineNumber <= m.loginUntil
	}
	return text.HasAnyPrefix(before, "machine ", "login ", "default ") &&
		bytes.Contains(before, []byte("login ")) && bytes.Count(before, []byte(" "))%2 == 1
}

// scanAWSSecrets looks for AWS secrets without a name: 40 bytes of all classes.
func (m *Stream) scanAWSSecrets(l []byte) {
	const size = 40
	for at := 0; at+size <= len(l); at++ {
		if !text.Base64Set[l[at]] || l[at] == '=' {
			continue
		}
		end := at
		for end < len(l) && text.Base64Set[l[end]] && l[end] != '=' {
			end++
		}
		if v := l[at:end]; len(v) == size && hasAllClasses(v) && !isLowEntropy(v) {
			m.addHit(at, end, awsKey)
		}
		at = end
	}
}

// hasAllClasses reports whether a value has capitals, small letters and digits.
func hasAllClasses(v []byte) bool {
	upper, lower, digit := false, false, false
	for _, b := range v {
		switch {
		case text.DigitSet[b]:
			digit = true
		case text.IsUpper(b):
			upper = true
		case b >= 'a' && b <= 'z':
			lower = true
		}
	}
	return upper && lower && digit && !isMask(v) && isRandom(v)
}

// scanCookieFile looks for the cookie of a session in a file of curl or wget: seven fields
// separated by tabs.
func (m *Stream) scanCookieFile(l []byte, _, _ int) {
	fields := bytes.Split(l, []byte("\t"))
	if len(fields) != 7 {
		return
	}
	to := len(l) - len(fields[6]) - 1
	m.scanCookie(l, to-len(fields[5]), to, to+1)
}

// privateMember is a private part of a JSON web key.
var privateMember = lazyregexp.New(`"[dpqk]"\s*:\s*"([\w-]{20,})`)

// scanWebKeys looks for the private parts of a JSON web key.
func (m *Stream) scanWebKeys(l []byte, _, _ int) {
	for _, at := range privateMember.FindAllStringSubmatchIndex(string(l), -1) {
		if isRandom(l[at[2]:at[3]]) {
			m.addHit(at[2], at[3], privateKey)
		}
	}
}
