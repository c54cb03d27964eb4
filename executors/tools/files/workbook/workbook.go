// Package workbook reads the sheets of Excel workbooks (.xlsx, .xlsm) as tables of text.
//
// Start with [Open], then [Workbook.Rows]. Values come from the last calculation. It reads neither
// styles, except whether a number is a date, nor charts, images and macros.
//
// Workbooks are untrusted: parts are streamed, and what is decompressed, kept and nested is bounded.
//
// Why is it written here? excelize reads whole sheets into memory, has a dozen dependencies, and would add more
// than the whole rest of the file tools; smaller libraries decompress without a bound. The format: ECMA-376 part 1.
package workbook

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	maxPart    = 256 << 20 // bytes of a sheet, decompressed
	maxShared  = 64 << 20  // bytes of the shared strings and of other parts, decompressed
	maxTotal   = 384 << 20 // bytes of all parts, each time that they are read
	maxToken   = 4 << 20   // bytes of one tag or text; a cell has at most 32767 characters
	maxStrings = 4_000_000 // that sheets share
	maxParts   = 20000
	maxSheets  = 1000
	maxNesting = 64  // of XML elements
	maxCell    = 500 // characters shown of a cell
)

// Workbook is an open workbook. It must not be used concurrently.
type Workbook struct {
	Sheets []Sheet

	ctx     context.Context
	parts   map[string]*zip.File
	left    int64 // bytes that may still be decompressed
	shared  []string
	loaded  bool // shared is
	strings string
	styles  string
	dates   []dateKind // by the index of a style
	epoch   bool       // dates begin in 1904
}

// Sheet is a sheet of a workbook.
type Sheet struct {
	Name   string
	Hidden bool
	part   string // empty if it has no cells, as a chart has none
}

// Open reads the list of the sheets. A context that ends also ends later reads.
func Open(ctx context.Context, data []byte) (*Workbook, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("it is not a complete ZIP archive: %w", err)
	}
	if len(r.File) > maxParts {
		return nil, fmt.Errorf("it has %s, over the limit of %d", quantity.Count(len(r.File), "part"), maxParts)
	}
	w := &Workbook{ctx: ctx, parts: map[string]*zip.File{}, left: maxTotal}
	for _, f := range r.File {
		w.parts[partName(f.Name)] = f
	}
	main := w.mainPart()
	if main == "" {
		return nil, errors.New("it has no workbook inside")
	}
	targets, err := w.relations(main)
	if err != nil {
		return nil, err
	}
	err = w.walk(main, maxShared, func(e element) error {
		switch e.name {
		case "workbookPr":
			w.epoch = w.epoch || isTrue(e.attr("date1904"))
		case "sheet":
			if e.end {
				return nil
			}
			if len(w.Sheets) == maxSheets {
				return fmt.Errorf("it has more than %d sheets", maxSheets)
			}
			target := targets[e.attr("id")]
			s := Sheet{Name: e.attr("name"), Hidden: cmp.Or(e.attr("state"), "visible") != "visible"}
			if target.kind == "worksheet" {
				s.part = target.part
			}
			w.Sheets = append(w.Sheets, s)
		}
		return nil
	})
	return w, err
}

// partName returns a name as the index has it: without a slash at the beginning, in lower case.
func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "/"))
}

// mainPart returns the name of the part with the list of the sheets.
func (w *Workbook) mainPart() string {
	targets, err := w.relations("")
	if err == nil {
		for _, t := range targets {
			if t.kind == "officeDocument" && w.parts[t.part] != nil && !strings.HasSuffix(t.part, ".bin") {
				return t.part
			}
		}
	}
	if w.parts["xl/workbook.xml"] != nil {
		return "xl/workbook.xml"
	}
	return ""
}

// target is a part that another part refers to.
type target struct{ kind, part string }

