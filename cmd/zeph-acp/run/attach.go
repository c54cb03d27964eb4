package run

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// images are the types that models accept.
var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// attachments returns the blocks for the files of --attach. Each may have most bytes.
func attachments(files []string, limit int) ([]acp.ContentBlock, error) {
	var blocks []acp.ContentBlock
	for _, name := range files {
		b, err := attachment(name, limit)
		if tooLong, ok := errors.AsType[*cli.LengthError](err); ok {
			return nil, cli.Usagef("--attach: %w (acp.max_attachment_bytes)", tooLong)
		}
		if err != nil {
			return nil, cli.Usagef("--attach: %w", err)
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
	data, err := cli.ReadBounded(name, limit)
	if err != nil {
		return b, err
	}
	kind, _, _ := mime.ParseMediaType(http.DetectContentType(data))
	switch {
	case slices.Contains(images, kind):
		b = acp.ImageBlock(kind, data)
		b.URI = pathname.URI(abs)
		return b, nil
	case len(data) == 0:
		return b, fmt.Errorf("%s is empty", name)
	case !utf8.Valid(data) || slices.Contains(data, 0):
		return b, fmt.Errorf("%s is neither text in UTF-8 nor an image (PNG, JPEG, GIF, WebP)", name)
	}
	text := string(data)
	return acp.ContentBlock{Type: "resource", Resource: &acp.Resource{URI: pathname.URI(abs), MIMEType: "text/plain", Text: &text}}, nil
}
