// Package notebook reads and edits Jupyter notebooks (.ipynb) of nbformat 2 to 4.
//
// Start with [Parse]. A change returns the text of the whole file, in which every byte stays that the
// change does not concern: indentation, the order of keys, escapes, and whether a source is a string or a
// list of lines. The cells of a notebook do not follow a change; parse the new text.
//
// It does not run cells, and it does not check a notebook against the schema of its format.
//
// Format: https://nbformat.readthedocs.io/en/latest/format_description.html
package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The types of cells. Older notebooks also have "heading".
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// Notebook is a notebook with the text of its file.
type Notebook struct {
	Format   string // such as "4.5"
	Language string // of the kernel; empty if unknown
	Cells    []Cell

	raw          string
	lists        []span // the arrays of cells; one in a notebook of nbformat 4
	major, minor int

	ascii   bool   // other characters are escaped
	oneLine bool   // the file has no line breaks
	colon   string // between a key and its value
	open    string // between the bracket of a list of lines and its first element
	between string // between elements of a list of lines, with the comma
	closing string // after the last element of a list of lines
}

// Cell is a cell of a notebook.
type Cell struct {
	ID      string // empty before nbformat 4.5
	Type    string // Code, Markdown, Raw, or a type of another format
	Source  string
	Run     string // the execution count as the file writes it, empty if there is none
	Outputs []Output

	bare    bool // the lines of its source have no line breaks
	list    int  // the index of its array
	at      span
	members []member
}

// span is a part of the file's text, in bytes.
type span struct{ from, to int }

func (s span) in(raw string) string { return raw[s.from:s.to] }

// member is a member of an object.
type member struct {
	name       string
	key, value span
}

// errNoCells reports JSON that is not a notebook.
var errNoCells = errors.New("it is JSON, but has no list of cells")

// Parse parses the text of a file.
func Parse(raw string) (*Notebook, error) {
	if !json.Valid([]byte(raw)) { // also bounds the depth
		return nil, syntaxError(raw)
	}
	top, err := members(raw, span{0, len(raw)})
	if err != nil {
		return nil, errNoCells
	}
	n := &Notebook{raw: raw}
	n.readFormat(top)
	if v, ok := find(top, "cells"); ok {
		n.lists = append(n.lists, v)
	} else if v, ok := find(top, "worksheets"); ok {
		sheets, err := elements(raw, v)
		if err != nil {
			return nil, errNoCells
		}
		for _, sheet := range sheets {
			if m, err := members(raw, sheet); err == nil {
				if cells, ok := find(m, "cells"); ok {
					n.lists = append(n.lists, cells)
				}
			}
		}
	}
	if len(n.lists) == 0 {
		return nil, errNoCells
	}
	for i, list := range n.lists {
		cells, err := elements(raw, list)
		if err != nil {
			return nil, errNoCells
		}
		for _, at := range cells {
			c, err := parseCell(raw, at, n.major < 4)
			if err != nil {
				return nil, fmt.Errorf("cell %d is not an object", len(n.Cells)+1)
			}
			c.list = i
			n.Cells = append(n.Cells, c)
		}
	}
	n.readStyle(top)
	return n, nil
}

// syntaxError returns the place of the first error in raw, which is not JSON.
func syntaxError(raw string) error {
	var v json.RawMessage
	err := json.Unmarshal([]byte(raw), &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := raw[:min(int(syntax.Offset), len(raw))]
		return fmt.Errorf("line %d: %w", strings.Count(before, "\n")+1, err)
	}
	return err
}

func (n *Notebook) readFormat(top []member) {
	number := func(name string) int {
		v, _ := find(top, name)
		i, _ := strconv.Atoi(v.in(n.raw))
		return i
	}
	n.major, n.minor = number("nbformat"), number("nbformat_minor")
	n.Format = fmt.Sprintf("%d.%d", n.major, n.minor)
	if n.major == 0 {
		n.major, n.Format = 4, "unknown"
	}
	var meta struct {
		LanguageInfo struct{ Name string }     `json:"language_info"`
		KernelSpec   struct{ Language string } `json:"kernelspec"`
	}
	if v, ok := find(top, "metadata"); ok {
		_ = json.Unmarshal([]byte(v.in(n.raw)), &meta) // other metadata says nothing
	}
	n.Language = meta.LanguageInfo.Name
	if n.Language == "" {
		n.Language = meta.KernelSpec.Language
	}
}

func parseCell(raw string, at span, old bool) (Cell, error) {
	c := Cell{at: at}
	var err error
	if c.members, err = members(raw, at); err != nil {
		return c, err
	}
	for _, m := range c.members {
		value := m.value.in(raw)
		switch m.name {
		case "id":
			c.ID, _ = text(value)
		case "cell_type":
			c.Type, _ = text(value)
		case "source", "input":
			c.Source, _ = text(value)
			if c.bare = old && isBare(value); c.bare {
				c.Source = bareText(value)
			}
		case "execution_count", "prompt_number":
			if value != "null" && len(value) < 20 {
				c.Run = value
			}
		case "outputs":
			c.Outputs = parseOutputs(value)
		}
	}
	return c, nil
}

// source returns the member with the cell's source.
func (c *Cell) source() (member, bool) {
	for _, m := range slices.Backward(c.members) {
		if m.name == "source" || m.name == "input" {
			return m, true
		}
	}
	return member{}, false
}

// Find returns the index of the cell that ref names: by its id, or by its number as "#3" or "3".
func (n *Notebook) Find(ref string) (int, error) {
	var same []int
	for i, c := range n.Cells {
		if c.ID != "" && c.ID == ref {
			same = append(same, i)
		}
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return 0, fmt.Errorf("cells %d and %d both have the id %s; name one as #%d", same[0]+1, same[1]+1, ref, same[0]+1)
	}
	number, err := strconv.Atoi(strings.TrimPrefix(ref, "#"))
	switch {
	case err != nil:
		return 0, fmt.Errorf("no cell has the id %q", ref)
	case number < 1 || number > len(n.Cells):
		return 0, fmt.Errorf("there is no cell %d: the last one is %d", number, len(n.Cells))
	}
	return number - 1, nil
}

// Name returns the name of a cell for Find: its id, or its number.
func (n *Notebook) Name(i int) string {
	id := n.Cells[i].ID
	if at, err := n.Find(id); err == nil && at == i {
		return id
	}
	return fmt.Sprintf("#%d", i+1)
}
