package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// servers starts the MCP servers of the configuration and reports which of them run.
func (e *examination) servers(ctx context.Context) []Finding {
	var out []Finding
	var start []mcp.Server
	for _, s := range e.app.Config.MCP.Servers {
		why := e.loaded.PermitsConfigured(s)
		switch {
		case why != "":
			out = append(out, warning(s.Name+" does not run: "+why, ""))
		case !s.Enabled:
			out = append(out, passed(s.Name+" is disabled"))
		case e.Offline && s.URL != "":
			out = append(out, passed(s.Name+" was not asked"))
		default:
			start = append(start, s)
		}
	}
	if len(start) == 0 {
		return slices.Concat(out, []Finding{passed("no server to start")})
	}
	wait := e.Timeout * 2 / 3 // the rest is for the report
	session := e.app.MCP.Session(mcp.Options{Dir: e.Dir, Servers: start, Wait: wait})
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	session.Ready(ctx) // Examine ends the servers with the App
	for _, s := range session.Status() {
		out = append(out, serverFinding(s))
	}
	return out
}

// serverFinding returns the finding about one MCP server.
func serverFinding(s mcp.Status) Finding {
	switch {
	case s.State == mcp.Ready:
		return passed(fmt.Sprintf("%s: %s", s.Name, quantity.Count(len(s.Tools), "tool")))
	case s.State == mcp.Starting:
		return warning(s.Name+" is still starting", fmt.Sprintf("%q waits for it", "zeph-acp mcp test "+s.Name))
	case strings.Contains(s.Error, "mcp login"):
		return warning(s.Name+" needs a login", fmt.Sprintf("run %q", "zeph-acp mcp login "+s.Name))
	}
	return failure(
		fmt.Sprintf("%s does not run: %s", s.Name, s.Error),
		fmt.Sprintf("correct [[mcp.servers]]; %q shows more", "zeph-acp mcp test "+s.Name),
	)
}
