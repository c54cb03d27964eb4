package fakemcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Page is the address that the tool page asks the user to open.
const Page = "https://login.example/start?x=1"

// Asks returns a server of a revision whose tools ask the user: form asks for a name and
// a color, two asks two questions at the same time, page asks to open Page. Each returns
// the answers. The tool required fails until the user has opened a page of this program.
func Asks(revision string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "asks", Version: "1"}, &mcp.ServerOptions{SupportedProtocolVersions: []string{revision}})
	form := &mcp.ElicitParams{Mode: "form", Message: "Who are you?\u202e\x1b[2J", RequestedSchema: json.RawMessage(`{"type":"object","properties":{
		"color":{"type":"string","enum":["red","blue"],"default":"blue"},"name":{"type":"string","title":"Your\u200b name"}},"required":["name"]}`)}
	page := &mcp.ElicitParams{Mode: "url", Message: "Log in first.", URL: Page, ElicitationID: "visit"}
	for name, questions := range map[string]mcp.InputRequestMap{
		"form": {"q": form}, "two": {"q1": form, "q2": form}, "page": {"q": page},
	} {
		s.AddTool(&mcp.Tool{Name: name, Description: "Asks.", InputSchema: json.RawMessage(anything)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if r.Params.InputResponses == nil {
				return &mcp.CallToolResult{InputRequests: questions}, nil
			}
			return answers(r.Params.InputResponses), nil
		})
	}
	visited := make(chan struct{})
	s.AddTool(&mcp.Tool{Name: "required", Description: "Asks.", InputSchema: json.RawMessage(anything)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		select {
		case <-visited:
			return textResult("visited"), nil
		default:
		}
		web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(visited)
			_ = r.Session.NotifyElicitationComplete(context.Background(), &mcp.ElicitationCompleteParams{ElicitationID: "visit"})
		}))
		data, err := json.Marshal(map[string]any{"elicitations": []*mcp.ElicitParams{{Mode: "url", Message: "Log in first.", URL: web.URL, ElicitationID: "visit"}}})
		if err != nil {
			return nil, err
		}
		return nil, &jsonrpc.Error{Code: mcp.CodeURLElicitationRequired, Message: "log in first", Data: data}
	})
	return s
}

// answers returns the answers of the user as the text of a result.
func answers(responses mcp.InputResponseMap) *mcp.CallToolResult {
	b, err := json.Marshal(responses)
	if err != nil {
		b = []byte(err.Error())
	}
	return textResult("answers: " + string(b))
}
