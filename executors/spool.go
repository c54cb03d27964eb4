package executors

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// spoolMemory is how many written bytes a Spool holds in memory. It bounds memory, and not what
// anybody reads: a longer text goes to a temporary file.
const spoolMemory = 1 << 20

// Spool is text of any length. Its beginning is in memory; once it is longer than
// 1 MiB, all of it is in a temporary file (0600). Its methods may be called
// concurrently. The holder of a result with a Spool closes it.
type Spool struct {
	mu     sync.Mutex
	memory []byte
	file   *os.File // all of the text; nil while it fits into memory
	size   int64
	closed bool
}

// NewSpool returns a Spool that holds text.
func NewSpool(text string) (*Spool, error) {
	s := &Spool{}
	if _, err := io.WriteString(s, text); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// heldSpool returns a Spool of text that is in memory already and stays there.
func heldSpool(text string) *Spool { return &Spool{memory: []byte(text), size: int64(len(text))} }

// Write appends p. If the disk is full it drops the rest of p and returns an error;
// the earlier text stays.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, os.ErrClosed
	}
	if s.file == nil && len(s.memory)+len(p) <= spoolMemory {
		s.memory = append(s.memory, p...)
		s.size += int64(len(p))
		return len(p), nil
	}
	if s.file == nil {
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.WriteAt(p, s.size)
	s.size += int64(n)
	if err != nil {
		err = fmt.Errorf("spool output: %w", err)
	}
	return n, err
}

// spill moves the text from memory to a file.
func (s *Spool) spill() error {
	f, err := os.CreateTemp("", "zeph-spool-")
	if err == nil {
		os.Remove(f.Name()) // where the system can remove an open file, no other process sees it
		_, err = f.Write(s.memory)
	}
	if err != nil {
		if f != nil {
			f.Close()
		}
		return fmt.Errorf("spool output: %w", err)
	}
	s.file, s.memory = f, nil
	return nil
}

// Size is the number of bytes.
func (s *Spool) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// Reader returns a reader of the present text. It works until Close.
func (s *Spool) Reader() *io.SectionReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NewSectionReader(s, 0, s.size)
}

// ReadAt implements io.ReaderAt.
func (s *Spool) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return 0, os.ErrClosed
	case s.file != nil:
		return s.file.ReadAt(p, off)
	case off < 0 || off >= int64(len(s.memory)):
		return 0, io.EOF
	}
	n := copy(p, s.memory[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Window returns up to n bytes from an offset. It omits bytes that cannot be
// read or are not valid UTF-8.
func (s *Spool) Window(off, n int64) string { return window(s, off, n) }

// Close frees the memory and removes the file. It does nothing for a nil or closed
// Spool.
func (s *Spool) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed, s.memory = true, nil
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	os.Remove(s.file.Name()) // on systems that could not remove it before
	return err
}
