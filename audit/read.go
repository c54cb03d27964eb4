package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// Line is one line of the log.
type Line struct {
	File   string // base name
	Number int    // 1-based, in the file
	Text   []byte // without its newline; valid until the function that got the Line returns
	Entry  Entry  // zero if Err is set
	Err    error  // set if the line is not an entry
	Ended  bool   // the line ends with a newline
}

// Pos returns the position of the line as file:line.
func (l Line) Pos() string { return fmt.Sprintf("%s:%d", l.File, l.Number) }

// Read calls each with every line, the oldest first: the previous log, which became
// too large, then the current log. It stops at the first error of each and returns
// it. A missing log has no lines. Read does not write.
func (l *Log) Read(each func(Line) error) error {
	files, size, err := l.snapshot()
	for _, f := range files {
		defer f.Close()
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		var r io.Reader = f
		if f.Name() == l.file {
			r = io.LimitReader(f, size)
		}
		if err := readLines(r, filepath.Base(f.Name()), each); err != nil {
			return err
		}
	}
	return nil
}

// snapshot opens the files of the log while it is locked, and returns the size of the
// log at that time. The caller closes the files.
func (l *Log) snapshot() (files []*os.File, size int64, err error) {
	err = l.withLockAs(os.O_RDONLY, func(log *os.File) (err error) {
		if size, err = log.Seek(0, io.SeekEnd); err != nil {
			return err
		}
		files, err = l.openFiles()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) { // just moved, or never created
		files, err = l.openFiles()
		size = math.MaxInt64
	}
	return files, size, err
}

// openFiles opens the existing files of the log, the oldest first.
func (l *Log) openFiles() (files []*os.File, err error) {
	for _, name := range []string{l.older(), l.file} {
		f, err := openPrivate(name, os.O_RDONLY)
		if err == nil {
			files = append(files, f)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
	}
	return files, nil
}

// readLines calls each with every line of the file called name.
func readLines(r io.Reader, name string, each func(Line) error) error {
	n := 0
	return eachLine(r, func(text []byte, ended bool) error {
		n++
		line := Line{File: name, Number: n, Text: text, Ended: ended}
		if line.Err = json.Unmarshal(text, &line.Entry); line.Err != nil {
			line.Entry = Entry{}
		}
		return each(line)
	})
}

// eachLine calls a function with every line, without its newline. ended is false for a
// last line that has none. A line longer than maxLine is truncated.
func eachLine(r io.Reader, each func(line []byte, ended bool) error) error {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		ended := err == nil
		if ended {
			line = line[:len(line)-1]
		}
		if err == nil || len(line) > 0 {
			if err := each(line, ended); err != nil {
				return err
			}
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = in.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
