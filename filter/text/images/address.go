package images

import (
	"html"
	"strings"
)

// remoteAddress reports whether the address that follows at i in the window is on the net. In
// parentheses it ends at the closing one.
func remoteAddress(w window, i int, parentheses bool) answer {
	t := w.text
	for breaks := 0; i < len(t) && (isSpace(t[i]) || t[i] == '>' && breaks > 0); i++ { // a quotation goes on after the break
		if t[i] == '\n' {
			if breaks++; breaks > 1 {
				return no
			}
		}
	}
	from := i
	angle := i < len(t) && t[i] == '<'
	for ; i < len(t); i++ {
		c := t[i]
		if angle && (c == '>' || c == '\n') || !angle && (isSpace(c) || c == ')' && parentheses) {
			return is(remote(strings.TrimPrefix(t[from:i], "<")))
		}
	}
	address := strings.TrimPrefix(t[from:], "<")
	switch {
	case hasRemoteScheme(address) || w.full:
		return yes
	case w.final:
		return is(remote(address))
	}
	return unknown
}

func is(b bool) answer {
	if b {
		return yes
	}
	return no
}

// hasRemoteScheme reports whether an address begins as most that are on the net, so that the rest of it does not matter.
func hasRemoteScheme(address string) bool {
	for _, scheme := range []string{"http:", "https:"} {
		if len(address) > len(scheme) && strings.EqualFold(address[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// remote reports whether an address is on the net for some reader of it: with or without escapes and
// character references, and with "\" as another "/", as browsers and Windows read it.
func remote(address string) bool {
	decoded := html.UnescapeString(address)
	return remoteURL(address) || remoteURL(decoded) || remoteURL(withoutEscapes(address)) ||
		remoteURL(withoutEscapes(decoded)) || remoteURL(html.UnescapeString(withoutEscapes(address)))
}

func remoteURL(u string) bool {
	u = normal(u)
	if strings.HasPrefix(u, "//") {
		return true
	}
	n := 0
	for n < len(u) && (isLetter(u[n]) || n > 0 && strings.IndexByte("0123456789+.-", u[n]) >= 0) {
		n++
	}
	if n == len(u) || u[n] != ':' {
		return false
	}
	rest := u[n+1:]
	switch scheme := u[:n]; {
	case n < 2, scheme == "data": // a drive
		return false
	case scheme == "file":
		path := strings.TrimLeft(rest, "/")
		slashes := len(rest) - len(path)
		return slashes > 3 || slashes == 2 && !strings.HasPrefix(path, "localhost/")
	}
	return true
}

// normal returns a URL in lower case, without the characters that browsers ignore.
func normal(u string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r <= ' ' || r == 0x7f:
			return -1
		case r == '\\':
			return '/'
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, u)
}

// withoutEscapes removes backslashes before punctuation.
func withoutEscapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && isPunctuation(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}
