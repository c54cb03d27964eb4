package chat

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/chat/files"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/chat/pick"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
)

// menu offers what can stand at the cursor: commands after "/", files after "@". It opens by itself while the person
// types, and takes no key but those that move in it, complete and close.
type menu struct {
	word     string // before the cursor, which the choice replaces
	items    []item
	selected int
	closed   string // the word for which the person has closed the menu
}

// item is one choice of a menu or a picker.
type item struct {
	value string // what is inserted or returned
	name  string // what is shown
	about string // a description; may be empty
}

// ownCommands are the commands that the screen itself carries out.
var ownCommands = []item{
	{"help", "/help", "Show the commands and the keys"},
	{"resume", "/resume", "Go on with another session of this directory"},
	{"exit", "/exit", "Leave"},
}

func (u *menu) open() bool { return len(u.items) > 0 }

// filesFound has the names of the project's files.
type filesFound struct{ names []string }

// fillMenu offers what fits to the word before the cursor.
func (m *model) fillMenu() tea.Cmd {
	before := m.editor.Before()
	word := lastWord(before)
	if word == m.menu.closed && word != "" {
		return nil
	}
	was := m.menu
	m.menu = menu{word: word}
	var cmd tea.Cmd
	switch {
	case m.question != nil || m.picker != nil || m.browsing:
	case strings.HasPrefix(before, "/") && word == before:
		m.menu.items = matching(word[1:], m.commands(), func(i item) string { return i.value })
	case strings.HasPrefix(word, "@"):
		if !strings.HasPrefix(was.word, "@") { // the turns change the files
			cmd = m.findFiles
		}
		m.menu.items = m.fileItems(mentioned(word))
	case strings.HasPrefix(before, "/model ") && word == before[len("/model "):]:
		m.menu.items = matching(word, m.session.optionItems("model"), func(i item) string { return i.value + " " + i.name })
	case strings.HasPrefix(before, "/mode ") && word == before[len("/mode "):]:
		m.menu.items = matching(word, m.session.modeItems(), func(i item) string { return i.value })
	}
	if len(m.menu.items) == 1 && completed(m.menu.items[0], word) {
		m.menu.items = nil // nothing is left to complete
	}
	if was.word == word && was.selected < len(m.menu.items) {
		m.menu.selected = was.selected
	}
	return cmd
}

// completed reports whether a word is the whole of an item.
func completed(i item, word string) bool {
	return word == "/"+i.value || word == i.value || strings.HasPrefix(word, "@") && mentioned(word) == i.value
}

// lastWord returns the word at the end of a text. A mention that begins with a quote goes on to the next one.
func lastWord(text string) string {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	i := strings.LastIndex(line, `@"`)
	if i == 0 || i > 0 && strings.ContainsRune(" \t", rune(line[i-1])) {
		if !strings.Contains(line[i+len(`@"`):], `"`) {
			return line[i:]
		}
	}
	return line[strings.LastIndexAny(line, " \t")+1:]
}

// mentioned returns the name of a file, or its beginning, after "@".
func mentioned(word string) string { return strings.TrimPrefix(word[1:], `"`) }

// matching returns the items that fit to what was typed, best first.
func matching(typed string, all []item, text func(item) string) []item {
	var candidates []string
	for _, i := range all {
		candidates = append(candidates, text(i))
	}
	var out []item
	for _, at := range pick.Match(typed, candidates) {
		out = append(out, all[at])
	}
	return out
}

// commands returns the commands that can be typed.
func (m *model) commands() []item {
	var all []item
	for _, c := range m.session.Commands {
		if slices.ContainsFunc(ownCommands, func(own item) bool { return own.value == c.Name }) {
			continue
		}
		all = append(all, item{c.Name, "/" + headless.OneLine(c.Name), headless.OneLine(c.Description)})
	}
	return append(all, ownCommands...)
}

// findFiles lists the files of the project.
func (m *model) findFiles() tea.Msg {
	names, err := files.Names(context.Background(), m.chat.Dir)
	if err != nil {
		names = nil
	}
	return filesFound{names}
}

// fileItems returns the files for what was typed after "@". A path out of the project lists its directory.
func (m *model) fileItems(typed string) []item {
	var names []string
	if filepath.IsAbs(typed) || strings.HasPrefix(typed, "~") || strings.HasPrefix(typed, "..") {
		names = m.chat.entriesOf(typed)
	} else {
		for _, at := range pick.Match(typed, m.files) {
			if m.files[at] != typed { // nothing is left to complete
				names = append(names, m.files[at])
			}
		}
	}
	var all []item
	for _, n := range names[:min(len(names), maxOffered)] {
		all = append(all, item{value: n, name: headless.OneLine(n)})
	}
	return all
}

// maxOffered is the number of files that a menu offers at most.
const maxOffered = 100

// pressAtMenu acts on a key while the menu is open, and reports whether the key was for it.
func (m *model) pressAtMenu(k tea.KeyPressMsg) bool {
	u := &m.menu
	switch k.String() {
	case "up", "ctrl+p":
		u.selected = (u.selected + len(u.items) - 1) % len(u.items)
	case "down", "ctrl+n":
		u.selected = (u.selected + 1) % len(u.items)
	case "esc":
		*u = menu{closed: u.word}
	case "tab":
		m.complete(u.items[u.selected])
	case "enter":
		if chosen := u.items[u.selected]; !completed(chosen, u.word) {
			m.complete(chosen)
			// A command without arguments is sent at once by the same key.
			return !(strings.HasPrefix(u.word, "/") && m.isAlone(chosen.value))
		}
		return false
	default:
		return false
	}
	return true
}

// isAlone reports whether a command takes no arguments.
func (m *model) isAlone(name string) bool {
	for _, c := range m.session.Commands {
		if c.Name == name {
			return c.Input == nil
		}
	}
	return true
}

// complete puts a choice in the place of the word before the cursor.
func (m *model) complete(i item) {
	text := i.value
	switch {
	case strings.HasPrefix(m.menu.word, "/"):
		text = "/" + text + " "
	case strings.HasPrefix(m.menu.word, "@"):
		text = "@" + quotedName(text)
		if strings.HasSuffix(i.value, "/") {
			text = strings.TrimSuffix(text, `"`) // the name goes on
		} else {
			text += " "
		}
	}
	m.editor.ReplaceBefore(len(m.menu.word), text)
	word := m.menu.word
	m.menu = menu{}
	if strings.HasSuffix(text, "/") || strings.HasPrefix(word, "/") {
		m.fillMenu()
	}
}
