package files

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	// maxConverted bounds an image that is converted, in pixels.
	maxConverted = 8 << 20
	// maxChecked bounds an image that is decoded only to see whether it is complete, in pixels. Package
	// session/llm/picture decodes larger ones, to make them smaller.
	maxChecked = 4 << 20
)

// imageKind is a type of image.
type imageKind struct {
	name   string
	mime   string // of the image in the result
	magic  []string
	header func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
	// convert is set if models and editors do not accept the type; the result then has a PNG.
	convert bool
}

// imageKindOf returns the type of the image that begins with head, nil for other files. A "?" in
// magic stands for any byte.
func imageKindOf(head []byte) *imageKind {
	for _, k := range []imageKind{
		{"PNG", "image/png", []string{"\x89PNG\r\n\x1a\n"}, png.DecodeConfig, png.Decode, false},
		{"JPEG", "image/jpeg", []string{"\xff\xd8\xff"}, jpeg.DecodeConfig, jpeg.Decode, false},
		{"GIF", "image/gif", []string{"GIF87a", "GIF89a"}, gif.DecodeConfig, gif.Decode, false},
		{"WebP", "image/webp", []string{"RIFF????WEBPVP8"}, webp.DecodeConfig, webp.Decode, false},
		{"BMP", "image/png", []string{"BM????\x00\x00\x00\x00????"}, bmp.DecodeConfig, bmp.Decode, true},
		{"TIFF", "image/png", []string{"II*\x00", "MM\x00*"}, tiff.DecodeConfig, tiff.Decode, true},
	} {
		for _, magic := range k.magic {
			if matchesMagic(head, magic) {
				return &k
			}
		}
	}
	return nil
}

func matchesMagic(head []byte, magic string) bool {
	if len(head) < len(magic) {
		return false
	}
	for i := range len(magic) {
		if magic[i] != '?' && magic[i] != head[i] {
			return false
		}
	}
	return true
}

// rawImage is the raw output of an image.
type rawImage struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Bytes  int    `json:"bytes"`
}

// showImage returns an image for the editor and for a model with vision, and a line about it. The
// model gets a smaller copy if it is large; see package session/llm/picture.
func (t *tools) showImage(ctx context.Context, d formed) (executors.Result, error) {
	data, err := t.content(ctx, d.stattedTarget, t.cfg.MaxFileBytes)
	if err != nil {
		return executors.Result{}, err
	}
	kind := imageKindOf(data)
	if kind == nil { // it has changed
		return executors.Result{}, executors.Failuref(executors.PermanentFailure, "%s changed while it was read", d.display)
	}
	shown, c, err := kind.load(data)
	if err != nil {
		return executors.Result{}, executors.Failuref(executors.PermanentFailure, "%s begins like a %s image, but %v", d.display, kind.name, err).
			Hint("Try in bash: file FILE, or %s.", programFor("x.png"))
	}
	return executors.Result{
		Text: fmt.Sprintf("[image %s: %s, %d × %s, %s]", d.display, kind.name, c.Width, quantity.Count(c.Height, "pixel"),
			quantity.Count(len(data), "byte")),
		Content: []executors.Content{{Image: &executors.Image{MIME: kind.mime, Data: shown}}},
		Raw:     rawImage{Path: d.client, Format: kind.name, Width: c.Width, Height: c.Height, Bytes: len(data)},
	}, nil
}

// load returns the image for the result, and its size. It decodes a small image too: a provider refuses a
// request with a broken one, and each later request has it again.
func (k *imageKind) load(data []byte) ([]byte, image.Config, error) {
	c, err := k.header(bytes.NewReader(data))
	switch {
	case err != nil:
		return nil, c, fmt.Errorf("its header is wrong: %w", err)
	case c.Width <= 0 || c.Height <= 0:
		return nil, c, fmt.Errorf("it has no pixels")
	case k.convert && c.Height > maxConverted/c.Width:
		return nil, c, fmt.Errorf("it has %d × %s, which is too large to be converted", c.Width, quantity.Count(c.Height, "pixel"))
	case !k.convert && c.Height > maxChecked/c.Width:
		return data, c, nil
	}
	pixels, err := k.decode(bytes.NewReader(data))
	if err != nil {
		return nil, c, fmt.Errorf("it is incomplete or of a rare kind: %w", err)
	}
	if !k.convert {
		return data, c, nil
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, pixels)
	return b.Bytes(), c, err
}
