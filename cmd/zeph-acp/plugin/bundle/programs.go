package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// readHooks joins the hooks of the plug-in to one file. Hooks that cannot be read are an error: one of them
// may deny what others allow.
func (p *Plugin) readHooks(t Tree, m manifest) error {
	const standard = "hooks/hooks.json"
	if p.form == gemini {
		if t.has(standard) {
			p.lacks("hooks of Gemini CLI, whose events, input and output differ")
		}
		return nil
	}
	inline, names, err := p.inlineOrPaths(t, "hooks", m.Hooks)
	if err != nil {
		return err
	}
	if t.has(standard) && !slices.Contains(names, standard) {
		names = append([]string{standard}, names...)
	}
	all := map[string][]json.RawMessage{}
	for _, name := range names {
		if err := addHooks(all, name, t[name].Data); err != nil {
			return err
		}
	}
	for _, raw := range inline {
		if err := addHooks(all, p.manifest+": hooks", raw); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	if p.Hooks, err = json.Marshal(map[string]any{"hooks": all}); err != nil {
		return err
	}
	mistakes, warnings := hooks.Check(p.Hooks, hooks.Config{TimeoutSecs: 60})
	for _, w := range slices.Concat(mistakes, warnings) {
		p.leaveOut("%s", w)
	}
	return nil
}

// addHooks adds the hooks of a file, by event. The events are the file itself, or its member hooks.
func addHooks(all map[string][]json.RawMessage, name string, data []byte) error {
	if len(data) > maxManifest {
		return fmt.Errorf("%s has more than %d MiB", name, maxManifest>>20)
	}
	var file map[string]json.RawMessage
	if err := Decode(name, data, &file); err != nil {
		return err
	}
	events := file
	if raw, wrapped := file["hooks"]; wrapped {
		events = nil
		if err := Decode(name, raw, &events); err != nil {
			return err
		}
	}
	for _, event := range slices.Sorted(maps.Keys(events)) {
		var groups []json.RawMessage
		if err := json.Unmarshal(events[event], &groups); err != nil {
			return fmt.Errorf("%s: %s is not a list of hooks", name, event)
		}
		all[event] = append(all[event], groups...)
	}
	return nil
}

// inlineOrPaths returns the objects in a member of the manifest, and the files that it names.
func (p *Plugin) inlineOrPaths(t Tree, key string, raw json.RawMessage) (inline []json.RawMessage, names []string, err error) {
	if isEmpty(raw) {
		return nil, nil, nil
	}
	items := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, nil, err
		}
	}
	for _, item := range items {
		if item = bytes.TrimSpace(item); len(item) > 0 && item[0] == '{' {
			inline = append(inline, item)
			continue
		}
		found, err := p.places(t, key, item)
		if err != nil {
			return nil, nil, err
		}
		for _, pl := range found {
			if pl.dir {
				return nil, nil, fmt.Errorf("%s: %s: %s is not a file", p.manifest, key, pl.name)
			}
			names = append(names, pl.name)
		}
	}
	return inline, names, nil
}

// readServers joins the MCP servers of the plug-in to one file.
func (p *Plugin) readServers(t Tree, m manifest) error {
	inline, names, err := p.inlineOrPaths(t, "mcpServers", m.Servers)
	if err != nil {
		return err
	}
	if t.has(mcp.ProjectFile) && !slices.Contains(names, mcp.ProjectFile) {
		names = append([]string{mcp.ProjectFile}, names...)
	}
	all := map[string]json.RawMessage{}
	for _, name := range names {
		if len(t[name].Data) > maxManifest {
			return fmt.Errorf("%s has more than %d MiB", name, maxManifest>>20)
		}
		if err := addServers(all, name, t[name].Data); err != nil {
			return err
		}
	}
	for _, raw := range inline {
		if err := addServers(all, p.manifest+": mcpServers", raw); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	if p.form == gemini {
		for name, raw := range all {
			all[name] = p.fromGemini(name, raw)
		}
	}
	data, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		return err
	}
	servers, wrong := mcp.ParseFile(data)
	if wrong != nil {
		for line := range strings.Lines(wrong.Error()) {
			p.leaveOut("the MCP server %s", strings.TrimSpace(line))
		}
	}
	if len(servers) > 0 {
		p.Servers = data
	}
	return nil
}

