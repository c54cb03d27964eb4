package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

func TestReadWorkbook(t *testing.T) {
	files := corpus(t, "workbooks")
	b := newBench(t, map[string]string{"a.xlsx": files["any_sheets.xlsx"], "i.xlsx": files["inventory-table.xlsx"],
		"old.xlsx": "\xd0\xcf\x11\xe0\x00", "cut.xlsx": files["date.xlsx"][:3000],
		"text.xlsx": "plain\n"})
	for _, tt := range []struct{ path, pages, want string }{
		{"i.xlsx", "Sheet1!B2:C3", "[workbook i.xlsx: 1 sheet: Sheet1]\n[sheet Sheet1, A1:C5]\n\tB\tC\n2\tApple\t50\n3\tBanana\t200"},
		{"i.xlsx", "b5", "\tB\n5\tPear"},
		{"i.xlsx", "#1", "5\t4\tPear\t100"},
		{"i.xlsx", "'sheet1'!A1", "\tA\n1\tItem"},
		{"a.xlsx", "Hidden", "[sheet Hidden"},
		{"text.xlsx", "", "plain"},
	} {
		if res := b.run("read", in{"path": tt.path, "pages": tt.pages}); res.Failed || !strings.Contains(res.ForModel(), tt.want) {
			t.Errorf("read %s %s: %q, want %q", tt.path, tt.pages, res.ForModel(), tt.want)
		}
	}
	if got := b.run("read", in{"path": "i.xlsx", "limit": 3}).ForModel(); !strings.HasSuffix(got, "\tA\tB\tC\n[lines 1-3; continue with offset 3]") {
		t.Errorf("read of three lines: %q", got)
	}
	wantFailure(t, b.run("read", in{"path": "i.xlsx", "pages": "Data!A1"}), executors.InvalidParameters, `pages: no sheet is named "Data"`, `"Sheet1!A1:F40"`)
	wantFailure(t, b.run("read", in{"path": "i.xlsx", "pages": "Sheet1!1x"}), executors.InvalidParameters, `"1x" is not a range such as A1:F40`)
	wantFailure(t, b.run("read", in{"path": "cut.xlsx"}), executors.PermanentFailure,
		"cut.xlsx cannot be read as a workbook: it is not a complete ZIP archive", "soffice")
	wantFailure(t, b.run("read", in{"path": "old.xlsx"}), executors.PermanentFailure, "old.xlsx is a binary file")
}

// A large sheet is read as far as a page needs it.
func TestReadSeparatedValues(t *testing.T) {
	var long strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&long, "%d;\"a;b\n%d\";x\n", i, i)
	}
	b := newBench(t, map[string]string{"a.csv": "\ufeffname,qty\nbolt,12\nnut,\"3\n4\"\n", "t.tsv": "a\tb\n", "long.csv": long.String(), "a.txt": "x\n",
		"wide.csv": "a,b\n" + strings.Repeat(",", maxFields+1)})
	for _, tt := range []struct{ path, pages, want string }{
		{"a.csv", "", "name,qty\nbolt,12\nnut,\"3\n4\""},
		{"a.csv", "B2:B9", "[table a.csv]\n\tB\n2\t12\n3\t3 ⏎ 4"},
		{"t.tsv", "A:B", "[table t.tsv]\n\tA\tB\n1\ta\tb"},
		{"long.csv", "B4000", "[table long.csv]\n\tB\n4000\ta;b ⏎ 3999"},
		{"a.txt", "A1", "x\n[pages was ignored: the file is text, whose lines offset and limit select]"},
	} {
		if res := b.run("read", in{"path": tt.path, "pages": tt.pages}); res.Failed || res.ForModel() != tt.want {
			t.Errorf("read %s %s: %q, want %q", tt.path, tt.pages, res.ForModel(), tt.want)
		}
	}
	wantFailure(t, b.run("read", in{"path": "wide.csv", "pages": "A1"}), executors.PermanentFailure, "wide.csv has a line of more than 1048576 fields", "cut -d")
	wantFailure(t, b.run("read", in{"path": "a.csv", "pages": "2b"}), executors.InvalidParameters, "not a range such as A1:F40")
}
