package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// LengthError reports that a file has more bytes than may be read.
type LengthError struct {
	name  string
	limit int
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%s has more than %s", e.name, quantity.Count(e.limit, "byte"))
}

// ReadBounded reads a regular file of at most that many bytes.
func ReadBounded(name string, limit int) ([]byte, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", OneLine(name))
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe would block
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAtMost(f, name, limit)
}

// ReadAtMost reads all of r, which may have at most that many bytes.
func ReadAtMost(r io.Reader, name string, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = &LengthError{name, limit}
	}
	return data, err
}

// Directory returns the absolute path of a directory that a flag names.
func Directory(flag, name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		return "", Usagef("%s: there is no directory %s", flag, OneLine(abs))
	case err != nil:
		return "", Usagef("%s: %w", flag, err)
	case !info.IsDir():
		return "", Usagef("%s: %s is not a directory", flag, OneLine(abs))
	}
	return abs, nil
}

// NeedDirectory returns an error if the directory of a file that a flag names does not exist.
// It is not created, since the name may have a mistake.
func NeedDirectory(flag, file string) error {
	_, err := Directory(flag, filepath.Dir(file))
	return err
}
