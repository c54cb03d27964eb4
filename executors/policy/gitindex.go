package policy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// trackedStays returns an error if a tracked directory of the repository is a link.
// "git grep" reads the files of its index through such a link, other commands do not.
func trackedStays(dirs []string, private *workspace.Private) error {
	for _, dir := range dirs {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // git cannot run there
		}
		for top := range upwards(real) {
			if exists(filepath.Join(top, ".git")) {
				if err := noLinks(top, private); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// noLinks returns an error if a directory of a repository's index is a link.
func noLinks(top string, private *workspace.Private) error {
	const limit = 64 << 20
	index, ok := readAtMost(filepath.Join(top, ".git", "index"), limit, private)
	if !ok {
		return errors.New("its index cannot be read")
	}
	if index == "" {
		return nil
	}
	names, err := indexed([]byte(index))
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, name := range names {
		for dir := range upwards(filepath.Dir(filepath.FromSlash(name))) {
			if dir == "." || seen[dir] {
				break
			}
			seen[dir] = true
			if info, err := os.Lstat(filepath.Join(top, dir)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return fmt.Errorf("%s is a link in place of a tracked directory", dir)
			}
		}
	}
	return nil
}

var errIndex = errors.New("its index has a form that is not known")

// indexed returns the paths of a repository's index. It knows the versions 2 to 4 with
// hashes of SHA-1, in one file: https://git-scm.com/docs/index-format
func indexed(data []byte) (names []string, err error) {
	const header, stat, trailer = 12, 62, 20
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
		data, names = data[size:], append(names, last)
	}
	if bytes.HasPrefix(data, []byte("link")) || version < 2 || version > 4 { // most of the paths are in another file
		return nil, errIndex
	}
	return names, nil
}

// indexNumber returns a number of version 4 and its length: seven bits a byte, the
// highest first, each longer form after the last number of the shorter one.
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
