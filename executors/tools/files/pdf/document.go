// Package pdf extracts the text of PDF files, page by page.
//
// Start with [Open], then [Document.Page]. Text comes in the order in which the page draws it. Layout is
// reduced to lines and spaces; forms, annotations and images are left out.
//
// Files are untrusted. All work is counted: what is decompressed, the operators of pages, and what is nested.
// Objects are found by reading the file from its beginning, without its table of offsets, so a damaged or a
// false table does not matter.
//
// Why is it written here? The libraries in pure Go that can be had lose the spaces of documents made with TeX,
// refuse damaged files, and allocate what a file demands.
//
// The format: ISO 32000-1, https://opensource.adobe.com/dc-acrobat-sdk-docs/standards/pdfstandards/pdf/PDF32000_2008.pdf
package pdf

import (
	"bytes"
	"errors"
	"strconv"
)

const (
	maxDecoded = 256 << 20 // bytes of all streams of a document, decoded
	maxStream  = 64 << 20  // bytes of a stream, decoded
	maxPages   = 100_000
	maxObjects = 2_000_000
)

// The reasons why a document cannot be read.
var (
	ErrNoPDF     = errors.New("it has no pages that can be found")
	ErrEncrypted = errors.New("it is encrypted, and needs a password")
	ErrTooMuch   = errors.New("it takes too much work to read")
)

// Document is an open document. It must not be used concurrently.
type Document struct {
	data    []byte
	objects map[int]place
	pages   []page
	left    int64 // bytes that may still be decoded
	fonts   map[int]*font
	crypt   *crypt
	streams []innerStream  // object streams that are not decoded yet
	inner   map[int][]byte // decoded object streams
	loading map[int]bool   // objects that are being read
}

// place is where an object is: in the file, or in an object stream.
type place struct {
	pos int // of the object after "obj"; in a stream, from its beginning
	in  int // the number of the object stream; 0 means the file
}

type page struct {
	dict      dict
	resources dict
}

// Open finds the pages of a document.
func Open(data []byte) (*Document, error) {
	d := &Document{data: data, objects: map[int]place{}, left: maxDecoded, fonts: map[int]*font{}, inner: map[int][]byte{}, loading: map[int]bool{}}
	trailer := d.scan()
	if d.left < 0 {
		return nil, ErrTooMuch
	}
	if e := d.dict(trailer["Encrypt"]); e != nil {
		id, _ := d.resolve(append(d.array(trailer["ID"]), str(""))[0]).(str)
		if d.crypt = d.openCrypt(e, id); d.crypt == nil {
			return nil, ErrEncrypted
		}
	}
	for _, s := range d.streams {
		d.addInner(s)
	}
	d.streams = nil
	root := d.dict(trailer["Root"])
	if d.dict(root["Pages"]) == nil {
		root = d.findCatalog()
	}
	d.addPages(root["Pages"], nil, map[ref]bool{}, 0)
	if len(d.pages) == 0 {
		return nil, ErrNoPDF
	}
	return d, nil
}

// Pages returns the number of pages.
func (d *Document) Pages() int { return len(d.pages) }

// scan finds all objects, and returns the entries of all trailers. Later ones win, as updates are appended.
func (d *Document) scan() dict {
	trailer := dict{}
	add := func(from dict) {
		for _, key := range []name{"Root", "Encrypt", "ID"} {
			if v, ok := from[key]; ok {
				trailer[key] = v
			}
		}
	}
	for pos := 0; len(d.objects) < maxObjects; {
		i := bytes.Index(d.data[pos:], []byte("obj"))
		if i < 0 {
			break
		}
		start := pos + i + len("obj")
		n, ok := numberBefore(d.data[pos : pos+i])
		pos = start
		if !ok {
			continue
		}
		d.objects[n] = place{pos: start}
		l := lexer{data: d.data, pos: start, refs: true}
		dictionary, ok := l.next().(dict)
		if d.left -= int64(l.pos - start); d.left < 0 {
			break
		}
		if !ok {
			continue
		}
		if bytes.Contains(d.data[start:l.pos], []byte("endobj")) { // it is damaged, and may swallow others
			continue
		}
		pos = max(pos, l.pos)
		if body, after, ok := d.body(&l, dictionary); ok {
			pos = after
			switch dictionary["Type"] {
			case name("XRef"):
				add(dictionary)
			case name("ObjStm"):
				d.streams = append(d.streams, innerStream{stream{dictionary, body, n}, start})
			}
		}
	}
	for pos := 0; ; {
		i := bytes.Index(d.data[pos:], []byte("trailer"))
		if i < 0 {
			return trailer
		}
		pos += i + len("trailer")
		l := lexer{data: d.data, pos: pos, refs: true}
		if t, ok := l.next().(dict); ok {
			add(t)
		}
		d.left -= int64(l.pos - pos)
		if d.left < 0 {
			return trailer
		}
	}
}

