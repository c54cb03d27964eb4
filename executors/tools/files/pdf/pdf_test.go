package pdf

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// all returns the text of all pages, at most ten.
func all(data []byte) (string, error) {
	d, err := Open(data)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range min(d.Pages(), 10) {
		p, err := d.Page(context.Background(), i+1)
		if err != nil {
			return b.String(), err
		}
		b.WriteString(p.Text + "\n")
	}
	return b.String(), nil
}

// document returns a file with one page, whose content and other objects are given.
func document(content string, objects ...string) []byte {
	return []byte(fmt.Sprintf("%%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Kids [3 0 R]>> endobj\n"+
		"3 0 obj <</Type/Page/Contents 4 0 R/Resources <</Font <</F 5 0 R>>/XObject <</X 6 0 R>>>>>> endobj\n"+
		"4 0 obj <</Length %d>> stream\n%s\nendstream endobj 5 0 obj <</Type/Font/Subtype/Type1>> endobj\n%s\ntrailer <</Root 1 0 R>>", len(content), content,
		strings.Join(objects, "\n")))
}

func TestText(t *testing.T) {
	const unmapped = "5 0 obj <</Type/Font/Subtype/Type0/Encoding/Identity-H>> endobj"
	for _, tt := range []struct{ content, object, want string }{
		{"BT /F 10 Tf 0 0 Td (a\\050b\\)) Tj ET", "", "a(b)"},
		{"BT /F 10 Tf [(wo) 20 (rd) -300 (next) -4000 (far)] TJ ET", "", "word next   far"},
		{"BT /F 10 Tf 0 100 Td (one) Tj 0 -12 Td (two) Tj 0 -30 Td (three) Tj ET", "", "one\ntwo\n\nthree"},
		{"BT /F 10 Tf 12 TL (a) Tj (b) ' 1 1 (c) \" ET", "", "a\nb\nc"},
		{"/F 10 Tf BT (\\223q\\224 \\200 f\\014) Tj ET", "", "“q” € ffi"},
		{"BT /F 10 Tf <00410042> Tj ET", unmapped, "��"},
		{"q 1 0 0 1 5 5 cm /X Do Q",
			"6 0 obj <</Subtype/Form/Resources <</Font <</F 5 0 R>>>>/Length 22>> stream\nBT /F 9 Tf (form) Tj ET\nendstream endobj", "form"},
		{"/X Do", "6 0 obj <</Subtype/Form>> stream\n/X Do\nendstream endobj", ""},
		{"BI /W 1 ID \x00(EI) EI BT /F 10 Tf (x) Tj ET", "", "x"},
		{"BT /F 10 Tf (x", "", ""},
		{"BT /F 10 Tf 0 1 -1 0 0 0 Tm (up) Tj ET", "", "up"},
		{"BT /Gone 10 Tf (x) Tj ET Q Q Q ET [ << /A", "", "x"},
	} {
		got, err := all(document(tt.content, tt.object))
		if strings.TrimSpace(got) != tt.want || err != nil {
			t.Errorf("%s: %q, %v, want %q", tt.content, got, err, tt.want)
		}
	}
}

// deflated returns a stream object whose data is compressed.
func deflated(number int, entries string, data []byte) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return fmt.Sprintf("%d 0 obj <</Filter/FlateDecode/Length %d%s>> stream\n%s\nendstream endobj", number, b.Len(), entries, b.String())
}

