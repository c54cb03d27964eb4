package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// form is a form of plug-ins.
type form struct {
	name string // of the program whose form it is
	file string // its manifest
}

// forms are the forms of plug-ins, in order of precedence:
// https://code.claude.com/docs/en/plugins-reference, https://developers.openai.com/codex/plugins and
// https://geminicli.com/docs/extensions/reference
var forms = []form{
	{"Claude Code", ".claude-plugin/plugin.json"},
	{"Codex", ".codex-plugin/plugin.json"},
	{gemini, "gemini-extension.json"},
	{"Claude Code", "plugin.json"},
}

const gemini = "Gemini CLI"

// maxManifest limits a manifest, a file of hooks and a file of servers, in bytes.
const maxManifest = 1 << 20

// hasManifest reports whether a folder has a manifest.
func hasManifest(t Tree) bool {
	return slices.ContainsFunc(forms, func(f form) bool { _, ok := t[f.file]; return ok })
}

// manifest is the content of a manifest.
type manifest struct {
	Name        string          `json:"name"`
	Version     json.RawMessage `json:"version"`
	Description string          `json:"description"`
	Commands    json.RawMessage `json:"commands"`
	Agents      json.RawMessage `json:"agents"`
	Skills      json.RawMessage `json:"skills"`
	Hooks       json.RawMessage `json:"hooks"`
	Servers     json.RawMessage `json:"mcpServers"`
}

// version returns the version as a string; marketplaces also have numbers.
func (m manifest) version() string {
	var text string
	if json.Unmarshal(m.Version, &text) != nil {
		text = string(m.Version)
	}
	return executors.OneLine(executors.Shown(strings.TrimSpace(text)))
}

// used and silent are the keys of manifests that have an effect, and those that describe the plug-in.
var (
	used   = []string{"name", "version", "description", "commands", "agents", "skills", "hooks", "mcpServers"}
	silent = []string{
		"$schema", "author", "homepage", "repository", "license", "keywords", "displayName", "interface", "category", "tags", "source", "strict",
		"policy", "icon", "logo", "relevance",
	}
)

// unsupported are keys of manifests, and files and folders, that have no counterpart here, in words.
var unsupported = []struct{ key, place, words string }{
	{"lspServers", ".lsp.json", "language servers; [[lsp]] of the configuration has them"},
	{"outputStyles", "output-styles/", "output styles"},
	{"statusLine", "", "a status line"},
	{"monitors", "monitors/", "monitors"},
	{"themes", "themes/", "themes"},
	{"settings", "settings.json", "settings"},
	{"userConfig", "", "options that the user sets"},
	{"channels", "", "channels"},
	{"dependencies", "", "other plug-ins that it needs; add them yourself"},
	{"workflows", "workflows/", "workflows"},
	{"apps", ".app.json", "apps"},
	{"", "bin/", "programs for the PATH of commands, in bin/"},
	{"contextFileName", "", "a file of rules; copy its text to AGENTS.md of your project"},
	{"excludeTools", "", "tools to switch off; [tools.permissions] can deny them"},
}

// Decode parses a JSON file. An error names its line.
func Decode(name string, data []byte, into any) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	err := json.Unmarshal(data, into)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("%s:%d: %w", name, lineAt(data, syntax.Offset), err)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s:%d: %s must not be a JSON %s", name, lineAt(data, wrong.Offset), wrong.Field, wrong.Value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// lineAt returns the line of an offset, from 1.
func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset-1, 0), int64(len(data)))], []byte("\n"))
}

// pluginName matches the names of plug-ins. A name is a directory, and a part of the names of commands, skills, sub-agents and
// servers.
var pluginName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

// checkName returns an error for a name that a plug-in must not have.
func checkName(name string) error {
	const longest = 40
	if !pluginName.MatchString(name) || len(name) > longest {
		return fmt.Errorf("its name %s is not one of at most %d letters, digits, dashes, dots and underscores", executors.OneLine(executors.Shown(name)), longest)
	}
	return nil
}

