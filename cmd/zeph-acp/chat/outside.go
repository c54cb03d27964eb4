package chat

import (
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// editOutside opens the prompt in the person's editor.
func (m *model) editOutside() tea.Cmd {
	command := m.chat.Editor
	if command == "" {
		m.hint = "Set VISUAL or EDITOR to edit the prompt in an editor."
		return nil
	}
	f, err := os.CreateTemp("", "prompt-*.md")
	if err == nil {
		_, err = f.WriteString(m.editor.Text())
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		m.hint = "The prompt cannot be edited: " + err.Error()
		return nil
	}
	words := append(strings.Fields(command), f.Name())
	return tea.ExecProcess(exec.Command(words[0], words[1:]...), func(err error) tea.Msg { return edited{f.Name(), err} })
}

// edited is sent when the person's editor has ended.
type edited struct {
	path string
	err  error
}

// editedOutside replaces the prompt by what the person's editor has saved.
func (m *model) editedOutside(e edited) {
	data, err := os.ReadFile(e.path)
	_ = os.Remove(e.path)
	if e.err != nil {
		err = e.err
	}
	if err != nil {
		m.hint = "The prompt is unchanged: " + err.Error()
		return
	}
	m.editor.SetText(strings.TrimRight(string(data), "\n"))
}
