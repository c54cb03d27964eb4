package chat

import (
	"io"
	"sync"
)

// rawMode keeps the terminal in raw mode, with marks around pasted text, from the first line
// to the end of the conversation. Only a stop of the process by Ctrl-Z interrupts it.
//
// Why not leave it after each line, as the editor does? On Linux a read may then return the
// end of the input while the user types on, and the conversation would end.
type rawMode struct {
	out         io.Writer    // the terminal
	enter, exit func() error // of the editor

	mu       sync.Mutex
	on       bool // the terminal is in raw mode
	stopping bool // Ctrl-Z was pressed
	closed   bool
}

// Enter enters raw mode. The editor calls it before each line, and after a stop.
func (m *rawMode) Enter() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopping = false
	if m.on || m.closed {
		return nil
	}
	m.on = true
	if err := m.enter(); err != nil {
		return err
	}
	_, err := io.WriteString(m.out, "\x1b[?2004h")
	return err
}

// Exit leaves raw mode if the process stops. The editor also calls it after each line.
func (m *rawMode) Exit() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stopping {
		return nil
	}
	return m.leave()
}

// Stop announces that the process stops.
func (m *rawMode) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopping = true
}

// Close leaves raw mode for good.
func (m *rawMode) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return m.leave()
}

// leave restores the terminal. The caller holds mu.
func (m *rawMode) leave() error {
	if !m.on {
		return nil
	}
	m.on = false
	_, _ = io.WriteString(m.out, "\x1b[?2004l")
	return m.exit()
}
