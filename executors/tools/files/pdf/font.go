package pdf

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// font decodes the strings that a page shows in it.
type font struct {
	wide     bool // codes have two bytes, unless lengths says otherwise
	utf16    bool // codes are UTF-16
	lengths  [5]bool
	unicode  map[uint32]string // by ToUnicode
	simple   [256]string
	widths   map[uint32]float64 // in thousandths of the size
	standard float64            // the width of other codes
	mapped   int                // entries that were set, also again
}

const (
	maxMapped  = 200_000 // entries that a font may set in its maps
	mappedSize = 32      // the memory of an entry, in bytes
)

// unknown stands for a character that a font does not name.
const unknown = "\uFFFD"

func (d *Document) font(v any) *font {
	number := -1
	if r, ok := v.(ref); ok {
		number = int(r)
		if f := d.fonts[number]; f != nil {
			return f
		}
	}
	f := d.newFont(d.dict(v))
	d.left -= int64(f.mapped) * mappedSize // many fonts may share one table
	if number >= 0 {
		d.fonts[number] = f
	}
	return f
}

func (d *Document) newFont(of dict) *font {
	f := &font{widths: map[uint32]float64{}, standard: 500}
	if s, ok := d.resolve(of["ToUnicode"]).(*stream); ok {
		if data, err := d.decode(s); err == nil {
			f.readMap(data)
		}
	}
	if d.name(of["Subtype"]) == "Type0" {
		f.wide = true
		encoding := string(d.name(of["Encoding"]))
		f.utf16 = strings.Contains(encoding, "UCS2") || strings.Contains(encoding, "UTF16")
		f.standard = 1000
		if below := d.list(of["DescendantFonts"]); len(below) > 0 {
			cid := d.dict(below[0])
			if w, ok := d.number(cid["DW"]); ok {
				f.standard = w
			}
			d.readWideWidths(f, d.array(cid["W"]))
		}
		return f
	}
	d.readEncoding(f, of)
	first, _ := d.number(of["FirstChar"])
	scale := 1.0
	if matrix := d.array(of["FontMatrix"]); d.name(of["Subtype"]) == "Type3" && len(matrix) == 6 {
		if m, ok := d.number(matrix[0]); ok {
			scale = m * 1000
		}
	}
	for i, w := range d.array(of["Widths"]) {
		if width, ok := d.number(w); ok && i < 256 && first >= 0 && first < 256 {
			f.widths[uint32(first)+uint32(i)] = width * scale
		}
	}
	if w, ok := d.number(d.dict(of["FontDescriptor"])["MissingWidth"]); ok && w > 0 {
		f.standard = w
	}
	return f
}

