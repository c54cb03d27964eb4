// Package bundle reads plug-ins: folders with commands, sub-agents, skills, hooks and MCP servers
// in the form of Claude Code, Codex or Gemini CLI.
//
// [Fetch] reads one from a directory or a git repository, [Store] keeps those that the user has
// added, and [Parse] says what a folder brings. Nothing of a plug-in runs here.
//
// A plug-in is read into memory as a whole, and its hash covers the path, the content and the mode of every
// file. What the user sees, what is stored and what a session uses are therefore the same bytes. A
// session compares the hash with the user's approval before it uses any part, and again before each
// start of a program of the plug-in. Nothing is compared by times of files, which others can set.
package bundle

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Plugin is a plug-in as its folder has it.
type Plugin struct {
	Name        string
	Version     string // may be empty
	Description string // one line; may be empty
	From        Source // where it was read; the zero Source if it is stored
	Commit      string // of a git repository
	Tree        Tree

	Commands *Files // Markdown files
	Agents   *Files // likewise
	Skills   *Files // folders with a SKILL.md
	Hooks    []byte // {"hooks": {…}}; nil if there are none
	Servers  []byte // {"mcpServers": {…}}; nil if there are none

	Unsupported []string // parts that have no counterpart here, in words
	LeftOut     []string // parts that cannot be used, with the reasons

	form, manifest string
	root, data     string // see At
}

// leaveOut notes a part that cannot be used.
func (p *Plugin) leaveOut(format string, args ...any) {
	p.LeftOut = append(p.LeftOut, fmt.Sprintf(format, args...))
}

// lacks notes a part that has no counterpart.
func (p *Plugin) lacks(words string) {
	if !slices.Contains(p.Unsupported, words) {
		p.Unsupported = append(p.Unsupported, words)
	}
}

// Parse returns the plug-in in a folder. name is its name if it has no manifest. The error is one sentence that
// says why it cannot be used.
func Parse(t Tree, name string) (*Plugin, error) {
	p := &Plugin{Tree: t, Commands: &Files{}, Agents: &Files{}, Skills: &Files{}}
	m, err := p.readManifest(t, name)
	if err != nil {
		return nil, err
	}
	p.Name, p.Version, p.Description = m.Name, m.version(), executors.WholeLine(executors.Shown(m.Description))
	for _, read := range []func(Tree, manifest) error{p.readCommands, p.readAgents, p.readSkills, p.readHooks, p.readServers} {
		if err := read(t, m); err != nil {
			return nil, err
		}
	}
	slices.Sort(p.Unsupported)
	slices.Sort(p.LeftOut)
	if p.Commands.empty() && p.Agents.empty() && p.Skills.empty() && p.Hooks == nil && p.Servers == nil {
		return nil, p.nothing()
	}
	return p, nil
}

// nothing returns the error of a folder that brings nothing.
func (p *Plugin) nothing() error {
	switch {
	case len(p.Unsupported) > 0:
		return fmt.Errorf("it has only parts that have no counterpart here: %s", strings.Join(p.Unsupported, "; "))
	case len(p.LeftOut) > 0:
		return fmt.Errorf("it has nothing that can be used: %s", strings.Join(p.LeftOut, "; "))
	case p.manifest == "":
		return fmt.Errorf("it is not a plug-in: it has neither %s nor commands, agents, skills, hooks or .mcp.json", forms[0].file)
	}
	return fmt.Errorf("it is empty: %s names no part, and there is no folder with commands, agents or skills", p.manifest)
}

