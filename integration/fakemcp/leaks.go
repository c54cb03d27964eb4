package fakemcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Leak is the environment variable with the text that the server "leaks" has everywhere.
const Leak = "FAKE_MCP_LEAK"

// leaks returns a server that writes a text into all that it says: instructions, descriptions, a
// result, an error, a failure, logs and progress.
func leaks(text string) *mcp.Server {
	fmt.Fprintln(os.Stderr, text)
	s := mcp.NewServer(&mcp.Implementation{Name: "leaks", Version: "1"}, &mcp.ServerOptions{Instructions: text})
	schema, _ := json.Marshal(map[string]any{
		"type": "object", "description": text, "properties": map[string]any{"note": map[string]any{"type": "string", "description": text}},
	})
	add := func(name string, do func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error)) {
		s.AddTool(&mcp.Tool{Name: name, Description: "The tool " + name + ". " + text, InputSchema: json.RawMessage(schema)}, do)
	}
	add("result", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 servers before revision 2026-07-28 log
		_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Data: text})
		_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Message: text, Progress: 1, Total: 2,
		})
		result := textResult(text)
		result.StructuredContent = map[string]any{"says": text}
		return result, nil
	})
	add("failure", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result := textResult(text)
		result.IsError = true
		return result, nil
	})
	add("error", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, errors.New(text) })
	return s
}
