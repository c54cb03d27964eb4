package notebook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// splice replaces a part of the file's text.
type splice struct {
	span
	text string
}

// spliced returns the file's text with the changes, which do not overlap.
func (n *Notebook) spliced(changes ...splice) string {
	slices.SortStableFunc(changes, func(a, b splice) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(n.raw[at:c.from])
		b.WriteString(c.text)
		at = c.to
	}
	b.WriteString(n.raw[at:])
	return b.String()
}

// SetSources returns the file's text with other sources of cells, by their indexes. The outputs stay.
func (n *Notebook) SetSources(sources map[int]string) string {
	var changes []splice
	for i, source := range sources {
		changes = append(changes, n.sourceSplice(&n.Cells[i], source)...)
	}
	return n.spliced(changes...)
}

// sourceSplice returns the change of a cell's source; none if it stays.
func (n *Notebook) sourceSplice(c *Cell, source string) []splice {
	m, ok := c.source()
	switch {
	case source == c.Source:
		return nil
	case !ok:
		return []splice{n.insertMember(c, len(c.members), "source", n.lines(source, n.margin(c)))}
	}
	value := m.value.in(n.raw)
	if strings.HasPrefix(value, "[") {
		return []splice{{m.value, n.relist(c, value, source)}}
	}
	return []splice{{m.value, requote(value, source, n.ascii)}}
}

// relist returns the list of lines for a new source. Elements that stay at both ends keep their bytes.
func (n *Notebook) relist(c *Cell, list, source string) string {
	spans, err := elements(list, span{0, len(list)})
	if err != nil || len(spans) == 0 {
		return n.lines(source, n.margin(c))
	}
	var old, raws []string
	for i, s := range spans {
		raws = append(raws, s.in(list))
		line, _ := text(s.in(list))
		if c.bare && i < len(spans)-1 {
			line += "\n"
		}
		old = append(old, line)
	}
	head, rest := 0, source
	for head < len(old) && strings.HasPrefix(rest, old[head]) && (strings.HasSuffix(old[head], "\n") || rest == old[head]) {
		rest = rest[len(old[head]):]
		head++
	}
	tail := len(old)
	for tail > head {
		before, ok := strings.CutSuffix(rest, old[tail-1])
		if !ok || before != "" && !strings.HasSuffix(before, "\n") {
			break
		}
		rest = before
		tail--
	}
	var middle []string
	newLines := slices.Collect(strings.Lines(rest))
	if c.bare && tail == len(old) {
		newLines = strings.SplitAfter(rest, "\n")
	}
	for _, line := range newLines {
		if c.bare {
			line = strings.TrimSuffix(line, "\n")
		}
		if len(middle) < tail-head {
			middle = append(middle, requote(raws[head+len(middle)], line, n.ascii))
		} else {
			middle = append(middle, quote(line, n.ascii))
		}
	}
	all := slices.Concat(raws[:head], middle, raws[tail:])
	if len(all) == 0 {
		return "[]"
	}
	// The white space around the elements stays too.
	open, closing := list[:spans[0].from], list[spans[len(spans)-1].to:]
	between := n.between
	if len(spans) > 1 {
		between = list[spans[0].to:spans[1].from]
	} else if strings.Contains(open, "\n") {
		between = "," + open[1:]
	}
	var b strings.Builder
	b.WriteString(open)
	for i, element := range all {
		if i > 0 {
			sep := between
			switch from := len(all) - i; { // of elements that stay together
			case i < head:
				sep = list[spans[i-1].to:spans[i].from]
			case from < len(raws)-tail:
				at := len(raws) - from
				sep = list[spans[at-1].to:spans[at].from]
			}
			b.WriteString(sep)
		}
		b.WriteString(element)
	}
	b.WriteString(closing)
	return b.String()
}

// lines returns a new list of lines. margin is the white space before the keys of its cell.
func (n *Notebook) lines(source, margin string) string {
	if source == "" {
		return "[]"
	}
	var all []string
	for line := range strings.Lines(source) {
		all = append(all, quote(line, n.ascii))
	}
	open, between, closing := n.open, n.between, n.closing
	if open == "" { // no cell shows how
		if open, between, closing = "", ", ", ""; margin != "" {
			open, between, closing = margin+" ", ","+margin+" ", margin
		}
	}
	return "[" + open + strings.Join(all, between) + closing + "]"
}

