package files

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/pdf"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// isPDF reports whether a file begins like a PDF. Some have other bytes before that.
func isPDF(head []byte) bool { return bytes.Contains(head, []byte("%PDF-")) }

// rawPages is the raw output of a PDF.
type rawPages struct {
	Path  string `json:"path"`
	First int    `json:"first_page"`
	Last  int    `json:"last_page"`
	Pages int    `json:"total_pages"`
	More  bool   `json:"truncated"` // pages or lines follow
}

// showPDF shows the text of pages: those that the call names, or as many as a result has room for.
func (t *tools) showPDF(ctx context.Context, d formed) (executors.Result, error) {
	data, err := t.content(ctx, d.stattedTarget, maxDocument)
	if err != nil {
		return executors.Result{}, err
	}
	doc, err := pdf.Open(data)
	if err != nil {
		return executors.Result{}, unreadPDF(d.target, err)
	}
	first, last := 1, doc.Pages()
	if d.in.Pages != "" {
		if first, last, _, err = pageRange(d.in.Pages); err != nil || first > doc.Pages() {
			return executors.Result{}, executors.Failuref(executors.InvalidParameters, "pages: %s has %s, and no page %q", d.display,
				quantity.Count(doc.Pages(), "page"), d.in.Pages).Hint("Set pages to a number or a range such as 2-5.")
		}
		last = min(last, doc.Pages())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[PDF %s: %s]\n", d.display, quantity.Count(doc.Pages(), "page"))
	shown := 0 // the last page that is shown
	var facts pageFacts
	for i := first; i <= last; i++ {
		p, err := doc.Page(ctx, i)
		if ctx.Err() != nil {
			return executors.Result{}, context.Cause(ctx)
		}
		if err != nil && shown == 0 {
			return executors.Result{}, unreadPDF(d.target, fmt.Errorf("page %d: %w", i, err))
		}
		page := fmt.Sprintf("[page %d]\n%s\n", i, text.WithoutControls(p.Text))
		if err != nil || shown > 0 && b.Len()+len(page) > t.cfg.pageChars() {
			break
		}
		b.WriteString(page)
		facts.add(p)
		shown = i
	}
	res, err := t.pageOf(ctx, d.stattedTarget, d.in, b.String(), true)
	if err != nil {
		return res, err
	}
	raw, _ := res.Raw.(rawRead)
	res.Raw = rawPages{d.client, first, shown, doc.Pages(), raw.More || shown < last}
	if shown < last {
		res.Below(fmt.Sprintf("[pages %d-%d of %d; continue with pages %d-%d]", first, shown, doc.Pages(), shown+1, last))
	}
	res.Below(facts.note())
	return res, nil
}

// pageFacts are facts about the text of pages.
type pageFacts struct{ characters, unknown, images, empty int }

func (f *pageFacts) add(p pdf.Page) {
	f.characters += len(p.Text)
	f.unknown += p.Unknown
	f.images += p.Images
	if p.Text == "" {
		f.empty++
	}
}

// note says which program would show more, "" if none is needed.
func (f *pageFacts) note() string {
	switch {
	case f.unknown > 0 && f.unknown*len("\uFFFD")*20 > f.characters:
		return fmt.Sprintf("[the fonts do not name %s; in bash, pdftotext -layout FILE - (of poppler) or mutool draw -F txt FILE may know more]",
			quantity.Count(f.unknown, "character"))
	case f.empty > 0 && f.images > 0:
		return fmt.Sprintf("[%s without text, probably scanned; in bash, ocrmypdf FILE OUT.pdf adds text, and pdftoppm -r 100 -png FILE OUT makes images to read]",
			quantity.Count(f.empty, "page"))
	case f.empty > 0:
		return fmt.Sprintf("[%s without text; in bash, pdftoppm -r 100 -png FILE OUT makes images to read]", quantity.Count(f.empty, "page"))
	}
	return ""
}

// unreadPDF is the failure of a PDF that cannot be read.
func unreadPDF(tg target, err error) error {
	failure := executors.Failuref(executors.PermanentFailure, "%s cannot be read as a PDF: %v", tg.display, err)
	if err == pdf.ErrEncrypted {
		return failure.Hint("Ask the user for the password. In bash, qpdf --password=PASSWORD --decrypt FILE OUT.pdf removes the encryption; then read OUT.pdf.")
	}
	return failure.Hint("Try in bash: %s.", programFor("x.pdf"))
}
