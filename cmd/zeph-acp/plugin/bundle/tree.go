package bundle

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm" // two names of one file on some file systems

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Limits on the folder of a plug-in.
const (
	maxFiles = 5000
	maxBytes = 64 << 20 // of all files
	maxDepth = 16       // directories inside one another
	maxPath  = 512      // bytes of a path
	maxLinks = 8        // links that lead to one another
)

// File is a file of a plug-in.
type File struct {
	Data []byte
	Exec bool // it may be executed
}

// Tree is the folder of a plug-in: its files by their paths, which are relative and have slashes.
type Tree map[string]File

// Names returns the paths of the files, sorted.
func (t Tree) Names() []string { return slices.Sorted(maps.Keys(t)) }

// Hash identifies the files with their paths, contents and modes.
func (t Tree) Hash() string {
	sum := sha256.New()
	for _, name := range t.Names() {
		f := t[name]
		mode := byte(0)
		if f.Exec && runtime.GOOS != "windows" { // which stores no such mode
			mode = 1
		}
		content := sha256.Sum256(f.Data)
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(name)))) // so that no path can pass for two
		sum.Write([]byte(name))
		sum.Write([]byte{mode})
		sum.Write(content[:])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// below returns the files in a directory of the tree, by their paths in it.
func (t Tree) below(dir string) Tree {
	if dir == "." {
		return t
	}
	out := Tree{}
	for name, f := range t {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok {
			out[rest] = f
		}
	}
	return out
}

// entry is an entry of a folder that is read: a file or a link.
type entry struct {
	File
	link string // the target of a link; "" if it is a file
}

// builder collects the entries of a folder within the limits.
type builder struct {
	entries map[string]entry
	bytes   int64
	folded  map[string]string // paths of files and directories as a file system without case has them
}

func newBuilder() *builder {
	return &builder{entries: map[string]entry{}, folded: map[string]string{}}
}

