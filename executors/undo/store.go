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
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Store keeps contents of files by their hashes, each once. Its methods may be called concurrently.
type Store interface {
	// Put keeps a content, and returns its hash and size.
	Put(content io.Reader) (hash string, size int64, err error)
	// Open returns the content with that hash, which may be damaged.
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

var (
	errNotKept = errors.New("its content was not kept")
	errDamaged = errors.New("its kept content is damaged")
)

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

// Put stores a file's content, which it reads into memory. It returns the hash even if the content cannot be stored.
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

// Open returns the content with that hash.
func (s DirStore) Open(hash string) (io.Reader, error) {
	if len(hash) != 2*sha256.Size {
		return nil, errNotKept
	}
	data, err := os.ReadFile(s.name(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("its content is no longer kept")
	}
	if err != nil {
		return nil, fmt.Errorf("read the kept content: %w", err)
	}
	return bytes.NewReader(data), nil
}

// Read returns a kept content, exactly as it was put.
func Read(store Store, hash string) ([]byte, error) {
	content, err := store.Open(hash)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(content)
	if err == nil && Hash(data) != hash {
		err = errDamaged
	}
	return data, err
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

// PackStore keeps contents in one file, one after the other.
type PackStore struct {
	mu   sync.Mutex
	file pack
	size int64
	kept map[string]Span // by hash
	buf  []byte
}

// pack is the file of a PackStore.
type pack interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Span is the place of a content in a PackStore.
type Span struct {
	Offset int64 `json:"at,omitempty"`
	Size   int64 `json:"size,omitempty"`
}

// NewSpoolStore returns a store that disappears with the process, and that no other process can access.
func NewSpoolStore() *PackStore { return &PackStore{file: &executors.Spool{}} }

// OpenPackStore opens the store in a private file, which it creates if there is none. kept are the places of the
// contents that were kept before.
func OpenPackStore(name string, kept map[string]Span) (*PackStore, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &PackStore{file: f, size: info.Size(), kept: kept}, nil
}

// Kept returns the places of the contents.
func (s *PackStore) Kept() map[string]Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.kept)
}

// Put keeps a content. Of a large one, only a part is in memory at once.
func (s *PackStore) Put(content io.Reader) (hash string, size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buf == nil {
		s.buf = make([]byte, chunkSize)
	}
	sum, at := sha256.New(), Span{Offset: s.size}
	n, err := io.ReadFull(content, s.buf)
	sum.Write(s.buf[:n])
	switch small := s.buf[:n]; {
	case err == nil: // perhaps more follows
		_, err = s.append(small)
		more, failed := io.CopyBuffer(io.MultiWriter(sum, appender{s}), content, s.buf)
		hash, at.Size, err = nameOf(sum), int64(n)+more, errors.Join(err, failed)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		hash, at.Size, err = nameOf(sum), int64(n), nil
		if _, ok := s.kept[hash]; !ok {
			_, err = s.append(small)
		}
	}
	if _, ok := s.kept[hash]; !ok && err == nil {
		if s.kept == nil {
			s.kept = map[string]Span{}
		}
		s.kept[hash] = at
	}
	return hash, at.Size, err
}

// append writes to the end of the file. The caller holds s.mu.
func (s *PackStore) append(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.size += int64(n)
	return n, err
}

// appender is a PackStore as a writer.
type appender struct{ *PackStore }

func (a appender) Write(p []byte) (int, error) { return a.append(p) }

// Open returns the content with that hash.
func (s *PackStore) Open(hash string) (io.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.kept[hash]
	if !ok {
		return nil, errNotKept
	}
	return io.NewSectionReader(s.file, at.Offset, at.Size), nil
}

// Close closes the file.
func (s *PackStore) Close() error {
	if s == nil {
		return nil
	}
	return s.file.Close()
}

// IgnoreMissing returns nil for the error of a file that does not exist.
func IgnoreMissing(err error) error {
	if workspace.Missing(err) {
		return nil
	}
	return err
}
