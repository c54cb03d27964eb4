package wire

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
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

// Post sends the body as JSON, with more headers.
func (c Client) Post(ctx context.Context, address string, header http.Header, body Body) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body.Reader())
	if err != nil {
		return nil, err
	}
	req.ContentLength = int64(body.Len())
	req.GetBody = func() (io.ReadCloser, error) { return body.Reader(), nil } // for a connection that was lost before an answer
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	maps.Copy(req.Header, header)
	return c.Do(req)
}
