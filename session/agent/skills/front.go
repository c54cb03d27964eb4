package skills

import (
	"errors"
	"strconv"
	"strings"
)

// split splits a SKILL.md into the values of its front matter, by key, and the
// text after it. A file without front matter has no values.
//
// Only the part of the YAML front matter that skills use is read: keys at the
// beginning of a line with a plain, quoted or block value, each joined to one
// line. Anything else, such as a list or a nested table, is ignored.
func split(text string) (head map[string]string, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text, nil
	}
	lines := strings.SplitAfter(rest, "\n")
	head = map[string]string{}
	key, value := "", ""
	end := func() {
		if key != "" {
			head[key] = scalar(value)
		}
		key, value = "", ""
	}
	for i, line := range lines {
		trimmed := strings.TrimRight(line, " \t\n")
		switch {
		case trimmed == "---", trimmed == "...":
			end()
			return head, strings.Join(lines[i+1:], ""), nil
		case line == "" || line[0] == ' ' || line[0] == '\t' || trimmed == "":
			value += "\n" + strings.TrimSpace(trimmed)
			continue
		}
		end()
		if name, v, ok := strings.Cut(trimmed, ":"); ok && (v == "" || v[0] == ' ' || v[0] == '\t') {
			key, value = strings.TrimSpace(name), strings.TrimSpace(v)
		}
	}
	return nil, "", errors.New("its front matter has no end: a line of --- is missing")
}

// scalar returns a value on one line.
func scalar(v string) string {
	first, more, _ := strings.Cut(v, "\n")
	if first != "" && (first[0] == '|' || first[0] == '>') {
		return words(more)
	}
	v = words(v)
	switch {
	case strings.HasPrefix(v, `"`):
		if q, err := strconv.Unquote(v); err == nil {
			return words(q)
		}
		return strings.Trim(v, `"`)
	case strings.HasPrefix(v, "'"):
		return words(strings.ReplaceAll(strings.TrimSuffix(v[1:], "'"), "''", "'"))
	}
	if i := strings.Index(v, " #"); i >= 0 { // a comment
		v = v[:i]
	}
	return words(v)
}

func words(s string) string { return strings.Join(strings.Fields(s), " ") }
