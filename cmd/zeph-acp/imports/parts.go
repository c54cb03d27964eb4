package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/session/agent/filecommand"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// maxSettings limits a file of settings, in bytes. One of them also has the history of its agent.
const maxSettings = 64 << 20

// read reads a file of the other agent; nil if there is none, or if it cannot be read.
func (i *importer) read(file string) []byte {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var data []byte
	rel, err := filepath.Rel(i.project, file)
	if err == nil && i.project != "" && filepath.IsLocal(rel) { // others have written it
		var f *os.File
		if f, err = keys.OpenBelow(i.project, rel); err == nil {
			data, err = keys.ReadBounded(f)
			f.Close()
		}
	} else {
		data, err = cli.ReadBounded(file, maxSettings)
	}
	if err != nil {
		i.unread(file, err)
		return nil
	}
	return data
}

// readJSON reads a JSON file, which may have comments. It reports whether there is one.
func (i *importer) readJSON(file string, into any) bool {
	data := i.read(file)
	if len(bytes.TrimSpace(data)) == 0 {
		return false
	}
	if isDeep(data) {
		i.unread(file, fmt.Errorf("its values are nested more than %d deep", maxNesting))
		return false
	}
	plain, err := hujson.Standardize(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err != nil {
		i.unread(file, errors.New(strings.TrimPrefix(err.Error(), "hujson: ")))
		return false
	}
	if err := bundle.Decode(file, plain, into); err != nil {
		i.unread(file, err)
		return false
	}
	return true
}

// maxNesting bounds the nesting of values, as encoding/json does. hujson overflows the stack.
const maxNesting = 10000

// isDeep reports whether JSON, which may have comments, is nested deeper than maxNesting.
func isDeep(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '[', '{':
			if depth++; depth > maxNesting {
				return true
			}
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			end, rest := "\n", data[i+1:]
			switch {
			case bytes.HasPrefix(rest, []byte("/")):
			case bytes.HasPrefix(rest, []byte("*")):
				end, rest = "*/", rest[1:]
				i++
			default:
				continue
			}
			n := bytes.Index(rest, []byte(end))
			if n < 0 {
				return false
			}
			i += n + len(end)
		}
	}
	return false
}

// readTOML reads a TOML file. It reports whether there is one.
func (i *importer) readTOML(file string, into any) bool {
	data := i.read(file)
	if data == nil {
		return false
	}
	err := toml.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, _ := wrong.Position()
		err = fmt.Errorf("line %d: %w", row, err)
	}
	if err != nil {
		i.unread(file, err)
	}
	return err == nil
}

// unknownKeys notes members of a file that are not imported. known are those that are, and advice has words about some.
func (i *importer) unknownKeys(file string, members map[string]json.RawMessage, known []string, advice map[string]string) {
	var rest []string
	for _, key := range slices.Sorted(maps.Keys(members)) {
		switch {
		case slices.Contains(known, key), strings.HasPrefix(key, "$"):
		case advice[key] != "":
			i.note(leaves, key+" of "+i.shown(file), "%s", advice[key])
		default:
			rest = append(rest, key)
		}
	}
	if len(rest) > 0 {
		i.note(leaves, i.shown(file), "%s", strings.Join(rest, ", "))
	}
}

// addRules adds the permission rules that the configuration does not have, from all files together.
func (i *importer) addRules() {
	all := permissions.Merge(i.rules)
	for _, u := range all.Untranslated {
		i.note(leaves, "the permission "+u.Rule, "%s", u.Reason)
	}
	have := i.loaded.Config.Tools.Permissions
	var fresh []permissions.Rule
	old := 0
	for _, r := range all.Rules {
		if slices.ContainsFunc(have[r.Tool], func(o permission.Rule) bool { return o.Pattern == r.Pattern && o.Action == r.Action }) {
			old++
			continue
		}
		fresh = append(fresh, r)
	}
	if old > 0 {
		i.note(there, "permission rules", "%d of them", old)
	}
	deny := slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(all.DenyRead))), func(p string) bool {
		return slices.Contains(i.loaded.Config.Tools.File.DenyRead, p)
	})
	list := ""
	if len(deny) > 0 {
		if list = permissions.List(deny); len(i.loaded.Config.Tools.File.DenyRead) > 0 {
			i.note(leaves, "tools.file.deny_read", "it has patterns already, so add these to it: %s", list)
			list = ""
		}
	}
	if len(fresh) == 0 && list == "" {
		return
	}
	text := (&permissions.Import{Rules: fresh}).Text()
	shown := text
	if list != "" {
		shown = strings.TrimRight("[tools.file]\ndeny_read = "+list+"\n\n"+text, "\n") + "\n"
	}
	i.add(step{
		state: adds, what: "permission rules", why: "to " + i.shown(i.loaded.File), text: strings.Split(strings.TrimSuffix(shown, "\n"), "\n"),
		do: func() error {
			_, err := config.AddRules(i.options, text, list)
			return err
		},
	})
}

