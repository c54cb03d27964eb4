package pdf

import (
	"bytes"
	"context"
	"math"
	"strings"

	"golang.org/x/text/unicode/norm"
)

func composed(s string) string { return norm.NFC.String(s) }

const (
	maxOperators = 2_000_000 // of a page
	maxText      = 4 << 20   // bytes of a page's text
	maxForms     = 12        // forms in forms
)

// Page is the text of a page.
type Page struct {
	Text    string
	Unknown int // characters that the fonts do not name
	Images  int
}

// matrix is a transformation: x' = ax + cy + e, y' = bx + dy + f.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times returns the transformation m and then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// graphics is the state that q and Q save and restore.
type graphics struct {
	ctm                                       matrix
	font                                      *font
	size, charSpace, wordSpace, leading, rise float64
	stretch                                   float64 // horizontal, 1 is none
}

// painter runs the operators of a page.
type painter struct {
	d       *Document
	ctx     context.Context
	state   graphics
	saved   []graphics
	text    matrix
	line    matrix
	left    int // operators
	out     layout
	images  int
	unknown int
}

// Page returns the text of a page; the first is 1.
func (d *Document) Page(ctx context.Context, number int) (Page, error) {
	if number < 1 || number > len(d.pages) {
		return Page{}, ErrNoPDF
	}
	p := d.pages[number-1]
	w := &painter{d: d, ctx: ctx, left: maxOperators, state: graphics{ctm: identity, stretch: 1}}
	var content []byte
	for _, v := range d.list(p.dict["Contents"]) {
		if s, ok := d.resolve(v).(*stream); ok {
			data, err := d.decode(s)
			if err == ErrTooMuch {
				return Page{}, err
			}
			if len(content)+len(data) > maxStream {
				return Page{}, ErrTooMuch
			}
			content = append(append(content, data...), '\n')
		}
	}
	if d.left < 0 {
		return Page{}, ErrTooMuch
	}
	if err := w.run(content, p.resources, 0); err != nil {
		return Page{}, err
	}
	return Page{w.out.String(), w.unknown, w.images}, nil
}

// run runs the operators of a content stream.
func (w *painter) run(content []byte, resources dict, depth int) error {
	if depth > 0 { // a page may draw a form many times
		if w.left -= len(content) / 8; w.left < 0 {
			return ErrTooMuch
		}
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
	}
	l := lexer{data: content}
	var operands []any
	base := len(w.saved)
	for {
		v := l.next()
		if v == end {
			w.saved = w.saved[:min(base, len(w.saved))]
			return nil
		}
		op, ok := v.(keyword)
		if !ok {
			if len(operands) < 64 {
				operands = append(operands, v)
			}
			continue
		}
		if w.left--; w.left < 0 || w.d.left < 0 {
			return ErrTooMuch
		}
		if w.left%4096 == 0 && w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		if op == "BI" {
			skipImage(&l)
			w.images++
		} else if err := w.operator(op, operands, resources, depth); err != nil {
			return err
		}
		operands = operands[:0]
	}
}

// skipImage skips an image within the content.
func skipImage(l *lexer) {
	for l.pos < len(l.data) {
		i := bytes.Index(l.data[l.pos:min(len(l.data), l.pos+1<<16)], []byte("EI"))
		if i < 0 {
			l.pos = min(len(l.data), l.pos+1<<16-1)
			continue
		}
		at := l.pos + i
		l.pos = at + 2
		before := at == 0 || isSpace(l.data[at-1])
		if after := l.pos == len(l.data) || isSpace(l.data[l.pos]); before && after {
			return
		}
	}
}

func (w *painter) operator(op keyword, operands []any, resources dict, depth int) error {
	n := numbers(operands)
	switch op {
	case "q":
		if len(w.saved) < 1000 {
			w.saved = append(w.saved, w.state)
		}
	case "Q":
		if k := len(w.saved); k > 0 {
			w.state, w.saved = w.saved[k-1], w.saved[:k-1]
		}
	case "cm":
		if len(n) == 6 {
			w.state.ctm = matrix(n).times(w.state.ctm)
		}
	case "Do":
		return w.draw(operands, resources, depth)
	case "BT":
		w.text, w.line = identity, identity
	case "Tf":
		if len(operands) == 2 && len(n) == 1 {
			f, _ := operands[0].(name)
			w.state.size = n[0]
			w.state.font = w.d.font(w.d.dict(resources["Font"])[f])
		}
	case "Tm":
		if len(n) == 6 {
			w.text, w.line = matrix(n), matrix(n)
		}
	case "Td", "TD":
		if len(n) == 2 {
			if op == "TD" {
				w.state.leading = -n[1]
			}
			w.move(n[0], n[1])
		}
	case "T*":
		w.move(0, -w.state.leading)
	case "'", "\"":
		w.move(0, -w.state.leading)
		if len(operands) > 0 {
			w.show(operands[len(operands)-1])
		}
	case "Tj":
		if len(operands) > 0 {
			w.show(operands[0])
		}
	case "TJ":
		if len(operands) > 0 {
			w.showAll(operands[0])
		}
	default:
		if len(n) == 1 {
			w.set(op, n[0])
		}
	}
	return nil
}

