package acp

import "slices"

// v1Update returns an update in the form of version 1 of the protocol; nil if it has no such update.
func v1Update(u SessionUpdate) SessionUpdate {
	switch u := u.(type) {
	case ToolCall:
		u.Content = v1Content(u.Content)
		if u.Status == ToolCancelled {
			u.Status = ToolFailed
		}
		if t := u.Terminal; t != nil && t.Command != "" {
			shown := *t
			shown.Command = ""
			u.Terminal = &shown
		}
		return u
	case FileChanges, UserMessage:
		return nil
	case TerminalUpdate:
		if u.Background {
			return nil
		}
		return ToolCall{Update: UpdateToolCallPatch, ToolCallID: u.ToolCallID, Terminal: &u}
	case TerminalChunk:
		return ToolCall{
			Update: UpdateToolCallPatch, ToolCallID: u.ToolCallID, Terminal: &TerminalUpdate{TerminalID: u.TerminalID, Output: &u.Data},
		}
	}
	return u
}

// v1Content returns the parts of a tool call that version 1 of the protocol can show: a diff has a new text, and
// does not name the operation.
func v1Content(all []ToolContent) []ToolContent {
	plain := func(c ToolContent) ToolContent {
		if c.Type == "diff" {
			c = ToolContent{Type: c.Type, Path: c.Path, OldText: c.OldText, NewText: c.NewText}
		}
		return c
	}
	if !slices.ContainsFunc(all, func(c ToolContent) bool { return c != plain(c) || c.isUnseen() }) {
		return all
	}
	return mapped(slices.DeleteFunc(slices.Clone(all), ToolContent.isUnseen), plain)
}

// isUnseen reports whether version 1 of the protocol cannot show a part of a tool call.
func (c ToolContent) isUnseen() bool { return c.Type == "diff" && c.NewText == nil }
