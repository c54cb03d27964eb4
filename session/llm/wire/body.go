package wire

import (
	"bytes"
	"io"
	"net"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// Body is a JSON request in parts, so that the encoded messages need not be copied into
// one piece. Parts may share memory with other bodies; they are not changed.
type Body [][]byte

// Reader returns a reader of the whole body. Each has its own position.
func (b Body) Reader() io.ReadCloser { return &bodyReader{slices.Clone(net.Buffers(b))} }

// bodyReader reads the rest of a body.
type bodyReader struct{ net.Buffers }

func (*bodyReader) Close() error { return nil }

// remaining returns the number of bytes not yet read.
func (r *bodyReader) remaining() int64 { return int64(Body(r.Buffers).Len()) }

// Len returns the number of bytes of the whole body.
func (b Body) Len() (n int) {
	for _, part := range b {
		n += len(part)
	}
	return n
}

// NewBody returns a request: the members of head, the encoded tools, which may be empty,
// and the encoded messages. The messages, under that name, are the last member, so that
// the request of a longer conversation begins with the same bytes.
func NewBody(head any, tools []byte, messages string, lists ...[][]byte) Body {
	parts := 5 // without the messages
	for _, forms := range lists {
		parts += 2 * len(forms)
	}
	members := bytes.TrimSuffix(plainjson.MustMarshal(head), []byte("}"))
	body := append(make(Body, 0, parts), members)
	next := ","
	if len(members) == len("{") {
		next = ""
	}
	if len(tools) > 0 {
		body = append(body, []byte(next+`"tools":`), tools)
		next = ","
	}
	body = append(body, []byte(next+`"`+messages+`":[`)).Join(lists...)
	return append(body, []byte("]}"))
}

// Join appends the forms in the lists with commas between them, and leaves out empty ones.
func (b Body) Join(lists ...[][]byte) Body {
	first := true
	for _, forms := range lists {
		for _, form := range forms {
			if len(form) == 0 {
				continue
			}
			if !first {
				b = append(b, comma)
			}
			b, first = append(b, form), false
		}
	}
	return b
}

var comma = []byte(",")
