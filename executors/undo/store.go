package undo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Store keeps contents of files by their hashes, each once. Its methods may be called concurrently.
type Store interface {
	// Put keeps a content, and returns its hash and size.
	Put(content io.Reader) (hash string, size int64, err error)
	// Open returns the content with that hash, exactly as it was put.
	Open(hash string) (io.Reader, error)
}

// Compared is a Store that keeps nothing: its states can only be compared.
type Compared struct{}

// Put returns the hash of a content.
func (Compared) Put(content io.Reader) (string, int64, error) {
	sum := sha256.New()
	size, err := io.CopyBuffer(sum, content, make([]byte, chunkSize))
	return nameOf(sum), size, err
}

// Open returns an error.
func (Compared) Open(string) (io.Reader, error) { return nil, errNotKept }

// chunkSize is how much of a large file is in memory at once, in bytes.
const chunkSize = 64 << 10

var errNotKept = errors.New("its content was not kept")

// Hash returns the hash of a content.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func nameOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

// DirStore keeps contents below a directory, one file each, which only the user can read. Several processes
// may use it concurrently, since a content never changes.
type DirStore struct{ Dir string }

func (s DirStore) name(hash string) string { return filepath.Join(s.Dir, hash[:2], hash[2:]) }

// minContentAge is the age of a content from which something names it, if it is used.
const minContentAge = time.Hour

// Put keeps a content, all of which it holds in memory. It returns the hash of a content that cannot be kept too.
func (s DirStore) Put(content io.Reader) (hash string, size int64, err error) {
	data, err := io.ReadAll(content)
	if err != nil {
		return "", 0, err
	}
	hash, size = Hash(data), int64(len(data))
	name := s.name(hash)
	if info, err := os.Stat(name); err == nil && info.Size() == size {
		if now := time.Now(); now.Sub(info.ModTime()) > minContentAge/4 { // so that Sweep does not remove it
			_ = os.Chtimes(name, now, now)
		}
		return hash, size, nil
	}
	return hash, size, WriteFile(name, data)
}

// Get returns the content with that hash, exactly as it was put.
func (s DirStore) Get(hash string) ([]byte, error) {
	if len(hash) != 2*sha256.Size {
		return nil, errNotKept
	}
	data, err := os.ReadFile(s.name(hash))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("its content is no longer kept")
	case err != nil:
		return nil, fmt.Errorf("read the kept content: %w", err)
	case Hash(data) != hash:
		return nil, errors.New("its kept content is damaged")
	}
	return data, nil
}

// Open returns a reader of what Get returns.
func (s DirStore) Open(hash string) (io.Reader, error) {
	data, err := s.Get(hash)
	return bytes.NewReader(data), err
}

// Sweep removes the contents that are not named and old enough at a time, and returns the size of the others.
func (s DirStore) Sweep(named map[string]bool, now time.Time) (left int64, err error) {
	err = filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return IgnoreMissing(err)
		}
		info, err := d.Info()
		if err != nil {
			return IgnoreMissing(err)
		}
		if hash := filepath.Base(filepath.Dir(path)) + d.Name(); named[hash] {
			left += info.Size()
		} else if now.Sub(info.ModTime()) > minContentAge {
			return IgnoreMissing(os.Remove(path))
		}
		return nil
	})
	return left, err
}

// SpoolStore keeps contents in one [executors.Spool]. It disappears with the process, and no other
// process can access it. The zero value is empty.
type SpoolStore struct {
	mu    sync.Mutex
	spool executors.Spool
	kept  map[string]span
	buf   []byte
}

// span is the place of a content in the spool.
type span struct{ offset, size int64 }

// Put keeps a content.
func (s *SpoolStore) Put(content io.Reader) (hash string, size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept, s.buf = map[string]span{}, make([]byte, chunkSize)
	}
	sum, buf, at := sha256.New(), s.buf, span{offset: s.spool.Size()}
	n, err := io.ReadFull(content, buf)
	if sum.Write(buf[:n]); err == nil { // perhaps more follows
		_, err = s.spool.Write(buf)
		more, failed := io.CopyBuffer(io.MultiWriter(sum, &s.spool), content, buf)
		hash, at.size, err = nameOf(sum), int64(n)+more, errors.Join(err, failed)
	} else if err == io.EOF || err == io.ErrUnexpectedEOF {
		hash, at.size, err = nameOf(sum), int64(n), nil
		if _, ok := s.kept[hash]; !ok {
			_, err = s.spool.Write(buf[:n])
		}
	}
	if _, ok := s.kept[hash]; !ok && err == nil {
		s.kept[hash] = at
	}
	return hash, at.size, err
}

// Open returns the content with that hash.
func (s *SpoolStore) Open(hash string) (io.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.kept[hash]
	if !ok {
		return nil, errNotKept
	}
	return io.NewSectionReader(&s.spool, at.offset, at.size), nil
}

// Close frees the contents.
func (s *SpoolStore) Close() error { return s.spool.Close() }

// IgnoreMissing returns nil for the error of a file that does not exist.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