// addServers adds the servers of a file. They are its member mcpServers, or the file itself.
func addServers(all map[string]json.RawMessage, name string, data []byte) error {
	var file map[string]json.RawMessage
	if err := Decode(name, data, &file); err != nil {
		return err
	}
	servers := file
	if raw, wrapped := file["mcpServers"]; wrapped {
		servers = nil
		if err := Decode(name, raw, &servers); err != nil {
			return err
		}
	}
	for server, raw := range servers {
		if strings.HasPrefix(server, "$") { // $schema
			continue
		}
		all[server] = raw
	}
	return nil
}

// fromGemini returns an entry for a server in the form of Claude Code.
func (p *Plugin) fromGemini(name string, raw json.RawMessage) json.RawMessage {
	text := strings.NewReplacer("${extensionPath}", "${"+RootVariable+"}", "${/}", "/", "${pathSeparator}", "/").Replace(string(raw))
	out, dropped, err := FromGeminiServer([]byte(text))
	if err != nil {
		return raw // the parser of servers reports it
	}
	if len(dropped) > 0 {
		p.leaveOut("the MCP server %s: %s has no effect", name, strings.Join(dropped, ", "))
	}
	return out
}

// geminiVariable matches a variable in the settings of Gemini CLI that has no braces.
var geminiVariable = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)

// FromGeminiServer returns an entry of mcpServers of Gemini CLI in the usual form:
// https://geminicli.com/docs/tools/mcp-server. dropped are the members that have no counterpart.
func FromGeminiServer(raw []byte) (out []byte, dropped []string, err error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, nil, err
	}
	if address, ok := in["httpUrl"]; ok {
		delete(in, "httpUrl")
		in["url"], in["type"] = address, json.RawMessage(`"http"`)
	} else if _, ok := in["url"]; ok && in["type"] == nil {
		in["type"] = json.RawMessage(`"sse"`)
	}
	var headers map[string]string
	if json.Unmarshal(in["headers"], &headers) == nil && headers != nil {
		for name, value := range headers { // $NAME is a variable there
			headers[name] = geminiVariable.ReplaceAllString(value, "$${$1}")
		}
		if in["headers"], err = json.Marshal(headers); err != nil {
			return nil, nil, err
		}
	}
	for key := range in {
		switch key {
		case "command", "args", "env", "url", "type", "headers", "timeout", "includeTools", "excludeTools", "description":
		default:
			dropped = append(dropped, key)
			delete(in, key)
		}
	}
	slices.Sort(dropped)
	out, err = json.Marshal(in)
	return out, dropped, err
}

// addGeminiCommand adds a command in the form of Gemini CLI.
func (p *Plugin) addGeminiCommand(logical, name string, f File) {
	text, err := FromGeminiCommand(f.Data)
	if err != nil {
		p.leaveOut("%s: %v", name, err)
		return
	}
	p.Commands.add(strings.TrimSuffix(logical, ".toml")+".md", File{Data: text}, "")
}

// FromGeminiCommand returns a command of Gemini CLI as a Markdown file:
// https://geminicli.com/docs/cli/custom-commands
func FromGeminiCommand(data []byte) ([]byte, error) {
	var in struct {
		Prompt      string `toml:"prompt"`
		Description string `toml:"description"`
	}
	if err := toml.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("not TOML with a prompt: %w", err)
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return nil, fmt.Errorf("it has no prompt")
	}
	var b strings.Builder
	if in.Description != "" {
		quoted, err := json.Marshal(in.Description)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "---\ndescription: %s\n---\n", quoted)
	}
	text := strings.ReplaceAll(in.Prompt, "{{args}}", "$ARGUMENTS")
	for {
		begin, mark := nextMark(text)
		if begin < 0 {
			break
		}
		end := strings.IndexByte(text[begin:], '}')
		if end < 0 {
			break
		}
		b.WriteString(text[:begin])
		if inner := text[begin+2 : begin+end]; mark == '!' {
			b.WriteString("!`" + inner + "`")
		} else {
			b.WriteString("@" + inner)
		}
		text = text[begin+end+1:]
	}
	b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return []byte(b.String()), nil
}

// nextMark returns the place of the next !{ or @{, and its first byte; -1 if there is none.
func nextMark(text string) (at int, mark byte) {
	at = -1
	for _, m := range []string{"!{", "@{"} {
		if i := strings.Index(text, m); i >= 0 && (at < 0 || i < at) {
			at, mark = i, m[0]
		}
	}
	return at, mark
}
