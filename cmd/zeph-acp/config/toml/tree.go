// Package toml parses a TOML document into a tree with line numbers, and decodes the tree
// into structs. It also renames keys in the text of a document.
//
// Start with [Parse], then use a [Decoder]; [NewEditor] edits. It finds all
// mistakes of a document, each with its line and key; the underlying library
// stops at the first. The caller defines the known keys by a struct, and the
// renamed ones by a list.
package toml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Node is a value of a TOML document, with its line. The library's decoder
// stops at the first mistake and has no lines of valid values.
type Node struct {
	Line   int // 1-based; 0 means that it is from no file
	Kind   unstable.Kind
	origin tableOrigin      // of Table
	Text   string           // of a scalar, unquoted
	Items  []*Node          // of Array and ArrayTable
	Keys   []string         // of Table and InlineTable, in order of appearance
	Table  map[string]*Node // of Table and InlineTable
}

// tableOrigin records how a table was created, which decides what may be added to it.
type tableOrigin uint8

const (
	byChild  tableOrigin = iota // [a.b] makes a
	byHeader                    // [a]
	byDots                      // a.b = 1 makes a
)

// Child returns the node of that key, nil if there is no such key.
func (n *Node) Child(key string) *Node { return n.Table[key] }

// at returns the value at a path, nil if there is no such value. A key may end in [].
func (n *Node) at(path []string) *Node {
	for _, key := range path {
		if n = n.Child(strings.TrimSuffix(key, "[]")); n == nil {
			return nil
		}
	}
	return n
}

func (n *Node) remove(key string) {
	delete(n.Table, key)
	n.Keys = slices.DeleteFunc(n.Keys, func(k string) bool { return k == key })
}

func (n *Node) add(key string, c *Node) *Node {
	if n.Table == nil {
		n.Table = map[string]*Node{}
	}
	n.Table[key] = c
	n.Keys = append(n.Keys, key)
	return c
}

// maxParts is the largest number of keys that a dotted key may join. Real keys
// have fewer; a hostile file could have a million.
const maxParts = 64

// tree is a document being read.
type tree struct {
	data     []byte
	lines    []int // offsets at which the lines begin
	root     *Node
	current  *Node // the table that keys belong to
	path     *path // of current
	base     int   // offset at which the text of the parser begins
	end      int   // offset after the last expression that could be parsed
	mistakes Mistakes
}

// Parse reads as much of a document as it can. A document without mistakes is
// valid TOML.
func Parse(data []byte) (*Node, Mistakes) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	t := &tree{data: data, root: &Node{Line: 1, Kind: unstable.Table, origin: byHeader}, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			t.lines = append(t.lines, i+1)
		}
	}
	t.current = t.root
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		t.addMistake(1, nil, "the file is UTF-16: save it as UTF-8")
		return t.root, t.mistakes
	}
	var p unstable.Parser
	for len(t.mistakes) < MaxMistakes {
		p.Reset(data[t.base:])
		for p.NextExpression() {
			t.expression(p.Expression())
		}
		err := p.Error()
		if err == nil {
			break
		}
		t.base = t.recover(err)
	}
	if len(t.mistakes) == 0 { // the library decides what is valid TOML
		var table map[string]any
		if err := toml.Unmarshal(data, &table); err != nil {
			line := 1
			if e, ok := errors.AsType[*toml.DecodeError](err); ok {
				line, _ = e.Position()
			}
			t.addMistake(line, nil, "%s", errorText(err))
		}
	}
	return t.root, t.mistakes
}

// addMistake records a mistake; key may be nil.
func (t *tree) addMistake(line int, key *path, format string, args ...any) {
	if len(t.mistakes) < MaxMistakes {
		t.mistakes = append(t.mistakes, Mistake{Line: line, Key: key.String(), Text: fmt.Sprintf(format, args...)})
	}
}

// lineOf returns the line on which a part of the parser's text begins.
func (t *tree) lineOf(part unstable.Range) int { return t.lineAt(t.base + int(part.Offset)) }

// endOf returns the offset after a part of the parser's text.
func (t *tree) endOf(part unstable.Range) int { return t.base + int(part.Offset+part.Length) }

// lineAt returns the line of an offset.
func (t *tree) lineAt(offset int) int {
	i, found := slices.BinarySearch(t.lines, offset)
	if found {
		return i + 1
	}
	return i
}

// expressionStart matches a line that may begin an expression.
var expressionStart = lazyregexp.New(`^[ \t]*(\[\[?[\w."' \t-]+\]\]?[ \t]*(#.*)?|[\w."'-]+[ \t]*=.*)\r?$`)

