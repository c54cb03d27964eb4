package files

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/linemark"
	"github.com/zeph-acp/zeph-acp/filter/text/marks"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type editInput struct {
	Path       string `json:"path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

// planEdit replaces exact text in a file.
func (t *tools) planEdit(ctx context.Context, in *editInput) (change, error) {
	c, err := t.newChange(in.Path)
	if err != nil {
		return c, err
	}
	if err := t.current(ctx, &c); err != nil {
		return c, err
	}
	raw := ""
	if c.old != nil {
		raw = *c.old
	} else if in.OldString != "" {
		return c, t.missing(c.target)
	}
	if err := checkText(c.target, c.from); err != nil {
		return c, err
	}
	if err := t.checkGrowth(raw, in, c.display); err != nil {
		return c, err
	}
	if isNotebook(c.abs) {
		if found, err := t.planCells(raw, in, &c); found || err != nil {
			return c, err
		}
	}
	text, lines, err := applyEdit(raw, in, c.display, t.mask)
	if err != nil {
		return c, err
	}
	if len(text) > t.cfg.MaxFileBytes {
		return c, executors.Failuref(executors.InvalidParameters, "%s would grow to %s, over the limit of %d", c.display, quantity.Count(len(text), "byte"), t.cfg.MaxFileBytes)
	}
	if err := staysNotebook(c.target, raw, text); err != nil {
		return c, err
	}
	c.text, c.line = text, lines[0]
	if err := t.encode(&c); err != nil {
		return c, err
	}
	if c.old == nil {
		c.summary = fmt.Sprintf("Created %s (%s)", c.display, quantity.Count(len(c.bytes), "byte"))
	} else {
		c.summary = fmt.Sprintf("Edited %s: %s at %s", c.display, quantity.Count(len(lines), "replacement"), lineList(lines))
	}
	c.summary += encodingNote(c.encoding)
	return c, nil
}

// checkGrowth refuses an edit whose result would be larger than a file may be,
// before it is computed: a short text may be replaced by a long one at many places.
func (t *tools) checkGrowth(raw string, in *editInput, name string) error {
	if len(raw) > t.cfg.MaxFileBytes {
		return executors.Failuref(executors.PermanentFailure, "%s has %s, over the limit of %d", name, quantity.Count(len(raw), "byte"), t.cfg.MaxFileBytes).
			Hint("Edit it with bash.")
	}
	n := 1
	if in.ReplaceAll && in.OldString != "" {
		n = strings.Count(unixLines(raw), unixLines(in.OldString))
	}
	if size := len(raw) + n*max(0, len(in.NewString)-len(in.OldString)); size > t.cfg.MaxFileBytes {
		return executors.Failuref(executors.InvalidParameters, "%s would grow to about %s, over the limit of %d", name, quantity.Count(size, "byte"), t.cfg.MaxFileBytes)
	}
	return nil
}

// applyEdit returns raw with the edit, and the 1-based lines of the edit. The
// comparison ignores line endings and the byte order mark. The model may name the text with its
// credentials masked, as it has read it; their values stay.
func applyEdit(raw string, in *editInput, name string, mask func(string) string) (text string, lines []int, err error) {
	d := parse(raw)
	from := unixLines(strings.TrimPrefix(in.OldString, executors.ByteOrderMark))
	to := unixLines(strings.TrimPrefix(in.NewString, executors.ByteOrderMark))
	switch {
	case from == to:
		return "", nil, executors.Failuref(executors.InvalidParameters, "old_string and new_string are the same").
			Hint("old_string is the present text, new_string its replacement; line endings stay as they are in the file.")
	case from == "" && d.text != "":
		return "", nil, executors.Failuref(executors.InvalidParameters, "old_string is empty, but %s is not", name).
			Hint("Set it to the text to replace. To insert lines, replace a line by itself and the new lines. Use write to replace the whole file.")
	}
	original, offsets := d.text, occurrences(d.text, from)
	masked := original
	if len(offsets) == 0 { // a model may copy the marks of read
		if plain := linemark.Strip(from); plain != from && plain != "" {
			from, to = plain, linemark.Strip(to)
			offsets = occurrences(original, from)
		}
	} else if linemark.Strip(to) != to && linemark.Strip(original) == original {
		return "", nil, executors.Failuref(executors.InvalidParameters, "new_string has a line number of read's output as a line of its own").
			Hint("Write new_string without it.")
	}
	if len(offsets) == 0 || marks.MayHave(to) {
		masked = mask(original)
	}
	if len(offsets) == 0 && strings.Count(masked, "\n") == strings.Count(original, "\n") {
		if offsets = occurrences(masked, from); len(offsets) > 0 {
			d.text = masked
		}
	}
	switch {
	case len(offsets) == 0:
		return "", nil, notFound(masked, from, to, name)
	case !in.ReplaceAll && ambiguous(d.text, from, offsets):
		where := lineNumbers(d.text, offsets)
		if len(where) == 1 { // it overlaps itself
			return "", nil, executors.Failuref(executors.InvalidParameters,
				"old_string matches in several ways from line %d of %s on", where[0], name).
				Hint("Add surrounding text to old_string until it is unique.")
		}
		return "", nil, executors.Failuref(executors.InvalidParameters, "old_string occurs %s in %s: %s", quantity.Count(len(offsets), "time"), name, lineList(where)).
			Hint("Add surrounding lines to old_string until it is unique, or set replace_all to change every one.")
	}
	where := lineNumbers(d.text, offsets)
	d = d.replace(offsets, len(from), to)
	if masked != original {
		restored, line := marks.Restore(original, masked, d.text)
		if line > 0 {
			return "", nil, markLeft(d.text, line, name)
		}
		d.text = restored
	} else if mark, _ := marks.Find(to); mark != "" && !strings.Contains(original, mark) {
		_, line := marks.Restore(original, masked, d.text)
		return "", nil, markLeft(d.text, line, name)
	}
	return d.String(), where, nil
}

// markLeft is the failure of a change that would write a mark into a line of a file.
func markLeft(text string, line int, name string) error {
	mark := "a mark"
	if line > 0 {
		mark, _ = marks.Find(strings.Split(text, "\n")[line-1])
	}
	return executors.Failuref(executors.InvalidParameters, "line %d of the new text of %s has %s, which stands for a masked value", line, name, mark).
		Hint("Nothing was written. Keep a line with a masked value exactly as read shows it: its value stays. To change such a line, write the new value, or ask the user.")
}

// occurrences returns the offsets of s in text from left to right, without overlap.
func occurrences(text, s string) []int {
	if s == "" { // an empty file
		return []int{0}
	}
	var offsets []int
	for at := 0; ; at += len(s) {
		i := strings.Index(text[at:], s)
		if i < 0 {
			return offsets
		}
		at += i
		offsets = append(offsets, at)
	}
}

// ambiguous reports whether s also matches at another offset than offsets[0].
func ambiguous(text, s string, offsets []int) bool {
	return s != "" && strings.LastIndex(text, s) != offsets[0]
}

// lineNumbers returns the 1-based line of each offset.
func lineNumbers(text string, offsets []int) []int {
	lines := make([]int, len(offsets))
	line, at := 1, 0
	for i, off := range offsets {
		line += strings.Count(text[at:off], "\n")
		lines[i], at = line, off
	}
	return lines
}

// lineList returns line numbers in words, at most ten.
func lineList(lines []int) string {
	const most = 10
	lines = slices.Compact(slices.Clone(lines))
	names := make([]string, 0, most)
	for _, n := range lines[:min(len(lines), most)] {
		names = append(names, strconv.Itoa(n))
	}
	list := strings.Join(names, ", ")
	switch {
	case len(lines) == 1:
		return "line " + list
	case len(lines) > most:
		list += ", …"
	}
	return "lines " + list
}
