package toml

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Rename is a key or table that had another path, or a key that no longer exists.
type Rename struct {
	Old, New string
	Table    bool   // a table or an array of tables; otherwise a key
	Gone     string // without New: why the key no longer exists, and what to do
	Reads    bool   // the key is still read, as New; see [Rename.Read]
}

// Read moves the value at the old path to the new one, whose table has the old key or is around its
// table. It returns the value, nil if there is none. The value is dropped if the new path has one.
func (r Rename) Read(root *Node) (n *Node, dropped bool) {
	old, path := strings.Split(r.Old, "."), strings.Split(r.New, ".")
	if n = root.at(old); !r.Of(n) {
		return nil, false
	}
	root.at(old[:len(old)-1]).remove(old[len(old)-1])
	to, key := root.at(path[:len(path)-1]), path[len(path)-1]
	if to.Child(key) != nil {
		return n, true
	}
	to.add(key, n)
	return n, false
}

// Of reports whether the rename applies to the value n at its old path.
func (r Rename) Of(n *Node) bool {
	tables := []unstable.Kind{unstable.Table, unstable.InlineTable, unstable.ArrayTable}
	return n != nil && r.Table == slices.Contains(tables, n.Kind)
}

// Editor changes the text of a document at its keys, so that comments, order
// and layout stay.
type Editor struct {
	renames    []Rename
	data       []byte // without a byte order mark
	bom        []byte
	eol        string
	root       *Node
	exprs      []expr
	edits      []edit
	moved      map[string][]string // texts of keys by their new table, which may end in []
	order      []string            // of moved
	Changes    []Change
	NotRenamed []string // keys that could not be renamed, with the reasons
}

// expr is a key with its value, or the header of a table.
type expr struct {
	kind           unstable.Kind
	keys           []string // of a header the whole path; of a key the part below the header's
	header         int      // index of the key's header; -1 if there is no header
	keyFrom, keyTo int      // of the key's text
	lineFrom, to   int      // of its lines
	from           int      // of the comment right above them
	moved          bool     // its lines were moved elsewhere
}

// edit replaces data[from:to] by text.
type edit struct {
	from, to int
	text     string
}

// Change describes the change of one line.
type Change struct {
	Line int
	Text string
}

