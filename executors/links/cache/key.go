package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// key identifies a tool and an input.
type key [sha256.Size]byte

// keyOf returns the same key for calls of one tool whose inputs differ only in the
// order of members and in white space. An input that is not an object has no key.
func keyOf(call *executors.Call) (key, bool) {
	input := plainjson.Canonical(call.Input) // not every tool accepts 1.0 for 1
	if !bytes.HasPrefix(input, []byte("{")) || !json.Valid(input) {
		return key{}, false
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %s", call.Tool, input)), true
}

// entrySize is roughly how many bytes an entry needs.
func entrySize(e *entry) (n int, ok bool) {
	const each = 512 // the entry itself and its slot in the map
	n = each + len(e.result.ForModel()) + e.result.ValidSize + len(e.url)
	for _, p := range e.paths {
		n += len(p)
	}
	for _, l := range e.result.Locations {
		n += len(l.Path)
	}
	for _, c := range e.result.Content {
		if c.Image != nil {
			n += len(c.Image.Data)
		}
		if c.Change != nil {
			for _, text := range []*string{c.Change.Old, c.Change.New} {
				if text != nil {
					n += len(*text)
				}
			}
		}
	}
	if e.result.Raw != nil {
		raw, err := json.Marshal(e.result.Raw)
		if err != nil {
			return 0, false
		}
		n += len(raw)
	}
	return n, true
}

// touched selects the entries that a change of these paths may invalidate. No paths
// means that the changes are unknown.
func touched(paths []string) func(*entry) bool {
	var changed []string
	for _, p := range paths {
		changed = append(changed, folded(affected(p)))
	}
	return func(e *entry) bool {
		if !e.readsFiles {
			return false
		}
		if len(changed) == 0 || len(e.paths) == 0 {
			return true
		}
		for _, p := range e.paths {
			for _, c := range changed {
				if p := folded(p); workspace.Within(c, p) || workspace.Within(p, c) {
					return true
				}
			}
		}
		return false
	}
}

// affected returns the path whose results a change of path affects. A change of a file
// such as .gitignore affects every search in its directory, and a change inside .git every
// search in the repository. Any other path affects only itself.
func affected(path string) string {
	dir, name := filepath.Split(path)
	if strings.HasPrefix(name, ".") && strings.HasSuffix(name, "ignore") {
		return filepath.Clean(dir)
	}
	const git = string(filepath.Separator) + ".git" + string(filepath.Separator)
	if i := strings.Index(path, git); i >= 0 {
		return path[:max(i, 1)]
	}
	return path
}

// folded returns the same text for names that are equal on a case-insensitive file system.
// On other file systems the cache drops more than necessary, which is harmless.
func folded(path string) string { return strings.ToLower(path) }
