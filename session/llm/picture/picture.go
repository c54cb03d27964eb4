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
	"iter"
	"sync"

	"golang.org/x/image/webp"

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
		return llm.Image{}, fmt.Errorf("it has %d × %d pixels, which is too large", c.Width, c.Height)
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
// Why not golang.org/x/image/draw? The good kernels need several times the memory of the
// image, and the fast one is 0.1 MiB of machine code.
func smaller(from image.Image) image.Image {
	r := from.Bounds()
	long := max(r.Dx(), r.Dy())
	if long <= maxSide {
		return from
	}
	to := image.NewRGBA(image.Rect(0, 0, max(1, r.Dx()*maxSide/long), max(1, r.Dy()*maxSide/long)))
	w, h := to.Rect.Dx(), to.Rect.Dy()
	row, read := make([]color.RGBA64, r.Dx()), -1
	sums := make([]int, 4*w)
	for y := range h {
		clear(sums)
		for j, part := range covered(y, h, r.Dy()) {
			if j != read {
				readRow(row, from, r.Min.X, r.Min.Y+j)
				read = j
			}
			addRow(sums, row, part)
		}
		for i, sum := range sums {
			to.Pix[y*to.Stride+i] = uint8(sum / (r.Dx() * r.Dy()) >> 8)
		}
	}
	return to
}

// readRow reads the pixels of an image from (x, y) to the right.
//
// Why not image/draw? It is 40 KB of machine code, mostly for masks.
func readRow(row []color.RGBA64, from image.Image, x, y int) {
	m := from.(image.RGBA64Image) // as all decoders return
	for i := range row {
		row[i] = m.RGBA64At(x+i, y)
	}
}

// addRow adds a row of pixels to a shorter row of sums. Each pixel counts by its share
// of the pixels that it lies in, times weight.
func addRow(sums []int, row []color.RGBA64, weight int) {
	w := len(sums) / 4
	for x := range w {
		sum := sums[4*x : 4*x+4]
		for i, part := range covered(x, w, len(row)) {
			part *= weight
			p := row[i]
			sum[0] += part * int(p.R)
			sum[1] += part * int(p.G)
			sum[2] += part * int(p.B)
			sum[3] += part * int(p.A)
		}
	}
}

// covered returns which of n pixels the pixel at i of a smaller number lies over, and
// how much of each. The shares add up to n.
func covered(i, smaller, n int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from, to := i*n, (i+1)*n
		for j := from / smaller; j*smaller < to; j++ {
			if !yield(j, min(to, (j+1)*smaller)-max(from, j*smaller)) {
				return
			}
		}
	}
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
