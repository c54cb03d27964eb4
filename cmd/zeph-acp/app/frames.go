package app

import (
	"bytes"
	"encoding/json"
	"log/slog"

	"github.com/zeph-acp/zeph-acp/acp"
)

// logFrames logs the identity of each frame (method, ids, status, size), never its
// content, which may be secret.
func logFrames(log *slog.Logger) func(acp.Side, []byte) {
	return func(from acp.Side, line []byte) {
		var f struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Session string `json:"sessionId"`
				Update  struct {
					Kind   string `json:"sessionUpdate"`
					Call   string `json:"toolCallId"`
					Status string
				}
			}
			Result struct{ StopReason string }
			Error  struct{ Code int }
		}
		attrs := []any{"from", string(from), "bytes", len(line)}
		if err := json.Unmarshal(bytes.TrimSpace(line), &f); err != nil {
			log.Debug("frame", append(attrs, "err", "cannot be parsed")...)
			return
		}
		for _, attr := range []struct{ name, value string }{
			{"id", string(f.ID)},
			{"method", f.Method},
			{"session", f.Params.Session},
			{"update", f.Params.Update.Kind},
			{"call", f.Params.Update.Call},
			{"status", f.Params.Update.Status},
			{"stopReason", f.Result.StopReason},
		} {
			if attr.value != "" {
				attrs = append(attrs, attr.name, attr.value)
			}
		}
		if f.Error.Code != 0 {
			attrs = append(attrs, "code", f.Error.Code)
		}
		log.Debug("frame", attrs...)
	}
}
