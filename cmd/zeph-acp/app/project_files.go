package app

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
)

// readProjectFile reads a file of the repository.
func readProjectFile(dir, name string) ([]byte, error) {
	f, err := keys.OpenBelow(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return keys.ReadBounded(f)
}

// hashFile returns the hash of a file of the repository. path is absolute.
func (b *sessionBuilder) hashFile(path string) (string, error) {
	dir := b.dirs.roots.Cwd()
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return "", err
	}
	return hashProjectFile(dir, name)
}

// hashProjectFile returns the hash of a file of the repository.
func hashProjectFile(dir, name string) (string, error) {
	f, err := keys.OpenBelow(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// namesIn returns the names of the files in a directory of the repository, relative to
// the repository.
func namesIn(dir, below string) []string {
	if _, err := os.Lstat(filepath.Join(dir, below)); err != nil {
		return nil // opens nothing in a project without them
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	d, err := root.Open(below)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxNames) // the names until the error
	for i := range names {
		names[i] = path.Join(below, names[i])
	}
	slices.Sort(names)
	return names
}

// projectDir is a directory of the repository as a file system. Like the file tools it
// follows no link out of the roots, and opens no file that the user's rules hide.
type projectDir struct {
	roots *workspace.Roots
	dir   string // absolute
}

// resolve returns the absolute path of a name, without links.
func (p projectDir) resolve(name string) (string, error) {
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if _, err := os.Lstat(p.dir); err != nil { // costs nothing in a project without it
		return "", err
	}
	real, err := p.roots.Resolve(path)
	if err == nil {
		_, err = p.roots.Lstat(real)
	}
	if errors.Is(asNotPermitted(err), prompt.ErrDenied) { // hidden by the user's own rules
		err = fs.ErrNotExist
	}
	return real, err
}

// Open opens a regular file.
func (p projectDir) Open(name string) (fs.File, error) {
	real, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	f, _, err := p.roots.Open(real)
	return f, err
}

// Stat describes a file.
func (p projectDir) Stat(name string) (fs.FileInfo, error) {
	real, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	return p.roots.Lstat(real)
}

// ReadDir lists a directory, sorted by name.
func (p projectDir) ReadDir(name string) ([]fs.DirEntry, error) {
	real, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	d, err := p.roots.Dir(real)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, _, err := d.ReadDir(maxNames + 1)
	if len(entries) > maxNames { // a part of them could not be compared
		err = fmt.Errorf("more than %d names", maxNames)
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// projectFiles are the files of a session's directories, in the form that
// package prompt reads.
type projectFiles struct{ roots *workspace.Roots }

// Open opens a file within the roots. It does not follow links that lead out of
// them.
func (p projectFiles) Open(path string) (io.ReadCloser, string, int64, error) {
	real, err := p.roots.Resolve(path)
	if err != nil {
		return nil, "", 0, asNotPermitted(err)
	}
	f, info, err := p.roots.Open(real)
	if err != nil {
		return nil, "", 0, asNotPermitted(err)
	}
	return f, real, info.Size(), nil
}

// maxNames limits the names that are read in one directory.
const maxNames = 1000

// List returns the names in a directory.
func (p projectFiles) List(dir string) ([]string, error) {
	real, err := p.roots.Resolve(dir)
	if err != nil {
		return nil, asNotPermitted(err)
	}
	d, err := p.roots.Dir(real)
	if err != nil {
		return nil, asNotPermitted(err)
	}
	defer d.Close()
	entries, _, err := d.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, asNotPermitted(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Has returns those names that exist.
func (p projectFiles) Has(dir string, names []string) []string {
	d, err := p.roots.Dir(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	var there []string
	for _, name := range names {
		if _, err := d.Lstat(name); err == nil {
			there = append(there, name)
		}
	}
	return there
}

// asNotPermitted marks an error for package prompt if the user's rules forbid reading
// the file.
func asNotPermitted(err error) error {
	_, denied := errors.AsType[*workspace.DeniedError](err)
	_, private := errors.AsType[*workspace.AgentFileError](err)
	if denied || private {
		return fmt.Errorf("%w: %w", prompt.ErrDenied, err)
	}
	return err
}
