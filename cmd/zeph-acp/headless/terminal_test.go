package headless

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
	"github.com/zeph-acp/zeph-acp/ideproxy"
)

// A command that the agent marks as read-only cannot write.
func TestReadOnlyTerminal(t *testing.T) {
	if sandbox.ReadOnly() == nil {
		t.Skip("this system cannot hold a command to reading")
	}
	for name, tt := range map[string]struct {
		meta  map[string]any
		wrote bool
	}{
		"marked as read-only": {map[string]any{ideproxy.ReadOnlyMeta: true}, false},
		"not marked":          {nil, true},
	} {
		dir := t.TempDir()
		c := &client{Turn: &Turn{Dir: dir, View: &JSON{W: io.Discard}, Env: os.Environ()}}
		made, err := c.createTerminal(t.Context(), acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "echo x > a"}, CWD: dir, Meta: tt.meta})
		if err != nil {
			t.Fatalf("%s: terminal/create: %v", name, err)
		}
		term, err := c.terminals.find(made.(map[string]string)["terminalId"])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := term.wait(t.Context()); err != nil {
			t.Errorf("%s: terminal/wait_for_exit: %v", name, err)
		}
		c.terminals.close()
		if _, err := os.Stat(filepath.Join(dir, "a")); (err == nil) != tt.wrote {
			t.Errorf("%s: the file has been written: %t, want %t", name, err == nil, tt.wrote)
		}
	}
}
