package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
)

// promptBlocks returns the prompt for a text. Each @FILE that exists is also a link to the file.
func (c *Chat) promptBlocks(text string) []acp.ContentBlock {
	all := []acp.ContentBlock{acp.TextBlock(text)}
	if strings.HasPrefix(text, "/") {
		return all
	}
	var seen []string
	for word := range strings.FieldsSeq(text) {
		name, ok := strings.CutPrefix(word, "@")
		if name = strings.TrimRight(name, ".,;:!?)"); !ok || name == "" {
			continue
		}
		path := filepath.Join(c.Turn.Dir, filepath.FromSlash(name))
		if filepath.IsAbs(name) {
			path = name
		}
		if isFile(path) && !slices.Contains(seen, path) {
			seen = append(seen, path)
			all = append(all, acp.FileLink(name, path))
		}
	}
	return all
}

// isFile reports whether a path leads to anything but a directory.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