// margin returns the white space before the first key of a cell, with the line break.
func (n *Notebook) margin(c *Cell) string {
	if len(c.members) == 0 {
		return n.defaultMargin()
	}
	return n.raw[c.at.from+1 : c.members[0].key.from]
}

func (n *Notebook) defaultMargin() string {
	if n.oneLine {
		return ""
	}
	return "\n   "
}

// insertMember returns the change that adds a member to a cell, so that it has this index.
func (n *Notebook) insertMember(c *Cell, index int, name, value string) splice {
	text := quote(name, n.ascii) + n.colon + value
	sep := "," + cmp.Or(n.margin(c), n.space())
	switch {
	case index > 0:
		at := c.members[index-1].value.to
		return splice{span{at, at}, sep + text}
	case len(c.members) > 0:
		at := c.members[0].key.from
		return splice{span{at, at}, text + sep}
	}
	return splice{span{c.at.from + 1, c.at.from + 1}, text}
}

// space is the white space after a comma of a file without line breaks.
func (n *Notebook) space() string {
	if strings.HasSuffix(n.colon, " ") {
		return " "
	}
	return ""
}

// removeMembers returns the changes that remove the members that fit.
func (c *Cell) removeMembers(fits func(name string) bool) []splice {
	var out []splice
	kept := false // an earlier member
	for i, m := range c.members {
		switch {
		case !fits(m.name):
			kept = true
		case kept:
			out = append(out, splice{span: span{c.members[i-1].value.to, m.value.to}})
		case i+1 < len(c.members):
			out = append(out, splice{span: span{m.key.from, c.members[i+1].key.from}})
		default:
			out = append(out, splice{span: span{m.key.from, m.value.to}})
		}
	}
	return out
}

// index returns the index of the member with one of these names, or -1.
func (c *Cell) index(names ...string) int {
	return slices.IndexFunc(c.members, func(m member) bool { return slices.Contains(names, m.name) })
}

// SetCell returns the file's text with another source and type of a cell. A cell that becomes code gets
// empty outputs; one that was code loses them.
func (n *Notebook) SetCell(i int, source, kind string) (string, error) {
	c := &n.Cells[i]
	if c.Type == kind {
		return n.SetSources(map[int]string{i: source}), nil
	}
	if n.major < 4 {
		return "", fmt.Errorf("nbformat %s is too old to change the type of a cell", n.Format)
	}
	at := c.index("cell_type")
	if at < 0 {
		return "", fmt.Errorf("cell %d has no type", i+1)
	}
	changes := append(n.sourceSplice(c, source), splice{c.members[at].value, quote(kind, false)})
	changes = append(changes, c.removeMembers(func(name string) bool {
		if kind == Code {
			return name == "attachments"
		}
		return name == "execution_count" || name == "outputs"
	})...)
	if kind == Code {
		if c.index("execution_count") < 0 {
			changes = append(changes, n.insertMember(c, at+1, "execution_count", "null"))
		}
		if c.index("outputs") < 0 {
			j := c.index("source")
			if j < 0 {
				j = len(c.members)
			}
			changes = append(changes, n.insertMember(c, j, "outputs", "[]"))
		}
	}
	return n.spliced(changes...), nil
}

// Insert returns the file's text with a new cell after the cell with this index; -1 is the beginning. id is
// empty if the format has no ids.
func (n *Notebook) Insert(after int, kind, source string) (text, id string, err error) {
	if n.major < 4 {
		return "", "", fmt.Errorf("nbformat %s is too old to insert a cell", n.Format)
	}
	margin := n.defaultMargin()
	if len(n.Cells) > 0 {
		margin = n.margin(&n.Cells[max(after, 0)])
	}
	if n.major > 4 || n.minor >= 5 {
		id = n.newID(fmt.Sprint(after, kind, source))
	}
	cell := n.newCell(kind, source, id, margin)
	list := n.lists[0]
	switch {
	case len(n.Cells) == 0 && n.oneLine:
		return n.spliced(splice{list, "[" + cell + "]"}), id, nil
	case len(n.Cells) == 0:
		return n.spliced(splice{list, "[\n  " + cell + "\n ]"}), id, nil
	}
	sep := n.cellSeparator(list)
	if after < 0 {
		at := n.Cells[0].at.from
		return n.spliced(splice{span{at, at}, cell + sep}), id, nil
	}
	at := n.Cells[after].at.to
	return n.spliced(splice{span{at, at}, sep + cell}), id, nil
}

