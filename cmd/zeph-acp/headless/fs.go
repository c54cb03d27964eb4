package headless

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// maxFile is the largest file that can be read as a buffer, in bytes: its text must
// fit in a frame.
const maxFile = 8 << 20

type readTextFileRequest struct {
	Path  string `json:"path"`
	Line  *int   `json:"line"`  // 1-based
	Limit *int   `json:"limit"` // lines
}

// readTextFile returns the text of a file. Buffers are never edited, so they equal
// the files on disk. Binary or too large files have no buffer.
func (c *client) readTextFile(ctx context.Context, p readTextFileRequest) (any, error) {
	disk, path, err := buffer(p.Path)
	if err != nil {
		return nil, err
	}
	text, err := disk.ReadFile(ctx, path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, err
	case err != nil:
		return nil, errorResponse(codeNotFound, "%v", err)
	case !utf8.ValidString(text):
		return nil, errorResponse(codeNotFound, "%s is not UTF-8 text", p.Path)
	}
	return map[string]string{"content": lineRange(text, p.Line, p.Limit)}, nil
}

// lineRange returns a range of lines of text.
func lineRange(text string, line, limit *int) string {
	if line != nil {
		for n := 1; n < *line && text != ""; n++ {
			_, text, _ = strings.Cut(text, "\n")
		}
	}
	if limit == nil {
		return text
	}
	end := 0
	for n := 0; n < *limit && end < len(text); n++ {
		if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
			end += i + 1
		} else {
			end = len(text)
		}
	}
	return text[:end]
}

type writeTextFileRequest struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// writeTextFile replaces the file's content atomically.
func (c *client) writeTextFile(ctx context.Context, p writeTextFileRequest) (any, error) {
	disk, path, err := buffer(p.Path)
	if err != nil {
		return nil, err
	}
	return struct{}{}, disk.WriteFile(ctx, path, p.Content)
}

// buffer opens one file anywhere: an editor opens any file, and the agent itself
// decides which files it may open.
func buffer(path string) (disk files.Disk, resolved string, err error) {
	if err := mustBeAbsolute("path", path); err != nil {
		return files.Disk{}, "", err
	}
	resolved, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) { // a new file
		var dir string
		dir, err = filepath.EvalSymlinks(filepath.Dir(path))
		resolved = filepath.Join(dir, filepath.Base(path))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return files.Disk{}, "", errorResponse(codeNotFound, "%v", err)
	}
	if err != nil {
		return files.Disk{}, "", err
	}
	roots, err := workspace.New(filepath.Dir(resolved))
	return files.Disk{Roots: roots, MaxBytes: maxFile}, resolved, err
}
