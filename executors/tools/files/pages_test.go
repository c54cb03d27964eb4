package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// pdfOf returns a PDF with a page for each text, without a table of offsets.
func pdfOf(pages ...string) string {
	var b, kids strings.Builder
	b.WriteString("%PDF-1.4\n")
	for i, text := range pages {
		n := 10 + 2*i
		fmt.Fprintf(&kids, "%d 0 R ", n)
		content := "BT /F 12 Tf 72 700 Td 14 TL (" + strings.ReplaceAll(text, "\n", ") Tj T* (") + ") Tj ET"
		fmt.Fprintf(&b, "%d 0 obj <</Type/Page/Parent 2 0 R/Contents %d 0 R>> endobj\n", n, n+1)
		fmt.Fprintf(&b, "%d 0 obj <</Length %d>> stream\n%s\nendstream endobj\n", n+1, len(content), content)
	}
	fmt.Fprintf(&b, "2 0 obj <</Type/Pages/Kids[%s]/Resources<</Font<</F 3 0 R>>>>>> endobj\n", &kids)
	b.WriteString("3 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\ntrailer <</Root 1 0 R>>\n")
	return b.String()
}

func TestReadPDF(t *testing.T) {
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("page %d", i+1)+strings.Repeat("\nwords of a line", 100))
	}
	whole := pdfOf("One\ntwo", "Three")
	b := newBench(t, map[string]string{"a.pdf": whole, "many.pdf": pdfOf(many...), "named.bin": "\x00" + whole, "not.pdf": "plain\n",
		"cut.pdf":  "%PDF-1.7\n1 0 obj\n<</Type/Cat",
		"late.pdf": "junk\x00\n" + whole})
	cfg := setting.Default[Config]()
	cfg.MaxOutputChars = 5000
	b.with(cfg)
	for _, tt := range []struct{ path, pages, want string }{
		{"a.pdf", "", "[PDF a.pdf: 2 pages]\n[page 1]\nOne\ntwo\n[page 2]\nThree"},
		{"a.pdf", "2", "[PDF a.pdf: 2 pages]\n[page 2]\nThree"},
		{"a.pdf", "2-9", "[PDF a.pdf: 2 pages]\n[page 2]\nThree"},
		{"named.bin", "1", "[PDF named.bin: 2 pages]\n[page 1]\nOne\ntwo"},
		{"late.pdf", "2-", "[PDF late.pdf: 2 pages]\n[page 2]\nThree"},
		{"not.pdf", "", "plain"},
	} {
		if res := b.run("read", in{"path": tt.path, "pages": tt.pages}); res.Failed || res.ForModel() != tt.want {
			t.Errorf("read %s %s: %q, want %q", tt.path, tt.pages, res.ForModel(), tt.want)
		}
	}
	got := b.run("read", in{"path": "many.pdf"}).ForModel()
	if !strings.HasSuffix(got, "\n[pages 1-2 of 12; continue with pages 3-12]") || strings.Count(got, "[page ") != 2 {
		t.Errorf("read many.pdf: …%s", got[max(0, len(got)-200):])
	}
	got = b.run("read", in{"path": "many.pdf", "pages": "4-5", "offset": 3, "limit": 2}).ForModel()
	if got != "words of a line\nwords of a line\n[lines 4-5 of 205; continue with offset 5]" {
		t.Errorf("read with an offset: %q", got)
	}
	wantFailure(t, b.run("read", in{"path": "a.pdf", "pages": "3"}), executors.InvalidParameters, `a.pdf has 2 pages, and no page "3"`, "2-5")
	wantFailure(t, b.run("read", in{"path": "a.pdf", "pages": "x"}), executors.InvalidParameters, `no page "x"`)
	wantFailure(t, b.run("read", in{"path": "cut.pdf"}), executors.PermanentFailure,
		"cut.pdf cannot be read as a PDF: it has no pages that can be found", "pdftotext -layout FILE -")
	b = newBench(t, corpus(t, "pdf"))
	wantFailure(t, b.run("read", in{"path": "rc4-128.pdf"}), executors.PermanentFailure, "encrypted, and needs a password", "--decrypt FILE OUT.pdf")
	for name, want := range map[string]string{"pdf-with-jbig2.pdf": "[1 page without text, probably scanned; in bash, ocrmypdf",
		"issue-791-non-unicode-cmap.pdf": "do not name 28 characters; in bash, pdftotext",
	} {
		if got := b.run("read", in{"path": name}).ForModel(); !strings.Contains(got, want) {
			t.Errorf("read %s: %s, want %q", name, got, want)
		}
	}
}
