package chat

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// completer completes commands, their models and modes, and names of files after "@".
type completer struct{ chat *Chat }

// Do returns the missing ends of the words that fit, and the length of the typed part.
func (c completer) Do(line []rune, pos int) (rests [][]rune, length int) {
	typed, all := c.candidates(string(line[:pos]))
	for _, name := range all {
		if rest, ok := strings.CutPrefix(name, typed); ok && rest != "" {
			rests = append(rests, []rune(rest))
		}
	}
	return rests, len([]rune(typed))
}

// candidates returns the word before the cursor and the words for its place.
func (c completer) candidates(line string) (typed string, all []string) {
	last := strings.ReplaceAll(line, newline, " ")
	word := last[strings.LastIndexByte(last, ' ')+1:]
	command, _, hasArguments := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, "/") && !hasArguments:
		for _, name := range append(c.chat.session.commands(), "exit") {
			all = append(all, "/"+name+" ")
		}
	case strings.HasPrefix(word, "@"):
		all = c.files(word[1:])
	case command == "/model":
		for _, m := range c.chat.session.models() {
			all = append(all, m.Value+" ")
		}
	case command == "/mode":
		for _, id := range c.chat.session.modes() {
			all = append(all, id+" ")
		}
	}
	slices.Sort(all)
	return word, slices.Compact(all)
}

// files returns the entries of the directory that a path names so far, as "@PATH".
func (c completer) files(path string) []string {
	dir, base := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, base = path[:i+1], path[i+1:]
	}
	full := filepath.FromSlash(dir)
	if !filepath.IsAbs(full) {
		full = filepath.Join(c.chat.Turn.Dir, full)
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case strings.HasPrefix(name, ".") && !strings.HasPrefix(base, "."), strings.ContainsAny(name, " \x1b\n"):
			continue
		case e.IsDir():
			name += "/"
		default:
			name += " "
		}
		all = append(all, "@"+dir+name)
	}
	return all
}
