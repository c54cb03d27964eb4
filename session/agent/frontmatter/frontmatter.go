// Package frontmatter reads the front matter of Markdown files: the lines between two lines of
// "---" at the beginning, in a part of YAML.
//
// Start with [Split]. It reads keys at the beginning of a line with a plain, quoted or block value,
// or a list of these. Anything else, such as a nested table, becomes a part of the value before it
// or is ignored. The only error is front matter without an end. [Tools] translates the names of
// tools in a list.
package frontmatter

import (
	"errors"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// Split splits a text into the values of its front matter, by key, and the text after
// it. A text without front matter has no values.
func Split(text string) (head map[string]Value, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text, nil
	}
	lines := strings.SplitAfter(rest, "\n")
	head = map[string]Value{}
	key, value := "", ""
	end := func() {
		if key != "" {
			head[key] = Value(value)
		}
		key, value = "", ""
	}
	for i, line := range lines {
		trimmed := strings.TrimRight(line, " \t\n")
		switch {
		case trimmed == "---", trimmed == "...":
			end()
			return head, strings.Join(lines[i+1:], ""), nil
		case line == "" || line[0] == ' ' || line[0] == '\t' || trimmed == "" || strings.HasPrefix(line, "- "):
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

// Value is a value of the front matter: its first line without the key, and the lines
// after it without their indentation.
type Value string

// Text returns the value as one line.
func (v Value) Text() string {
	first, more, _ := strings.Cut(string(v), "\n")
	if first != "" && (first[0] == '|' || first[0] == '>') {
		return line.Join(more)
	}
	s := line.Join(string(v))
	switch {
	case strings.HasPrefix(s, `"`):
		if quoted, err := strconv.QuotedPrefix(s); err == nil {
			s, _ = strconv.Unquote(quoted)
		}
		return line.Join(strings.Trim(s, `"`))
	case strings.HasPrefix(s, "'"):
		return line.Join(strings.ReplaceAll(strings.TrimSuffix(s[1:], "'"), "''", "'"))
	}
	if i := strings.Index(s, " #"); i >= 0 { // a comment
		s = s[:i]
	}
	return line.Join(s)
}

// List returns the items of the value: a list in one of the two forms of YAML, or a text
// with commas or spaces between its items. Parentheses keep an item together, as in
// "Bash(git log:*)".
func (v Value) List() []string {
	first, more, _ := strings.Cut(strings.TrimSpace(string(v)), "\n")
	if strings.HasPrefix(first, "-") {
		more = first + "\n" + more
	}
	var items []string
	add := func(item string) {
		if item = Value(strings.TrimSpace(item)).Text(); item != "" {
			items = append(items, item)
		}
	}
	switch inner, flow := strings.CutPrefix(line.Join(string(v)), "["); {
	case flow:
		if i := strings.LastIndexByte(inner, ']'); i >= 0 { // else it is left open
			inner = inner[:i]
		}
		for _, item := range divide(inner, ",") {
			add(item)
		}
	case strings.HasPrefix(more, "-"):
		for line := range strings.Lines(more) {
			if item, ok := strings.CutPrefix(line, "-"); ok {
				add(item)
			}
		}
	default:
		for _, item := range divide(v.Text(), ", ") {
			add(item)
		}
	}
	return items
}

// divide divides a text at any of the separators that are outside of parentheses.
func divide(text, separators string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && strings.ContainsRune(separators, r)
	})
}