// cellSeparator returns the text between two cells.
func (n *Notebook) cellSeparator(list span) string {
	if len(n.Cells) > 1 && n.Cells[1].list == n.Cells[0].list {
		return n.raw[n.Cells[0].at.to:n.Cells[1].at.from]
	}
	return "," + cmp.Or(n.raw[list.from+1:n.Cells[0].at.from], n.space())
}

// newCell returns the text of a cell, with its keys in the order in which Jupyter writes them.
func (n *Notebook) newCell(kind, source, id, margin string) string {
	parts := []string{`"cell_type"` + n.colon + quote(kind, false)}
	if kind == Code {
		parts = append(parts, `"execution_count"`+n.colon+"null")
	}
	if id != "" {
		parts = append(parts, `"id"`+n.colon+quote(id, false))
	}
	parts = append(parts, `"metadata"`+n.colon+"{}")
	if kind == Code {
		parts = append(parts, `"outputs"`+n.colon+"[]")
	}
	parts = append(parts, `"source"`+n.colon+n.lines(source, margin))
	end := ""
	if i := strings.LastIndexByte(margin, '\n'); i >= 0 {
		end = margin[:max(i+1, len(margin)-1)]
		if len(n.Cells) > 0 { // as the others end
			if c := n.Cells[0]; len(c.members) > 0 {
				end = n.raw[c.members[len(c.members)-1].value.to : c.at.to-1]
			}
		}
	}
	return "{" + margin + strings.Join(parts, ","+cmp.Or(margin, n.space())) + end + "}"
}

// newID returns an id that no cell has. It depends on the file and on seed alone, so that a change can be shown
// before it is made.
func (n *Notebook) newID(seed string) string {
	for i := 0; ; i++ {
		sum := sha256.Sum256(fmt.Append(nil, i, seed, n.raw))
		id := hex.EncodeToString(sum[:4])
		if !slices.ContainsFunc(n.Cells, func(c Cell) bool { return c.ID == id }) {
			return id
		}
	}
}

// Delete returns the file's text without a cell.
func (n *Notebook) Delete(i int) string {
	c := n.Cells[i]
	sibling := func(j int) bool { return j >= 0 && j < len(n.Cells) && n.Cells[j].list == c.list }
	switch {
	case sibling(i - 1):
		return n.spliced(splice{span: span{n.Cells[i-1].at.to, c.at.to}})
	case sibling(i + 1):
		return n.spliced(splice{span: span{c.at.from, n.Cells[i+1].at.from}})
	}
	return n.spliced(splice{n.lists[c.list], "[]"})
}

// readStyle finds out how the file is written.
func (n *Notebook) readStyle(top []member) {
	n.oneLine = !strings.Contains(strings.TrimSpace(n.raw), "\n")
	n.colon = ": "
	if len(top) > 0 {
		n.colon = n.raw[top[0].key.to:top[0].value.from]
	}
	n.between = "," + n.space()
	n.ascii = strings.Contains(n.raw, `\u`) && !strings.ContainsFunc(n.raw, func(r rune) bool { return r >= utf8.RuneSelf })
	for i := range n.Cells {
		m, ok := n.Cells[i].source()
		if !ok {
			continue
		}
		list := m.value.in(n.raw)
		spans, err := elements(list, span{0, len(list)})
		if err != nil || len(spans) == 0 {
			continue
		}
		n.open, n.closing = list[1:spans[0].from], list[spans[len(spans)-1].to:len(list)-1]
		if strings.Contains(n.open, "\n") {
			n.between = "," + n.open
		}
		return
	}
}
