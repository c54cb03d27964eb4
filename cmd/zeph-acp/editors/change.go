package editors

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
)

// DefaultName is the usual name of the agent in an editor.
const DefaultName = "Zeph"

// Entry is the agent that an editor starts.
type Entry struct {
	Name    string // under which the editor shows it
	Command string
}

// Change is a change of one settings file. It is not yet written.
type Change struct {
	File     string // without links
	Old, New []byte // Old is nil if there is no file
	mode     fs.FileMode
}

// Change returns the change that adds the entry to a settings file, or corrects the command
// of the entry that starts zeph-acp already. Old and New are equal if there is nothing to
// do.
func (e Editor) Change(file string, entry Entry) (Change, error) {
	c := Change{File: file, mode: 0o600}
	if real, err := filepath.EvalSymlinks(file); err == nil { // a symbolic link is kept
		c.File = real
	} else if target, err := os.Readlink(file); err == nil {
		return c, fmt.Errorf("%s is a link to %s, which does not exist: create that file or remove the link", file, target)
	}
	data, err := readFile(c.File)
	if err != nil {
		return c, err
	}
	if info, err := os.Stat(c.File); err == nil {
		c.mode = info.Mode()
	}
	c.Old = data
	if c.New, err = e.edit(data, entry); err != nil {
		return c, fmt.Errorf("%s was not changed: %w", c.File, err)
	}
	return c, nil
}

// readFile returns the content of a file; nil if it does not exist.
func readFile(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|keys.Nonblock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	data, err := keys.ReadBounded(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return append([]byte{}, data...), nil
}

// Empty reports whether there is nothing to change.
func (c Change) Empty() bool { return c.Old != nil && bytes.Equal(c.Old, c.New) }

// Diff returns the change as a unified diff.
func (c Change) Diff() string {
	_, hunks, _ := strings.Cut(string(diff.Diff(c.File, c.Old, c.File, c.New)), "\n") // "diff A B"
	return hunks
}

// Apply writes the change and returns the name of the copy of the old file; "" if there
// was none. It fails if the file has changed since.
func (c Change) Apply() (backup string, err error) {
	now, err := readFile(c.File)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(now, c.Old) || (now == nil) != (c.Old == nil) {
		return "", fmt.Errorf("%s has changed meanwhile and was left unchanged: try again", c.File)
	}
	if c.Old == nil {
		if err := keys.MakeDir(filepath.Dir(c.File)); err != nil {
			return "", err
		}
		return "", keys.CreateFile(c.File, c.New, c.mode)
	}
	if backup, err = keys.WriteNew(c.File+".bak", c.Old, c.mode); err != nil {
		return "", fmt.Errorf("keep the old settings: %w", err)
	}
	return backup, keys.ReplaceFile(c.File, c.New, c.mode)
}
