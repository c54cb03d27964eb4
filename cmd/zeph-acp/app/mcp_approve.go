package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/mcp"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
)

// approvalsFile is the file in the data directory that keeps approved entries of
// repositories, and the definitions of tools at their first use.
const approvalsFile = "mcp.json"

// approvals returns the store of the user's approvals of MCP servers; nil if there is no
// data directory.
func (a *App) approvals(l *config.Loaded) *mcp.Approvals {
	dir := l.Paths.Data
	if dir == "" {
		return nil
	}
	file := filepath.Join(dir, approvalsFile)
	return &mcp.Approvals{
		Load: func() ([]byte, error) {
			data, err := keys.ReadPrivate(file)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return data, err
		},
		Change: func(edit func([]byte) ([]byte, error)) error { return keys.EditFile(file, edit) },
		Log:    func(err error) { a.Log.Warn("approvals of MCP servers", "err", err) },
	}
}

// projectServers returns the MCP servers that the repository names. The user has to
// approve each.
func (a *App) projectServers(s session.Setup) []mcp.Server {
	if !a.ProjectServers {
		return nil
	}
	data, err := readProjectFile(s.CWD)
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

// readProjectFile reads the repository's file, which is not trusted: it may be a link
// to somewhere else, a pipe without a writer, or endless.
func readProjectFile(dir string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer root.Close()
	f, err := root.OpenFile(mcp.ProjectFile, os.O_RDONLY|keys.Nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	return keys.ReadBounded(f)
}

// The answers to a question about an MCP server. Each id is also the option's kind,
// since some clients answer with the kind.
const (
	mcpOnce   = "allow_once"
	mcpAlways = "allow_always"
	mcpNo     = "reject_once"
)

// askMCP returns the function that asks the user about MCP servers; nil if there is no
// user. It sends a permission request about a tool call of its own, which all clients
// can show.
func (a *App) askMCP(s session.Setup) func(context.Context, mcp.Question) mcp.Answer {
	if a.Alone {
		return nil
	}
	return func(ctx context.Context, q mcp.Question) mcp.Answer {
		shown := acp.ToolCall{
			Update: acp.UpdateToolCall, ToolCallID: a.NewID(), Status: acp.ToolPending, Kind: string(executors.KindOther), Title: executors.Shown(q.Title),
		}
		if q.Text != "" {
			b := acp.TextBlock("```json\n" + executors.Shown(q.Text) + "\n```")
			shown.Content = append(shown.Content, acp.ToolContent{Type: "content", Content: &b})
		}
		if q.After != "" {
			before, after := executors.Shown(q.Before), executors.Shown(q.After)
			shown.Content = append(shown.Content, acp.ToolContent{Type: "diff", Path: filepath.Join(s.CWD, "definition.json"), OldText: &before, NewText: &after})
		}
		send := func(u acp.ToolCall) {
			if err := s.Client.Update(ctx, s.ID, u); err != nil {
				a.Log.Debug("question", "session", s.ID, "err", err)
			}
		}
		send(shown)
		shown.Update = ""
		option, err := (&ideproxy.Approver{Client: s.Client, Session: s.ID}).Ask(ctx, shown, []acp.PermissionOption{
			{OptionID: mcpOnce, Kind: mcpOnce, Name: "Yes, in this session"},
			{OptionID: mcpAlways, Kind: mcpAlways, Name: "Yes, now and later"},
			{OptionID: mcpNo, Kind: mcpNo, Name: "No"},
		})
		answer, status := map[string]mcp.Answer{mcpOnce: mcp.Once, mcpAlways: mcp.Always}[option], acp.ToolCompleted
		if err != nil || answer == mcp.No {
			answer, status = mcp.No, acp.ToolFailed
		}
		send(acp.ToolCall{Update: acp.UpdateToolCallPatch, ToolCallID: shown.ToolCallID, Status: status})
		return answer
	}
}
