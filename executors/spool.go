package executors

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// spoolMemory is how many bytes of a Spool are held in memory; what is longer
// goes to a temporary file.
const spoolMemory = 1 << 20

// Spool is text of any length: the beginning of it in memory, all of it in a
// temporary file (0600) once it is longer than 1 MiB. Its methods may be called
// concurrently. Whoever holds a result that has one closes it.
type Spool struct {
	mu     sync.Mutex
	memory []byte
	file   *os.File // has everything, once there is one
	size   int64
	closed bool
}

// NewSpool makes a Spool that holds text.
func NewSpool(text string) (*Spool, error) {
	s := &Spool{}
	if _, err := io.WriteString(s, text); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Write appends p. What it could not keep, because the disk is full, is left out
// with an error; what came before stays.
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

// spill moves what is in memory to a file.
func (s *Spool) spill() error {
	f, err := os.CreateTemp("", "zeph-spool-")
	if err == nil {
		os.Remove(f.Name()) // where the system lets go of a name while the file is open, nobody else sees it
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

// Reader reads what is there now, from the beginning. It works until Close.
func (s *Spool) Reader() *io.SectionReader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return io.NewSectionReader(s, 0, s.size)
}

// ReadAt is as of io.ReaderAt.
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

// Window reads n bytes from an offset on. What cannot be read, and what of it is
// no UTF-8, is left out.
func (s *Spool) Window(off, n int64) string {
	buf := make([]byte, max(n, 0))
	got, _ := s.ReadAt(buf, off)
	return strings.ToValidUTF8(string(buf[:got]), "")
}

// Close gives memory and file back. Closing a nil Spool, or one again, does
// nothing.
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
	os.Remove(s.file.Name()) // as above, where the name could not go before
	return err
}