// set sets a parameter of text.
func (w *painter) set(op keyword, n float64) {
	switch op {
	case "Tc":
		w.state.charSpace = n
	case "Tw":
		w.state.wordSpace = n
	case "Tz":
		w.state.stretch = n / 100
	case "TL":
		w.state.leading = n
	case "Ts":
		w.state.rise = n
	}
}

func numbers(operands []any) []float64 {
	var out []float64
	for _, v := range operands {
		if f, ok := v.(float64); ok {
			out = append(out, f)
		}
	}
	return out
}

func (w *painter) move(x, y float64) {
	w.line = matrix{1, 0, 0, 1, x, y}.times(w.line)
	w.text = w.line
}

// draw runs a form, or counts an image.
func (w *painter) draw(operands []any, resources dict, depth int) error {
	if len(operands) == 0 || depth >= maxForms {
		return nil
	}
	n, _ := operands[0].(name)
	s, ok := w.d.resolve(w.d.dict(resources["XObject"])[n]).(*stream)
	if !ok {
		return nil
	}
	if w.d.name(s.dict["Subtype"]) == "Image" {
		w.images++
		return nil
	}
	data, err := w.d.decode(s)
	if err == ErrTooMuch {
		return err
	} else if err != nil {
		return nil
	}
	if own := w.d.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	before := w.state
	if m := numbers(w.d.array(s.dict["Matrix"])); len(m) == 6 {
		w.state.ctm = matrix(m).times(w.state.ctm)
	}
	err = w.run(data, resources, depth+1)
	w.state = before
	return err
}

// showAll shows the strings of an array, and moves by its numbers.
func (w *painter) showAll(v any) {
	list, _ := v.(array)
	for _, v := range list {
		if f, ok := v.(float64); ok {
			w.text = matrix{1, 0, 0, 1, -f / 1000 * w.state.size * w.state.stretch, 0}.times(w.text)
		} else {
			w.show(v)
		}
	}
}

// show shows a string.
func (w *painter) show(v any) {
	s, ok := v.(str)
	f := w.state.font
	if !ok || f == nil {
		return
	}
	f.codes(s, func(code uint32, size int) {
		width := f.width(code)/1000*w.state.size + w.state.charSpace
		if size == 1 && code == ' ' {
			width += w.state.wordSpace
		}
		width *= w.state.stretch
		text := f.text(code)
		if text == unknown {
			w.unknown++
		}
		from := matrix{1, 0, 0, 1, 0, w.state.rise}.times(w.text).times(w.state.ctm)
		w.text = matrix{1, 0, 0, 1, width, 0}.times(w.text)
		to := w.text.times(w.state.ctm)
		w.out.add(text, from, to[4], to[5], w.state.size*math.Hypot(from[2], from[3]))
	})
}

// layout joins characters to lines.
type layout struct {
	b      strings.Builder
	begun  bool
	x, y   float64 // the end of the last character
	dx, dy float64 // the direction of its line
	size   float64
}

func (o *layout) add(text string, from matrix, toX, toY, size float64) {
	if text == "" || o.b.Len() > maxText || math.IsNaN(toX) || math.IsNaN(toY) {
		return
	}
	length := math.Hypot(from[0], from[1])
	if length == 0 {
		return
	}
	dx, dy := from[0]/length, from[1]/length
	if o.begun {
		along := (from[4]-o.x)*o.dx + (from[5]-o.y)*o.dy
		across := math.Abs((from[5]-o.y)*o.dx - (from[4]-o.x)*o.dy)
		em := max(min(o.size, size), 0.1)
		turned := dx*o.dx+dy*o.dy < 0.9
		switch {
		case turned, across > 0.6*em, along < -1.5*em && across > 0.1*em, along < -4*em:
			o.newLine(across > 1.9*max(o.size, size))
		case along > 0.17*em:
			o.space(along > 2.5*em)
		}
	}
	o.begun = true
	o.b.WriteString(text)
	o.x, o.y, o.dx, o.dy, o.size = toX, toY, dx, dy, size
}

func (o *layout) newLine(paragraph bool) {
	o.b.WriteByte('\n')
	if paragraph {
		o.b.WriteByte('\n')
	}
}

// space adds a space, or several between columns, unless there is one.
func (o *layout) space(wide bool) {
	if s := o.b.String(); strings.HasSuffix(s, " ") || strings.HasSuffix(s, "\n") {
		return
	}
	o.b.WriteByte(' ')
	if wide {
		o.b.WriteString("  ")
	}
}

// String returns the lines without spaces at their ends.
func (o *layout) String() string {
	var b strings.Builder
	empty := 0
	for line := range strings.Lines(strings.ReplaceAll(o.b.String(), "\u00ad\n", "")) {
		line = strings.TrimRight(line, " \n\t\u00a0")
		if line == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n")
			if empty > 0 {
				b.WriteString("\n")
			}
		}
		empty = 0
		b.WriteString(line)
	}
	return composed(b.String())
}