// readWideWidths reads the array W of a font with wide codes.
func (d *Document) readWideWidths(f *font, w array) {
	for i := 0; i+1 < len(w) && f.mapped < maxMapped; {
		first, ok := d.number(w[i])
		if !ok || first < 0 || first > 0xffff {
			return
		}
		if list, ok := d.resolve(w[i+1]).(array); ok {
			for j, v := range list[:min(len(list), 0x10000)] {
				if width, ok := d.number(v); ok {
					f.setWidth(uint32(first)+uint32(j), width)
				}
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		last, _ := d.number(w[i+1])
		width, _ := d.number(w[i+2])
		for code := first; code <= min(last, 0xffff); code++ {
			f.setWidth(uint32(code), width)
		}
		i += 3
	}
}

func (f *font) setWidth(code uint32, width float64) {
	f.widths[code] = width
	f.mapped++
}

// readEncoding sets the characters of a font with codes of one byte.
func (d *Document) readEncoding(f *font, of dict) {
	base := d.name(of["Encoding"])
	encoding := d.dict(of["Encoding"])
	if encoding != nil {
		base = d.name(encoding["BaseEncoding"])
	}
	table := charmap.Windows1252
	if base == "MacRomanEncoding" {
		table = charmap.Macintosh
	}
	for code := range 256 {
		if r := table.DecodeByte(byte(code)); code >= ' ' && r != '\uFFFD' {
			f.simple[code] = string(r)
		}
	}
	if base == "" || base == "StandardEncoding" {
		f.simple['\''], f.simple['`'] = "’", "‘"
		for code, r := range map[int]string{0xae: "fi", 0xaf: "fl", 0xaa: "“", 0xba: "”", 0xb7: "•", 0xb1: "–", 0xd0: "—", 0xbc: "…"} {
			f.simple[code] = r
		}
	}
	for code, ligature := range []string{"ff", "fi", "fl", "ffi", "ffl"} { // in fonts of TeX, by their two encodings
		f.simple[11+code], f.simple[27+code] = ligature, ligature
	}
	code := 0
	for _, v := range d.array(encoding["Differences"]) {
		switch v := d.resolve(v).(type) {
		case float64:
			code = int(v)
		case name:
			if code >= 0 && code < 256 {
				f.simple[code] = characterOf(string(v))
			}
			code++
		}
	}
}

// readMap reads a ToUnicode map.
func (f *font) readMap(data []byte) {
	f.unicode = map[uint32]string{}
	l := lexer{data: data}
	var last []any // operands
	for {
		v := l.next()
		if v == end {
			return
		}
		k, isKeyword := v.(keyword)
		if !isKeyword {
			if len(last) < maxMapped {
				last = append(last, v)
			}
			continue
		}
		switch k {
		case "endcodespacerange":
			for _, v := range last {
				if s, ok := v.(str); ok && len(s) < len(f.lengths) {
					f.lengths[len(s)] = true
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(last); i += 2 {
				code, ok := last[i].(str)
				text, ok2 := last[i+1].(str)
				if ok && ok2 {
					f.set(codeOf(code), utf16Text(text))
				}
			}
		case "endbfrange":
			f.readRanges(last)
		}
		last = last[:0]
	}
}

func (f *font) set(code uint32, text string) {
	if f.mapped < maxMapped {
		f.unicode[code] = text
		f.mapped++
	}
}

func (f *font) readRanges(last []any) {
	for i := 0; i+2 < len(last) && f.mapped < maxMapped; i += 3 {
		from, ok := last[i].(str)
		to, ok2 := last[i+1].(str)
		if !ok || !ok2 {
			return
		}
		first := codeOf(from)
		if codeOf(to) < first {
			continue
		}
		count := min(codeOf(to)-first, 0xffff) + 1 // the last code may be the greatest number
		switch text := last[i+2].(type) {
		case array:
			for j, v := range text {
				if s, ok := v.(str); ok && j < int(count) {
					f.set(first+uint32(j), utf16Text(s))
				}
			}
		case str:
			runes := []rune(utf16Text(text))
			for j := uint32(0); j < count && len(runes) > 0; j++ {
				f.set(first+j, string(runes))
				runes[len(runes)-1]++
			}
		}
	}
}

// codeOf returns the number that the bytes of a string are.
func codeOf(s str) uint32 {
	var n uint32
	for i := range min(len(s), 4) {
		n = n<<8 | uint32(s[i])
	}
	return n
}

func utf16Text(s str) string {
	var units []uint16
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 {
		return string(rune(s[0]))
	}
	return string(utf16.Decode(units))
}

// codes calls f with each code of a string, and with its length in bytes.
func (f *font) codes(s str, each func(code uint32, size int)) {
	size := 1
	if f.wide {
		size = 2
		if f.lengths[1] && !f.lengths[2] {
			size = 1
		}
	}
	for i := 0; i < len(s); i += size {
		each(codeOf(s[i:min(len(s), i+size)]), size)
	}
}

// text returns the characters of a code.
func (f *font) text(code uint32) string {
	if text, ok := f.unicode[code]; ok {
		return text
	}
	switch {
	case f.utf16:
		return string(rune(code))
	case f.wide:
		return unknown
	}
	return f.simple[code&0xff]
}

func (f *font) width(code uint32) float64 {
	if w, ok := f.widths[code]; ok {
		return w
	}
	return f.standard
}

// characterOf returns the characters that a name of a glyph stands for, "" if they are unknown.
func characterOf(glyph string) string {
	glyph, _, _ = strings.Cut(glyph, ".")
	if text, ok := glyphs()[glyph]; ok {
		return text
	}
	if len(glyph) == 1 {
		return glyph
	}
	for _, prefix := range []string{"uni", "u"} {
		if digits, ok := strings.CutPrefix(glyph, prefix); ok && len(digits) >= 4 {
			if n, err := strconv.ParseUint(digits[:min(len(digits), 6-len(prefix)/3*2)], 16, 32); err == nil {
				return string(rune(n))
			}
		}
	}
	if strings.Contains(glyph, "_") {
		var b strings.Builder
		for part := range strings.SplitSeq(glyph, "_") {
			b.WriteString(characterOf(part))
		}
		return b.String()
	}
	return unknown
}
