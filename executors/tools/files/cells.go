package files

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/notebook"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxDocument = 64 << 20 // bytes of a file that is read into memory to show its text
	maxPictures = 4        // of one result
)

// outputLimits bounds each output of a cell when a whole notebook is read.
var outputLimits = notebook.Limits{Lines: 20, Chars: 2000}

// isNotebook reports whether a path is named as a notebook.
func isNotebook(path string) bool { return extensionOf(path) == "ipynb" }

// readNotebook shows the cells of a notebook: all, or those that the call names. It reports false if the
// file is not a notebook, whose text is then shown with a note.
func (t *tools) readNotebook(ctx context.Context, at stattedTarget, in *readInput) (res executors.Result, note string, err error) {
	f, err := t.loadNotebook(ctx, at)
	if err != nil {
		return res, "", err
	}
	n, err := notebook.Parse(strings.TrimPrefix(f.text, executors.ByteOrderMark))
	if err != nil {
		return res, fmt.Sprintf("[%s is not a valid notebook: %v. This is its text.]", at.display, err), nil
	}
	cells, limits := []int(nil), outputLimits
	if in.Pages == "" {
		for i := range n.Cells {
			cells = append(cells, i)
		}
	} else {
		limits = notebook.Limits{Lines: 1 << 30, Chars: t.cfg.pageChars()}
		if cells, err = namedCells(n, in.Pages); err != nil {
			return res, "", executors.Failuref(executors.InvalidParameters, "pages: %v", err).
				Hint(`Name cells of %s by id or number: "#3", "2-5".`, at.display)
		}
	}
	var b strings.Builder
	b.WriteString(n.Heading(at.display) + "\n")
	for _, i := range cells {
		if ctx.Err() != nil {
			return res, "", context.Cause(ctx)
		}
		b.WriteString(n.Show(i, limits, text.WithoutControls))
		if in.Pages != "" {
			res.Content = append(res.Content, picturesOf(n.Cells[i], maxPictures-len(res.Content))...)
		}
	}
	page, err := t.pageOf(ctx, at, in, b.String(), true)
	page.Content = res.Content
	return page, "", err
}

// loadNotebook returns the text of a notebook: from the editor or, if it is large, from the disk.
func (t *tools) loadNotebook(ctx context.Context, at stattedTarget) (fileText, error) {
	if !at.isFile() || at.info.Size() <= int64(t.cfg.MaxFileBytes) {
		return t.loadStatted(ctx, at)
	}
	content, err := t.content(ctx, at, max(maxDocument, t.cfg.MaxFileBytes))
	if err != nil {
		return fileText{}, err
	}
	return decode(at.abs, string(content), newDeclarations(t.roots)), nil
}

// pageOf returns a page of the text that read shows of a file, by the call's offset and limit. whole reports
// that the text is not cut after that page.
func (t *tools) pageOf(ctx context.Context, at stattedTarget, in *readInput, text string, whole bool) (executors.Result, error) {
	p := pager{name: at.display, skip: in.Offset, limit: t.readLines(in), room: t.cfg.pageChars(), plain: true}
	if whole {
		p.countLines(text)
	}
	if err := p.read(ctx, strings.NewReader(text)); err != nil {
		return executors.Result{}, err
	}
	return executors.Result{
		Text: p.String(), Full: p.fullLines(ctx, strings.NewReader(text)),
		Raw: rawRead{Path: at.client, FirstLine: in.Offset + 1, Lines: p.shown, Total: p.total, More: p.more},
	}, nil
}

// namedCells returns the indexes of the cells in a list such as "ab12, #3, 5-7".
func namedCells(n *notebook.Notebook, list string) ([]int, error) {
	var out []int
	for _, one := range strings.Split(list, ",") {
		one = strings.TrimSpace(one)
		i, err := n.Find(one)
		if err == nil {
			out = append(out, i)
			continue
		}
		first, last, isRange, rangeErr := pageRange(strings.ReplaceAll(one, "#", ""))
		if rangeErr != nil || !isRange {
			return nil, err
		}
		if first > len(n.Cells) {
			return nil, fmt.Errorf("there is no cell %d: the last one is %d", first, len(n.Cells))
		}
		for i := first; i <= min(last, len(n.Cells)); i++ {
			out = append(out, i-1)
		}
	}
	return out, nil
}

