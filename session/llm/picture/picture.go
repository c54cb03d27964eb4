// Package picture makes images small enough for models.
//
// It has one function, [Fit]. An image with too many pixels is refused by its header,
// before memory is allocated for it. Only one image is decoded at a time.
//
// Why are images made smaller? Providers scale larger ones down themselves: their pixels
// cost time and memory, and a large request may be refused.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"sync"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

const (
	// maxSide is the longest side of an image, in pixels.
	// https://platform.claude.com/docs/en/build-with-claude/vision#evaluate-image-size
	maxSide = 1568
	// maxMemory bounds the pixels of an image that is decoded, in bytes: a photo of 22
	// megapixels, or a screenshot of 16.
	maxMemory = 64 << 20
	// maxBytes bounds an image that is sent unchanged.
	maxBytes = 1 << 20
	quality  = 85 // of a JPEG
)

// format reads the header and the pixels of a type of image.
type format struct {
	header func(io.Reader) (image.Config, error)
	pixels func(io.Reader) (image.Image, error)
}

var formats = map[string]format{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode},
	"image/webp": {webp.DecodeConfig, webp.Decode},
}

// decoding is held while an image is in memory.
var decoding sync.Mutex

// Fit returns an image with sides of at most maxSide pixels. A small image stays
// unchanged. An error says why no model can see the image.
func Fit(i llm.Image) (llm.Image, error) {
	f, ok := formats[i.MIME]
	if !ok {
		return llm.Image{}, fmt.Errorf("%q is not a type of image that models see", i.MIME)
	}
	c, err := f.header(bytes.NewReader(i.Data))
	if err != nil {
		return llm.Image{}, fmt.Errorf("it is not a valid %s: %w", i.MIME, err)
	}
	switch {
	case c.Width <= 0 || c.Height <= 0:
		return llm.Image{}, fmt.Errorf("it has no pixels")
	case c.Width > maxMemory || c.Height > maxMemory/c.Width/pixelSize(c.ColorModel):
		return llm.Image{}, fmt.Errorf("it has %d × %s, which is too large", c.Width, quantity.Count(c.Height, "pixel"))
	case max(c.Width, c.Height) <= maxSide && len(i.Data) <= maxBytes:
		return i, nil
	}
	decoding.Lock()
	defer decoding.Unlock()
	from, err := f.pixels(bytes.NewReader(i.Data))
	if err != nil {
		return llm.Image{}, fmt.Errorf("it is not a complete %s: %w", i.MIME, err)
	}
	return encode(smaller(from), i.MIME)
}

// pixelSize returns the memory of a pixel, in bytes.
func pixelSize(m color.Model) int {
	switch m {
	case color.GrayModel:
		return 1
	case color.YCbCrModel, color.NYCbCrAModel:
		return 3
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	return 4
}

// smaller returns an image with sides of at most maxSide pixels.
//
// It halves the image first, which weighs all pixels alike. The better kernels of draw need several
// times the memory of the image.
func smaller(from image.Image) image.Image {
	w, h := from.Bounds().Dx(), from.Bounds().Dy()
	for max(w, h) > 2*maxSide {
		w, h = max(1, w/2), max(1, h/2)
		from = scale(from, w, h)
	}
	long := max(w, h)
	if long <= maxSide {
		return from
	}
	return scale(from, max(1, w*maxSide/long), max(1, h*maxSide/long))
}

// scale returns the image with another width and height, in pixels.
func scale(from image.Image, w, h int) image.Image {
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.ApproxBiLinear.Scale(to, to.Rect, from, from.Bounds(), draw.Src, nil)
	return to
}

// encode returns an image as a PNG, which keeps text sharp, or as a JPEG if it was one
// or would be large.
func encode(i image.Image, was string) (llm.Image, error) {
	var b bytes.Buffer
	if was != "image/jpeg" {
		if err := png.Encode(&b, i); err != nil {
			return llm.Image{}, err
		}
		if opaque, ok := i.(interface{ Opaque() bool }); b.Len() <= maxBytes || ok && !opaque.Opaque() {
			return llm.Image{MIME: "image/png", Data: b.Bytes()}, nil
		}
		b.Reset()
	}
	err := jpeg.Encode(&b, i, &jpeg.Options{Quality: quality})
	return llm.Image{MIME: "image/jpeg", Data: b.Bytes()}, err
}

// PNG returns the first picture of an image that [Fit] has returned as a PNG, for models that do not read its type.
func PNG(i llm.Image) (llm.Image, error) {
	f, ok := formats[i.MIME]
	if !ok {
		return llm.Image{}, fmt.Errorf("%q is not a type of image that models see", i.MIME)
	}
	decoding.Lock()
	defer decoding.Unlock()
	from, err := f.pixels(bytes.NewReader(i.Data))
	if err != nil {
		return llm.Image{}, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, from)
	return llm.Image{MIME: "image/png", Data: b.Bytes()}, err
}
