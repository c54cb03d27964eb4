package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
)

// mcpServers returns the MCP servers of the process. A server starts with the first
// session that uses it.
func (a *App) mcpServers(l *config.Loaded) *mcp.Servers {
	return &mcp.Servers{
		Version:   Version,
		Env:       func() []string { return shell.Env(os.Environ(), localShell(a.Config).Block) },
		Reaper:    func() *process.Reaper { return a.Reaper },
		Getenv:    a.environ,
		Log:       a.Log,
		Mask:      a.filters.mask(l.Config.Tools.Filters.Security),
		MaskLines: func() func(string) string { return a.filters.scanner(l.Config.Tools.Filters.Security).Lines() },
		Logins:    l.Logins(),
		Learn:     a.filters.learn,

		Approvals: a.approvals(l),
		Used:      a.usedServers(),
	}
}

// usedServers remembers the MCP servers that were used; nil if nothing is stored.
func (a *App) usedServers() *mcp.Used {
	if a.Store == nil {
		return nil
	}
	return &mcp.Used{Counters: a.Store, Log: a.Log}
}

// mcpSession starts the MCP servers of a session: the client's, which take precedence,
// the configured ones, and the repository's approved servers.
func (b *sessionBuilder) mcpSession() *mcp.Session {
	servers := slices.Concat(
		b.permitted(b.app.permits, clientServers(b.session.MCPServers)),
		b.permitted(b.app.permitsConfigured, b.app.Config.MCP.Servers),
		b.permitted(b.app.permits, b.pluginServers()),
		b.permitted(b.app.permits, b.projectServers()),
	)
	wait := time.Duration(b.app.Config.MCP.StartupWaitSecs) * time.Second
	if b.session.MCPWait != nil && !b.app.isManaged("mcp.startup_wait_secs") {
		wait = *b.session.MCPWait
	}
	if !b.cfg.Tools.Enabled || b.app.checking != nil {
		servers = nil
	}
	return b.app.MCP.Session(mcp.Options{
		Dir: b.session.CWD, Dirs: b.session.Dirs, Servers: servers, Wait: wait, Changed: b.session.Announce,
		Warn: b.session.Warn, Ask: b.askApproval(), Unasked: b.unasked(), User: b.mcpUser(),
	})
}

// permitted returns the servers that the managed file permits, and warns of the others.
// refusal returns the reason against a server.
func (b *sessionBuilder) permitted(refusal func(mcp.Server) string, servers []mcp.Server) []mcp.Server {
	var out []mcp.Server
	for _, e := range servers {
		if why := refusal(e); why != "" {
			b.session.Warn(executors.Shown(fmt.Sprintf("The MCP server %s is left out: %s.", e.Name, why)))
			continue
		}
		out = append(out, e)
	}
	return out
}

// mcpUser returns the user whom MCP servers may ask; nil if there is no user.
func (b *sessionBuilder) mcpUser() mcp.User {
	if b.noUser() || b.session.Client == nil {
		return nil
	}
	return &ideproxy.User{Client: b.session.Client, Session: b.session.ID}
}

// clientServers returns entries for the servers that a client sends. They run for its
// session alone.
func clientServers(servers []acp.MCPServer) []mcp.Server {
	var out []mcp.Server
	for _, m := range servers {
		e := mcp.NewServer()
		e.Name, e.Command, e.Args, e.PerSession, e.Guarded = m.Name, m.Command, m.Args, true, true
		e.URL = m.URL
		if m.Type != "stdio" {
			e.Transport = m.Type
		}
		if len(m.Env) > 0 {
			e.Env = map[string]string{}
		}
		for _, v := range m.Env {
			e.Env[v.Name] = v.Value
		}
		if len(m.Headers) > 0 {
			e.Headers = map[string]string{}
		}
		for _, h := range m.Headers {
			e.Headers[h.Name] = h.Value
		}
		out = append(out, e)
	}
	return out
}

// servers answers _zeph/mcp with the servers of an open session.
func servers(_ context.Context, sessions *session.Sessions, id string) (any, error) {
	tools, err := sessions.Tools(id)
	if err != nil {
		return nil, err
	}
	all := []mcp.Status{}
	if s, ok := tools.(*sessionFeatures); ok {
		all = s.servers()
	}
	return map[string]any{"servers": all}, nil
}

// mcpFeature has the tools and prompts of MCP servers. states returns the state of the servers.
func (b *sessionBuilder) mcpFeature(s *mcp.Session, g gates, states func() []mcp.Status) Feature {
	return Feature{
		Name: "mcp", Tools: s, Late: true, Close: s.Close,
		Builtins: []session.Builtin{{
			Name: "mcp", Description: "Show the MCP servers and their tools",
			Run: func(context.Context, string) string { return describeServers(states()) },
		}},
		Prompts: func() (all []session.Command) {
			for _, c := range s.Commands() {
				all = append(all, session.Command(c))
			}
			return all
		},
		Expand: func(ctx context.Context, name, rest string) (session.Expansion, bool, error) {
			return expandServer(ctx, s, g, name, rest)
		},
		AwaitStart: s.AwaitStart,
		Ready: func(ctx context.Context, typed string) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(typed), "/"); ok {
				s.Await(ctx, command)
			}
			s.Ready(ctx)
		},
		Turns: func(a *agent.Agent) { a.Resource = s.Reader },
	}
}

// serverStates returns a function that returns the state of the MCP servers. Tools that the
// model's provider refuses are left out.
func (b *sessionBuilder) serverStates(s *mcp.Session) func() []mcp.Status {
	return func() []mcp.Status {
		all := s.Status()
		refused := llm.RefusedTools(llm.Answering(b.session.Model()))
		for i := range all {
			all[i].Refuse(refused)
		}
		return all
	}
}

// describeServers describes the MCP servers for people.
func describeServers(all []mcp.Status) string {
	text := ""
	for _, s := range all {
		text += s.String()
	}
	return cmp.Or(text, "There are no MCP servers. The editor can send some, and [[mcp.servers]] of the configuration names others.")
}

// projectServers returns the MCP servers that the repository names. The user has to
// approve each.
func (b *sessionBuilder) projectServers() []mcp.Server {
	if !b.app.ProjectServers {
		return nil
	}
	data, err := readProjectFile(b.session.CWD, mcp.ProjectFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var servers []mcp.Server
	if err == nil {
		servers, err = mcp.ParseProject(b.session.CWD, data, b.app.environ,
			func(name string) bool { return shell.Reserved(name, localShell(b.cfg).Block) },
			func(name string) (string, error) { return hashProjectFile(b.session.CWD, name) })
	}
	if err != nil {
		b.session.Warn(executors.Shown(mcp.ProjectFile + ": " + err.Error()))
	}
	return servers
}
