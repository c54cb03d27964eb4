package redact

import (
	"bytes"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// spot is a text that a value begins with. It is found by one of its bytes that
// is rare in most texts.
type spot struct {
	text  []byte
	at    int // index of that byte, at least 1, since the byte before it is compared first
	kind  credKind
	left  *text.ByteSet                            // bytes of the value that may precede the text; nil means none
	value func(l []byte, from, body int) (end int) // returns the end of the value at from, whose text ends at body; 0 if there is no value
}

// spots are the places where the scan of a line stops: bytes with a meaning,
// and rare bytes of known texts.
type spots struct {
	stops  [256]uint32       // a bit for each byte that texts are found by, and around
	before [256]uint32       // bits of the bytes that follow this one in texts
	texts  [256]*[256][]spot // texts by their rare byte and the byte before it
	bits   int               // number of bits in use
}

// meaningBit is the bit of bytes with a meaning.
const meaningBit = 1 << 31

// rareBytes are the bytes that texts are found by, the best first: those with a
// meaning, then rare ones.
const rareBytes = "_-.=:<~$QZJXKYzVWGHjUBqFSxMPDERNLCTOIAwvkfb9876543210ygphumdcl"

// rarestByte returns the index of the byte that a text is found by.
func rarestByte(text []byte) (at int) {
	at = 1
	best := len(rareBytes)
	for i, b := range text[:min(len(text), 64)] {
		if n := bytes.IndexByte([]byte(rareBytes), b); i > 0 && n >= 0 && n < best {
			at, best = i, n
		}
	}
	return at
}

// add adds a text of at least two bytes. The table that it changes is copied
// first, since clones share it.
func (s *spots) add(p spot) {
	if b := p.text[rarestByte(p.text)]; s.texts[b] != nil {
		table := *s.texts[b]
		s.texts[b] = &table
	}
	s.put(p)
}

// put is add for spots without clones.
func (s *spots) put(p spot) {
	p.at = rarestByte(p.text)
	b := p.text[p.at]
	if s.stops[b]&^meaningBit == 0 {
		s.stops[b] |= 1 << (s.bits % 31)
		s.bits++
	}
	if s.texts[b] == nil {
		s.texts[b] = &[256][]spot{}
	}
	table, before := s.texts[b], p.text[p.at-1]
	s.before[before] |= s.stops[b] &^ meaningBit
	table[before] = append(table[before][:len(table[before]):len(table[before])], p)
}

// has reports whether a text was added.
func (s *spots) has(text []byte) bool {
	at := rarestByte(text)
	table := s.texts[text[at]]
	return table != nil && slices.ContainsFunc(table[text[at-1]], func(p spot) bool { return bytes.Equal(p.text, text) })
}

// clone returns a copy that can be extended.
func (s *spots) clone() *spots {
	if s == nil {
		s = commonSpots()
	}
	c := *s
	return &c
}

// commonSpots are the spots of every scan. The first scan makes them, so that a
// start without a scan does not pay for them.
var commonSpots = sync.OnceValue(func() *spots {
	s := &spots{}
	for _, b := range []byte("=:-<(wWB~\\%") {
		s.stops[b] = meaningBit
	}
	for _, p := range prefixedTokens {
		s.put(spot{text: []byte(p.begin), kind: p.kind, value: func(l []byte, from, body int) int {
			if !tokenStart(l, from) || p.random && inHash(l[:from]) {
				return 0
			}
			end := p.body.Run(l[:min(len(l), body+maxValue)], body)
			if n := end - body; n < p.shortest || p.longest > 0 && n > p.longest {
				return 0
			}
			for p.body != text.CapitalSet && end > body && (l[end-1] == '.' || l[end-1] == '-') { // punctuation of the sentence
				end--
			}
			if v := l[body:min(end, body+256)]; isDull(v) || examples.Find(v) || p.random && !randomText(v) {
				return 0
			}
			return end
		}})
	}
	s.put(spot{text: []byte("eyJ"), kind: sessionToken, value: webToken})
	s.put(spot{text: []byte("LS0tLS1CRUdJTi"), kind: privateKey, value: encodedKey})
	s.put(spot{text: []byte("eyJhdXRocyI6"), kind: registryToken, value: encodedLogin})
	for _, hook := range []string{"hooks.slack.com/services/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/", "office.com/webhook/", "office.com/webhookb2/"} {
		s.put(spot{text: []byte(hook), kind: chatToken, value: webhook})
	}
	for _, hash := range []string{"$2a$", "$2b$", "$2y$", "$argon2id$", "$argon2i$", "$argon2d$", "$apr1$", "$y$", "$1$", "$5$", "$6$", "$7$", "$scrypt$", "pbkdf2_sha256$", "$pbkdf2-sha256$", "$pbkdf2-sha512$"} {
		s.put(spot{text: []byte(hash), kind: namedSecret, value: passwordHash})
	}
	s.put(spot{text: []byte(".atlasv1."), kind: cloudToken, left: text.AlnumSet, value: atlasToken})
	s.put(spot{text: []byte("AZDO"), kind: azureKey, left: text.AlnumSet, value: signedKey(76, 4)})
	s.put(spot{text: []byte("JQQJ99"), kind: azureKey, left: text.AlnumSet, value: signedKey(52, 26)})
	return s
})

// wholeSpot returns the spot of a known value.
func wholeSpot(value []byte, k credKind) spot {
	return spot{text: value, kind: k, value: func(_ []byte, _, body int) int { return body }}
}

// scan finds the hits in a line.
func (m *Stream) scan(l []byte) {
	m.escapes = false
	m.look(l)
	if m.escapes {
		m.scanEscaped(l)
	}
}

// look finds the hits in a line, without undoing escapes.
func (m *Stream) look(l []byte) {
	m.judged, m.begins, m.cookies = 0, 0, 0
	spots := m.spots
	for i := 0; i < len(l); i++ {
		bits := spots.stops[l[i]]
		if bits == 0 {
			continue
		}
		if i > 0 && bits&spots.before[l[i-1]] != 0 {
			m.texts(l, i)
		}
		if bits&meaningBit != 0 {
			i = m.stop(l, i)
		} else if i+7 < len(l) && l[i] == '.' && l[i+7] == '.' {
			m.dot(l, i)
		}
	}
	if m.awsAt >= m.n {
		m.awsSecrets(l)
	}
	for _, p := range m.extra {
		m.own(l, p)
	}
}

// texts looks for the texts found by the byte at i and the one before it.
func (m *Stream) texts(l []byte, i int) {
	table := m.spots.texts[l[i]]
	if table == nil {
		return
	}
	for _, s := range table[l[i-1]] {
		m.text(l, i-s.at, s)
	}
}

// stop looks around a byte with a meaning. It returns the index of the last
// byte that needs no further look.
func (m *Stream) stop(l []byte, i int) int {
	switch b := l[i]; b {
	case '-':
		return m.dash(l, i)
	case '=', ':':
		if i+1 < len(l) && l[i+1] == b { // a rule, a comparison, a qualified name
			for i+1 < len(l) && l[i+1] == b {
				i++
			}
			return i
		}
		if b == ':' {
			m.colon(l, i)
		} else {
			m.equals(l, i)
		}
	case '<':
		m.element(l, i)
	case '(':
		m.argument(l, i)
	case 'w', 'W':
		m.word(l, i)
	case 'B':
		m.after(l, i)
	case '~':
		m.tilde(l, i)
	case '\\', '%':
		m.escapes = true
	}
	return i
}

// text adds the value of a spot at from to the hits, if there is one.
func (m *Stream) text(l []byte, from int, s spot) {
	if from < 0 || !bytes.HasPrefix(l[from:], s.text) {
		return
	}
	if end := s.value(l, from, from+len(s.text)); end > 0 {
		for s.left != nil && from > 0 && s.left[l[from-1]] {
			from--
		}
		m.hit(from, end, s.kind)
		if s.kind == awsKey && len(s.text) == len("AKIA") {
			m.awsAt = m.n + 3
		}
	}
}

// own looks for a pattern of the user.
func (m *Stream) own(l []byte, p *text.Pattern) {
	if !p.Match(l) {
		return
	}
	for _, at := range p.Regexp.FindAllSubmatchIndex(l, -1) {
		from, to := at[0], at[1]
		if len(at) > 3 && at[2] >= 0 {
			from, to = at[2], at[3]
		}
		if to > from && !touchesMask(l, from, to) {
			m.hit(from, to, userPattern)
		}
	}
}

// touchesMask reports whether a part of a line overlaps a mask.
func touchesMask(l []byte, from, to int) bool {
	if isMask(l[from:to]) {
		return true
	}
	for at := 0; ; {
		i := bytes.Index(l[at:], []byte(maskBegin))
		if i < 0 || at+i >= to {
			return false
		}
		at += i
		end := bytes.IndexByte(l[at:], ']')
		if end < 0 {
			return to > at
		}
		if at+end+1 > from {
			return true
		}
		at += end
	}
}

// tokenStart reports whether a token can begin at at: not within a word, but
// after an escape of a terminal, a string or a URL.
func tokenStart(l []byte, at int) bool {
	if at == 0 || !text.AlnumSet[l[at-1]] {
		return true
	}
	switch b := l[at-1]; {
	case at > 1 && l[at-2] == '\\':
		return b == 'n' || b == 'r' || b == 't'
	case at > 2 && l[at-3] == '%':
		return text.HexDigit(l[at-2]) && text.HexDigit(b)
	case b == 'm': // a colour
		i := at - 2
		for i >= 0 && at-i < 24 && (text.DigitSet[l[i]] || l[i] == ';' || l[i] == ':') {
			i--
		}
		return i > 0 && l[i] == '['
	}
	return false
}

// inHash reports whether the next bytes belong to a hash or another run of
// Base64.
func inHash(before []byte) bool {
	n := len(before)
	return n > 0 && bytes.IndexByte([]byte("_-+/"), before[n-1]) >= 0 ||
		n > 6 && (before[n-1] == '=' || before[n-1] == ':') && text.HasAnyPrefix(before[n-7:], "sha256", "sha512", "sha384")
}

// webToken returns the end of a JSON web token of three or five parts. A
// truncated one may have less of the second.
func webToken(l []byte, from, body int) int {
	if !tokenStart(l, from) {
		return 0
	}
	end := text.TokenSet.Run(l, body)
	if end-body < 10 || end == len(l) || l[end] != '.' {
		return 0
	}
	parts := 1
	for end < len(l) && l[end] == '.' && parts < 5 {
		next := text.TokenSet.Run(l, end+1)
		if parts == 1 && next-end < 12 && l[min(end+1, len(l)-1)] != '.' {
			return 0
		}
		end = next
		parts++
	}
	if isDull(l[body:end]) {
		return 0
	}
	return end
}

// webhook returns the end of a URL whose path is the secret.
func webhook(l []byte, _, body int) int {
	end := body
	for end < len(l) && end-body < maxUser && (text.TokenSet[l[end]] || l[end] == '/' || l[end] == '@') {
		end++
	}
	if v := l[body:end]; len(v) < 30 || isDull(v) || !randomText(v) && !(len(v) > 36 && isUUID(v[:36])) {
		return 0
	}
	return end
}

// encodedLogin returns the end of registry logins in Base64, as Docker stores
// them.
func encodedLogin(l []byte, from, body int) int {
	const longest = 4 << 10
	if !tokenStart(l, from) {
		return 0
	}
	return text.Base64Set.Run(l[:min(len(l), body+longest)], body)
}

// passwordHash returns the end of the hash of a password.
func passwordHash(l []byte, _, body int) int {
	const least = 30
	end := body
	for end < len(l) && end-body < maxUser && (base64OrDotSet[l[end]] || l[end] == '$' || l[end] == ',') {
		end++
	}
	if v := l[body:end]; len(v) < least || isDull(v) || !randomText(v) {
		return 0
	}
	return end
}

// atlasToken returns the end of a token of Terraform Cloud: 14 bytes, .atlasv1.
// and at least 60 more.
func atlasToken(l []byte, from, body int) int {
	end := text.Base64OrTokenSet.Run(l, body)
	if end-body < 60 || from < 14 || !text.AlnumSet.All(l[from-14:from]) || isDull(l[body:end]) {
		return 0
	}
	return end
}

// signedKey returns the end of a key of Azure, which has a signature between a
// number of letters and digits before and after it.
func signedKey(before, after int) func(l []byte, from, body int) int {
	return func(l []byte, from, body int) int {
		end := text.AlnumSet.Run(l, body)
		start := from - before
		if start < 0 || end != body+after || !tokenStart(l, start) || !text.AlnumSet.All(l[start:from]) || isDull(l[start:end]) {
			return 0
		}
		return end
	}
}

// mailchimp looks for a key of Mailchimp: 32 hexadecimal digits, -us and the
// number of a data center.
func (m *Stream) mailchimp(l []byte, i int) {
	const size, most = 32, 2
	from, at := i-size, i+len("-us")
	end := text.DigitSet.Run(l, at)
	if from < 0 || end == at || end > at+most || end < len(l) && text.TokenSet[l[end]] || !tokenStart(l, from) || !text.HexSet.All(l[from:i]) || isDull(l[from:i]) {
		return
	}
	m.hit(from, end, serviceKey)
}
