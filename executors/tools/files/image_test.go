package files

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// pngOf returns a PNG of that size.
func pngOf(t testing.TB, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, width, height))))
	return b.String()
}

func TestReadImage(t *testing.T) {
	small := pngOf(t, 3, 2)
	bomb := []byte(small)
	binary.BigEndian.PutUint32(bomb[16:], 1<<31-1) // the width, with a wrong checksum
	tiff := corpus(t, "images")["hopper_g4.tif"]
	b := newBench(t, map[string]string{
		"a.png": small, "named.txt": small, "no-extension": small, "wrong.jpg": small, "cut.png": small[:len(small)-20], "bomb.png": string(bomb),
		"text.png": "version https://example.org/spec\n", "huge.tif": tiff[:len(tiff)-1], "s.svg": "<svg/>\n", "empty.png": "",
	})
	for name, want := range map[string]string{
		"a.png": "[image a.png: PNG, 3 × 2 pixels, ", "named.txt": "[image named.txt: PNG", "no-extension": "[image no-extension: PNG",
		"wrong.jpg": "[image wrong.jpg: PNG, 3 × 2", "text.png": "version https://", "s.svg": "<svg/>", "empty.png": "[empty.png is empty]",
	} {
		res := b.run("read", in{"path": name})
		if isImage := strings.HasPrefix(want, "[image"); res.Failed || !strings.HasPrefix(res.ForModel(), want) || isImage != (len(res.Content) == 1) {
			t.Errorf("read %s: %s, %d contents, want %q", name, res.ForModel(), len(res.Content), want)
		}
	}
	if res := b.run("read", in{"path": "named.txt"}); string(res.Content[0].Image.Data) != small || res.Content[0].Image.MIME != "image/png" {
		t.Errorf("the image is %s, %q", res.Content[0].Image.MIME, res.Content[0].Image.Data)
	}
	wantFailure(t, b.run("read", in{"path": "cut.png"}), executors.PermanentFailure, "cut.png begins like a PNG image, but it is incomplete", "file FILE")
	wantFailure(t, b.run("read", in{"path": "bomb.png"}), executors.PermanentFailure, "bomb.png begins like a PNG image, but its header is wrong")
}

// An image with the header of a huge one is not decoded.
func TestReadImageBomb(t *testing.T) {
	header := []byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00wwwwhhhh\x01\x00\x18\x00")
	header = append(header, make([]byte, 24)...)
	binary.LittleEndian.PutUint32(header[18:], 60000)
	binary.LittleEndian.PutUint32(header[22:], 60000)
	b := newBench(t, map[string]string{"b.bmp": string(header)})
	wantFailure(t, b.run("read", in{"path": "b.bmp"}), executors.PermanentFailure, "60000 × 60000 pixels, which is too large to be converted", "magick")
}

func TestReadImageLimits(t *testing.T) {
	b := newBench(t, map[string]string{"a.png": pngOf(t, 100, 100)})
	cfg := setting.Default[Config]()
	cfg.MaxFileBytes = 50
	b.with(cfg)
	wantFailure(t, b.run("read", in{"path": "a.png"}), executors.PermanentFailure, "a.png has ", "over the limit of 50 B", "magick FILE")
}

// A file without text says which program would help.
func TestReadNamesPrograms(t *testing.T) {
	zip := "PK\x03\x04\x14\x00\x00\x00"
	b := newBench(t, map[string]string{"a.docx": zip, "a.xls": "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "A.ODS": zip, "a.pptx": zip,
		"x.bin": "\x00", "old.doc": "plain\n", "utf16.docx": "\xff\xfea\x00"})
	for name, want := range map[string]string{"a.docx": "pandoc -t markdown FILE", "a.xls": "soffice --headless --convert-to xlsx FILE", "A.ODS": "soffice",
		"a.pptx": "--convert-to pdf", "x.bin": "Use a program"} {
		wantFailure(t, b.run("read", in{"path": name}), executors.PermanentFailure, name+" is a binary file", want)
	}
	if res := b.run("read", in{"path": "old.doc"}); res.Failed || res.ForModel() != "plain" {
		t.Errorf("read old.doc: %s", res.ForModel())
	}
	remote := newBench(t, nil).buffered(nil)
	wantFailure(t, remote.run("read", in{"path": "a.pdf"}), executors.PermanentFailure,
		"a.pdf is not on the disk of the machine where the agent runs", "as text only")
}

// FuzzReadImage reads images that begin like images of the corpus.
func FuzzReadImage(f *testing.F) {
	for _, content := range corpus(f, "images") {
		f.Add([]byte(content))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kind := imageKindOf(data)
		if kind == nil {
			return
		}
		shown, c, err := kind.load(data)
		if err == nil && (c.Width <= 0 || c.Height <= 0 || len(shown) == 0) {
			t.Errorf("%d × %d pixels, %d bytes", c.Width, c.Height, len(shown))
		}
	})
}
