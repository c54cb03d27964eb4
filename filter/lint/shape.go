package lint

import "bytes"

// appendShape appends a message without quoted texts and numbers.
func appendShape(to, msg []byte) []byte {
	eachPart(msg, func(text []byte, varies bool) {
		if varies {
			to = append(to, 0)
		} else {
			to = append(to, text...)
		}
	})
	return to
}

// shapeDifference returns the quoted texts and numbers of msg that differ from those
// of base. Both have the same shape.
func shapeDifference(base, msg []byte) []byte {
	var baseParts [][]byte
	eachPart(base, func(text []byte, varies bool) {
		if varies {
			baseParts = append(baseParts, text)
		}
	})
	var out []byte
	i := 0
	eachPart(msg, func(text []byte, varies bool) {
		if !varies {
			return
		}
		if i < len(baseParts) && !bytes.Equal(baseParts[i], text) {
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, text...)
		}
		i++
	})
	return out
}

// withLabel adds a label to the differences of its message, if it says more than
// the label of the first message: its quoted texts alone differ as those do.
func withLabel(differences []byte, first string, label []byte) []byte {
	switch {
	case len(label) == 0 || string(label) == first:
		return differences
	case len(differences) == 0:
		return label
	case bytes.Equal(appendShape(nil, []byte(first)), appendShape(nil, label)):
		return differences
	default:
		return append(append(differences, "; "...), label...)
	}
}

// quotePairs are pairs of quotes. If shut has several ASCII characters, any of them
// ends the quoted text.
var quotePairs = []struct{ open, shut string }{
	{"`", "`'"},
	{"'", "'"},
	{"\"", "\""},
	{"‘", "’"},
	{"“", "”"},
	{"«", "»"},
}

// eachPart splits a message into quoted texts, numbers, and the text between
// them.
func eachPart(msg []byte, do func(text []byte, varies bool)) {
	from := 0
	part := func(at, end int) {
		if at > from {
			do(msg[from:at], false)
		}
		do(msg[at:end], true)
		from = end
	}
	for i := 0; i < len(msg); {
		switch b := msg[i]; {
		case b >= '0' && b <= '9' && (i == 0 || !isWordByte(msg[i-1])):
			end := i + 1
			for end < len(msg) && (isWordByte(msg[end]) || msg[end] == '.' && end+1 < len(msg) && isWordByte(msg[end+1])) {
				end++
			}
			part(i, end)
			i = end
		case b == '`' || b == '\'' || b == '"' || b >= 0xc2:
			if end := quotedEnd(msg, i); end > 0 {
				part(i, end)
				i = end
				continue
			}
			i++
		default:
			i++
		}
	}
	if from < len(msg) {
		do(msg[from:], false)
	}
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// quotedEnd returns the end of the quoted text that begins at i, or 0.
func quotedEnd(msg []byte, i int) int {
	if i > 0 && isWordByte(msg[i-1]) {
		return 0
	}
	for _, q := range quotePairs {
		if !bytes.HasPrefix(msg[i:], []byte(q.open)) {
			continue
		}
		from := i + len(q.open)
		if len(q.shut) > 1 && q.shut[0] < 0x80 { // any of the closing quotes
			if n := bytes.IndexAny(msg[from:], q.shut); n >= 0 {
				return from + n + 1
			}
		} else if n := bytes.Index(msg[from:], []byte(q.shut)); n >= 0 {
			return from + n + len(q.shut)
		}
	}
	return 0
}
