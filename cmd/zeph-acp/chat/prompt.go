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
		name = strings.TrimRight(name, ".,;:!?)")
		path := filepath.Join(c.Turn.Dir, filepath.FromSlash(name))
		if filepath.IsAbs(name) {
			path = name
		}
		if info, err := os.Stat(path); !ok || name == "" || err != nil || info.IsDir() || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		all = append(all, acp.FileLink(name, path))
	}
	return all
}
