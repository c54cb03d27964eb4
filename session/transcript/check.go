package transcript

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

// The values that a frame may have.
var (
	stopReasons  = []acp.StopReason{"", acp.StopEndTurn, acp.StopMaxTokens, acp.StopMaxTurnRequests, acp.StopRefusal, acp.StopCancelled}
	statuses     = []acp.ToolStatus{"", acp.ToolPending, acp.ToolInProgress, acp.ToolCompleted, acp.ToolFailed, acp.ToolCancelled}
	toolKinds    = []string{"", "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}
	operations   = []string{filechange.Add, filechange.Modify, filechange.Delete, filechange.Move, filechange.Copy}
	planStatuses = []string{"pending", "in_progress", "completed"}
	priorities   = []string{"high", "medium", "low"}
)

// checkEvent returns an error for an event that no frame can show. Events may have been
// imported from elsewhere.
func checkEvent(e Event) error {
	switch e := e.(type) {
	case Prompt:
		if err := checkBlocks("content", e.Content); err != nil {
			return err
		}
		return checkBlocks("expanded", e.ModelContent)
	case Preamble:
		return checkBlocks("content", e.Content)
	case Attachment:
		if e.Index < 1 {
			return fmt.Errorf("index must be at least 1, is %d", e.Index)
		}
	case Answer:
		if u := e.Shown; u != nil && (u.Update != acp.UpdateUsage || u.Used < 0 || u.Size < 0) {
			return errors.New("shown must be a usage_update whose numbers are not negative")
		}
	case Call:
		if e.Shown.Update != acp.UpdateToolCall || e.Shown.ToolCallID == "" || e.Shown.Title == "" {
			return errors.New("shown needs the update tool_call, an id and a title")
		}
		return checkCall(e.Shown)
	case Correction:
		if e.Shown.Update != acp.UpdateToolCallPatch || e.Shown.Title == "" || e.Shown.Status != "" {
			return errors.New("shown needs the update tool_call_update, a title and no status")
		}
		return checkCall(e.Shown)
	case Result:
		if e.Shown.Update != acp.UpdateToolCallPatch || !e.Shown.Status.Final() {
			return errors.New("shown needs the update tool_call_update and a final status")
		}
		return checkCall(e.Shown)
	case Question:
		u := e.Shown
		announces := u.Update == acp.UpdateToolCall && u.Title != ""
		if u.ToolCallID == "" || !announces && u.Update != acp.UpdateToolCallPatch {
			return errors.New("shown needs the update tool_call with a title or tool_call_update, and an id")
		}
		return checkCall(e.Shown)
	case Plan:
		for i, p := range e.Entries {
			if !slices.Contains(planStatuses, p.Status) || !slices.Contains(priorities, p.Priority) {
				return fmt.Errorf("entries[%d]: unknown status %q or priority %q", i, p.Status, p.Priority)
			}
		}
	case Child:
		if e.ToolCallID == "" || e.Caller == "" || e.MessageID == "" {
			return errors.New("needs toolCallId, caller and messageId")
		}
	case ChildEnd:
		if e.ToolCallID == "" || e.Caller == "" || e.Report != "" && e.MessageID == "" || !slices.Contains(stopReasons, e.Reason) {
			return errors.New("needs toolCallId, caller, a known reason, and for a report messageId")
		}
	case Compaction:
		return e.check()
	case Steer:
		return e.check()
	case Rewound:
		return e.check()
	case FilesRewound:
		if u := e.Shown; u.Update != acp.UpdateToolCall || u.ToolCallID == "" || u.Title == "" || u.Status != acp.ToolCompleted {
			return errors.New("shown needs the update tool_call, an id, a title and the status completed")
		}
		return checkCall(e.Shown)
	case TurnEnd:
		if !slices.Contains(stopReasons, e.Reason) {
			return fmt.Errorf("unknown reason %q", e.Reason)
		}
	}
	return nil
}

// Salvage returns the replacement of an event that [Decode] refuses: nil, except that a
// prompt keeps its readable parts, since a turn begins with it.
func Salvage(kind string, data []byte) Event {
	if kind != (Prompt{}).Kind() {
		return nil
	}
	var p Prompt
	_ = unmarshal(data, &p) // the readable part
	unreadable := acp.TextBlock("[this can no longer be read]")
	for i, b := range p.Content {
		if checkBlock(b) != nil {
			p.Content[i] = unreadable
		}
	}
	if checkBlocks("", p.ModelContent) != nil {
		p.ModelContent = []acp.ContentBlock{unreadable}
	}
	if len(p.Content) == 0 {
		p.Content = []acp.ContentBlock{unreadable}
	}
	return p
}

// checkCall returns an error for a tool call that no frame can show.
func checkCall(u acp.ToolCall) error {
	if !slices.Contains(statuses, u.Status) || !slices.Contains(toolKinds, u.Kind) {
		return fmt.Errorf("shown: unknown status %q or kind %q", u.Status, u.Kind)
	}
	for i, c := range u.Content {
		err := fmt.Errorf("type %q is unknown, or lacks a required member", c.Type)
		switch {
		case c.Type == "content" && c.Content != nil:
			err = checkBlock(*c.Content)
		case c.Type == "diff" && c.Path != "" && slices.Contains(operations, c.Change().Op), c.Type == "terminal" && c.TerminalID != "":
			err = nil
		}
		if err != nil {
			return fmt.Errorf("shown.content[%d]: %w", i, err)
		}
	}
	for i, l := range u.Locations {
		if l.Path == "" || l.Line < 0 || int64(l.Line) > math.MaxUint32 {
			return fmt.Errorf("shown.locations[%d]: needs a path, and a line from 0 to %d", i, uint32(math.MaxUint32))
		}
	}
	return nil
}

// checkBlocks checks the blocks of a member of an event.
func checkBlocks(name string, blocks []acp.ContentBlock) error {
	for i, b := range blocks {
		if err := checkBlock(b); err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return nil
}

// checkBlock returns an error for a block that no frame can show.
func checkBlock(b acp.ContentBlock) error {
	ok := false
	switch b.Type {
	case "text":
		ok = b.Text != nil
	case "image", "audio":
		ok = b.Data != "" && b.MIMEType != ""
	case "resource_link":
		ok = b.URI != ""
	case "resource":
		ok = b.Resource != nil && b.Resource.URI != "" && (b.Resource.Text != nil || b.Resource.Blob != nil)
	}
	if !ok {
		return fmt.Errorf("is not valid content of type %q", b.Type)
	}
	return nil
}