// pageRange parses "3", "3-5" or "3-"; numbers begin at 1.
func pageRange(s string) (first, last int, isRange bool, err error) {
	from, to, isRange := strings.Cut(s, "-")
	if first, err = strconv.Atoi(strings.TrimSpace(from)); err != nil || first < 1 {
		return 0, 0, isRange, fmt.Errorf("%q is not a number or a range such as 3-5", s)
	}
	last = first
	switch to = strings.TrimSpace(to); {
	case isRange && to == "":
		last = 1 << 30
	case isRange:
		if last, err = strconv.Atoi(to); err != nil || last < first {
			return 0, 0, isRange, fmt.Errorf("%q is not a range such as 3-5", s)
		}
	}
	return first, last, isRange, nil
}

// picturesOf returns at most limit images that a cell has as outputs.
func picturesOf(c notebook.Cell, limit int) []executors.Content {
	var out []executors.Content
	for _, o := range c.Outputs {
		for _, d := range o.Data {
			kind := imageKindOf(d.Image)
			if kind == nil || len(out) == limit {
				continue
			}
			if data, _, err := kind.load(d.Image); err == nil {
				out = append(out, executors.Content{Image: &executors.Image{MIME: kind.mime, Data: data}})
			}
		}
	}
	return out
}

// planCells is planEdit for a notebook, whose cells the model has read. It reports false if no cell has the
// text: the model may mean the JSON of the file.
func (t *tools) planCells(raw string, in *editInput, c *change) (found bool, err error) {
	bare, bom := strings.CutPrefix(raw, executors.ByteOrderMark)
	n, err := notebook.Parse(bare)
	if err != nil || in.OldString == "" {
		return false, nil
	}
	var hits []int
	for i := range n.Cells {
		if strings.Contains(unixLines(n.Cells[i].Source), unixLines(in.OldString)) {
			hits = append(hits, i)
		}
	}
	if len(hits) == 0 { // it may be masked, or have line marks
		for i := range n.Cells {
			if _, _, err := applyEdit(n.Cells[i].Source, in, c.display, t.mask); err == nil {
				hits = append(hits, i)
			}
		}
	}
	switch {
	case len(hits) == 0:
		return false, nil
	case len(hits) > 1 && !in.ReplaceAll:
		return true, executors.Failuref(executors.InvalidParameters, "old_string occurs in cells %s of %s", cellList(hits), c.display).
			Hint("Add surrounding lines to old_string until it is unique, set replace_all, or edit one cell with edit_notebook.")
	}
	sources, edits := map[int]string{}, 0
	for _, i := range hits {
		source, lines, err := applyEdit(n.Cells[i].Source, in, fmt.Sprintf("cell %d of %s", i+1, c.display), t.mask)
		if err != nil {
			return true, err
		}
		edits += len(lines)
		sources[i] = source
	}
	noun := "cell "
	if len(hits) > 1 {
		noun = "cells "
	}
	c.summary = fmt.Sprintf("Edited %s: %s in %s%s", c.display, quantity.Count(edits, "replacement"), noun, cellList(hits))
	if n.Cells[hits[0]].Outputs != nil {
		c.summary += keptOutputs
	}
	c.setNotebook(raw, n.SetSources(sources), bom)
	return true, nil
}

// keptOutputs says what happens to outputs: only a run makes new ones, and Jupyter keeps them too.
const keptOutputs = "\n[outputs stay as they are, from before the edit, until the cell runs again]"

// setNotebook sets the new text of a notebook, and the line in which it differs from the old text.
func (c *change) setNotebook(raw, text string, bom bool) {
	if bom {
		text = executors.ByteOrderMark + text
	}
	at := 0
	for at < len(raw) && at < len(text) && raw[at] == text[at] {
		at++
	}
	c.text, c.line = text, strings.Count(raw[:at], "\n")+1
}

// cellList returns the numbers of cells in words.
func cellList(indexes []int) string {
	var names []string
	for _, i := range indexes[:min(len(indexes), 10)] {
		names = append(names, strconv.Itoa(i+1))
	}
	list := strings.Join(names, ", ")
	if len(indexes) > 10 {
		list += ", …"
	}
	return list
}

type notebookInput struct {
	Path   string  `json:"path"`
	Cell   string  `json:"cell,omitempty"`
	Action string  `json:"action,omitempty" jsonschema:"enum=replace,enum=insert,enum=delete"`
	Type   string  `json:"type,omitempty" jsonschema:"enum=code,enum=markdown,enum=raw"`
	Source *string `json:"source,omitempty"`
}