// Hostile documents end with an error or with what can be read, in bounded time and memory.
func TestHostile(t *testing.T) {
	bomb := deflated(4, "", make([]byte, maxStream+1))
	forms := "6 0 obj <</Subtype/Form/Resources <</XObject <</X 6 0 R>>>>>> stream\n" + strings.Repeat("/X Do ", 50) + "\nendstream endobj"
	numbers := "6 0 obj <</Subtype/Form>> stream\n" + strings.Repeat("1 ", 50_000) + "\nendstream endobj"
	mapped := func(ranges string) []byte {
		return document("BT /F 10 Tf (x) Tj ET", "5 0 obj <</Type/Font/Subtype/Type1/ToUnicode 7 0 R>> endobj", deflated(7, "", []byte(ranges+" endbfrange")))
	}
	widths := "5 0 obj <</Type/Font/Subtype/Type0/DescendantFonts [<</W [" + strings.Repeat("0 65535 5 ", 20_000) + "]>>]>> endobj"
	inline := "9 0 obj <</F <</Subtype/Type0/DescendantFonts [<</W [0 65535 5]>>]>>>> endobj " +
		"3 0 obj <</Type/Page/Contents 4 0 R/Resources <</Font 9 0 R>>>> endobj"
	for name, tt := range map[string]struct {
		data []byte
		want error
	}{
		"forms of numbers": {document(strings.Repeat("/X Do ", 100_000), numbers), ErrTooMuch},
		"hexadecimal again": {document("", "4 0 obj ["+strings.Repeat("7 0 R ", 100_000)+"] endobj",
			"7 0 obj <</Filter [/AHx /AHx]/Length 100000>> stream\n"+strings.Repeat("20", 50_000)+"\nendstream endobj"), ErrTooMuch},
		"long rows": {document("", "4 0 obj ["+strings.Repeat("7 0 R ", 50_000)+"] endobj",
			deflated(7, "/DecodeParms <</Predictor 15/Columns 1000000>>", []byte("\x02ab"))), nil},
		"last code":      {mapped("<FFFF0000> <FFFFFFFF> <0041>"), nil},
		"ranges again":   {mapped(strings.Repeat("<0000><ffff><0041>", 60_000)), nil},
		"widths again":   {document("BT /F 10 Tf (x) Tj ET", widths), nil},
		"fonts again":    {document(strings.Repeat("/F 10 Tf ", 100_000), inline), ErrTooMuch},
		"bomb":           {document("", bomb), ErrTooMuch},
		"forms":          {document("/X Do", forms), ErrTooMuch},
		"page tree loop": {[]byte("1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj 2 0 obj <</Kids [2 0 R 2 0 R]>> endobj trailer <</Root 1 0 R>>"), ErrNoPDF},
		"reference loop": {[]byte("1 0 obj 2 0 R endobj 2 0 obj 1 0 R endobj trailer <</Root 1 0 R>>"), ErrNoPDF},
		"length loop":    {[]byte("1 0 obj <</Type/Catalog/Length 1 0 R/Pages 1 0 R/Kids 7>> stream x endstream endobj trailer <</Root 1 0 R>>"), nil},
		"deep":           {document(strings.Repeat("[", 1<<20) + strings.Repeat("<<", 1<<20)), nil},
		"empty":          {nil, ErrNoPDF},
		"encrypted":      {append(document(""), " trailer <</Encrypt <</V 5>>/Root 1 0 R>>"...), ErrEncrypted},
		"many objects":   {[]byte(strings.Repeat("1 0 obj ", 1<<18)), ErrNoPDF},
		"numbers":        {document("[" + strings.Repeat("0 ", 16<<20)), nil},
		"scans": {document("", "4 0 obj ["+strings.Repeat("7 0 R ", 1<<14)+"] endobj",
			"7 0 obj <<>> stream "+strings.Repeat("x", 1<<20)+"endstream"), ErrTooMuch},
		"unclosed": {[]byte(strings.Repeat("1 0 obj << /A ", 1<<12)), ErrNoPDF},
	} {
		if _, err := all(tt.data); err != tt.want {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := Open(document(strings.Repeat("q ", 5000)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Page(ctx, 1); err != context.Canceled {
		t.Errorf("a cancelled page: %v", err)
	}
}

// FuzzPDF reads documents made of real ones.
func FuzzPDF(f *testing.F) {
	r, err := zip.OpenReader("../testdata/pdf.zip")
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	for _, file := range r.File {
		in, err := file.Open()
		if err != nil {
			f.Fatal(err)
		}
		if data, err := io.ReadAll(in); err == nil && len(data) < 20<<10 {
			f.Add(data)
		}
	}
	f.Add(document("BT /F 10 Tf [(a) 20 (b)] TJ ET", deflated(7, "/Type/ObjStm/N 1/First 4", []byte("8 0 <</A 1>>"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		if text, err := all(data); err == nil && strings.Contains(text, "\x00\x00\x00\x00\x00") && len(data) < 10 {
			t.Errorf("%q", text)
		}
	})
}
