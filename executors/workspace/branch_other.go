//go:build !linux

package workspace

import (
	"context"
	"io"
	"os"
)

// Branch is an open directory of a walk. It may be used concurrently, but listed
// only once.
type Branch struct{ dir *Dir }

// Branch opens the directory again, for a walk. The caller closes it.
func (d *Dir) Branch() (*Branch, error) {
	root, err := d.root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	again := *d
	again.root = root
	return &Branch{&again}, nil
}

// Close closes the directory.
func (b *Branch) Close() error { return b.dir.Close() }

// Rel returns the same as [Dir.Rel].
func (b *Branch) Rel() string { return b.dir.Rel() }

// Sub opens the directory name. The caller closes it.
func (b *Branch) Sub(name string) (*Branch, error) {
	sub, err := b.dir.Sub(name)
	if err != nil {
		return nil, err
	}
	return &Branch{sub}, nil
}

// Read returns the content of the regular file name, using the memory of buf. For
// anything else it returns an *IrregularError; it never blocks. For a file of more
// than maxBytes it returns only the size.
func (b *Branch) Read(name string, buf []byte, maxBytes int) (data []byte, size int64, err error) {
	f, info, err := b.dir.Open(name, os.O_RDONLY)
	if err != nil {
		return buf, 0, err
	}
	defer f.Close()
	if info.Size() > int64(maxBytes) {
		return buf, info.Size(), nil
	}
	data, err = readAll(buf, info.Size(), int64(maxBytes), func(p []byte) (int, error) {
		n, err := f.Read(p)
		if n > 0 && err == io.EOF {
			err = nil
		}
		return n, err
	})
	return data, int64(len(data)), err
}

// List returns all entries in no particular order. It leaves out and counts
// zeph-acp's own files and those that may not be read. It does not detect a hidden
// directory; only Sub does.
func (b *Branch) List(ctx context.Context) (entries []Entry, omitted Omitted, err error) {
	if ctx.Err() != nil {
		return nil, omitted, context.Cause(ctx)
	}
	found, hidden, err := b.dir.ReadDir(-1)
	if err != nil {
		return nil, omitted, err
	}
	if hidden {
		omitted.Hidden = 1
	}
	omitted.Denied = b.dir.Denied()
	entries = make([]Entry, len(found))
	for i, e := range found {
		entries[i] = Entry{Name: e.Name(), Type: e.Type()}
	}
	return entries, omitted, nil
}
