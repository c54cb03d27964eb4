package app

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/ideproxy"
)

// The answers to a question about an approval. Each id is also the option's kind,
// since some clients answer with the kind.
const (
	approveOnce   = "allow_once"
	approveAlways = "allow_always"
	approveNo     = "reject_once"
)

// approvalOptions are the answers to a question about a part of the repository.
var approvalOptions = []acp.PermissionOption{
	{OptionID: approveOnce, Kind: approveOnce, Name: "Yes, in this session"},
	{OptionID: approveAlways, Kind: approveAlways, Name: "Yes, now and later"},
	{OptionID: approveNo, Kind: approveNo, Name: "No"},
}

// yesOrNo are the answers to a question that is asked each time.
var yesOrNo = []acp.PermissionOption{
	{OptionID: approveOnce, Kind: approveOnce, Name: "Yes"},
	{OptionID: approveNo, Kind: approveNo, Name: "No"},
}

// askUser asks the user a question and returns the id of the chosen option; "" if there
// was no answer. It sends a permission request about a new tool call, which all clients
// can show.
func (b *sessionBuilder) askUser(ctx context.Context, q approval.Question, options []acp.PermissionOption) string {
	shown := acp.ToolCall{Title: executors.Shown(q.Title)}
	if q.Text != "" {
		shown.Content = append(shown.Content, acp.BlockContent(acp.TextBlock(jsonBlock(executors.Shown(q.Text)))))
	}
	if q.After != "" {
		before, after := executors.Shown(q.Before), executors.Shown(q.After)
		shown.Content = append(shown.Content, acp.ToolContent{
			Type: "diff", Path: filepath.Join(b.session.CWD, "definition.json"), OldText: &before, NewText: &after,
		})
	}
	return b.askWithCard(ctx, shown, options)
}

// askWithCard asks the user a question with the title and content of shown.
func (b *sessionBuilder) askWithCard(ctx context.Context, shown acp.ToolCall, options []acp.PermissionOption) string {
	shown.Update, shown.ToolCallID = acp.UpdateToolCall, b.app.NewID()
	shown.Status, shown.Kind = acp.ToolPending, string(executors.KindOther)
	send := func(u acp.ToolCall) {
		if err := b.session.Update(ctx, b.session.ID, u); err != nil {
			b.app.Log.Debug("question", "session", b.session.ID, "err", err)
		}
	}
	send(shown)
	shown.Update = ""
	option, err := (&ideproxy.Approver{Client: b.session.Client, Session: b.session.ID}).Ask(ctx, shown, options)
	status := acp.ToolCompleted
	if err != nil || option != approveOnce && option != approveAlways {
		option, status = "", acp.ToolFailed
	}
	if ctx.Err() != nil {
		status = acp.ToolCancelled
	}
	send(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: shown.ToolCallID, Status: status})
	return option
}

// jsonBlock returns a JSON document as a code block, for people. A text of several lines
// is shown with a bar before each line, so that no line can pass for a part of the
// document.
func jsonBlock(document string) string {
	label := "json"
	document = multilineString.ReplaceAllStringFunc(document, func(line string) string {
		m := multilineString.FindStringSubmatch(line)
		var text string
		if json.Unmarshal([]byte(m[3]), &text) != nil {
			return line
		}
		label = ""
		var lines []string
		if m[2] != "" {
			lines = append(lines, m[1]+strings.TrimSpace(m[2]))
		}
		for part := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			lines = append(lines, m[1]+strings.TrimRight("| "+escapeControls(part), " "))
		}
		return strings.Join(lines, "\n")
	})
	return "```" + label + "\n" + escapeInvisible(document) + "\n```"
}

// multilineString matches a line of an indented JSON document with a text of several lines.
var multilineString = lazyregexp.New(`(?m)^(\s*)((?:"[^"\\]*": )?)("(?:[^"\\]|\\.)*\\n(?:[^"\\]|\\.)*")(,?)$`)

// escapeControls writes the control characters of a line as in JSON.
func escapeControls(line string) string {
	return executors.EscapeJSON(line, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) })
}

// escapeInvisible escapes the characters of a JSON text that could hide a part of it.
func escapeInvisible(text string) string {
	return executors.EscapeJSON(text, func(r rune) bool { return unicode.Is(unicode.Cf, r) })
}

// noUser reports whether a session has no user to ask.
func (b *sessionBuilder) noUser() bool { return b.app.NoUser || b.session.Unattended }