// NewEditor returns an Editor for a document and the keys to rename.
func NewEditor(data []byte, renames []Rename) *Editor {
	e := &Editor{renames: renames, data: bytes.TrimPrefix(data, []byte("\ufeff")), eol: "\n", moved: map[string][]string{}}
	e.bom = data[:len(data)-len(e.data)]
	if bytes.Contains(data, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	e.root, _ = Parse(e.data)
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

// add appends an expression of the parser. header is the index of its header in e.exprs.
func (e *Editor) add(n *unstable.Node, header int) {
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

// Migrate returns the document with the old keys renamed or removed.
func (e *Editor) Migrate() []byte {
	e.dropDuplicateTables()
	for i := range e.exprs {
		if e.exprs[i].moved {
			continue
		}
		for _, r := range e.renames {
			if old := strings.Split(r.Old, "."); r.Of(e.valueAt(old)) {
				e.rename(&e.exprs[i], old, r)
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

// rename renames or removes x if its path is old or below.
func (e *Editor) rename(x *expr, old []string, r Rename) {
	var above []string
	if x.kind == unstable.KeyValue && x.header >= 0 {
		above = e.exprs[x.header].keys
	}
	path := slices.Concat(above, x.keys)
	if len(old) <= len(above) || !hasPrefix(path, old) {
		return
	}
	if r.New == "" {
		e.edits = append(e.edits, edit{x.from, x.to, ""})
		x.moved = true
		e.recordChange(x, "%s is removed: %s", join(path), r.Gone)
		return
	}
	to := slices.Concat(strings.Split(r.New, "."), path[len(old):])
	table, key := to[:len(to)-1], to[len(to)-1]
	target := e.valueAt(table)
	staysInTable := hasPrefix(to, above) && !isArray(table) && // the key can stay in its table
		(len(table) == len(above) || target == nil || target.Kind == unstable.Table && target.origin == byDots)
	switch {
	case e.valueAt(to) != nil || isArray(table) && target != nil:
		e.NotRenamed = append(e.NotRenamed, fmt.Sprintf("%s stays: %s already exists", join(path), join(to)))
		return
	case x.kind != unstable.KeyValue:
		e.edits = append(e.edits, edit{x.keyFrom, x.keyTo, join(to)})
	case staysInTable:
		e.edits = append(e.edits, edit{x.keyFrom, x.keyTo, join(to[len(above):])})
	case target != nil && (target.Kind != unstable.Table || target.origin == byDots):
		e.NotRenamed = append(e.NotRenamed, fmt.Sprintf("%s stays: move it to %s by hand", join(path), join(to)))
		return
	default:
		e.move(x, join(table), FormatKey(key))
	}
	e.recordChange(x, "%s is now %s", join(path), join(to))
}

// move removes the lines of x and adds them to the table, under that key.
func (e *Editor) move(x *expr, table, key string) {
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

// dropDuplicateTables removes each empty [table] that is an array of tables elsewhere,
// since TOML forbids the combination.
func (e *Editor) dropDuplicateTables() {
	for i := range e.exprs {
		x := &e.exprs[i]
		if keys, _ := e.below(i); x.kind == unstable.Table && keys == 0 && e.isArrayElsewhere(x.keys) {
			e.recordChange(x, "[%s] is removed: TOML does not allow it next to [[%[1]s]]", join(x.keys))
			e.dropHeader(x)
		}
	}
}

// dropHeaders removes the headers whose keys have all moved elsewhere. A table
// that keys move into keeps its header.
func (e *Editor) dropHeaders() {
	for i := range e.exprs {
		x := &e.exprs[i]
		keys, moved := e.below(i)
		if x.kind == unstable.Table && moved > 0 && moved == keys && e.moved[join(x.keys)] == nil {
			e.dropHeader(x)
		}
	}
}

// below counts the keys below a header, and how many of them moved.
func (e *Editor) below(header int) (keys, moved int) {
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

func (e *Editor) isArrayElsewhere(keys []string) bool {
	return slices.ContainsFunc(e.exprs, func(x expr) bool { return x.kind == unstable.ArrayTable && slices.Equal(x.keys, keys) })
}

// dropHeader removes a header's line and keeps its comment.
func (e *Editor) dropHeader(x *expr) {
	comment := ""
	if i := bytes.IndexByte(e.data[x.keyTo:x.to], '#'); i >= 0 {
		comment = string(e.data[x.keyTo+i : x.to])
	}
	e.edits = append(e.edits, edit{x.lineFrom, x.to, comment})
	x.moved = true
}

// section returns the header of a table, and reports whether it must be added.
func (e *Editor) section(table string) (header string, isNew bool) {
	if name, ok := strings.CutSuffix(table, "[]"); ok {
		return "[[" + name + "]]", true
	}
	return "[" + table + "]", e.header(table) < 0
}

// header returns the index of a table's header, -1 if the result has none.
func (e *Editor) header(table string) int {
	return slices.IndexFunc(e.exprs, func(x expr) bool {
		return x.kind == unstable.Table && !x.moved && join(x.keys) == table
	})
}

// insertBelow inserts text after the last key of a table.
func (e *Editor) insertBelow(table, text string) {
	header := e.header(table)
	at := e.exprs[header].to
	for _, x := range e.exprs[header+1:] {
		if x.kind == unstable.KeyValue && x.header == header {
			at = x.to
		}
	}
	e.edits = append(e.edits, edit{at, at, text})
}

// apply returns the edited document. No two edits overlap.
func (e *Editor) apply() []byte {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	slices.SortStableFunc(e.Changes, func(a, b Change) int { return a.Line - b.Line })
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
	if bytes.IndexAny(e.data, "\r\n") != 0 { // it began with text, and so does the result
		out = append(out[:len(e.bom)], bytes.TrimLeft(out[len(e.bom):], "\r\n")...)
	}
	return out
}

func (e *Editor) recordChange(x *expr, format string, args ...any) {
	line := bytes.Count(e.data[:x.keyFrom], []byte("\n")) + 1
	e.Changes = append(e.Changes, Change{line, fmt.Sprintf(format, args...)})
}

// valueAt returns the value at a path, nil if there is no such value.
func (e *Editor) valueAt(path []string) *Node { return e.root.at(path) }

// LineBefore returns the line that had, before renaming, the value at the path
// key; 0 if the document has no such value.
func (e *Editor) LineBefore(key string) int {
	key = Unindexed(key, "[]")
	for _, r := range e.renames {
		if rest, ok := strings.CutPrefix(key, r.New); ok && r.New != "" {
			if n := e.valueAt(strings.Split(r.Old+rest, ".")); n != nil {
				return n.Line
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
		if parts[i] = FormatKey(name); ok {
			parts[i] += "[]"
		}
	}
	return strings.Join(parts, ".")
}
