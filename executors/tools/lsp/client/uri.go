package client

import (
	"net/url"
	"path/filepath"
	"strings"
)

// localPath returns the path of a URI; "" if it names no local file. Servers spell URIs in
// different ways, such as file:///c%3A/x.
func localPath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" || strings.ContainsRune(u.Path, 0) {
		return ""
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' {
		path = strings.ToUpper(path[1:2]) + path[2:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}
