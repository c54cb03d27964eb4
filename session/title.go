package session

import (
	"cmp"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// maxTitle limits a title, in characters.
const maxTitle = 80

// titleOf returns a title for a prompt: the first line that the user typed,
// with the names of links, or else the name of the first attachment.
func titleOf(prompt []acp.ContentBlock) string {
	var typed []string
	name := ""
	for _, b := range prompt {
		switch b.Type {
		case "text":
			typed = append(typed, *b.Text)
		case "resource_link":
			typed = append(typed, cmp.Or(b.Name, b.URI))
		case "resource":
			name = cmp.Or(name, b.Resource.URI)
		}
	}
	for title := range strings.Lines(strings.TrimSpace(strings.Join(typed, " ")) + "\n" + name) {
		title = line.Join(title)
		if runes := []rune(title); len(runes) > maxTitle {
			title = strings.TrimSpace(string(runes[:maxTitle-1])) + "…"
		}
		if title != "" {
			return title
		}
	}
	return ""
}
