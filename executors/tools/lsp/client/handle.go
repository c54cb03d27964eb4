package client

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxText bounds a text of a diagnostic, in bytes.
	maxText = 2 << 10
	// maxProgress bounds the tasks whose progress a server reports at the same time.
	maxProgress = 1000
	// maxAnswers bounds the answers that a server has not read.
	maxAnswers = 64
)

// handler answers the server. It runs on the goroutine that reads, so that reports are
// in order.
type handler struct{ *Server }

// Handle implements jsonrpc2.Handler.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	if r.Notif {
		h.handleNotification(r.Method, params)
		return
	}
	select {
	case h.answers <- struct{}{}:
	default:
		h.fail(errors.New("it does not read the answers to its requests"))
		return
	}
	result, err := h.answer(r.Method, params)
	h.work.Go(func() { // a server that does not read must not block our reading
		defer func() { <-h.answers }()
		if err != nil {
			_ = conn.ReplyWithError(ctx, r.ID, err)
			return
		}
		_ = conn.Reply(ctx, r.ID, result)
	})
}

// answer returns the result of a request of the server.
func (s *Server) answer(method string, raw json.RawMessage) (any, *jsonrpc2.Error) {
	switch method {
	case "workspace/configuration":
		var p struct {
			Items []struct {
				Section string `json:"section"`
			} `json:"items"`
		}
		_ = json.Unmarshal(raw, &p) // an item that cannot be read has no answer
		out := make([]any, min(len(p.Items), maxAnswers))
		for i := range out {
			out[i] = s.section(p.Items[i].Section)
		}
		return out, nil
	case "workspace/workspaceFolders":
		return s.folders(), nil
	case "workspace/applyEdit":
		return object{"applied": false, "failureReason": "edits are not applied"}, nil
	case "window/workDoneProgress/create":
		return nil, nil // the work itself is reported as $/progress
	case "client/registerCapability", "client/unregisterCapability", "window/showMessageRequest",
		"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/codeLens/refresh",
		"workspace/inlayHint/refresh", "workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		return nil, nil
	case "window/showDocument":
		return object{"success": false}, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported: " + cut(method)}
}

// section returns the settings of a section, such as "python.analysis"; nil if there
// are no such settings.
func (s *Server) section(name string) any {
	var at any
	if json.Unmarshal(s.options.Settings, &at) != nil {
		return nil
	}
	if name == "" {
		return at
	}
	for part := range strings.SplitSeq(name, ".") {
		members, _ := at.(map[string]any)
		at = members[part]
	}
	return at
}

// handleNotification handles a notification of the server.
func (s *Server) handleNotification(method string, raw json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if json.Unmarshal(raw, &p) == nil {
			s.recordPublished(p)
		}
	case "$/progress":
		var p struct {
			Token json.RawMessage `json:"token"`
			Value struct {
				Kind string `json:"kind"`
			} `json:"value"`
		}
		if json.Unmarshal(raw, &p) == nil {
			s.recordProgress(cut(string(p.Token)), p.Value.Kind)
		}
	}
}

// recordProgress records that a task of the server has begun or ended.
func (s *Server) recordProgress(token, kind string) {
	s.update(func() {
		switch {
		case kind == "end":
			delete(s.progress, token)
		case kind == "begin" && len(s.progress) < maxProgress:
			s.progress[token] = time.Now()
		}
	})
}

// cut bounds a text.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:maxText], ""))
}
