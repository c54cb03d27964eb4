package headless

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/acp"
)

// LastMessage is a View that also keeps the agent's last message.
type LastMessage struct {
	View

	mu   sync.Mutex
	id   string // of the message
	text strings.Builder
}

// Update keeps a piece of a message, and passes each update on.
func (s *LastMessage) Update(params json.RawMessage) {
	s.View.Update(params)
	if !bytes.Contains(params, []byte(acp.UpdateAgentMessage)) { // spares the decoding
		return
	}
	var p struct {
		Update acp.MessageChunk `json:"update"`
	}
	if json.Unmarshal(params, &p) != nil || p.Update.Update != acp.UpdateAgentMessage || p.Update.Content.Text == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Update.MessageID != s.id {
		s.id = p.Update.MessageID
		s.text.Reset()
	}
	s.text.WriteString(*p.Update.Content.Text)
}

// Text returns the agent's last message.
func (s *LastMessage) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Unfenced returns the text in the last code fence of an answer, or else the answer.
func Unfenced(answer string) string {
	answer = strings.TrimSpace(answer)
	before, ok := strings.CutSuffix(answer, "\n```")
	if !ok {
		return answer
	}
	i := strings.LastIndex("\n"+before, "\n```")
	if i < 0 {
		return answer
	}
	_, inside, _ := strings.Cut(before[i:], "\n")
	return strings.TrimSpace(inside)
}
