package files

import (
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors/tools/files/charset"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// declarations finds the encodings that a workspace declares for its files: charset in .editorconfig, else
// working-tree-encoding in .gitattributes. It reads these files only inside the roots, each at most once. The zero value is not
// usable; it may be used concurrently.
type declarations struct {
	roots *workspace.Roots

	mu   sync.Mutex
	dirs map[string]declaringDir
}

// declaringDir is what the files of one directory declare.
type declaringDir struct {
	editor     editorConfig
	attributes []attribute // in the order of the file
	isRepo     bool
}

// attribute is the encoding of the files that match a pattern; empty for none.
type attribute struct {
	match    func(path string) bool
	encoding string
}

// declaration is the encoding that a workspace declares for a file.
type declaration struct {
	encoding *charset.Encoding // nil: none, or an unknown one
	unknown  string            // the name of an encoding that is not known
}

func newDeclarations(roots *workspace.Roots) *declarations {
	return &declarations{roots: roots, dirs: map[string]declaringDir{}}
}

// of returns the declaration for the file at an absolute path.
func (d *declarations) of(abs string) declaration {
	if name := d.editorCharset(abs); name != "" && name != "unset" {
		e := charset.Named(name)
		if e == nil {
			return declaration{unknown: name}
		}
		if e.Wide() { // editors write it
			e = e.WithMark()
		}
		return declaration{encoding: e}
	}
	if name := d.gitEncoding(abs); name != "" {
		e := charset.Named(name)
		if e == nil {
			return declaration{unknown: name}
		}
		return declaration{encoding: e}
	}
	return declaration{}
}

// editorCharset returns the charset of a file in the files .editorconfig.
func (d *declarations) editorCharset(abs string) string {
	for dir := filepath.Dir(abs); d.roots.Contains(dir); dir = filepath.Dir(dir) {
		at := d.dir(dir)
		if name := at.editor.charset(relative(dir, abs)); name != "" {
			return name
		}
		if at.editor.root || dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// gitEncoding returns the encoding of a file in the files .gitattributes of its repository.
func (d *declarations) gitEncoding(abs string) string {
	for dir := filepath.Dir(abs); d.roots.Contains(dir); dir = filepath.Dir(dir) {
		at, path := d.dir(dir), relative(dir, abs)
		for i := len(at.attributes) - 1; i >= 0; i-- {
			if at.attributes[i].match(path) {
				return at.attributes[i].encoding
			}
		}
		if at.isRepo || dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// relative returns the path of a file below dir, with slashes.
func relative(dir, abs string) string {
	rel, err := filepath.Rel(dir, abs)
	if err != nil {
		return filepath.Base(abs)
	}
	return filepath.ToSlash(rel)
}

// dir returns the declarations in one directory.
func (d *declarations) dir(abs string) declaringDir {
	d.mu.Lock()
	defer d.mu.Unlock()
	at, ok := d.dirs[abs]
	if ok {
		return at
	}
	at.editor = parseEditorConfig(d.read(abs, ".editorconfig"))
	at.attributes = parseAttributes(d.read(abs, ".gitattributes"))
	_, err := d.roots.Lstat(filepath.Join(abs, walk.GitDir))
	at.isRepo = err == nil
	d.dirs[abs] = at
	return at
}

// maxDeclaring is the largest file that is read for its declarations, in bytes.
const maxDeclaring = 256 << 10

// read returns the text of a file, "" if it cannot be read.
func (d *declarations) read(dir, name string) string {
	path := filepath.Join(dir, name)
	if info, err := d.roots.Lstat(path); err != nil || !info.Mode().IsRegular() && info.Mode().Type() != fs.ModeSymlink {
		return ""
	}
	f, info, err := d.roots.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info.Size() > maxDeclaring {
		return ""
	}
	data, _ := io.ReadAll(io.LimitReader(f, maxDeclaring)) // what could be read counts
	return string(data)
}

// parseAttributes returns the encodings in a .gitattributes: https://git-scm.com/docs/gitattributes
func parseAttributes(text string) []attribute {
	var all []attribute
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0][0] == '#' || fields[0][0] == '[' || fields[0][0] == '!' {
			continue
		}
		for _, field := range fields[1:] {
			name, value, _ := strings.Cut(field, "=")
			if strings.TrimLeft(name, "-!") != "working-tree-encoding" {
				continue
			}
			if match, ok := walk.GitPattern(strings.Trim(fields[0], `"`)); ok {
				all = append(all, attribute{match, value})
			}
		}
	}
	return all
}
