package chat

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// Notify is how the terminal tells a person who looks elsewhere that a turn has ended or a question waits.
type Notify string

// Ways to notify.
const (
	NotifyOff    Notify = "off"
	NotifyBell   Notify = "bell"
	NotifyOSC9   Notify = "osc9"   // iTerm2, Windows Terminal, kitty, ghostty, WezTerm
	NotifyOSC777 Notify = "osc777" // urxvt, VTE, ghostty, WezTerm
)

// sequence returns what the terminal is sent.
func (n Notify) sequence(text string) string {
	switch n {
	case NotifyBell:
		return "\a"
	case NotifyOSC9:
		return "\x1b]9;" + text + "\x1b\\"
	case NotifyOSC777:
		return "\x1b]777;notify;zeph-acp;" + text + "\x1b\\"
	}
	return ""
}

// elsewhere is how long a person presses no key who is elsewhere, as far as a terminal does not tell.
const elsewhere = 10 * time.Second

// alert notifies a person who is elsewhere.
func (m *model) alert(text string) tea.Cmd {
	seq := m.chat.Notify.sequence(text)
	if seq == "" || m.focus == focused || m.focus == focusUnknown && m.now().Sub(m.pressed) < elsewhere {
		return nil
	}
	return tea.Raw(seq)
}

// focus is whether the terminal has the keyboard, as far as it says so.
type focus int

const (
	focusUnknown focus = iota
	focused
	blurred
)
