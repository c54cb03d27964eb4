package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// mention matches "@" and a name at the beginning of a word: to the end of the word, or in quotes.
var mention = lazyregexp.New(`(?:^|\s)@(?:"([^"\n]+)"|(\S+))`)

// trailing are the characters after a mention that do not belong to it.
const trailing = ".,;:!?)"

// imageNames are the endings of the names of images that models accept.
var imageNames = []string{".png", ".jpg", ".jpeg", ".gif", ".webp"}

// promptBlocks returns the prompt for a text. Each @FILE that exists is also a link to the file; an image is attached.
// A problem is a sentence about an image that cannot be attached.
func (c *Chat) promptBlocks(text string) (all []acp.ContentBlock, problems []string) {
	if command, ok := strings.CutPrefix(text, "!"); ok {
		text = "/bash " + strings.TrimSpace(command)
	}
	all = append(all, acp.TextBlock(text))
	if strings.HasPrefix(text, "/") {
		return all, nil
	}
	var seen []string
	for _, found := range mention.FindAllStringSubmatch(text, -1) {
		name := found[1]
		if name == "" {
			name = strings.TrimRight(found[2], trailing)
		}
		path := c.path(name)
		if name == "" || !isFile(path) || slices.Contains(seen, path) {
			continue
		}
		seen = append(seen, path)
		if slices.Contains(imageNames, strings.ToLower(filepath.Ext(path))) && c.Attach != nil {
			image, err := c.Attach(path)
			if err == nil {
				all = append(all, image)
				continue
			}
			problems = append(problems, name+" is not attached: "+err.Error())
		}
		all = append(all, acp.FileLink(name, path))
	}
	return all, problems
}

// path returns the path of a file that a person names.
func (c *Chat) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Dir, filepath.FromSlash(name))
}

// isFile reports whether a path leads to anything but a directory.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// quotedName returns a name as it is written after "@".
func quotedName(name string) string {
	if strings.Contains(name, " ") || strings.TrimRight(name, trailing) != name {
		return `"` + name + `"`
	}
	return name
}

// entriesOf returns the entries of the directory that a path names so far.
func (c *Chat) entriesOf(path string) (all []string) {
	dir, base := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, base = path[:i+1], path[i+1:]
	}
	entries, err := os.ReadDir(c.path(dir))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, base) || strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		all = append(all, dir+name)
	}
	return all
}
