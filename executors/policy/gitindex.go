package policy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// checkTracked returns an error if the index of a repository may lead a command to files
// outside of that repository, or a link there outside of the roots.
//
// Git reads what a name of the index says, such as "../file", although it never writes
// such a name. "git grep" also reads through a link in place of a tracked directory, and "git
// describe --dirty" uses the settings of a repository in its place.
func checkTracked(dirs []string, use plain.TrackedUse, roots Workspace, private *workspace.Private) error {
	if use == plain.TrackedUnused {
		return nil
	}
	for _, dir := range dirs {
		if top := repositoryTop(dir); top != "" {
			if err := checkIndex(top, use, roots, private); err != nil {
				return err
			}
		}
	}
	return nil
}

// repositoryTop returns the top of the repository around a directory, "" if there is none.
func repositoryTop(dir string) string {
	real, err := filepath.EvalSymlinks(dir) // git searches upwards from there
	if err != nil {
		return "" // git cannot run there
	}
	for top := range upwards(real) {
		if exists(filepath.Join(top, ".git")) {
			return top
		}
	}
	return ""
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// checkIndex checks the names in the index of the repository in top.
func checkIndex(top string, use plain.TrackedUse, roots Workspace, private *workspace.Private) error {
	const limit = 64 << 20
	found, ok := gitDirsOf(filepath.Join(top, ".git"), private)
	if !ok {
		return errors.New("the repository is in another directory")
	}
	index, ok := readAtMost(filepath.Join(found.own, "index"), limit, private)
	if !ok {
		return errors.New("the index of the repository cannot be read")
	}
	if index == "" {
		return nil
	}
	entries, err := parseIndex([]byte(index))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if !insideRepository(e.name) {
			return fmt.Errorf("its index names %q, which is no file of the repository", e.name)
		}
		if use < plain.TrackedFollowed {
			continue
		}
		if e.repository {
			return fmt.Errorf("%s is another repository, whose settings git would use", e.name)
		}
		if path := filepath.Join(top, filepath.FromSlash(e.name)); use == plain.TrackedShown && isLink(path) {
			if _, err := roots.Resolve(path); err != nil {
				return fmt.Errorf("%s is a link that may lead elsewhere: %w", e.name, err)
			}
		}
		for dir := range upwards(filepath.Dir(filepath.FromSlash(e.name))) {
			if dir == "." || seen[dir] {
				break
			}
			seen[dir] = true
			if isLink(filepath.Join(top, dir)) {
				return fmt.Errorf("%s is a link in place of a tracked directory", dir)
			}
		}
	}
	return nil
}

// insideRepository reports whether a name of an index is a file below the top of the repository,
// and not one of git itself.
func insideRepository(name string) bool {
	if path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(part, ".git") {
			return false
		}
	}
	return true
}

var errIndex = errors.New("the index of the repository has an unknown form")

// indexEntry is a path of a repository's index.
type indexEntry struct {
	name       string
	repository bool // the path is another repository, a submodule
}

// parseIndex returns the paths of a repository's index. It supports versions 2 to 4 with
// SHA-1 hashes, in one file: https://git-scm.com/docs/index-format
func parseIndex(data []byte) (entries []indexEntry, err error) {
	const header, mode, stat, trailer, repository = 12, 24, 62, 20, 0o160000
	if len(data) < header || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	data = data[header:]
	last := ""
	for range count {
		if len(data) < stat+trailer {
			return nil, errIndex
		}
		sub := binary.BigEndian.Uint32(data[mode:]) == repository
		size, flags := stat, binary.BigEndian.Uint16(data[stat-2:])
		if flags&0x4000 != 0 {
			size += 2
		}
		kept := ""
		if version == 4 { // the beginning of the name is that of the last one
			cut, n := indexNumber(data[size:])
			if cut > len(last) {
				return nil, errIndex
			}
			kept, size = last[:len(last)-cut], size+n
		}
		end := bytes.IndexByte(data[size:], 0)
		if end < 0 {
			return nil, errIndex
		}
		last = kept + string(data[size:size+end])
		if length := int(flags & 0xfff); length < 0xfff && length != len(last) {
			return nil, errIndex
		}
		if size += end + 1; version != 4 {
			size = (size + 7) &^ 7
		}
		if size > len(data) {
			return nil, errIndex
		}
		data, entries = data[size:], append(entries, indexEntry{last, sub})
	}
	for len(data) > trailer { // extensions
		if len(data) < trailer+8 || data[0] < 'A' || data[0] > 'Z' { // other extensions may add paths that this list lacks
			return nil, errIndex
		}
		size := binary.BigEndian.Uint32(data[4:])
		if data = data[8:]; uint64(size) > uint64(len(data)-trailer) {
			return nil, errIndex
		}
		data = data[size:]
	}
	if len(data) < trailer || version < 2 || version > 4 {
		return nil, errIndex
	}
	return entries, nil
}

// indexNumber decodes a variable-length number of version 4 and returns its length in
// bytes. Each byte has seven bits, the most significant first, and longer forms continue
// after the largest number of the shorter form.
func indexNumber(data []byte) (value, length int) {
	for _, b := range data[:min(len(data), 4)] {
		value, length = value<<7|int(b&0x7f), length+1
		if b&0x80 == 0 {
			break
		}
		value++
	}
	return value, length
}
