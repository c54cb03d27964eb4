package bundle

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// maxKept limits a file that is kept for a session, in bytes: a longer one is not read by a model.
const maxKept = 1 << 20

// Files are the files of a part of a plug-in in memory, as a file system.
type Files struct {
	files      map[string]kept
	root, data string // replace variables in Markdown, if they are set
}

// kept is a file in memory.
type kept struct {
	File
	dir string // the folder of its skill in the plug-in
}

// NewFiles returns files by their names.
func NewFiles(files map[string][]byte) *Files {
	out := &Files{}
	for name, data := range files {
		out.add(name, File{Data: data}, "")
	}
	return out
}

// add adds a file, unless there is one of its name.
func (f *Files) add(name string, file File, dir string) {
	if f.files == nil {
		f.files = map[string]kept{}
	}
	if _, there := f.files[name]; !there && fs.ValidPath(name) {
		f.files[name] = kept{file, dir}
	}
}

func (f *Files) empty() bool { return len(f.files) == 0 }

// Names returns the names of the files, sorted.
func (f *Files) Names() []string {
	var names []string
	for name := range f.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// at returns the files with variables replaced. Large files are dropped.
func (f *Files) at(root, data string) *Files {
	out := &Files{root: root, data: data, files: map[string]kept{}}
	for name, k := range f.files {
		if len(k.Data) > maxKept {
			k.Data = nil
		}
		out.files[name] = k
	}
	return out
}

// text returns the content of a file as sessions read it.
func (f *Files) text(name string, k kept) []byte {
	if f.root == "" || path.Ext(name) != ".md" {
		return k.Data
	}
	return []byte(strings.NewReplacer(
		"${"+RootVariable+"}", f.root, "${PLUGIN_ROOT}", f.root, "${"+DataVariable+"}", f.data,
		"${CLAUDE_SKILL_DIR}", path.Join(f.root, k.dir),
	).Replace(string(k.Data)))
}

// Open opens a file.
func (f *Files) Open(name string) (fs.File, error) {
	if k, ok := f.files[name]; ok {
		if k.Data == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it has more than 1 MiB")}
		}
		data := f.text(name, k)
		return &openFile{bytes.NewReader(data), info{path.Base(name), int64(len(data)), 0}}, nil
	}
	if f.isDir(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is a directory")}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat describes a file or a directory.
func (f *Files) Stat(name string) (fs.FileInfo, error) {
	if k, ok := f.files[name]; ok {
		return info{path.Base(name), int64(len(f.text(name, k))), 0}, nil
	}
	if f.isDir(name) {
		return info{path.Base(name), 0, fs.ModeDir}, nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// isDir reports whether a file is in the directory.
func (f *Files) isDir(name string) bool {
	if name == "." {
		return !f.empty()
	}
	for file := range f.files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// ReadDir lists a directory, sorted by name.
func (f *Files) ReadDir(name string) ([]fs.DirEntry, error) {
	if !f.isDir(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	seen := map[string]fs.DirEntry{}
	for file, k := range f.files {
		rest := file
		if name != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(file, name+"/"); !ok {
				continue
			}
		}
		if child, _, deeper := strings.Cut(rest, "/"); deeper {
			seen[child] = fs.FileInfoToDirEntry(info{child, 0, fs.ModeDir})
		} else {
			seen[child] = fs.FileInfoToDirEntry(info{child, int64(len(k.Data)), 0})
		}
	}
	var out []fs.DirEntry
	for _, e := range seen {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// openFile is an open file.
type openFile struct {
	*bytes.Reader
	info info
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openFile) Close() error               { return nil }

// info describes a file or a directory.
type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode | 0o400 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
