package workspace

import (
	"io"
	"io/fs"
	"slices"
)

// Entry is one name in a directory.
type Entry struct {
	Name string
	Type fs.FileMode // type bits alone
}

// Omitted counts the entries that a listing left out.
type Omitted struct {
	Hidden int // zeph-acp's own files
	Denied int // files that may not be read
}

// readAll reads a file of size bytes into buf, or into a larger buffer if needed.
// It stops after maxBytes. It calls read until that returns 0.
func readAll(buf []byte, size, maxBytes int64, read func([]byte) (int, error)) ([]byte, error) {
	buf = buf[:0]
	if need := int(min(size, maxBytes) + 1); cap(buf) < need { // one more byte, to detect the end without growing
		buf = make([]byte, 0, need+need/4)
	}
	for {
		n, err := read(buf[len(buf):cap(buf)])
		if n > 0 {
			buf = buf[:len(buf)+n]
		}
		switch {
		case err == io.EOF || err == nil && n <= 0:
			return buf, nil
		case err != nil || int64(len(buf)) > maxBytes:
			return buf, err
		case int64(len(buf)) == size && size > 0 && len(buf) < cap(buf): // a short read: the end
			return buf, nil
		case len(buf) == cap(buf):
			buf = slices.Grow(buf, max(512, len(buf)))
		}
	}
}
