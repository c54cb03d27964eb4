package plugin

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/agent/filecommand"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// report is what a plug-in brings to a session, as the parts of a session read it.
type report struct {
	commands []filecommand.Command
	agents   []subagent.Type
	skills   []skills.Skill
	hooks    []hook
	servers  []mcp.Server
	leftOut  []string
}

// hook is one hook of a plug-in.
type hook struct{ event, matcher, command string }

// newReport reads the parts of a plug-in with the code of sessions, so a session later shows the same names and
// reasons.
func newReport(p *bundle.Plugin) report {
	r := report{leftOut: slices.Clone(p.LeftOut)}
	note := func(text string) { r.leftOut = append(r.leftOut, strings.TrimSuffix(text, ".")) }
	source := func(files *bundle.Files) []skills.Source {
		return []skills.Source{{Name: "the plug-in", FS: files, Prefix: p.Name + ":", Note: note}}
	}
	r.commands = filecommand.New(filecommand.Options{
		Sources: source(p.Commands), Known: catalogue.Known, Desk: &approval.Desk{}, Announce: func() {},
	}).Commands()
	set := skills.New(skills.Options{
		Config: skills.Config{Enabled: true}, Sources: source(p.Skills), Known: catalogue.Known, Desk: &approval.Desk{},
	})
	r.skills = set.Usable()
	agents := subagent.New(subagent.Options{
		Plugins: []subagent.Plugin{{Name: p.Name, Files: p.Agents, Names: p.Agents.Names(), Note: note}}, Known: catalogue.Known,
		Model: func(name string) string { return name }, Tools: catalogue.Known,
	})
	r.agents = agents.TypesOf(p.Name)
	r.hooks = hooksOf(p.Hooks)
	if p.Servers != nil {
		r.servers, _ = mcp.ParseFile(p.Servers) // its errors are in LeftOut
	}
	for i, s := range r.servers {
		r.servers[i].Name = mcp.PluginServer(p.Name, s.Name)
	}
	return r
}

// hooksOf lists the hooks of a file.
func hooksOf(data []byte) (all []hook) {
	var file struct {
		Hooks map[string][]struct {
			Matcher string `json:"matcher"`
			Hooks   []struct {
				Type    string `json:"type"`
				Command string `json:"command"`
				Prompt  string `json:"prompt"`
				URL     string `json:"url"`
			} `json:"hooks"`
		} `json:"hooks"`
	}
	if json.Unmarshal(data, &file) != nil {
		return nil // reported when it was read
	}
	for _, event := range slices.Sorted(maps.Keys(file.Hooks)) {
		for _, group := range file.Hooks[event] {
			for _, h := range group.Hooks {
				all = append(all, hook{event, group.Matcher, h.Type + ": " + h.Command + h.Prompt + h.URL})
			}
		}
	}
	return all
}

// brings counts the parts.
func (r report) brings() string {
	var parts []string
	for _, part := range []struct {
		n    int
		noun string
	}{
		{len(r.commands), "command"}, {len(r.agents), "sub-agent"}, {len(r.skills), "skill"}, {len(r.hooks), "hook"}, {len(r.servers), "MCP server"},
	} {
		if part.n > 0 {
			parts = append(parts, quantity.Count(part.n, part.noun))
		}
	}
	return strings.Join(parts, ", ")
}
