package app

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// editor changes the text of a document where its keys stand, so that comments,
// order and layout survive.
type editor struct {
	data    []byte // without a byte order mark
	bom     []byte
	eol     string
	root    *node
	exprs   []expr
	edits   []edit
	moved   map[string][]string // texts of keys by their new table, which may end in []
	order   []string            // of moved
	changes []change
	stays   []string // what could not be renamed, and why
}

// expr is a key with its value, or the header of a table.
type expr struct {
	kind           unstable.Kind
	keys           []string // of a header the whole path, else below the header's
	header         int      // index of the header that a key is below; -1 if none
	keyFrom, keyTo int      // of the key's text
	lineFrom, to   int      // of its lines
	from           int      // of these and the comment right above them
	moved          bool     // its lines are not here any more
}

// edit puts text in the place of data[from:to].
type edit struct {
	from, to int
	text     string
}

// change is what was done on a line.
type change struct {
	line int
	text string
}

func newEditor(data []byte) *editor {
	e := &editor{data: bytes.TrimPrefix(data, []byte("\ufeff")), eol: "\n", moved: map[string][]string{}}
	e.bom = data[:len(data)-len(e.data)]
	if bytes.Contains(data, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	e.root, _ = parse(e.data)
	var p unstable.Parser
	p.Reset(e.data)
	header := -1
	for p.NextExpression() {
		e.add(p.Expression(), header)
		if p.Expression().Kind != unstable.KeyValue {
			header = len(e.exprs) - 1
		}
	}
	if p.Error() != nil {
		e.exprs = nil
	}
	return e
}

func (e *editor) add(n *unstable.Node, header int) {
	x := expr{kind: n.Kind, header: header, keyFrom: -1}
	for it := n.Key(); it.Next(); {
		raw := it.Node().Raw
		x.keys = append(x.keys, string(it.Node().Data))
		x.keyTo = int(raw.Offset + raw.Length)
		if x.keyFrom < 0 {
			x.keyFrom = int(raw.Offset)
		}
	}
	x.lineFrom = bytes.LastIndexByte(e.data[:x.keyFrom], '\n') + 1
	x.to = max(x.keyTo, int(n.Raw.Offset+n.Raw.Length))
	if i := bytes.IndexByte(e.data[x.to:], '\n'); i >= 0 {
		x.to += i + 1
	} else {
		x.to = len(e.data)
	}
	before := 0
	if len(e.exprs) > 0 {
		before = e.exprs[len(e.exprs)-1].to
	}
	x.from = x.lineFrom
	for x.from > before {
		above := bytes.LastIndexByte(e.data[:x.from-1], '\n') + 1
		if !bytes.HasPrefix(bytes.TrimLeft(e.data[above:x.from], " \t"), []byte("#")) {
			break
		}
		x.from = above
	}
	e.exprs = append(e.exprs, x)
}

// migrate gives the document with the old keys renamed.
func (e *editor) migrate() []byte {
	e.dropDoubled()
	for i := range e.exprs {
		if e.exprs[i].moved {
			continue
		}
		for _, r := range renames {
			if old := strings.Split(r.old, "."); r.of(e.find(old)) {
				e.rename(&e.exprs[i], old, strings.Split(r.new, "."))
			}
		}
	}
	e.dropHeaders()
	end := ""
	for _, table := range e.order {
		section, isNew := e.section(table)
		text := strings.Join(e.moved[table], "")
		if isNew {
			end += e.eol + section + e.eol + text
			continue
		}
		e.insertBelow(table, text)
	}
	if end != "" {
		e.edits = append(e.edits, edit{len(e.data), len(e.data), end})
	}
	return e.apply()
}

// rename renames x if its path is old or below.
func (e *editor) rename(x *expr, old, to []string) {
	var above []string
	if x.kind == unstable.KeyValue && x.header >= 0 {
		above = e.exprs[x.header].keys
	}
	path := slices.Concat(above, x.keys)
	if len(old) <= len(above) || !hasPrefix(path, old) {
		return
	}
	to = slices.Concat(to, path[len(old):])
	table, key := to[:len(to)-1], to[len(to)-1]
	there := e.find(table)
	here := hasPrefix(to, above) && !isArray(table) && // the key can stay where it is
		(len(table) == len(above) || there == nil || there.kind == unstable.Table && there.made == byDots)
	switch {
	case e.find(to) != nil || isArray(table) && there != nil:
		e.stays = append(e.stays, fmt.Sprintf("%s stays: there is %s already", join(path), join(to)))
		return
	case x.kind != unstable.KeyValue:
		e.edits = append(e.edits, edit{x.keyFrom, x.keyTo, join(to)})
	case here:
		e.edits = append(e.edits, edit{x.keyFrom, x.keyTo, join(to[len(above):])})
	case there != nil && (there.kind != unstable.Table || there.made == byDots):
		e.stays = append(e.stays, fmt.Sprintf("%s stays: move it to %s by hand", join(path), join(to)))
		return
	default:
		e.move(x, join(table), bareOrQuoted(key))
	}
	e.note(x, "%s is now %s", join(path), join(to))
}

// move takes the lines of x away, to be put into the table under that key.
func (e *editor) move(x *expr, table, key string) {
	text := string(e.data[x.from:x.keyFrom]) + key + string(e.data[x.keyTo:x.to])
	if !strings.HasSuffix(text, "\n") {
		text += e.eol
	}
	if e.moved[table] == nil {
		e.order = append(e.order, table)
	}
	e.moved[table] = append(e.moved[table], text)
	e.edits = append(e.edits, edit{x.from, x.to, ""})
	x.moved = true
}

// dropDoubled takes away each empty [table] that is an array of tables elsewhere,
// which is no TOML.
func (e *editor) dropDoubled() {
	for i := range e.exprs {
		x := &e.exprs[i]
		if keys, _ := e.below(i); x.kind == unstable.Table && keys == 0 && e.isArrayElsewhere(x.keys) {
			e.note(x, "[%s] goes: with [[%[1]s]] it is no TOML", join(x.keys))
			e.drop(x)
		}
	}
}

// dropHeaders removes the headers whose keys have all moved elsewhere. A table
// that keys move into keeps its header.
func (e *editor) dropHeaders() {
	for i := range e.exprs {
		x := &e.exprs[i]
		keys, moved := e.below(i)
		if x.kind == unstable.Table && moved > 0 && moved == keys && e.moved[join(x.keys)] == nil {
			e.drop(x)
		}
	}
}

// below counts the keys below a header, and those of them that moved.
func (e *editor) below(header int) (keys, moved int) {
	for _, x := range e.exprs[header+1:] {
		if x.header != header || x.kind != unstable.KeyValue {
			break
		}
		keys++
		if x.moved {
			moved++
		}
	}
	return keys, moved
}

func (e *editor) isArrayElsewhere(keys []string) bool {
	return slices.ContainsFunc(e.exprs, func(x expr) bool { return x.kind == unstable.ArrayTable && slices.Equal(x.keys, keys) })
}

// drop takes a header's line away, but for its comment.
func (e *editor) drop(x *expr) {
	comment := ""
	if i := bytes.IndexByte(e.data[x.keyTo:x.to], '#'); i >= 0 {
		comment = string(e.data[x.keyTo+i : x.to])
	}
	e.edits = append(e.edits, edit{x.lineFrom, x.to, comment})
	x.moved = true
}

// section gives the header of a table, and whether it is still to be written.
func (e *editor) section(table string) (header string, isNew bool) {
	if name, ok := strings.CutSuffix(table, "[]"); ok {
		return "[[" + name + "]]", true
	}
	return "[" + table + "]", e.header(table) < 0
}

// header returns the index of a table's header, -1 if the result has none.
func (e *editor) header(table string) int {
	return slices.IndexFunc(e.exprs, func(x expr) bool {
		return x.kind == unstable.Table && !x.moved && join(x.keys) == table
	})
}

// insertBelow puts text behind the last key of a table.
func (e *editor) insertBelow(table, text string) {
	header := e.header(table)
	at := e.exprs[header].to
	for _, x := range e.exprs[header+1:] {
		if x.kind == unstable.KeyValue && x.header == header {
			at = x.to
		}
	}
	e.edits = append(e.edits, edit{at, at, text})
}

// apply gives the edited document. No two edits overlap.
func (e *editor) apply() []byte {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	slices.SortStableFunc(e.changes, func(a, b change) int { return a.line - b.line })
	out := slices.Clone(e.bom)
	at := 0
	for _, d := range e.edits {
		out = append(out, e.data[at:d.from]...)
		if d.from == d.to && len(out) > len(e.bom) && out[len(out)-1] != '\n' {
			out = append(out, e.eol...)
		}
		out = append(out, d.text...)
		at = d.to
	}
	out = append(out, e.data[at:]...)
	if !bytes.HasPrefix(e.data, []byte(e.eol)) {
		out = append(out[:len(e.bom)], bytes.TrimLeft(out[len(e.bom):], "\r\n")...)
	}
	return out
}

func (e *editor) note(x *expr, format string, args ...any) {
	line := bytes.Count(e.data[:x.keyFrom], []byte("\n")) + 1
	e.changes = append(e.changes, change{line, fmt.Sprintf(format, args...)})
}

// find gives the value at a path, nil if there is none.
func (e *editor) find(path []string) *node {
	n := e.root
	for _, key := range path {
		if n = n.child(strings.TrimSuffix(key, "[]")); n == nil {
			return nil
		}
	}
	return n
}

// lineBefore returns the line on which the value stood that has the path key
// after renaming; 0 if the document has no such value.
func (e *editor) lineBefore(key string) int {
	key = indexes().ReplaceAllString(key, "[]")
	for _, r := range renames {
		if rest, ok := strings.CutPrefix(key, r.new); ok {
			if n := e.find(strings.Split(r.old+rest, ".")); n != nil {
				return n.line
			}
		}
	}
	return 0
}

func isArray(table []string) bool {
	return len(table) > 0 && strings.HasSuffix(table[len(table)-1], "[]")
}

func hasPrefix(path, prefix []string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

// join writes a path as TOML; the [] of an array stays.
func join(path []string) string {
	parts := make([]string, len(path))
	for i, key := range path {
		name, ok := strings.CutSuffix(key, "[]")
		if parts[i] = bareOrQuoted(name); ok {
			parts[i] += "[]"
		}
	}
	return strings.Join(parts, ".")
}
