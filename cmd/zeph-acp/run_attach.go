package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// images are the types that models accept.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// attachments returns the blocks for the files of --attach. Each may have most bytes.
func attachments(files []string, limit int) ([]acp.ContentBlock, error) {
	var blocks []acp.ContentBlock
	for _, name := range files {
		b, err := attachment(name, limit)
		if tooLong, ok := errors.AsType[*lengthError](err); ok {
			return nil, usageError("--attach: %w (acp.max_attachment_bytes)", tooLong)
		}
		if err != nil {
			return nil, usageError("--attach: %w", err)
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// attachment returns the block for a file. Its type is detected from the content, not
// from the name.
func attachment(name string, limit int) (b acp.ContentBlock, err error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return b, err
	}
	data, err := readBounded(name, limit)
	if err != nil {
		return b, err
	}
	kind, _, _ := mime.ParseMediaType(http.DetectContentType(data))
	switch {
	case slices.Contains(images, kind):
		b = acp.ImageBlock(kind, data)
		b.URI = acp.FileURI(abs)
		return b, nil
	case len(data) == 0:
		return b, fmt.Errorf("%s is empty", name)
	case !utf8.Valid(data) || slices.Contains(data, 0):
		return b, fmt.Errorf("%s is neither text in UTF-8 nor an image (PNG, JPEG, GIF, WebP)", name)
	}
	text := string(data)
	return acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: acp.FileURI(abs), MIMEType: "text/plain", Text: &text}}, nil
}

// lengthError reports that a file has more bytes than may be read.
type lengthError struct {
	name  string
	limit int
}

func (e *lengthError) Error() string {
	return fmt.Sprintf("%s has more than %s", e.name, quantity.Count(e.limit, "byte"))
}

// readBounded reads a regular file of at most that many bytes.
func readBounded(name string, limit int) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", oneLine(name))
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would block
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, name, limit)
}

// readAtMost reads all of r, which may have at most that many bytes.
func readAtMost(r io.Reader, name string, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = &lengthError{name, limit}
	}
	return data, err
}
