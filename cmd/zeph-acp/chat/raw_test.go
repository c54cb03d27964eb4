package chat

import (
	"io"
	"slices"
	"testing"
)

// The editor enters and leaves raw mode for each line, and for a stop.
func TestRawMode(t *testing.T) {
	var got []string
	m := &rawMode{
		out:   io.Discard,
		enter: func() error { got = append(got, "enter"); return nil },
		exit:  func() error { got = append(got, "exit"); return nil },
	}
	_, _ = m.Enter(), m.Exit() // a line
	_ = m.Enter()
	m.Stop()
	_, _ = m.Exit(), m.Enter() // the process stops between them
	_ = m.Exit()
	_ = m.Close()
	_, _ = m.Enter(), m.Exit() // the editor ends
	if want := []string{"enter", "exit", "enter", "exit"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
