package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/approval"
	"github.com/zeph-acp/zeph-acp/executors/lazyregexp"
	"github.com/zeph-acp/zeph-acp/executors/mcp"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
)

// approvals returns the store of the user's approvals; nil if there is no data
// directory.
func (a *App) approvals(l *config.Loaded) *approval.Store {
	dir := l.Paths.Data
	if dir == "" {
		return nil
	}
	file := filepath.Join(dir, approval.FileName)
	return &approval.Store{
		Load: func() ([]byte, error) {
			data, err := keys.ReadPrivate(file)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return data, err
		},
		Change: func(edit func([]byte) ([]byte, error)) error { return keys.EditFile(file, edit) },
		Log:    func(err error) { a.Log.Warn("approvals", "err", err) },
	}
}

// projectServers returns the MCP servers that the repository names. The user has to
// approve each.
func (a *App) projectServers(s session.Setup) []mcp.Server {
	if !a.ProjectServers {
		return nil
	}
	data, err := readProjectFile(s.CWD, mcp.ProjectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var servers []mcp.Server
	if err == nil {
		servers, err = mcp.ParseProject(s.CWD, data, a.environ)
	}
	if err != nil {
		s.Warn(executors.Shown(mcp.ProjectFile + ": " + err.Error()))
	}
	return servers
}

// openProjectFile opens a file of the repository, which is not trusted: it may be a link
// to somewhere else, a pipe without a writer, or endless.
func openProjectFile(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|keys.Nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readProjectFile reads a file of the repository.
func readProjectFile(dir, name string) ([]byte, error) {
	f, err := openProjectFile(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return keys.ReadBounded(f)
}

// hashProjectFile returns the hash of a file of the repository.
func hashProjectFile(dir, name string) (string, error) {
	f, err := openProjectFile(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// The answers to a question about an approval. Each id is also the option's kind,
// since some clients answer with the kind.
const (
	approveOnce   = "allow_once"
	approveAlways = "allow_always"
	approveNo     = "reject_once"
)

// yesOrNo are the answers to a question that is asked each time.
var yesOrNo = []acp.PermissionOption{
	{OptionID: approveOnce, Kind: approveOnce, Name: "Yes"},
	{OptionID: approveNo, Kind: approveNo, Name: "No"},
}

// desk returns the approvals of one kind of part of a session's repository.
func (a *App) desk(s session.Setup) *approval.Desk {
	return &approval.Desk{Store: a.MCP.Approvals, Ask: a.askApproval(s), Unasked: a.unasked(s)}
}

// unasked returns the function that warns the user of run about parts of the repository that
// are not used, since no one can be asked; nil in other sessions.
func (a *App) unasked(s session.Setup) func(what string) {
	if !a.Alone || a.checking != nil {
		return nil
	}
	return func(what string) {
		s.Warn(executors.Shown("Not used, since it is not approved and there is no user to ask: " + executors.WholeLine(what) + ". Approve it in an editor or a terminal, or add --yes."))
	}
}

// askApproval returns the function that asks the user about approvals; nil if there is
// no user.
func (a *App) askApproval(s session.Setup) func(context.Context, approval.Question) approval.Answer {
	if a.alone(s) || a.checking != nil {
		return nil
	}
	return func(ctx context.Context, q approval.Question) approval.Answer {
		if q.Text != executors.Shown(q.Text) {
			s.Warn(executors.Shown("Too long to ask about, so the answer is no: " + q.Title))
			return approval.No
		}
		return map[string]approval.Answer{approveOnce: approval.Once, approveAlways: approval.Always}[a.put(ctx, s, q, []acp.PermissionOption{
			{OptionID: approveOnce, Kind: approveOnce, Name: "Yes, in this session"},
			{OptionID: approveAlways, Kind: approveAlways, Name: "Yes, now and later"},
			{OptionID: approveNo, Kind: approveNo, Name: "No"},
		})]
	}
}

// longText matches a line of an indented JSON document with a text of several lines.
var longText = lazyregexp.New(`(?m)^(\s*)((?:"[^"\\]*": )?)("(?:[^"\\]|\\.)*\\n(?:[^"\\]|\\.)*")(,?)$`)

// readable returns a JSON document as a code block, for people. A text of several lines is
// shown as lines after a bar, so that none of them can pass for a part of the document.
func readable(document string) string {
	label := "json"
	document = longText.ReplaceAllStringFunc(document, func(line string) string {
		m := longText.FindStringSubmatch(line)
		var text string
		if json.Unmarshal([]byte(m[3]), &text) != nil {
			return line
		}
		label = ""
		var lines []string
		if m[2] != "" {
			lines = append(lines, m[1]+strings.TrimSpace(m[2]))
		}
		for one := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			lines = append(lines, m[1]+strings.TrimRight("| "+unquoted(one), " "))
		}
		return strings.Join(lines, "\n")
	})
	return "```" + label + "\n" + legible(document) + "\n```"
}

// unquoted returns a line of text with control characters as in JSON.
func unquoted(line string) string {
	var b strings.Builder
	for _, r := range line {
		if r != '\t' && !unicode.IsPrint(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// legible escapes the characters of a JSON text that could hide a part of it.
func legible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.Is(unicode.Cf, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// put puts a question to the user and returns the id of the chosen option; "" if there
// was no answer. It sends a permission request about a tool call of its own, which all
// clients can show.
func (a *App) put(ctx context.Context, s session.Setup, q approval.Question, options []acp.PermissionOption) string {
	shown := acp.ToolCall{Title: executors.Shown(q.Title)}
	if q.Text != "" {
		b := acp.TextBlock(readable(executors.Shown(q.Text)))
		shown.Content = append(shown.Content, acp.ToolContent{Type: "content", Content: &b})
	}
	if q.After != "" {
		before, after := executors.Shown(q.Before), executors.Shown(q.After)
		shown.Content = append(shown.Content, acp.ToolContent{Type: "diff", Path: filepath.Join(s.CWD, "definition.json"), OldText: &before, NewText: &after})
	}
	return a.putCall(ctx, s, shown, options)
}

// putCall puts a question with this title and content.
func (a *App) putCall(ctx context.Context, s session.Setup, shown acp.ToolCall, options []acp.PermissionOption) string {
	shown.Update, shown.ToolCallID, shown.Status, shown.Kind = acp.UpdateToolCall, a.NewID(), acp.ToolPending, string(executors.KindOther)
	send := func(u acp.ToolCall) {
		if err := s.Client.Update(ctx, s.ID, u); err != nil {
			a.Log.Debug("question", "session", s.ID, "err", err)
		}
	}
	send(shown)
	shown.Update = ""
	option, err := (&ideproxy.Approver{Client: s.Client, Session: s.ID}).Ask(ctx, shown, options)
	status := acp.ToolCompleted
	if err != nil || option != approveOnce && option != approveAlways {
		option, status = "", acp.ToolFailed
	}
	send(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: shown.ToolCallID, Status: status})
	return option
}
