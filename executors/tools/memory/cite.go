package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

const (
	// maxFiles limits the files that an entry cites.
	maxFiles = 16
	// maxHashed is the size of the largest file that can be cited, in bytes.
	maxHashed = 32 << 20
)

var (
	errTooLarge    = errors.New("it is too large")
	errNoWorkspace = errors.New("there is no workspace")
)

// pathLike matches the words of a text that may name a file.
var pathLike = lazyregexp.New(`[\pL\pN_@~.+-]*(?:[/\\][\pL\pN_@.+-]+)+|[\pL\pN_@+-][\pL\pN_@.+-]*\.[\pL\pN]{1,10}|\b[A-Z][a-z]+file\b`)

// cite returns the hashes of the files of a fact, by path: those that it lists, which must
// exist, and those that its text names. A path is relative to the project, if the entry
// belongs to one and the file is in it.
func (m *Memory) cite(f Fact, global bool) (map[string]string, error) {
	files := map[string]string{}
	add := func(name string) error {
		abs, err := m.Roots.Resolve(name)
		if err != nil {
			return err
		}
		path := abs
		if rel, err := filepath.Rel(m.Project, abs); err == nil && filepath.IsLocal(rel) && !global {
			path = filepath.ToSlash(rel)
		}
		if files[path] == "" && len(files) < maxFiles {
			files[path], err = m.hash(abs)
		}
		if err != nil {
			delete(files, path)
		}
		return err
	}
	for _, name := range f.Files {
		if err := add(name); err != nil {
			return nil, refusedf("Leave the file out, or correct its path.", "the file %s cannot be cited: %v",
				executors.OneLine(name), workspace.Cause(err))
		}
	}
	if m.Roots != nil {
		for _, name := range pathLike.FindAllString(f.Text, 4*maxFiles) {
			_ = add(strings.TrimRight(name, ".")) // the word may not be a file
		}
	}
	return files, nil
}

// hash returns the hash of a file of the workspace.
func (m *Memory) hash(abs string) (string, error) {
	file, info, err := m.Roots.Open(abs)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info.Size() > maxHashed {
		return "", errTooLarge
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(file, maxHashed)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Stale returns a phrase for each cited file that has changed since the entry was saved.
func (m *Memory) Stale(e Entry) (changes []string) {
	for _, path := range slices.Sorted(maps.Keys(e.Files)) {
		name := path
		if !filepath.IsAbs(path) {
			name = filepath.Join(cmp.Or(e.Project, m.Project), filepath.FromSlash(path))
		}
		now, err := "", errNoWorkspace
		if m.Roots != nil {
			now, err = m.current(name)
		}
		_, outside := errors.AsType[*workspace.OutsideError](err)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changes = append(changes, executors.OneLine(path)+" is gone")
		case outside, errors.Is(err, errNoWorkspace):
			changes = append(changes, executors.OneLine(path)+" is outside of this workspace and was not compared")
		case err != nil:
			changes = append(changes, executors.OneLine(path)+" cannot be read")
		case now != e.Files[path]:
			changes = append(changes, executors.OneLine(path)+" has changed")
		}
	}
	return changes
}

// current returns the hash of a file now.
func (m *Memory) current(name string) (string, error) {
	abs, err := m.Roots.Resolve(name)
	if err != nil {
		return "", err
	}
	return m.hash(abs)
}
