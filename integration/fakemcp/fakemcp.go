// Package fakemcp is an MCP server for tests, built with the public SDK.
//
// Start with [Server], or call [Serve] in a test binary that an agent starts as a
// program. Its tools return what the server was started with.
package fakemcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Behaviour is the variable that makes a program a server, and says how it behaves:
// "serve" is an ordinary server, "bare" one without a banner, "catalogue" one with 300
// tools, "library" one with prompts and resources, "images" one whose results are images,
// and "asks: REVISION" one of that revision that asks the user; "exit" ends immediately,
// and "hostile: HABIT" is a server with a bad habit.
const Behaviour = "FAKE_MCP"

// Serve serves on stdin and stdout until they end.
func Serve(behaviour string) {
	kind, detail, _ := strings.Cut(behaviour, ": ")
	switch kind {
	case "hostile":
		serveHostile(detail)
		return
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot open the database")
		os.Exit(3)
	case "serve", "catalogue", "library":
		fmt.Println("server is starting …") // as many do, although it is not a message
	}
	s := Server()
	switch kind {
	case "asks":
		s = Asks(detail)
	case "images":
		s = Images()
	case "leaks":
		s = leaks(os.Getenv(Leak))
	case "catalogue":
		s = catalogue()
	case "library":
		s = library()
	}
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// textResult returns the result of a call.
func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// Server returns a server with the tools echo, start and wait.
func Server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, nil)
	add := func(name, schema string, do func(ctx context.Context, input json.RawMessage) string) {
		s.AddTool(&mcp.Tool{Name: name, Description: "The tool " + name + ".", InputSchema: json.RawMessage(schema)},
			func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return textResult(do(ctx, r.Params.Arguments)), nil
			})
	}
	add("echo", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, func(_ context.Context, input json.RawMessage) string {
		var in struct{ Message string }
		_ = json.Unmarshal(input, &in) // the client has checked it
		return "Echo: " + in.Message
	})
	add("start", `{"type":"object"}`, func(context.Context, json.RawMessage) string {
		return fmt.Sprintf("pid %d, args %s, GIVEN=%q, ANTHROPIC_API_KEY=%q.", os.Getpid(), strings.Join(os.Args[1:], " "), os.Getenv("GIVEN"), os.Getenv("ANTHROPIC_API_KEY"))
	})
	add("wait", `{"type":"object"}`, func(ctx context.Context, _ json.RawMessage) string {
		<-ctx.Done()
		return "cancelled"
	})
	return s
}
