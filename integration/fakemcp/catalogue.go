package fakemcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// catalogue returns a server with 300 tools of usual size.
func catalogue() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "catalogue", Version: "1"}, nil)
	for _, thing := range []string{"issue", "invoice", "branch", "dashboard", "ticket", "customer", "release", "pipeline", "alert", "document"} {
		for _, verb := range []string{"create", "list", "delete", "update", "archive", "assign", "export", "import", "watch", "merge"} {
			for i := 1; i <= 3; i++ {
				name := fmt.Sprintf("%s_%s_v%d", verb, thing, i)
				description := fmt.Sprintf("This tool can %s one %s by the interface of version %d. "+
					"It returns the %s with all of its fields.", verb, thing, i, thing)
				schema := `{"type":"object","properties":{"id":{"type":"string","description":"the id of the ` + thing + `"},` +
					`"note":{"type":"string","description":"a note for those who look at it later"}},"required":["id"]}`
				s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: json.RawMessage(schema)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return textResult("done by " + name), nil
				})
			}
		}
	}
	return s
}
