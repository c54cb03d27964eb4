package acp

import (
	"fmt"
	"strings"
)

// SystemPrompt holds the client's instructions for a session:
// https://agentclientprotocol.com/protocol/v1/session-setup#system-prompt
type SystemPrompt struct {
	Override bool   // Text replaces the agent's own instructions; otherwise it is added to them
	Text     string // not blank
}

// decodeSystemPrompt parses a system prompt. Whatever cannot be applied as a whole is an
// error: without it the session would follow other instructions than the client wants.
func decodeSystemPrompt(raw []byte) (*SystemPrompt, error) {
	const field = "systemPrompt"
	if kind := jsonKind(raw); kind != "object" {
		return nil, ParamsErrorf(field, "must be an object, not %s", kind)
	}
	o := objectOf(raw, field, "mode", "content")
	mode, err := o.requiredString("mode")
	if err != nil {
		return nil, err
	}
	if mode != "append" && mode != "override" {
		return nil, ParamsErrorf(o.path("mode"), "must be append or override, got %q", mode)
	}
	items, err := o.array("content")
	if err != nil {
		return nil, err
	}
	var parts []string
	for i, item := range items {
		path := fmt.Sprintf("%s[%d]", o.path("content"), i)
		b, err := decodeBlock(item, path)
		if err != nil {
			return nil, err
		}
		if b.Type != "text" {
			return nil, ParamsErrorf(path+".type", "must be text, got %q", b.Type)
		}
		parts = append(parts, *b.Text)
	}
	text := strings.Join(parts, "\n\n")
	if strings.TrimSpace(text) == "" {
		return nil, ParamsErrorf(o.path("content"), "must have text")
	}
	return &SystemPrompt{mode == "override", text}, nil
}