// readManifest reads the manifest of a folder. A folder without one has the name fallback.
func (p *Plugin) readManifest(t Tree, fallback string) (m manifest, err error) {
	m.Name = fallback
	for _, f := range forms {
		file, ok := t[f.file]
		if !ok {
			continue
		}
		if p.form = f.name; len(file.Data) > maxManifest {
			return m, fmt.Errorf("%s has more than %d MiB", f.file, maxManifest>>20)
		}
		if err := Decode(f.file, file.Data, &m); err != nil {
			return m, err
		}
		var keys map[string]json.RawMessage
		if err := Decode(f.file, file.Data, &keys); err != nil {
			return m, err
		}
		p.noteKeys(f.file, keys)
		p.manifest = f.file
		break
	}
	for _, u := range unsupported {
		if u.place != "" && t.has(u.place) {
			p.lacks(u.words)
		}
	}
	if m.Name == "" {
		m.Name = fallback
	}
	return m, checkName(m.Name)
}

// has reports whether the tree has a file, or a folder if place ends with a slash.
func (t Tree) has(place string) bool {
	if !strings.HasSuffix(place, "/") {
		_, ok := t[place]
		return ok
	}
	for name := range t {
		if strings.HasPrefix(name, place) {
			return true
		}
	}
	return false
}

// noteKeys notes the keys of a manifest that have no effect.
func (p *Plugin) noteKeys(file string, keys map[string]json.RawMessage) {
	var unknown []string
	for key, value := range keys {
		switch text := string(bytes.TrimSpace(value)); {
		case slices.Contains(used, key), slices.Contains(silent, key), text == "null", text == "{}", text == "[]", text == `""`:
			continue
		}
		i := slices.IndexFunc(unsupported, func(u struct{ key, place, words string }) bool { return u.key == key })
		if i < 0 {
			unknown = append(unknown, executors.OneLine(executors.Shown(key)))
			continue
		}
		p.lacks(unsupported[i].words)
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		p.leaveOut("%s: unknown keys: %s", file, strings.Join(unknown, ", "))
	}
}

// paths returns the paths that a member of the manifest names: a string or a list of them. It returns false
// if the member has another form, and nil if it is missing.
func paths(raw json.RawMessage) (names []string, ok bool) {
	if isEmpty(raw) {
		return nil, true
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	ok = json.Unmarshal(raw, &names) == nil
	return names, ok
}

// isEmpty reports whether a member is missing or says nothing.
func isEmpty(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "{}", "[]":
		return true
	}
	return false
}

// place is a place that a manifest names, as a path of the tree.
type place struct {
	name string
	dir  bool
}

// places returns the places that a member of the manifest names. A path out of the plug-in is an error; one that
// does not exist is left out.
func (p *Plugin) places(t Tree, key string, raw json.RawMessage) (all []place, err error) {
	names, ok := paths(raw)
	if !ok {
		return nil, fmt.Errorf("%s: %s must be a path or a list of paths", p.manifest, key)
	}
	for _, name := range names {
		clean, err := cleanPath(strings.TrimPrefix(name, "${CLAUDE_PLUGIN_ROOT}/"))
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", p.manifest, key, err)
		}
		_, isFile := t[clean]
		switch {
		case !isFile && clean != "." && !t.has(clean+"/"):
			p.leaveOut("%s: %s: there is no %s", p.manifest, key, clean)
		default:
			all = append(all, place{clean, !isFile})
		}
	}
	return all, nil
}

// inDir returns the files of a place with one of the extensions, by their names in it. A place that is a file
// has its own name.
func (pl place) files(t Tree, extensions ...string) map[string]string {
	out := map[string]string{}
	add := func(logical, name string) {
		if slices.Contains(extensions, path.Ext(name)) {
			out[logical] = name
		}
	}
	if !pl.dir {
		add(path.Base(pl.name), pl.name)
		return out
	}
	for name := range t {
		if pl.name == "." {
			add(name, name)
		} else if rest, ok := strings.CutPrefix(name, pl.name+"/"); ok {
			add(rest, name)
		}
	}
	return out
}
