package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/charset"
	"github.com/zeph-acp/zeph-acp/filter/text/linemark"
	"github.com/zeph-acp/zeph-acp/filter/text/marks"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

type writeInput struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// planWrite replaces the whole content. An existing file keeps its byte order
// mark and its line endings.
func (t *tools) planWrite(ctx context.Context, in *writeInput) (change, error) {
	c, err := t.newChange(in.Path)
	if err != nil {
		return c, err
	}
	content := linemark.StripWhole(in.Content) // a model may copy the marks of read
	if len(content) > t.cfg.MaxFileBytes {
		return c, executors.Failuref(executors.InvalidParameters, "content has %s, over the limit of %d", quantity.Count(len(content), "byte"), t.cfg.MaxFileBytes).
			Hint("Write it in several files.")
	}
	if err := t.overwritten(ctx, &c); err != nil {
		return c, err
	}
	if c.text, err = t.withValues(c.old, content, c.display); err != nil {
		return c, err
	}
	c.whole = true
	how := "created"
	if c.old != nil {
		c.text = keepLayout(*c.old, c.text)
		how = "overwritten"
		c.same = c.text == *c.old && t.isSaved(ctx, c)
	}
	if err := t.encode(&c); err != nil {
		return c, err
	}
	note := encodingNote(c.encoding)
	if c.old != nil && c.encoding == nil && !charset.IsUTF8(*c.old) {
		note = " [now UTF-8: the old content was binary, or text in an unknown encoding]"
	}
	if c.same {
		c.summary = fmt.Sprintf("Unchanged: %s already has this content (%s)%s", c.display, quantity.Count(len(c.bytes), "byte"), note)
		return c, nil
	}
	c.summary = fmt.Sprintf("Wrote %s to %s (%s)%s", quantity.Count(len(c.bytes), "byte"), c.display, how, note)
	return c, nil
}

// isSaved reports whether the disk has the old text of a change too. A client's buffer may be
// unsaved, and a write saves it.
func (t *tools) isSaved(ctx context.Context, c change) bool {
	if t.fs.ReadsDisk() {
		return true
	}
	file, err := Disk{Roots: t.roots, MaxBytes: t.cfg.MaxFileBytes}.ReadFile(ctx, c.abs)
	return err == nil && sameText(decode(c.abs, file, newDeclarations(t.roots)).text, *c.old)
}

// withValues returns the new content of a file with the values of masked lines that stay. It fails if
// another line has a mark.
func (t *tools) withValues(old *string, content, name string) (string, error) {
	if !marks.MayHave(content) {
		return content, nil
	}
	before := ""
	if old != nil {
		before = parse(*old).text
	}
	restored, line := marks.Restore(before, t.mask(before), content)
	if line > 0 {
		return content, markLeft(content, line, name)
	}
	return restored, nil
}

// newChange starts the change of a file that need not exist.
func (t *tools) newChange(path string) (change, error) {
	tg, err := t.resolveTarget("path", path, t.roots.Writing().Resolve)
	if err != nil {
		return change{title: refusedCard(executors.KindEdit, path).Title}, err
	}
	c := change{target: tg, title: tg.title()}
	if strings.HasSuffix(path, "/") {
		return c, executors.Failuref(executors.InvalidParameters, "path: %q names a directory", path).
			Hint("Name the file in it.")
	}
	return c, nil
}

// overwritten is like current, but treats an unreadable file as missing.
func (t *tools) overwritten(ctx context.Context, c *change) error {
	if _, refused := t.roots.Readable().Refuses(c.abs); refused {
		if _, err := t.roots.Writing().Lstat(c.abs); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	return t.current(ctx, c)
}

// keepLayout returns content with the byte order mark of old, and with its "\r\n" unless
// content has its own.
func keepLayout(old, content string) string {
	if !utf8.ValidString(old) || strings.IndexByte(old, 0) >= 0 {
		return content // a binary has no lines
	}
	d := parse(old)
	if d.mostlyCRLF() && !strings.Contains(content, "\r\n") {
		content = strings.ReplaceAll(content, "\n", "\r\n")
	}
	if d.bom && !strings.HasPrefix(content, executors.ByteOrderMark) {
		content = executors.ByteOrderMark + content
	}
	return content
}
