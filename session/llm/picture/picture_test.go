package picture

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// drawn returns an image of that size: one color, or noise, which no format makes
// smaller.
func drawn(t testing.TB, mime string, w, h int, noise bool) llm.Image {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 0x80
		if noise {
			m.Pix[i] = byte(rand.Uint32())
		}
		if i%4 == 3 {
			m.Pix[i] = 0xFF
		}
	}
	var b bytes.Buffer
	var err error
	switch mime {
	case "image/png":
		err = png.Encode(&b, m)
	case "image/jpeg":
		err = jpeg.Encode(&b, m, nil)
	case "image/gif":
		err = gif.Encode(&b, image.NewPaletted(m.Rect, color.Palette{color.Black, color.White}), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return llm.Image{MIME: mime, Data: b.Bytes()}
}

// bomb returns the beginning of a PNG whose header promises that many pixels.
func bomb(w, h uint32) llm.Image {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	b = binary.BigEndian.AppendUint32(b, w)
	b = binary.BigEndian.AppendUint32(b, h)
	b = append(b, 8, 6, 0, 0, 0)
	return llm.Image{MIME: "image/png", Data: binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))}
}

// aWebP is an image of one pixel.
const aWebP = "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"

func TestFit(t *testing.T) {
	if testing.Short() {
		t.Skip("megapixels on one goroutine: nothing for the race detector")
	}
	webp, err := base64.StdEncoding.DecodeString(aWebP)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		in     llm.Image
		mime   string // empty means unchanged
		width  int
		height int
	}{
		"small":        {drawn(t, "image/png", 100, 50, false), "", 100, 50},
		"exact":        {drawn(t, "image/jpeg", maxSide, 10, false), "", maxSide, 10},
		"wide":         {drawn(t, "image/png", 3136, 1000, false), "image/png", maxSide, 500},
		"tall":         {drawn(t, "image/jpeg", 700, 3136, false), "image/jpeg", 350, maxSide},
		"thin":         {drawn(t, "image/png", 4000, 1, false), "image/png", maxSide, 1},
		"gif":          {drawn(t, "image/gif", 1600, 1600, false), "image/png", maxSide, maxSide},
		"many bytes":   {drawn(t, "image/png", 1000, 1000, true), "image/jpeg", 1000, 1000},
		"webp":         {llm.Image{MIME: "image/webp", Data: webp}, "", 1, 1},
		"noise, large": {drawn(t, "image/png", 1600, 800, true), "image/jpeg", maxSide, 784},
	} {
		out, err := Fit(tt.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c, err := formats[out.MIME].header(bytes.NewReader(out.Data))
		if err != nil || c.Width != tt.width || c.Height != tt.height {
			t.Errorf("%s: %d × %d, %v", name, c.Width, c.Height, err)
		}
		if unchanged := bytes.Equal(out.Data, tt.in.Data); unchanged != (tt.mime == "") || !unchanged && out.MIME != tt.mime {
			t.Errorf("%s: %s, unchanged %v", name, out.MIME, unchanged)
		}
	}
}

// TestFitKeepsColors checks that scaling moves no color and keeps transparency.
func TestFitKeepsColors(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 2*maxSide, 20))
	for x := range maxSide {
		for y := range 20 {
			m.SetNRGBA(x, y, color.NRGBA{0xFF, 0, 0, 0xFF})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	out, err := Fit(llm.Image{MIME: "image/png", Data: b.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(out.Data))
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range map[int]color.NRGBA{10: {0xFF, 0, 0, 0xFF}, maxSide - 10: {}} {
		if c := color.NRGBAModel.Convert(got.At(x, 5)); c != want {
			t.Errorf("pixel %d is %v, want %v", x, c, want)
		}
	}
}

// TestSmallerIsMean checks that each pixel is the mean of the pixels that it covers, so that thin lines of text stay.
func TestSmallerIsMean(t *testing.T) {
	from := image.NewGray(image.Rect(5, 7, 5+4*maxSide, 9))
	for x := range from.Pix {
		from.Pix[x] = []uint8{0, 60, 240, 100}[x%4]
	}
	to := smaller(from).(*image.RGBA)
	for x := range maxSide {
		if c := to.RGBAAt(x, 0); c != (color.RGBA{100, 100, 100, 0xFF}) {
			t.Fatalf("pixel %d is %v, want the mean 100", x, c)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	half := drawn(t, "image/png", 2000, 100, true)
	half.Data = half.Data[:len(half.Data)/2]
	for name, tt := range map[string]struct {
		in   llm.Image
		want string
	}{
		"a bomb":        {bomb(100_000, 100_000), "100000 × 100000 pixels"},
		"a long bomb":   {bomb(1<<31-1, 1), "too large"},
		"half an image": {half, "not a complete image/png"},
		"text":          {llm.Image{MIME: "image/png", Data: []byte("hello")}, "it is not a valid image/png"},
		"another type":  {llm.Image{MIME: "image/jpeg", Data: drawn(t, "image/png", 1, 1, false).Data}, "it is not a valid image/jpeg"},
		"unknown":       {llm.Image{MIME: "image/svg+xml", Data: []byte("<svg/>")}, "not a type of image"},
		"empty":         {llm.Image{MIME: "image/gif"}, "it is not a valid image/gif"},
	} {
		if out, err := Fit(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %d bytes, %v", name, len(out.Data), err)
		}
	}
}

// FuzzFit scales any bytes: no image panics, or is larger than it may be.
func FuzzFit(f *testing.F) {
	for mime := range formats {
		f.Add(mime, []byte("x"))
	}
	f.Add("image/png", drawn(f, "image/png", 1600, 2, false).Data)
	f.Add("image/jpeg", drawn(f, "image/jpeg", 1600, 2, false).Data)
	f.Add("image/gif", drawn(f, "image/gif", 1600, 2, false).Data)
	f.Fuzz(func(t *testing.T, mime string, data []byte) {
		if out, err := Fit(llm.Image{MIME: mime, Data: data}); err == nil {
			if c, err := formats[out.MIME].header(bytes.NewReader(out.Data)); err != nil || max(c.Width, c.Height) > maxSide {
				t.Errorf("%d × %d, %v", c.Width, c.Height, err)
			}
		}
	})
}

// BenchmarkFit scales a photo of 12 megapixels and a screenshot.
func BenchmarkFit(b *testing.B) {
	for name, in := range map[string]llm.Image{
		"photo": drawn(b, "image/jpeg", 4000, 3000, false), "screenshot": drawn(b, "image/png", 2880, 1800, false),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Fit(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