// addPermissions translates a file of rules.
func (i *importer) addPermissions(file string, parse func() (*permissions.Import, error), project bool) {
	rules, err := parse()
	if err != nil {
		i.unread(file, err)
		return
	}
	if project {
		rules.DropAllows()
	}
	i.rules = append(i.rules, rules)
}

// addServers adds MCP servers, from a file of the usual format.
func (i *importer) addServers(file string, data []byte) {
	servers, wrong := mcp.ParseFile(data)
	if wrong != nil {
		for line := range strings.Lines(wrong.Error()) {
			i.note(unreads, "an MCP server of "+i.shown(file), "%s", strings.TrimSpace(line))
		}
	}
	for _, s := range servers {
		i.addServer(file, s)
	}
}

// addServer adds an MCP server.
func (i *importer) addServer(file string, s mcp.Server) {
	what := "the MCP server " + s.Name
	for name, value := range s.Env { // the value of a variable, not what the file says
		if value == "${"+name+"}" || value == "${env:"+name+"}" || value == "$"+name {
			delete(s.Env, name)
			s.EnvFrom = append(s.EnvFrom, name)
		}
	}
	slices.Sort(s.EnvFrom)
	for name, value := range s.Headers {
		s.Headers[name] = strings.ReplaceAll(value, "${env:", "${")
	}
	switch info, err := os.Stat(i.loaded.File); {
	case slices.ContainsFunc(i.loaded.Config.MCP.Servers, func(o mcp.Server) bool { return o.Name == s.Name }) || !i.take("server", s.Name):
		i.note(there, what, "%s", i.shown(file))
	case len(literals(s)) > 0 && err == nil && info.Mode().Perm()&0o077 != 0:
		i.note(leaves, what, "it has values that may be secrets, and others may read %s: run chmod 600 on it, and import again", i.shown(i.loaded.File))
	default:
		why := s.Target() + ", to " + i.shown(i.loaded.File)
		if names := literals(s); len(names) > 0 {
			why += ", with the values of " + strings.Join(names, ", ") + ", in a file that only you can read"
		}
		i.add(step{state: adds, what: what, why: why, do: func() error {
			_, err := config.AddServer(i.options, s)
			return err
		}})
	}
}