// planNotebook replaces, inserts or deletes a cell.
func (t *tools) planNotebook(ctx context.Context, in *notebookInput) (change, error) {
	c, err := t.newChange(in.Path)
	if err != nil {
		return c, err
	}
	invalid := func(format string, args ...any) *executors.Failure {
		return executors.Failuref(executors.InvalidParameters, format, args...)
	}
	if err := t.current(ctx, &c); err != nil {
		return c, err
	}
	if c.old == nil {
		return c, t.missing(c.target)
	}
	if err := checkText(c.target, c.from); err != nil {
		return c, err
	}
	bare, bom := strings.CutPrefix(*c.old, executors.ByteOrderMark)
	n, err := notebook.Parse(bare)
	if err != nil {
		return c, executors.Failuref(executors.PermanentFailure, "%s is not a valid notebook: %v", c.display, err).Hint("Repair its text with edit.")
	}
	index := -1
	if in.Cell != "" {
		if index, err = n.Find(in.Cell); err != nil {
			return c, invalid("cell: %v", err).Hint("Read %s: it names the id or number of each cell.", c.display)
		}
	} else if in.Action != "insert" {
		return c, invalid("cell is missing").Hint("Set it to the id of a cell, or to its number as #3.")
	}
	if in.Source == nil && in.Action != "delete" && (in.Action == "insert" || in.Type == "") {
		return c, invalid("source is missing").Hint("Set it to the whole new text of the cell.")
	}
	text, err := t.changedCells(n, index, in, &c)
	if err != nil {
		return c, err
	}
	if len(text) > t.cfg.MaxFileBytes {
		return c, invalid("%s would grow to %s, over the limit of %d", c.display, quantity.Count(len(text), "byte"), t.cfg.MaxFileBytes)
	}
	c.setNotebook(*c.old, text, bom)
	c.same = c.text == *c.old && t.isSaved(ctx, c)
	return c, nil
}

// changedCells returns the text of a notebook after the change, and sets the summary.
func (t *tools) changedCells(n *notebook.Notebook, index int, in *notebookInput, c *change) (string, error) {
	refused := func(err error) error { return executors.Failuref(executors.PermanentFailure, "%s: %v", c.display, err) }
	switch in.Action {
	case "delete":
		c.summary = fmt.Sprintf("Deleted cell %d of %s, which now has %s", index+1, c.display, quantity.Count(len(n.Cells)-1, "cell"))
		return n.Delete(index), nil
	case "insert":
		source, err := t.withValues(nil, *in.Source, c.display)
		if err != nil {
			return "", err
		}
		kind := in.Type
		if kind == "" {
			kind = notebook.Code
		}
		text, id, err := n.Insert(index, kind, source)
		if err != nil {
			return "", refused(err)
		}
		c.summary = fmt.Sprintf("Inserted cell %d (%s) in %s", index+2, kind, c.display)
		if id != "" {
			c.summary += ", id " + id
		}
		return text, nil
	}
	cell := n.Cells[index]
	source, kind := cell.Source, in.Type
	if in.Source != nil {
		var err error
		if source, err = t.withValues(&cell.Source, *in.Source, c.display); err != nil {
			return "", err
		}
	}
	if kind == "" {
		kind = cell.Type
	}
	text, err := n.SetCell(index, source, kind)
	if err != nil {
		return "", refused(err)
	}
	c.summary = fmt.Sprintf("Replaced cell %d of %s", index+1, c.display)
	if kind != cell.Type {
		c.summary += fmt.Sprintf(", now %s", kind)
	}
	if len(cell.Outputs) > 0 && kind == notebook.Code {
		c.summary += keptOutputs
	}
	return text, nil
}

// staysNotebook fails if an edit of its JSON would break a valid notebook.
func staysNotebook(tg target, raw, text string) error {
	if !isNotebook(tg.abs) {
		return nil
	}
	if _, err := notebook.Parse(strings.TrimPrefix(raw, executors.ByteOrderMark)); err != nil {
		return nil
	}
	if _, err := notebook.Parse(strings.TrimPrefix(text, executors.ByteOrderMark)); err != nil {
		return executors.Failuref(executors.InvalidParameters, "%s would no longer be a valid notebook: %v", tg.display, err).
			Hint("Nothing was written. Edit the text of its cells as read shows it.")
	}
	return nil
}