// readCommands finds the files of commands.
func (p *Plugin) readCommands(t Tree, m manifest) error {
	var named map[string]struct {
		Source      string `json:"source"`
		Content     string `json:"content"`
		Description string `json:"description"`
	}
	all := []place{{"commands", true}}
	if !isEmpty(m.Commands) && m.Commands[0] == '{' { // commands by their names
		if err := json.Unmarshal(m.Commands, &named); err != nil {
			return fmt.Errorf("%s: commands: %w", p.manifest, err)
		}
	} else {
		more, err := p.places(t, "commands", m.Commands)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		c := named[name]
		if c.Content != "" {
			p.Commands.add(name+".md", File{Data: []byte(c.Content)}, "")
			continue
		}
		source, err := json.Marshal(c.Source)
		if err != nil {
			return err
		}
		found, err := p.places(t, "commands."+name, source)
		if err != nil {
			return err
		}
		if len(found) == 1 && !found[0].dir {
			p.Commands.add(name+".md", t[found[0].name], "")
		}
	}
	for _, pl := range all {
		files := pl.files(t, ".md", ".toml")
		for _, logical := range slices.Sorted(maps.Keys(files)) {
			name := files[logical]
			if path.Ext(name) == ".toml" {
				p.addGeminiCommand(logical, name, t[name])
				continue
			}
			p.Commands.add(logical, t[name], "")
		}
	}
	return nil
}

// readAgents finds the files of sub-agents.
func (p *Plugin) readAgents(t Tree, m manifest) error {
	more, err := p.places(t, "agents", m.Agents)
	if err != nil {
		return err
	}
	for _, pl := range append([]place{{"agents", true}}, more...) {
		for logical, name := range pl.files(t, ".md") {
			p.Agents.add(logical, t[name], "")
		}
	}
	return nil
}

// skillFile is the name of the file that describes a skill.
const skillFile = "SKILL.md"

// readSkills finds the folders of skills.
func (p *Plugin) readSkills(t Tree, m manifest) error {
	more, err := p.places(t, "skills", m.Skills)
	if err != nil {
		return err
	}
	if _, single := t[skillFile]; single && !t.has("skills/") && more == nil {
		more = []place{{".", true}}
	}
	for _, pl := range append([]place{{"skills", true}}, more...) {
		if !pl.dir {
			p.leaveOut("%s: skills: %s is not a folder", p.manifest, pl.name)
			continue
		}
		in := t.below(pl.name)
		if _, single := in[skillFile]; single {
			name := path.Base(pl.name)
			if pl.name == "." {
				name = strings.ToLower(p.Name)
			}
			p.addSkill(name, pl.name, in)
			continue
		}
		for file := range in {
			if dir, base := path.Split(file); base == skillFile && strings.Count(dir, "/") == 1 {
				name := strings.TrimSuffix(dir, "/")
				p.addSkill(name, path.Join(pl.name, name), in.below(name))
			}
		}
	}
	return nil
}

// addSkill adds the files of a skill.
func (p *Plugin) addSkill(name, dir string, files Tree) {
	if _, there := p.Skills.files[path.Join(name, skillFile)]; there {
		return
	}
	for file, f := range files {
		p.Skills.add(path.Join(name, file), f, dir)
	}
}

// At returns the plug-in as a session uses it, with its folder and the directory of its data, which are
// absolute. Texts and servers name them in place of variables.
func (p *Plugin) At(root, data string) *Plugin {
	out := *p
	out.root, out.data = root, data
	out.Commands, out.Agents, out.Skills = p.Commands.at(root, data), p.Agents.at(root, data), p.Skills.at(root, data)
	out.Tree = nil // only the parts are needed
	return &out
}

// The variables of a plug-in.
const (
	RootVariable = "CLAUDE_PLUGIN_ROOT"
	DataVariable = "CLAUDE_PLUGIN_DATA"
)

// Variables are the variables of the plug-in's programs: its folder, and a directory for its data.
func (p *Plugin) Variables() map[string]string {
	return map[string]string{
		RootVariable: p.root, "PLUGIN_ROOT": p.root, DataVariable: p.data, "PLUGIN_DATA": p.data,
		"PYTHONDONTWRITEBYTECODE": "1", // files that Python adds would change the plug-in
	}
}

var _ fs.ReadDirFS = (*Files)(nil)