// numberBefore returns the number of an object, whose beginning is "7 0 obj", from the text before "obj".
func numberBefore(text []byte) (int, bool) {
	text = text[max(0, len(text)-30):]
	fields := bytes.Fields(text)
	if len(fields) < 2 || len(text) == 0 || !isSpace(text[len(text)-1]) {
		return 0, false
	}
	if _, err := strconv.Atoi(string(fields[len(fields)-1])); err != nil {
		return 0, false
	}
	number := fields[len(fields)-2]
	digits := len(number)
	for digits > 0 && number[digits-1] >= '0' && number[digits-1] <= '9' {
		digits--
	}
	n, err := strconv.Atoi(string(number[digits:])) // "endobj7 0 obj" is known
	return n, err == nil && n < 1e9
}

// body returns the encoded data of a stream after its dictionary, and the position after it.
func (d *Document) body(l *lexer, of dict) (data []byte, after int, ok bool) {
	l.skipSpace()
	if !bytes.HasPrefix(d.data[l.pos:], []byte("stream")) {
		return nil, 0, false
	}
	start := l.pos + len("stream")
	if start < len(d.data) && d.data[start] == '\r' {
		start++
	}
	if start < len(d.data) && d.data[start] == '\n' {
		start++
	}
	if length, ok := of["Length"].(float64); ok && length >= 0 && length <= float64(len(d.data)-start) {
		stop := start + int(length)
		if tail := bytes.TrimLeft(d.data[stop:min(len(d.data), stop+20)], "\r\n \t"); bytes.HasPrefix(tail, []byte("endstream")) {
			return d.data[start:stop], stop, true
		}
	}
	i := bytes.Index(d.data[start:], []byte("endstream"))
	if d.left -= int64(max(i, 0)) / 4; i < 0 {
		d.left -= int64(len(d.data)-start) / 4
		return d.data[start:], len(d.data), true
	}
	return bytes.TrimRight(d.data[start:start+i], "\r\n"), start + i, true
}

// innerStream is an object stream, and its place in the file.
type innerStream struct {
	stream
	pos int
}

// addInner adds the objects of an object stream, unless the file has them again after it.
func (d *Document) addInner(s innerStream) {
	n, of := s.num, s.dict
	data, err := d.decode(&s.stream)
	if err != nil {
		return
	}
	d.inner[n] = data
	first, _ := of["First"].(float64)
	count, _ := of["N"].(float64)
	l := lexer{data: data[:max(0, min(len(data), int(first)))]}
	for range int(min(count, float64(len(data)))) {
		number, ok := l.next().(float64)
		offset, ok2 := l.next().(float64)
		if !ok || !ok2 {
			return
		}
		if pos := int(first) + int(offset); number >= 0 && number < 1e9 && pos >= 0 && pos < len(data) && int(number) != n {
			if before, ok := d.objects[int(number)]; !ok || before.in != 0 || before.pos < s.pos {
				d.objects[int(number)] = place{pos, n}
			}
		}
	}
}

// resolve returns the object that v refers to.
func (d *Document) resolve(v any) any {
	for range 20 {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = d.load(int(r))
	}
	return nil
}

func (d *Document) load(n int) any {
	at, ok := d.objects[n]
	if !ok || d.left < 0 {
		return nil
	}
	if at.in != 0 {
		l := lexer{data: d.inner[at.in], pos: at.pos, refs: true}
		v := l.next()
		d.left -= int64(l.pos - at.pos + 64)
		return v
	}
	l := lexer{data: d.data, pos: at.pos, refs: true}
	v := l.next()
	d.left -= int64(l.pos - at.pos + 64) // objects are read each time
	of, ok := v.(dict)
	if !ok {
		return v
	}
	if r, ok := of["Length"].(ref); ok && !d.loading[n] { // a length that is an object of its own
		d.loading[n] = true
		of["Length"] = d.resolve(r)
		delete(d.loading, n)
	}
	if body, _, ok := d.body(&l, of); ok {
		return &stream{of, body, n}
	}
	return of
}

// dict returns the dictionary that v is or refers to; nil if it is none. A stream is its dictionary.
func (d *Document) dict(v any) dict {
	switch v := d.resolve(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (d *Document) array(v any) array {
	a, _ := d.resolve(v).(array)
	return a
}

func (d *Document) number(v any) (float64, bool) {
	f, ok := d.resolve(v).(float64)
	return f, ok
}

func (d *Document) name(v any) name {
	n, _ := d.resolve(v).(name)
	return n
}

// findCatalog returns the last catalog of a document whose trailer names none.
func (d *Document) findCatalog() dict {
	var found dict
	last := -1
	for n := range d.objects {
		if o, ok := d.load(n).(dict); ok && o["Type"] == name("Catalog") && n > last {
			found, last = o, n
		}
	}
	return found
}

// addPages adds the pages below a node of the tree of pages.
func (d *Document) addPages(node any, resources dict, seen map[ref]bool, depth int) {
	if r, ok := node.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	n := d.dict(node)
	if n == nil || depth > maxDepth || len(d.pages) >= maxPages {
		return
	}
	if own := d.dict(n["Resources"]); own != nil {
		resources = own
	}
	kids, ok := d.resolve(n["Kids"]).(array)
	if !ok || d.name(n["Type"]) == "Page" {
		d.pages = append(d.pages, page{n, resources})
		return
	}
	for _, kid := range kids {
		d.addPages(kid, resources, seen, depth+1)
	}
}