// checkPath returns an error for a path that a plug-in must not have.
func (b *builder) checkPath(name string) error {
	shown := executors.OneLine(executors.Shown(name))
	switch {
	case strings.ContainsRune(name, '\\') || executors.OneLine(name) != name:
		return fmt.Errorf("%s: a name has a backslash, an invisible character, or bytes that are not UTF-8", shown)
	case !fs.ValidPath(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("%s: not a path inside of the plug-in", shown)
	case len(name) > maxPath:
		return fmt.Errorf("%s: its path has more than %d bytes", shown, maxPath)
	case strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("%s: more than %d directories inside one another", shown, maxDepth)
	}
	for at := name; at != "."; at = path.Dir(at) {
		key := strings.ToLower(strings.ToUpper(norm.NFC.String(at)))
		if other, ok := b.folded[key]; ok && other != at {
			return fmt.Errorf("%s and %s are one file on some systems", executors.OneLine(other), executors.OneLine(at))
		}
		b.folded[key] = at
	}
	return nil
}

// add adds an entry. A size that is too large is an error before the content is read.
func (b *builder) add(name string, size int64, read func() (entry, error)) error {
	if err := b.checkPath(name); err != nil {
		return err
	}
	if len(b.entries) == maxFiles {
		return fmt.Errorf("more than %s", quantity.CountGrouped(maxFiles, "file"))
	}
	if b.bytes += size; b.bytes > maxBytes {
		return fmt.Errorf("its files have more than %d MiB", maxBytes>>20)
	}
	e, err := read()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	b.bytes += max(0, int64(len(e.Data))-size) // it has grown
	if b.bytes > maxBytes {
		return fmt.Errorf("its files have more than %d MiB", maxBytes>>20)
	}
	b.entries[name] = e
	return nil
}

// tree returns the files. A link to a file or directory of the folder becomes a copy of it.
func (b *builder) tree() (Tree, error) {
	out := Tree{}
	var total int64
	for _, name := range slices.Sorted(maps.Keys(b.entries)) {
		e := b.entries[name]
		if e.link == "" {
			out[name] = e.File
			total += int64(len(e.Data))
			continue
		}
		files, err := b.linked(name)
		if err != nil {
			return nil, fmt.Errorf("the link %s: %w", executors.OneLine(name), err)
		}
		for rest, f := range files {
			copied := path.Join(name, rest)
			if err := b.checkPath(copied); err != nil {
				return nil, err
			}
			out[copied] = f
			if total += int64(len(f.Data)); total > maxBytes || len(out) > maxFiles {
				return nil, fmt.Errorf("with the copies of what its links name, it has more than %s or %d MiB",
					quantity.CountGrouped(maxFiles, "file"), maxBytes>>20)
			}
		}
	}
	return out, nil
}

// linked returns the files that a link stands for, by their paths below it; "." is the link itself.
func (b *builder) linked(name string) (Tree, error) {
	at := name
	for range maxLinks {
		e, found := b.entries[at]
		switch {
		case found && e.link == "":
			return Tree{".": e.File}, nil
		case !found:
			return b.linkedDir(name, at)
		}
		target := path.Join(path.Dir(at), filepath.ToSlash(e.link))
		if path.IsAbs(filepath.ToSlash(e.link)) || filepath.IsAbs(e.link) || !fs.ValidPath(target) {
			return nil, errors.New("it leads out of the plug-in")
		}
		at = target
	}
	return nil, errors.New("it leads to itself")
}

// linkedDir returns the files of a directory that a link names.
func (b *builder) linkedDir(link, dir string) (Tree, error) {
	if dir == "." || strings.HasPrefix(link, dir+"/") {
		return nil, errors.New("it leads to a directory that contains it")
	}
	out := Tree{}
	for name, e := range b.entries {
		rest, ok := strings.CutPrefix(name, dir+"/")
		switch {
		case !ok:
		case e.link != "":
			return nil, fmt.Errorf("it leads to a directory that has another link, %s", executors.OneLine(name))
		default:
			out[rest] = e.File
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it leads to nothing in the plug-in")
	}
	return out, nil
}

// ReadTree reads the folder below a directory, without its git repository. sub is its path in the
// directory; "." is the directory itself. It opens nothing outside of the directory.
func ReadTree(dir, sub string) (Tree, error) {
	root, err := openDir(dir, sub)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	b := newBuilder()
	if err := b.addDir(root, "."); err != nil {
		return nil, err
	}
	return b.tree()
}

// openDir opens a directory and a directory in it.
func openDir(dir, sub string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil || sub == "." {
		return root, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(sub))
}

// isGit reports whether an entry is the repository of git, which is no part of a plug-in.
func isGit(name string) bool { return strings.EqualFold(name, ".git") }

// addDir adds the entries of a directory, which is dir in the plug-in.
func (b *builder) addDir(root *os.Root, dir string) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	entries, err := d.ReadDir(maxFiles + 1)
	d.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(entries) > maxFiles {
		return fmt.Errorf("%s: more than %s", dir, quantity.CountGrouped(maxFiles, "entry"))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if isGit(e.Name()) {
			continue
		}
		name := path.Join(dir, e.Name())
		switch mode := e.Type(); {
		case mode.IsDir():
			err = b.addSub(root, e.Name(), name)
		case mode&fs.ModeSymlink != 0:
			err = b.add(name, 0, func() (entry, error) {
				link, err := root.Readlink(e.Name())
				return entry{link: cmp.Or(link, "/")}, err
			})
		case mode.IsRegular():
			err = b.addFile(root, e.Name(), name)
		default:
			err = fmt.Errorf("%s is a device, a pipe or a socket", executors.OneLine(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addSub adds the directory base of a directory. Its own root saves looking up each part of a path.
func (b *builder) addSub(root *os.Root, base, name string) error {
	if err := b.checkPath(name); err != nil {
		return err
	}
	sub, err := root.OpenRoot(base)
	if err != nil {
		return err
	}
	defer sub.Close()
	return b.addDir(sub, name)
}

// addFile adds the file base of a directory.
func (b *builder) addFile(root *os.Root, base, name string) error {
	f, err := root.OpenFile(base, os.O_RDONLY|keys.Nonblock, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() { // it was replaced
		err = fmt.Errorf("%s is not a regular file", executors.OneLine(name))
	}
	if err != nil {
		return err
	}
	return b.add(name, info.Size(), func() (entry, error) {
		var data bytes.Buffer
		data.Grow(int(info.Size()) + bytes.MinRead) // else it grows to read the end
		_, err := data.ReadFrom(io.LimitReader(f, maxBytes+1))
		return entry{File: File{data.Bytes(), info.Mode()&0o111 != 0}}, err
	})
}

// Write writes the files into a directory, which it makes.
func (t Tree) Write(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range t.Names() {
		local, mode := filepath.FromSlash(name), fs.FileMode(0o600)
		if t[name].Exec {
			mode = 0o700
		}
		if err := root.MkdirAll(filepath.Dir(local), 0o700); err != nil {
			return err
		}
		f, err := root.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return err
		}
		_, err = f.Write(t[name].Data)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
