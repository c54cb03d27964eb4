// Package pathname has small operations on the names of files.
package pathname

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// From returns a path that may be relative to dir as an absolute one.
func From(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// Same reports whether two paths lead to the same file.
func Same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// URI returns the URI of an absolute path.
func URI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/x
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Unescape returns the literal part of a pattern without its backslashes.
func Unescape(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}
