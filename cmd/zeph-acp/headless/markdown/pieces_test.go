package markdown_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/markdown"
)

func TestPieces(t *testing.T) {
	want := []markdown.Piece{{Text: "a "}, {Text: "b ", Bold: true}, {Text: "c", Bold: true, Italic: true}, {Text: " "}, {Text: "x<y", Code: true}, {Text: " "},
		{Text: "d", Link: true}, {Text: " (e)"}, {Text: " "}, {Text: "f", Struck: true}}
	if diff := cmp.Diff(want, markdown.Pieces("a **b *c*** `x<y` [d](e) ~~f~~")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	cells := [][]markdown.Piece{{{Text: "a"}}, {{Text: "b|c", Code: true}}}
	if diff := cmp.Diff(cells, markdown.Cells("| a | `b|c` |")); diff != "" || !markdown.IsDelimiter("|---|:-:|") || markdown.IsDelimiter("---") {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
