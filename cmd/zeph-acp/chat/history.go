package chat

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

const (
	maxHistory = 500      // prompts that are kept
	maxEntry   = 16 << 10 // bytes of a prompt that is kept
)

// History keeps the prompts of a project in a file, one JSON text per line. The zero value
// stores nothing. Failures are ignored: a lost history must not stop a conversation.
type History struct {
	Path string
	Mask func(text string) string // removes credentials; required
}

// HistoryPath returns the file for the prompts of a project, below a directory for state.
func HistoryPath(state, project string) string {
	if state == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(state, "chat", hex.EncodeToString(sum[:8])+".jsonl")
}

// Load returns the prompts, oldest first. It shortens a file that has become long.
func (h History) Load() []string {
	if h.Path == "" {
		return nil
	}
	data, err := os.ReadFile(h.Path)
	if err != nil {
		return nil
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		var text string
		if json.Unmarshal([]byte(line), &text) == nil && text != "" {
			all = append(all, text)
		}
	}
	if len(all) <= maxHistory {
		return all
	}
	all = all[len(all)-maxHistory:]
	var b strings.Builder
	for _, text := range all {
		b.WriteString(quoted(text) + "\n")
	}
	_ = os.WriteFile(h.Path, []byte(b.String()), 0o600)
	return all
}

// Add appends a prompt.
func (h History) Add(text string) {
	if h.Path == "" || len(text) > maxEntry {
		return
	}
	if os.MkdirAll(filepath.Dir(h.Path), 0o700) != nil {
		return
	}
	f, err := os.OpenFile(h.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(quoted(h.Mask(text)) + "\n")
	_ = f.Close()
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a string has a form
	return string(b)
}
