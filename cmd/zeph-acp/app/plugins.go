package app

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// Plugins returns the store of the user's plug-ins.
func (a *App) Plugins() *bundle.Store {
	return &bundle.Store{Dir: a.dataDir, Approvals: a.MCP.Approvals}
}

// plugins are the plug-ins of a session.
type plugins struct {
	store *bundle.Store
	all   []*bundle.Plugin
	off   []string // the names of those that are not used
}

// loadPlugins returns the plug-ins that the user has added and that are as the user approved them. It returns
// warnings about the others.
func (b *sessionBuilder) loadPlugins() (found plugins, warnings []string) {
	found.store = b.app.Plugins()
	if !b.cfg.Tools.Enabled {
		return found, nil
	}
	records, err := found.store.Records()
	if err != nil {
		return found, []string{executors.Shown("No plug-in is used: " + err.Error())}
	}
	for _, r := range records {
		p, err := found.store.Load(r.Name)
		if err != nil {
			found.off = append(found.off, r.Name)
			warnings = append(warnings, executors.Shown(sentence(err.Error())))
			continue
		}
		found.all = append(found.all, p)
	}
	return found, warnings
}

// sentence returns the text of an error as a sentence.
func sentence(text string) string {
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):] + "."
}

// pluginsFeature shows the plug-ins in /status. Their parts belong to other features.
func (b *sessionBuilder) pluginsFeature() Feature {
	if len(b.plugins.all)+len(b.plugins.off) == 0 {
		return Feature{Name: "plugins"}
	}
	return Feature{Name: "plugins", Status: func() []string {
		var on []string
		for _, p := range b.plugins.all {
			on = append(on, strings.TrimSpace(p.Name+" "+p.Version))
		}
		text := "plug-ins: " + cmp.Or(strings.Join(on, ", "), "none")
		if len(b.plugins.off) > 0 {
			text += "; off: " + strings.Join(b.plugins.off, ", ")
		}
		return []string{text}
	}}
}

// prefix begins the names of a plug-in's commands, sub-agents and skills.
func prefix(p *bundle.Plugin) string { return p.Name + ":" }

// sources returns parts of the plug-ins as directories of skills or of commands.
func (p plugins) sources(files func(*bundle.Plugin) *bundle.Files) (all []skills.Source) {
	for _, one := range p.all {
		all = append(all, skills.Source{Name: "the plug-in " + one.Name, FS: files(one), Prefix: prefix(one)})
	}
	return all
}

func pluginSkills(p *bundle.Plugin) *bundle.Files   { return p.Skills }
func pluginCommands(p *bundle.Plugin) *bundle.Files { return p.Commands }

// agents returns the sub-agents of the plug-ins.
func (p plugins) agents() (all []subagent.Plugin) {
	for _, one := range p.all {
		all = append(all, subagent.Plugin{Name: one.Name, Files: one.Agents, Names: one.Agents.Names()})
	}
	return all
}

// hooks returns the hooks of the plug-ins. They are compared with the approval before each run.
func (p plugins) hooks() (all []hooks.Source) {
	for _, one := range p.all {
		if one.Hooks == nil {
			continue
		}
		all = append(all, hooks.Source{
			Name:  "the plug-in " + one.Name,
			Read:  func() ([]byte, error) { return one.Hooks, nil },
			Env:   func() []string { return environ(one) },
			Check: func() error { return p.ready(one) },
		})
	}
	return all
}

// environ returns the variables of a plug-in's programs, NAME=VALUE.
func environ(p *bundle.Plugin) (env []string) {
	for name, value := range p.Variables() {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// ready prepares the start of a program of a plug-in. It returns an error if the plug-in has changed since the user
// approved it.
func (p plugins) ready(one *bundle.Plugin) error {
	if err := p.store.Check(one.Name); err != nil {
		return err
	}
	return keys.MakeDir(p.store.Data(one.Name))
}

// pluginServers returns the MCP servers of the plug-ins, and warns of those that cannot be used.
func (b *sessionBuilder) pluginServers() (all []mcp.Server) {
	for _, p := range b.plugins.all {
		if p.Servers == nil {
			continue
		}
		about := mcp.Plugin{Name: p.Name, Variables: p.Variables(), Verify: func() error { return b.plugins.ready(p) }}
		servers, err := mcp.ParsePlugin(about, p.Servers, b.app.environ, func(name string) bool { return shell.Reserved(name, localShell(b.cfg).Block) })
		if err != nil {
			b.session.Warn(executors.Shown("The plug-in " + p.Name + ": MCP server " + err.Error()))
		}
		all = append(all, servers...)
	}
	return all
}
