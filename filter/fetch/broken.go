package fetch

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// foldBrokenJSON is foldJSON for a text that looks like a list in JSON but is
// damaged, as when curl writes its progress into the output. An item is the
// text between braces that are alone on their lines, indented like the first
// ones within another.
func foldBrokenJSON(body []byte) (short []byte, ok bool) {
	body = bytes.TrimRight(body, "\n")
	if len(body) < 400 || body[0] != '[' && body[0] != '{' {
		return nil, false
	}
	lines := bytes.Split(body, []byte{'\n'})
	items := brokenItems(lines)
	if len(items) < minItems {
		return nil, false
	}
	values := map[string]map[string]bool{} // different values by key, at most one more than maxEnumValues
	for _, item := range items {
		for _, l := range lines[item.from:item.to] {
			key, value := jsonMember(l)
			if values[string(key)] == nil {
				values[string(key)] = map[string]bool{}
			}
			if len(values[string(key)]) <= maxEnumValues {
				values[string(key)][string(value)] = true
			}
		}
	}
	seen := map[string]bool{} // key and value, which becomes its kind if a key has many values
	at, omitted, kept := 0, 0, 0
	for i, item := range items {
		novel := i == 0 || i == len(items)-1
		for _, l := range lines[item.from:item.to] {
			key, value := jsonMember(l)
			if few := values[string(key)]; len(few) > maxEnumValues || len(few)*3 > len(items) {
				value = value[:min(len(value), 1)]
				if len(value) > 0 && text.Class[value[0]] == text.Digit {
					value = []byte{'0'}
				}
			}
			if member := string(key) + "\x00" + string(value); !seen[member] {
				seen[member] = true
				novel = novel || kept < maxNovelItems
			}
		}
		if !novel {
			omitted++
			at = item.to
			continue
		}
		kept++
		if omitted > 0 {
			short = append(short, similarItemsMark(omitted, "")...)
			short = append(short, '\n')
			ok, omitted = true, 0
		}
		short = appendLines(short, lines[at:item.to])
		at = item.to
	}
	return bytes.TrimSuffix(appendLines(short, lines[at:]), []byte{'\n'}), ok
}

func appendLines(dst []byte, lines [][]byte) []byte {
	for _, l := range lines {
		dst = append(append(dst, l...), '\n')
	}
	return dst
}

// lineRange is a range of lines: from is its first line, to the one after its last.
type lineRange struct{ from, to int }

// brokenItems finds the items of a list.
func brokenItems(lines [][]byte) (items []lineRange) {
	indent, from := 0, -1
	for i, l := range lines {
		trimmed := bytes.TrimLeft(l, " \t")
		in := len(l) - len(trimmed)
		switch {
		case indent == 0 && in > 0 && string(trimmed) == "{":
			indent, from = in, i
		case in != indent || indent == 0:
		case string(trimmed) == "{":
			from = i
		case from >= 0 && (string(trimmed) == "}" || string(trimmed) == "},"):
			items = append(items, lineRange{from, i + 1})
			from = -1
		}
	}
	return items
}

// jsonMember splits a line of an object. For other lines key is nil and value the
// whole line.
func jsonMember(l []byte) (key, value []byte) {
	l = bytes.TrimSuffix(bytes.TrimLeft(l, " \t"), []byte{','})
	if i := bytes.Index(l, []byte(`":`)); i > 0 && l[0] == '"' {
		return l[:i], bytes.TrimLeft(l[i+2:], " ")
	}
	return nil, l
}