// recover records the syntax error err and returns the offset to continue from:
// the next line that may begin an expression.
func (t *tree) recover(err error) int {
	at, start := t.end, t.end
	if e, ok := errors.AsType[*unstable.ParserError](err); ok {
		at = min(max(cap(t.data)-cap(e.Highlight), 0), len(t.data))
	}
	// The failed expression begins on the first line after the last good one
	// that is neither blank nor a comment.
	first := t.lineAt(start)
	if start > t.lines[first-1] {
		first++
	}
	failed, line := t.lineAt(at), ""
	for ; first < failed; first++ {
		if line = strings.TrimSpace(t.text(first)); line != "" && line[0] != '#' {
			break
		}
	}
	first = min(first, failed)
	switch atEnd := at >= len(t.data)-1; {
	case first == failed || atEnd: // at the end, something was not closed
		t.addMistake(first, nil, "%s", errorText(err))
		failed = first + 1
	default:
		t.addMistake(failed, nil, "%s, in the expression that begins on line %d", errorText(err), first)
	}
	if strings.HasPrefix(strings.TrimSpace(t.text(first)), "[") {
		// The table of the following keys is unknown: they are parsed but
		// ignored.
		t.current, t.path = &Node{Kind: unstable.Table, origin: byHeader}, nil
	}
	for ; failed <= len(t.lines); failed++ {
		if expressionStart.MatchString(t.text(failed)) {
			t.end = t.lines[failed-1]
			return t.end
		}
	}
	return len(t.data)
}

// text returns a line without its end.
func (t *tree) text(line int) string {
	if line > len(t.lines) {
		return ""
	}
	text := t.data[t.lines[line-1]:]
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return string(text)
}

// expression adds a table, an element of an array of tables or a key.
func (t *tree) expression(e *unstable.Node) {
	var keys []string
	line := 0
	for it := e.Key(); it.Next(); {
		keys = append(keys, string(it.Node().Data))
		line = cmp.Or(line, t.lineOf(it.Node().Raw))
		t.end = max(t.end, t.endOf(it.Node().Raw))
	}
	switch e.Kind {
	case unstable.KeyValue:
		t.end = t.endOf(e.Raw)
		t.keyValue(t.current, t.path, keys, line, e.Value())
	case unstable.Table, unstable.ArrayTable:
		t.header(keys, line, e.Kind)
	}
}

// header makes the table of [keys] or a new element of [[keys]] current.
func (t *tree) header(keys []string, line int, kind unstable.Kind) {
	t.current, t.path = &Node{Line: line, Kind: unstable.Table, origin: byHeader}, (*path)(nil).child(keys...)
	if len(keys) > maxParts {
		t.path = nil
		t.addMistake(line, nil, "a key of %s", quantity.Count(len(keys), "part"))
		return
	}
	parent := t.descend(t.root, nil, keys[:len(keys)-1], line, byChild)
	if parent == nil {
		return // the following keys belong to no table
	}
	last := keys[len(keys)-1]
	if kind == unstable.ArrayTable {
		t.addElement(parent, last)
	} else {
		t.addTable(parent, last)
	}
}

// addElement adds the current table to an array of tables.
func (t *tree) addElement(parent *Node, key string) {
	line, old := t.current.Line, parent.Child(key)
	switch {
	case old == nil:
		parent.add(key, &Node{Line: line, Kind: unstable.ArrayTable, Items: []*Node{t.current}})
	case old.Kind == unstable.ArrayTable:
		old.Items = append(old.Items, t.current)
	case old.Kind == unstable.Table && old.origin == byHeader:
		t.addMistake(old.Line, t.path, "is a table here and an array of tables on line %d: use [[%s]] alone", line, t.path)
		*old = Node{Line: line, Kind: unstable.ArrayTable, Items: []*Node{t.current}}
	default:
		t.addMistake(line, t.path, "is an array of tables here and %s on line %d", KindName(old.Kind), old.Line)
	}
}

// addTable adds the current table, or makes the one current that another line has begun.
func (t *tree) addTable(parent *Node, key string) {
	line, old := t.current.Line, parent.Child(key)
	switch {
	case old == nil:
		parent.add(key, t.current)
	case old.Kind == unstable.ArrayTable:
		t.addMistake(line, t.path, "is a table here and an array of tables on line %d: use [[%s]] alone", old.Line, t.path)
	case old.Kind == unstable.Table:
		if old.origin != byChild {
			t.addMistake(line, t.path, "duplicate table, first on line %d", old.Line)
		}
		old.origin, old.Line = byHeader, line
		t.current = old
	default:
		t.addMistake(line, t.path, "is a table here and %s on line %d", KindName(old.Kind), old.Line)
	}
}

