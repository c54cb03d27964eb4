package workbook

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// archive returns a workbook with a sheet and shared strings; parts replace or add others.
func archive(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"_rels/.rels":     `<Relationships><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml": `<workbook xmlns:r="r"><sheets><sheet name="S" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="x/sharedStrings" Target="/xl/sharedStrings.xml"/><Relationship Id="r3" Type="x/styles" Target="styles.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml": `<worksheet><sheetData><row><c t="s"><v>0</v></c><c><v>0.1</v></c></row></sheetData></worksheet>`,
		"xl/sharedStrings.xml":     `<sst><si><r><t>a</t></r><r><t> b</t></r><rPh><t>spoken</t></rPh></si></sst>`,
	}
	for name, text := range parts {
		all[name] = text
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range all {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rows returns the rows of the first sheet, a line each.
func rows(data []byte, in Range) (string, error) {
	w, err := Open(context.Background(), data)
	if err != nil || len(w.Sheets) == 0 {
		return "", err
	}
	var b strings.Builder
	_, err = w.Rows(0, in, func(r Row) bool {
		b.WriteString(strings.Join(r.Cells, "|") + "\n")
		return true
	})
	return b.String(), err
}

func TestRows(t *testing.T) {
	sheet := func(cells string) map[string]string {
		return map[string]string{"xl/worksheets/sheet1.xml": `<x:worksheet xmlns:x="m"><x:sheetData>` + cells + `</x:sheetData></x:worksheet>`}
	}
	for _, tt := range []struct{ cells, in, want string }{
		{`<row><c t="s"><v>0</v></c><c><v>0.1</v></c></row>`, "", "a b|0.1\n"},
		{`<row><c><v>0.30000000000000004</v></c><c><v>1E+20</v></c><c><v>12345678</v></c></row>`, "", "0.30000000000000004|1e+20|12345678\n"},
		{`<row r="2"><c r="C2"><v>1</v></c></row><row r="9"><c r="A9" t="b"><v>1</v></c></row>`, "", "||1\nTRUE\n"},
		{`<row r="2"><c r="C2"><v>1</v></c></row><row r="9"><c r="A9" t="b"><v>1</v></c></row>`, "B1:D8", "|1\n"},
		{`<row><c t="inlineStr"><is><t>x&#10;y</t></is></c><c t="str"><f>A1</f><v>z_x0009_</v></c></row>`, "", "x ⏎ y|z \n"},
		{`<row><c><f>SUM(B1:B3)</f></c><c t="s"><v>77</v></c><c t="e"><v>#N/A</v></c></row>`, "", "=SUM(B1:B3)||#N/A\n"},
		{`<row><c r="ZZZZZ1"><v>1</v></c><c r="A99999999999"><v>2</v></c></row>`, "", "1|2\n"},
	} {
		in := All
		if tt.in != "" {
			var err error
			if in, err = ParseRange(tt.in); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := rows(archive(t, sheet(tt.cells)), in); got != strings.ReplaceAll(tt.want, "z \n", "z \n") || err != nil {
			t.Errorf("%s: %q, %v, want %q", tt.cells, got, err, tt.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for code, want := range map[string]string{
		"General": "44197.5", "yyyy-mm-dd": "2021-01-01 12:00:00", "m/d/yy h:mm": "2021-01-01 12:00:00", "[h]:mm": "1060740:00:00", `0.00 "days"`: "44197.5",
		"0%": "44197.5", `[$-409]d-mmm-yy;@`: "2021-01-01 12:00:00", "[Red]0.0": "44197.5", "mmmm": "2021-01-01 12:00:00", `#,##0\ "m"`: "44197.5",
		"hh:mm": "2021-01-01 12:00:00",
	} {
		w := &Workbook{dates: []dateKind{kindOf(code)}}
		if got := w.number("44197.5", "0"); got != want {
			t.Errorf("44197.5 as %s: %s, want %s", code, got, want)
		}
	}
	for value, want := range map[string]string{"1": "1900-01-01", "59": "1900-02-28", "61": "1900-03-01", "-1": "-1",
		"1e300": "1e+300", "x": "x", "NaN": "NaN", "2958465": "9999-12-31"} {
		if got := (&Workbook{dates: []dateKind{date}}).number(value, "0"); got != want {
			t.Errorf("%s as a date: %s, want %s", value, got, want)
		}
	}
}

func TestRanges(t *testing.T) {
	for s, want := range map[string]Range{"A1:F40": {1, 1, 6, 40}, "b2": {2, 2, 2, 2}, "$C$3:$A$1": {1, 1, 3, 3},
		"A:C": {1, 1, 3, maxRows}, "3:9": {1, 3, maxColumns, 9},
	} {
		if got, err := ParseRange(s); got != want || err != nil {
			t.Errorf("ParseRange(%s) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", ":", "A1:", "A:3", "1A", "A0", "XFE1", "A+1", "A1:B", "A1048577"} {
		if got, err := ParseRange(s); err == nil {
			t.Errorf("ParseRange(%s) = %v", s, got)
		}
	}
}

// Hostile workbooks fail with a reason, in bounded memory.
func TestHostile(t *testing.T) {
	bomb := "<sst>" + strings.Repeat("<si><t>"+strings.Repeat("a", 1<<20)+"</t></si>", maxShared>>20) + "</sst>"
	for name, tt := range map[string]struct {
		parts map[string]string
		want  string
	}{
		"bomb":     {map[string]string{"xl/sharedStrings.xml": bomb}, "sharedstrings.xml has more than 64 MiB"},
		"text":     {map[string]string{"xl/sharedStrings.xml": "<sst>" + strings.Repeat(" ", maxToken+8<<10) + "</sst>"}, "a tag or text of more than 4 MiB"},
		"tag":      {map[string]string{"xl/worksheets/sheet1.xml": "<a" + strings.Repeat(` a=""`, maxToken/5+4<<10) + "/>"}, "a tag or text of more than 4 MiB"},
		"deep":     {map[string]string{"xl/worksheets/sheet1.xml": strings.Repeat("<a>", 100000)}, "nested more than 64 deep"},
		"broken":   {map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData><row>"}, "is broken: XML syntax error"},
		"entities": {map[string]string{"xl/worksheets/sheet1.xml": `<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>`}, "invalid character entity"},
		"no sheet": {map[string]string{"xl/_rels/workbook.xml.rels": `<R><Relationship Id="r1" Type="worksheet" Target="gone.xml"/></R>`},
			"part xl/gone.xml is missing"},
		"sheets": {map[string]string{"xl/workbook.xml": "<w>" + strings.Repeat(`<sheet name="x"/>`, 1001) + "</w>"}, "more than 1000 sheets"},
	} {
		if _, err := rows(archive(t, tt.parts), All); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	same, err := Open(t.Context(), archive(t, map[string]string{"xl/worksheets/sheet1.xml": "<worksheet>" + strings.Repeat("<c/>", 1<<18) + "</worksheet>"}))
	if err != nil {
		t.Fatal(err)
	}
	for same.left = 3 << 20; err == nil && same.left > 0; { // sheets may share one part
		_, err = same.Rows(0, All, nil)
	}
	if err == nil || !strings.Contains(err.Error(), "more than 384 MiB together") {
		t.Errorf("a part again: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, archive(t, nil)); err != context.Canceled {
		t.Errorf("a cancelled read: %v", err)
	}
	whole := archive(t, nil)
	for _, n := range []int{0, 4, len(whole) / 2, len(whole) - 1} {
		if _, err := rows(whole[:n], All); err == nil || !strings.Contains(err.Error(), "not a complete ZIP archive") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// FuzzSheet reads sheets and shared strings.
func FuzzSheet(f *testing.F) {
	f.Add(`<worksheet><sheetData><row r="1"><c r="A1" t="s" s="0"><v>0</v></c></row></sheetData></worksheet>`, `<sst><si><t>a</t></si></sst>`,
		`<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[h]:mm"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`)
	f.Fuzz(func(t *testing.T, sheet, shared, styles string) {
		text, _ := rows(archive(t, map[string]string{"xl/worksheets/sheet1.xml": sheet, "xl/sharedStrings.xml": shared, "xl/styles.xml": styles}), All)
		if lines := strings.Count(text, "\n"); lines > len(sheet) {
			t.Errorf("%d lines", lines)
		}
	})
}
