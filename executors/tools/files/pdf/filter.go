package pdf

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/ascii85"
	"fmt"
	"io"

	"golang.org/x/image/tiff/lzw" // the variant that PDF uses too
)

// decode returns the decoded data of a stream. What is left of a damaged one is returned without an error.
func (d *Document) decode(s *stream) ([]byte, error) {
	data := s.data
	if d.crypt != nil && s.dict["Type"] != name("XRef") {
		data = d.crypt.decrypt(s)
		d.left -= int64(len(data)) / 8
	}
	filters, parameters := d.list(s.dict["Filter"]), d.list(s.dict["DecodeParms"])
	for i, f := range filters {
		if i == 8 {
			return nil, ErrTooMuch
		}
		var p dict
		if i < len(parameters) {
			p = d.dict(parameters[i])
		}
		var err error
		if data, err = d.filter(d.name(f), data, p); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// list returns an array, or an array of the one object.
func (d *Document) list(v any) array {
	switch v := d.resolve(v).(type) {
	case nil:
		return nil
	case array:
		return v
	default:
		return array{v}
	}
}

func (d *Document) filter(f name, data []byte, p dict) ([]byte, error) {
	switch f {
	case "FlateDecode", "Fl":
		r, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil { // without its header, or with a wrong one
			if len(data) > 2 {
				data = data[2:]
			}
			r = flate.NewReader(bytes.NewReader(data))
		}
		out, err := d.readAll(r)
		if err != nil {
			return nil, err
		}
		return d.predict(out, p)
	case "LZWDecode", "LZW":
		r := lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
		out, err := d.readAll(r)
		if err != nil {
			return nil, err
		}
		return d.predict(out, p)
	case "ASCII85Decode", "A85":
		data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("<~"))
		data, _, _ = bytes.Cut(data, []byte("~"))
		return d.readAll(ascii85.NewDecoder(bytes.NewReader(data)))
	case "ASCIIHexDecode", "AHx":
		if d.left -= int64(len(data)); d.left < 0 {
			return nil, ErrTooMuch
		}
		l := lexer{data: append([]byte("<"), data...)}
		return []byte(l.hex()), nil
	case "RunLengthDecode", "RL":
		return d.runLength(data)
	case "Crypt":
		return data, nil
	}
	return nil, fmt.Errorf("the filter %q has no text", f)
}

// readAll reads what can be decoded, within the limits.
func (d *Document) readAll(r io.Reader) ([]byte, error) {
	limit := min(maxStream, d.left)
	if limit <= 0 {
		return nil, ErrTooMuch
	}
	out, _ := io.ReadAll(io.LimitReader(r, limit+1)) // the rest may be damaged
	if d.left -= int64(len(out)); int64(len(out)) > limit {
		return nil, ErrTooMuch
	}
	return out, nil
}

func (d *Document) runLength(data []byte) ([]byte, error) {
	var out []byte
	for i := 0; i < len(data) && data[i] != 128 && len(out) < maxStream; {
		n := int(data[i])
		i++
		if n < 128 {
			stop := min(len(data), i+n+1)
			out = append(out, data[i:stop]...)
			i = stop
		} else if i < len(data) {
			out = append(out, bytes.Repeat(data[i:i+1], 257-n)...)
			i++
		}
	}
	d.left -= int64(len(out))
	return out, nil
}

// predict undoes the predictors of PNG, which object streams and content use.
func (d *Document) predict(data []byte, p dict) ([]byte, error) {
	number := func(key name, otherwise int) int {
		if f, ok := d.number(p[key]); ok && f >= 1 && f < 1<<20 {
			return int(f)
		}
		return otherwise
	}
	if number("Predictor", 1) < 10 {
		return data, nil
	}
	size := max(1, number("Colors", 1)*number("BitsPerComponent", 8)/8)
	row := (number("Colors", 1)*number("BitsPerComponent", 8)*number("Columns", 1) + 7) / 8
	if row <= 0 || row > maxStream {
		return nil, ErrTooMuch
	}
	row = min(row, len(data)) // a last line may be shorter
	out := make([]byte, 0, len(data))
	before := make([]byte, row)
	for len(data) > 1 {
		kind := data[0]
		line := make([]byte, row)
		n := copy(line, data[1:])
		data = data[1+n:]
		for i := range line {
			var left, up, corner byte
			up = before[i]
			if i >= size {
				left, corner = line[i-size], before[i-size]
			}
			switch kind {
			case 1:
				line[i] += left
			case 2:
				line[i] += up
			case 3:
				line[i] += byte((int(left) + int(up)) / 2)
			case 4:
				line[i] += paeth(left, up, corner)
			}
		}
		out = append(out, line[:n]...)
		before = line
	}
	return out, nil
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	distance := func(x byte) int { return max(p-int(x), int(x)-p) }
	switch pa, pb, pc := distance(a), distance(b), distance(c); {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}
