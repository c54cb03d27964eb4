package session

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// settings are the settings of a session that the user can change.
type settings struct {
	mode      string
	modelName string
	thought   string // a level of the model; empty means the model's default
	model     llm.Model
	system    acp.SystemPrompt // the client's; without a text there is none
}

// Words of the setting optionSystem, before its text.
const (
	systemAppend   = "append\n"
	systemOverride = "override\n"
)

// systemValue returns the system prompt as the value of a setting.
func (s settings) systemValue() string {
	if s.system.Override {
		return systemOverride + s.system.Text
	}
	return systemAppend + s.system.Text
}

// systemPrompt returns the client's system prompt, or nil.
func (s *Session) systemPrompt() *acp.SystemPrompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.settings.system; p.Text != "" {
		return &p
	}
	return nil
}

// set applies a setting from the log.
func (s *settings) set(id, value string) {
	switch id {
	case optionMode:
		s.mode = value
	case optionModel:
		s.modelName = value
	case optionThought:
		s.thought = value
	case optionSystem:
		text, override := strings.CutPrefix(value, systemOverride)
		s.system = acp.SystemPrompt{Override: override, Text: strings.TrimPrefix(text, systemAppend)}
	}
}