// relations returns the parts to which a part refers, by their ids. It remembers the parts that all sheets
// share.
func (w *Workbook) relations(from string) (map[string]target, error) {
	dir, base := path.Split(from)
	name := dir + "_rels/" + base + ".rels"
	out := map[string]target{}
	if w.parts[name] == nil {
		return out, nil
	}
	err := w.walk(name, maxShared, func(e element) error {
		if e.name != "Relationship" || e.end || e.attr("TargetMode") == "External" {
			return nil
		}
		to := e.attr("Target")
		if !strings.HasPrefix(to, "/") {
			to = path.Join(dir, to)
		}
		t := target{path.Base(e.attr("Type")), partName(to)}
		switch t.kind {
		case "sharedStrings":
			w.strings = t.part
		case "styles":
			w.styles = t.part
		}
		out[e.attr("Id")] = t
		return nil
	})
	return out, err
}

// element is the beginning of an XML element, its end, or text.
type element struct {
	name  string
	attrs []xml.Attr
	end   bool
	text  string // of character data, whose name is empty
}

// attr returns the value of an attribute, "" without it.
func (e element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func isTrue(s string) bool { return s == "1" || s == "true" }

// errEnough ends a walk early.
var errEnough = errors.New("enough")

// walk calls f with the elements of a part, until f returns an error or limit bytes were decompressed.
func (w *Workbook) walk(name string, limit int64, f func(element) error) error {
	part := w.parts[name]
	if part == nil {
		return fmt.Errorf("its part %s is missing", name)
	}
	in, err := part.Open()
	if err != nil {
		return fmt.Errorf("its part %s cannot be read: %w", name, err)
	}
	defer in.Close()
	bounded := &boundedReader{Reader: in, w: w, part: limit}
	dec := xml.NewDecoder(bounded)
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	depth := 0
	for n := 0; ; n++ {
		if n%4096 == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		bounded.token = maxToken
		token, err := dec.Token()
		switch {
		case w.left <= 0:
			return fmt.Errorf("its parts have more than %d MiB together", maxTotal>>20)
		case bounded.part <= 0:
			return fmt.Errorf("its part %s has more than %d MiB", name, limit>>20)
		case bounded.token <= 0:
			return fmt.Errorf("its part %s has a tag or text of more than %d MiB", name, maxToken>>20)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("its part %s is broken: %w", name, err)
		}
		var e element
		switch token := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxNesting {
				return fmt.Errorf("its part %s has elements nested more than %d deep", name, maxNesting)
			}
			e = element{name: token.Name.Local, attrs: token.Attr}
		case xml.EndElement:
			depth--
			e = element{name: token.Name.Local, end: true}
		case xml.CharData:
			e = element{text: string(token)}
		default:
			continue
		}
		if err := f(e); err == errEnough {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// boundedReader reads a part until a limit is reached. The decoder keeps each tag and text whole.
type boundedReader struct {
	io.Reader
	w           *Workbook
	part, token int64 // bytes that are left
}

func (r *boundedReader) Read(p []byte) (int, error) {
	if r.w.left <= 0 || r.part <= 0 || r.token <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := r.Reader.Read(p)
	r.w.left -= int64(n)
	r.part -= int64(n)
	r.token -= int64(n)
	return n, err
}

// loadShared reads the strings and the styles that all sheets share.
func (w *Workbook) loadShared() error {
	if w.loaded {
		return nil
	}
	w.loaded = true
	if w.styles != "" && w.parts[w.styles] != nil {
		if err := w.readStyles(); err != nil {
			return err
		}
	}
	if w.strings == "" || w.parts[w.strings] == nil {
		return nil
	}
	var b strings.Builder
	texts := runs{}
	return w.walk(w.strings, maxShared, func(e element) error {
		if e.name == "si" && e.end {
			if len(w.shared) == maxStrings {
				return fmt.Errorf("it has more than %d strings", maxStrings)
			}
			w.shared = append(w.shared, unescape(b.String()))
			b.Reset()
			return nil
		}
		texts.add(e, &b)
		return nil
	})
}

// runs collects the text of a string: its elements t, without the elements about its pronunciation.
type runs struct{ inText, spoken bool }

func (r *runs) add(e element, b *strings.Builder) {
	switch e.name {
	case "t":
		r.inText = !e.end
	case "rPh":
		r.spoken = !e.end
	case "":
		if r.inText && !r.spoken {
			b.WriteString(e.text)
		}
	}
}
