package files

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// form is a format that read shows in another way than as the lines of the file.
type form struct {
	extensions string // separated by spaces; a file with one of them is looked at before it is read as text
	unnamed    bool   // files with other extensions may have the form too
	magic      func(head []byte) bool
	show       func(t *tools, ctx context.Context, d formed) (executors.Result, error)
}

// formed is a file with a form, and the call that reads it.
type formed struct {
	stattedTarget
	in   *readInput
	head []byte
}

// forms are the formats that are recognised by their first bytes.
func forms() []form {
	return []form{
		{"png jpg jpeg jpe gif webp bmp dib tif tiff", true, func(head []byte) bool { return imageKindOf(head) != nil }, (*tools).showImage},
		{"pdf", true, isPDF, (*tools).showPDF},
		{"xlsx xlsm xltx xltm", false, isZip, (*tools).showWorkbook},
	}
}

// headBytes is how much of a file is looked at to recognise its form.
const headBytes = 1024

// formAt returns the form of a file on the disk, nil if it has none. Unless any is set, only a file whose
// name promises a form is looked at.
func (t *tools) formAt(at stattedTarget, any bool) (*form, []byte) {
	if !at.isFile() {
		return nil, nil
	}
	extension := extensionOf(at.abs)
	var head []byte
	for _, f := range forms() {
		if !executors.Lists(f.extensions, extension) && !(any && f.unnamed) {
			continue
		}
		if head == nil {
			if head = t.head(at); head == nil {
				return nil, nil
			}
		}
		if f.magic(head) {
			return &f, head
		}
	}
	return nil, nil
}

// extensionOf returns the extension of a path in lower case, without its dot.
func extensionOf(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}

// head returns the first bytes of a file on the disk, nil if it cannot be read.
func (t *tools) head(at stattedTarget) []byte {
	f, _, err := t.roots.Open(at.abs)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil
	}
	return head[:n]
}

// content returns a file on the disk of at most limit bytes. Editors only have text, so their
// buffers do not matter.
func (t *tools) content(ctx context.Context, at stattedTarget, limit int) ([]byte, error) {
	f, info, err := t.roots.Open(at.abs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := func(size int64) error {
		return executors.Failuref(executors.PermanentFailure, "%s has %s, over the limit of %s", at.display, quantity.Bytes(size), quantity.Bytes(int64(limit))).
			Hint("Try in bash: %s.", cmp.Or(programFor(at.display), "use a program that knows its format"))
	}
	if info.Size() > int64(limit) {
		return nil, tooLarge(info.Size())
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	n, err := b.ReadFrom(io.LimitReader(f, int64(limit)+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case n > int64(limit):
		return nil, tooLarge(n)
	}
	return b.Bytes(), nil
}

// converters are the commands that make a file readable, by extensions. FILE stands for its name.
var converters = []struct{ extensions, command string }{
	{"pdf", "pdftotext -layout FILE - (of poppler), mutool draw -F txt FILE, or ocrmypdf FILE OUT.pdf if its pages are scanned"},
	{"doc docx odt rtf", "pandoc -t markdown FILE, or soffice --headless --convert-to txt FILE"},
	{"xls xlsb ods numbers", "soffice --headless --convert-to xlsx FILE, and read the new file"},
	{"ppt pptx odp key", "soffice --headless --convert-to pdf FILE, and read the new file"},
	{"epub fb2 mobi", "pandoc -t markdown FILE"},
	{"png jpg jpeg gif webp bmp tif tiff heic heif avif jp2 jxl psd ico xcf", "magick FILE -resize 1568x1568 OUT.png (of ImageMagick)"},
	{"zip jar whl xlsx xlsm", "unzip -l FILE"},
	{"gz tgz tar bz2 xz zst", "tar -tf FILE, or zcat FILE"},
	{"sqlite sqlite3 db", "sqlite3 FILE .schema"},
	{"parquet feather arrow", "duckdb -c \"select * from 'FILE' limit 20\""},
	{"mp3 wav flac ogg m4a mp4 mkv mov avi webm", "ffprobe FILE"},
}

// programFor returns a command that makes a file of this name readable, "" if none is known.
func programFor(name string) string {
	extension := extensionOf(name)
	for _, c := range converters {
		if executors.Lists(c.extensions, extension) {
			return c.command
		}
	}
	return ""
}

// explainUnread returns the failure of a read that found no text. It says which program would help.
func (t *tools) explainUnread(err error, at stattedTarget) error {
	failure, ok := errors.AsType[*executors.Failure](err)
	program := programFor(at.display)
	if program == "" || !ok && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch head := t.head(at); {
	case !ok: // a missing file
		if t.fs.ReadsDisk() {
			return err
		}
		return executors.Failuref(executors.PermanentFailure, "%s is not on the disk of the machine where the agent runs", at.display).
			Hint("The editor offers files as text only. Find the file with find_path, or ask the user to put it there.")
	case bytes.IndexByte(head, 0) >= 0 || !utf8.Valid(head):
		return failure.Hint("Try in bash: %s.", program)
	}
	return err
}

// readForm reads a file with a form.
func (t *tools) readForm(ctx context.Context, f *form, d formed) (executors.Result, error) {
	valid := t.unchangedSince(d.in.Path, d.stattedTarget)
	res, err := f.show(t, ctx, d)
	if err != nil {
		return fail(ctx, t.explain(err, "read", d.target))
	}
	res.Valid = valid
	res.Locations = []executors.Location{{Path: d.client}}
	return res, nil
}