// literals returns the names of the variables and headers of a server whose values are in its entry.
func literals(s mcp.Server) (names []string) {
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for name, value := range values {
			if !strings.Contains(value, "${") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// addFile adds a new file below a directory that no link leads out of. It overwrites nothing.
func (i *importer) addFile(what, from, dir, name string, text []byte) {
	to := filepath.Join(dir, name)
	var old []byte
	f, err := keys.OpenBelow(dir, name)
	if err == nil {
		old, err = keys.ReadBounded(f)
		f.Close()
	}
	switch {
	case err == nil && bytes.Equal(old, text):
		i.note(there, what, "%s", i.shown(to))
	case err == nil:
		i.note(leaves, what, "%s is another file, which is not overwritten", i.shown(to))
	case !errors.Is(err, fs.ErrNotExist):
		i.note(unreads, what, "%v", err)
	default:
		i.add(step{state: adds, what: what, why: i.shown(from) + ", to " + i.shown(to), do: func() error { return createBelow(dir, name, text) }})
	}
}

// createBelow writes a new file below a directory, which it makes.
func createBelow(dir, name string, text []byte) error {
	if err := keys.MakeDir(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// commands adds the Markdown files of a directory as commands.
func (i *importer) commands(dir string) {
	if _, err := os.Stat(dir); err != nil {
		return
	}
	set := filecommand.New(filecommand.Options{
		Sources: []skills.Source{{Name: i.shown(dir), FS: os.DirFS(dir)}}, Known: catalogue.Known, Desk: &approval.Desk{}, Announce: func() {},
		Warn: func(text string) { i.note(unreads, i.shown(dir), "%s", text) },
	})
	for _, c := range set.Commands() {
		name := strings.ReplaceAll(c.Name, ":", "/") + ".md"
		file := filepath.Join(dir, filepath.FromSlash(name))
		if text := i.read(file); text != nil {
			i.command(c.Name, file, text)
		}
	}
}

// command adds a command.
func (i *importer) command(name, file string, text []byte) {
	if !i.take("command", name) {
		i.note(leaves, "the command /"+name, "%s: there is another of its name", i.shown(file))
		return
	}
	i.addFile("the command /"+name, file, filepath.Join(i.loaded.Paths.Data, "commands"), filepath.FromSlash(strings.ReplaceAll(name, ":", "/"))+".md", text)
}

// skills adds the skills of a directory.
func (i *importer) skills(dir string) {
	if _, err := os.Stat(dir); err != nil {
		return
	}
	set := skills.New(skills.Options{
		Config: skills.Config{Enabled: true}, Sources: []skills.Source{{Name: i.shown(dir), FS: os.DirFS(dir)}}, Known: catalogue.Known, Desk: &approval.Desk{},
	})
	for _, w := range set.Warnings {
		i.note(unreads, i.shown(dir), "%s", w)
	}
	for _, s := range set.Usable() {
		what, from, to := "the skill "+s.Name, filepath.Join(dir, s.Name), filepath.Join(i.loaded.Paths.Data, "skills", s.Name)
		if real, err := filepath.EvalSymlinks(from); err == nil { // the link is the user's own; those inside are the author's
			from = real
		}
		tree, err := bundle.ReadTree(from, ".")
		_, exists := os.Lstat(to)
		switch {
		case err != nil:
			i.note(unreads, what, "%v", err)
		case exists == nil || !i.take("skill", s.Name):
			i.note(there, what, "%s", i.shown(to))
		default:
			i.add(step{state: adds, what: what, why: i.shown(filepath.Join(dir, s.Name)) + ", to " + i.shown(to), do: func() error {
				if err := keys.MakeDir(filepath.Dir(to)); err != nil {
					return err
				}
				return tree.Write(to)
			}})
		}
	}
}

// agents adds the sub-agents of a directory to the configuration.
func (i *importer) agents(dir string) {
	files, err := fs.Glob(os.DirFS(dir), "*.md")
	if err != nil || len(files) == 0 {
		return
	}
	for _, name := range files {
		if data := i.read(filepath.Join(dir, name)); data != nil {
			i.agent(filepath.Join(dir, name), data)
		}
	}
}

// agent adds the sub-agent of a Markdown file.
func (i *importer) agent(file string, data []byte) {
	const plugin = "import"
	var notes []string
	files := bundle.NewFiles(map[string][]byte{path.Base(filepath.ToSlash(file)): data})
	set := subagent.New(subagent.Options{
		Plugins: []subagent.Plugin{{Name: plugin, Files: files, Names: files.Names(), Note: func(text string) {
			notes = append(notes, strings.Replace(text, "The sub-agent "+path.Base(filepath.ToSlash(file))+" of the plug-in ", "it ", 1))
		}}},
		Known: catalogue.Known, Tools: catalogue.Known, Model: func(name string) string { return name },
	})
	types := set.TypesOf(plugin)
	if len(types) == 0 {
		i.note(unreads, i.shown(file), "%s", strings.Join(notes, "; "))
		return
	}
	t := types[0]
	t.Name = strings.TrimPrefix(t.Name, plugin+":")
	what := "the sub-agent " + t.Name
	head, _, _ := frontmatter.Split(string(data)) // it was parsed
	if head["disallowedTools"].Text() != "" {
		i.note(leaves, what, "%s: its disallowedTools have no counterpart in [[agents]]; list its tools", i.shown(file))
		return
	}
	if t.Model != "" && !strings.Contains(t.Model, ":") {
		notes, t.Model = append(notes, "its model "+t.Model+" is left out, so it uses the session's"), ""
	}
	i.addAgent(file, t, notes)
}

// addAgent adds a type of sub-agents to the configuration.
func (i *importer) addAgent(file string, t subagent.Type, notes []string) {
	what := "the sub-agent " + t.Name
	if slices.ContainsFunc(i.loaded.Config.Agents, func(o subagent.Type) bool { return o.Name == t.Name }) || !i.take("agent", t.Name) {
		i.note(there, what, "%s", i.shown(file))
		return
	}
	if wrong := firstOf((subagent.Types{t}).Validate()); wrong != "" {
		i.note(leaves, what, "%s: %s", i.shown(file), wrong)
		return
	}
	i.add(step{state: adds, what: what, why: i.shown(file) + ", to " + i.shown(i.loaded.File), text: notes, do: func() error {
		_, err := config.AddAgent(i.options, t)
		return err
	}})
}
