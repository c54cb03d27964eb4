package wire

import (
	"io"
	"net"
	"slices"
)

// Body is a JSON request in parts, so that the encoded messages need not be copied into
// one piece. Parts may share memory with other bodies; they are not changed.
type Body [][]byte

// Reader returns a reader of the whole body. Each has a position of its own.
func (b Body) Reader() io.ReadCloser {
	parts := net.Buffers(slices.Clone(b))
	return io.NopCloser(&parts)
}

// Len returns the number of bytes of the whole body.
func (b Body) Len() (n int) {
	for _, part := range b {
		n += len(part)
	}
	return n
}

// Join appends the forms with commas between them.
func (b Body) Join(forms [][]byte) Body {
	for i, form := range forms {
		if i > 0 {
			b = append(b, comma)
		}
		b = append(b, form)
	}
	return b
}

var comma = []byte(",")
