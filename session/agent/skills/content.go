package skills

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Limits on the directory of a skill.
const (
	maxFiles = 500      // files and directories
	maxBytes = 16 << 20 // of all files of a repository's skill
	maxDepth = 16
)

var errNoDir = errors.New("not a directory")

// ReadFile returns the beginning of a text in a regular file; more reports that the file
// is longer.
func ReadFile(fsys fs.FS, name string, limit int64) (data []byte, more bool, err error) {
	if info, err := fs.Stat(fsys, path.Dir(name)); err == nil && !info.IsDir() {
		return nil, false, errNoDir
	}
	f, err := openFile(fsys, name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if data, err = io.ReadAll(io.LimitReader(f, limit+1)); err != nil {
		return nil, false, err
	}
	return firstBytes(data, limit)
}

// firstBytes returns at most limit bytes of a text; more reports that it is longer.
func firstBytes(data []byte, limit int64) (text []byte, more bool, err error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, false, errors.New("it is not text")
	}
	if int64(len(data)) > limit {
		return data[:limit], true, nil
	}
	return data, false, nil
}

// openFile opens a regular file.
func openFile(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a FIFO would wait for a writer
		return nil, errors.New("not a regular file")
	}
	return fsys.Open(name)
}

// content describes the files of a skill at one time.
type content struct {
	names  []string // relative to its directory, sorted
	hashes []string // of all of them; only for a repository's skill
	bytes  int64    // of all of them; likewise
	found  int      // files and directories

	keep string // the name of a file to keep; "" keeps none
	kept []byte // the text of keep that was hashed: at most maxBody+1 bytes; nil if it was not found
}

// content lists the files of the skill, and hashes them if they need an approval. It
// keeps the text of the file keep, so that the model reads exactly the hashed text.
func (s Skill) content(keep string) (content, error) {
	c := content{keep: keep}
	err := c.addDir(s, ".", 0)
	slices.Sort(c.names)
	slices.Sort(c.hashes)
	return c, err
}

// addDir adds the files of a directory, a path relative to the skill's.
func (c *content) addDir(s Skill, dir string, depth int) error {
	entries, err := fs.ReadDir(s.source.FS, path.Join(s.dir(), dir))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if depth > maxDepth {
		return fmt.Errorf("more than %d directories inside one another", maxDepth)
	}
	for _, e := range entries {
		if c.found++; c.found > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			err = c.addDir(s, name, depth+1)
		} else {
			c.names = append(c.names, name)
			err = c.addHash(s, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addHash adds the hash of a file of a repository's skill.
func (c *content) addHash(s Skill, name string) error {
	if !s.source.Project {
		return nil
	}
	f, err := openFile(s.source.FS, path.Join(s.dir(), name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	sum := sha256.New()
	var to io.Writer = sum
	if name == c.keep {
		c.kept = []byte{}
		to = io.MultiWriter(sum, c)
	}
	n, err := io.Copy(to, io.LimitReader(f, maxBytes-c.bytes+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if c.bytes += n; c.bytes > maxBytes {
		return fmt.Errorf("its files have more than %d MiB", maxBytes>>20)
	}
	c.hashes = append(c.hashes, name+" "+hex.EncodeToString(sum.Sum(nil)))
	return nil
}

// Write keeps a part of the file to keep.
func (c *content) Write(p []byte) (int, error) {
	c.kept = append(c.kept, p[:min(len(p), maxBody+1-len(c.kept))]...)
	return len(p), nil
}
