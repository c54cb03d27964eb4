package images

import (
	"html"
	"strings"
)

// loads reports whether the tag at the beginning of the window makes a browser request something
// from the net. It reads attributes as browsers do.
func loads(w window) answer {
	t := w.text
	i := 1 + len(tagName(t))
	if i == len(t) && w.open() {
		return unknown
	}
	if i < len(t) && !isSpace(t[i]) && t[i] != '/' && t[i] != '>' {
		return no
	}
	name := strings.ToLower(t[1:i])
	if name == "style" { // its text can have addresses; scripts in Markdown that was rendered do not run
		return yes
	}
	for i < len(t) {
		if isSpace(t[i]) || t[i] == '/' {
			if endsParagraph(t[i:]) {
				return no
			}
			i++
			continue
		}
		if t[i] == '>' {
			return no
		}
		from := i
		for i++; i < len(t) && !isSpace(t[i]) && strings.IndexByte("/=>", t[i]) < 0; i++ {
		}
		attribute := strings.ToLower(t[from:i])
		for i < len(t) && isSpace(t[i]) && !endsParagraph(t[i:]) {
			i++
		}
		if i == len(t) || t[i] != '=' {
			continue
		}
		for i++; i < len(t) && isSpace(t[i]) && !endsParagraph(t[i:]); i++ {
		}
		if i == len(t) {
			break
		}
		value, n, ended := attributeValue(t[i:])
		switch {
		case !ended && w.open():
			return unknown
		case n < 0, remoteAttribute(name, attribute, value):
			return yes
		}
		i += n
	}
	switch {
	case w.open():
		return unknown
	case w.full:
		return yes
	}
	return no
}

// attributeValue returns the value at the beginning of a text, its length with quotation marks, and
// whether its end is in the text. The length is -1 if the quotation mark at the end is missing: that
// of a later element would end it.
func attributeValue(t string) (value string, n int, ended bool) {
	if quote := t[0]; quote == '"' || quote == '\'' {
		for i := 1; i < len(t); i++ {
			switch {
			case t[i] == quote:
				return t[1:i], i + 1, true
			case endsParagraph(t[i:]):
				return "", -1, true
			}
		}
		return "", -1, false
	}
	for n < len(t) && !isSpace(t[n]) && t[n] != '>' {
		n++
	}
	return t[:n], n, n < len(t)
}

// tagName returns the name of the tag at the beginning of a text.
func tagName(t string) string {
	i := 1
	for i < len(t) && (isLetter(t[i]) || '0' <= t[i] && t[i] <= '9' || t[i] == '-') {
		i++
	}
	return t[1:i]
}

// endsParagraph reports whether a text begins with a line end and a blank line.
func endsParagraph(t string) bool {
	if t[0] != '\n' {
		return false
	}
	for i := 1; i < len(t); i++ {
		if t[i] == '\n' {
			return true
		}
		if !isBlank(t[i]) {
			return false
		}
	}
	return false
}

// remoteAttribute reports whether an attribute makes a browser request its value.
func remoteAttribute(tag, name, value string) bool {
	switch {
	case strings.HasPrefix(name, "aria-"), strings.HasPrefix(name, "xmlns"):
		return false
	case strings.HasPrefix(name, "on"): // runs
		return true
	}
	switch name {
	case "title", "alt", "cite", "id", "class", "name", "lang", "dir", "role", "rel", "target", "summary", "label", "placeholder":
		return false
	case "href":
		if tag == "a" || tag == "area" {
			return false
		}
	}
	decoded := html.UnescapeString(value)
	plain := normal(decoded)
	address := false
	switch name {
	case "src", "href", "xlink:href", "poster", "data", "background":
		address = true
	}
	switch tag {
	case "iframe", "frame", "object", "embed": // what they show can load more
		if address || name == "srcdoc" || name == "code" {
			return true
		}
	}
	switch {
	case address && strings.HasPrefix(plain, "data:"):
		return false
	case address && remote(value), name == "style" && strings.Contains(decoded, `\`):
		return true
	}
	plain = strings.ReplaceAll(plain, "file:///", "/")
	for _, sign := range []string{"//", "http:", "https:", "ftp:"} {
		if strings.Contains(plain, sign) {
			return true
		}
	}
	return false
}
