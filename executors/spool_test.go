package executors

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSpool(t *testing.T) {
	for name, size := range map[string]int{"nothing": 0, "short": 10, "all of the memory": spoolMemory, "a byte more": spoolMemory + 1, "long": 5 << 20} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			t.Setenv("TMP", dir)
			s := &Spool{}
			want := bytes.Repeat([]byte("0123456789abcde\n"), size/16+1)[:size]
			for rest := want; len(rest) > 0; {
				n, err := s.Write(rest[:min(len(rest), 70_001)])
				if err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			for range 2 { // reading it does not use it up
				got, err := io.ReadAll(s.Reader())
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("read %d bytes of %d: %v", len(got), len(want), err)
				}
			}
			if s.Size() != int64(size) {
				t.Errorf("Size() = %d, want %d", s.Size(), size)
			}
			for range 2 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
				t.Errorf("files left: %v", left)
			}
			if _, err := s.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
				t.Errorf("Write after Close: %v", err)
			}
		})
	}
}

// A full disk does not damage earlier text.
func TestSpoolNoRoom(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	t.Setenv("TMP", filepath.Join(t.TempDir(), "missing"))
	s, err := NewSpool("kept")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n, err := s.Write(make([]byte, spoolMemory)); n != 0 || err == nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	var got strings.Builder
	if _, err := io.Copy(&got, s.Reader()); err != nil || got.String() != "kept" {
		t.Errorf("%q, %v", got.String(), err)
	}
}