// keyValue sets the dotted keys below table to value.
func (t *tree) keyValue(table *Node, path *path, keys []string, line int, value *unstable.Node) {
	if len(keys) > maxParts {
		t.addMistake(line, nil, "a key of %s", quantity.Count(len(keys), "part"))
		return
	}
	last := len(keys) - 1
	parent := t.descend(table, path, keys[:last], line, byDots)
	if parent == nil {
		return
	}
	if old := parent.Child(keys[last]); old != nil {
		t.addMistake(line, path.child(keys...), "duplicate key, first on line %d", old.Line)
		return
	}
	parent.add(keys[last], t.value(value, path.child(keys...), line))
}

// descend walks from table along keys and creates missing tables. It returns
// nil if a value on the way is not a table, or is a table that cannot be
// extended.
func (t *tree) descend(table *Node, path *path, keys []string, line int, how tableOrigin) *Node {
	for i, key := range keys {
		next := table.Child(key)
		switch {
		case next == nil:
			next = table.add(key, &Node{Line: line, Kind: unstable.Table, origin: how})
		case next.Kind == unstable.ArrayTable && how == byChild:
			next = next.Items[len(next.Items)-1]
		case next.Kind != unstable.Table, how == byDots && next.origin == byHeader:
			t.addMistake(line, path.child(keys[:i+1]...), "is already %s, on line %d", KindName(next.Kind), next.Line)
			return nil
		}
		table = next
	}
	return table
}

// value builds the node of a value; path names it.
func (t *tree) value(v *unstable.Node, path *path, line int) *Node {
	if v.Raw.Length > 0 {
		line = t.lineOf(v.Raw)
	}
	n := &Node{Line: line, Kind: v.Kind}
	switch v.Kind {
	case unstable.Array:
		for it := v.Children(); it.Next(); {
			n.Items = append(n.Items, t.value(it.Node(), path.element(len(n.Items)), line))
		}
	case unstable.InlineTable:
		// It counts as a table while it is built, so that dotted keys can be
		// added.
		n.Kind = unstable.Table
		for it := v.Children(); it.Next(); {
			var keys []string
			at := 0
			for k := it.Node().Key(); k.Next(); {
				keys = append(keys, string(k.Node().Data))
				at = cmp.Or(at, t.lineOf(k.Node().Raw))
			}
			t.keyValue(n, path, keys, at, it.Node().Value())
		}
		n.Kind = unstable.InlineTable
	default:
		n.Text = string(v.Data)
	}
	return n
}

// KindName returns the name of a kind of value for messages.
func KindName(k unstable.Kind) string {
	switch k {
	case unstable.Table, unstable.InlineTable:
		return "a table"
	case unstable.ArrayTable:
		return "an array of tables"
	case unstable.Array:
		return "an array"
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return "a boolean"
	case unstable.Integer:
		return "a whole number"
	case unstable.Float:
		return "a decimal number"
	}
	return "a date or time"
}

// path is the path of a value in a document. It is a linked list, since most
// paths are never printed, and a hostile file could make them long.
type path struct {
	up        *path // nil for a key of the root
	key       string
	index     int // of an element of an array; key is then empty
	isElement bool
}

func (p *path) child(keys ...string) *path {
	for _, key := range keys {
		p = &path{up: p, key: key}
	}
	return p
}

func (p *path) element(index int) *path { return &path{up: p, index: index, isElement: true} }

// String formats the path as a dotted key with indexes.
func (p *path) String() string {
	var parts []string
	for ; p != nil; p = p.up {
		if p.isElement {
			parts = append(parts, fmt.Sprintf("[%d]", p.index))
			continue
		}
		parts = append(parts, FormatKey(p.key))
		if p.up != nil {
			parts = append(parts, ".")
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "")
}

var badStart = lazyregexp.New(`^unexpected character U\+([0-9A-F]+) .*at start of value$`)

// errorText returns the text of a library error without its prefix, with a hint where the
// text alone names no cause.
func errorText(err error) string {
	text := strings.TrimPrefix(err.Error(), "toml: ")
	if m := badStart.FindStringSubmatch(text); m != nil {
		char, _ := strconv.ParseInt(m[1], 16, 32)
		switch {
		case char == '\n' || char == '\r':
			return "the value is missing"
		case unicode.IsLetter(rune(char)):
			return text + ": put a text in quotes"
		}
	}
	switch {
	case strings.HasSuffix(text, " strings cannot have new lines"):
		return "the closing quote is missing"
	case strings.Contains(text, "escape"):
		return text + `: write "\\" for a backslash, or put the text in single quotes`
	}
	return text
}
