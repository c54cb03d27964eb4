package bundle

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// treeOf returns a tree of files, from their contents by name.
func treeOf(files map[string]string) Tree {
	t := Tree{}
	for name, text := range files {
		t[name] = File{Data: []byte(text)}
	}
	return t
}

const manifestFile = ".claude-plugin/plugin.json"

// partsOf lists the parts of a plug-in.
func partsOf(p *Plugin) []string {
	var all []string
	for _, part := range []struct {
		kind  string
		files *Files
	}{{"command", p.Commands}, {"agent", p.Agents}, {"skill", p.Skills}} {
		for _, name := range part.files.Names() {
			all = append(all, part.kind+" "+name)
		}
	}
	if p.Hooks != nil {
		all = append(all, "hooks "+string(p.Hooks))
	}
	if p.Servers != nil {
		all = append(all, "servers "+string(p.Servers))
	}
	return all
}

func TestParse(t *testing.T) {
	const server = `{"mcpServers":{"m":{"command":"x"}}}`
	const hook = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string
		notes string // of parts that are left out or unsupported
	}{
		"standard folders": {
			map[string]string{
				manifestFile: `{"name":"p"}`, "commands/a.md": "x", "commands/b/c.md": "x", "commands/n.txt": "x", "agents/r.md": "x",
				"skills/s/SKILL.md": "x", "skills/s/ref/a.md": "x", "skills/t/README.md": "x", "hooks/hooks.json": hook, ".mcp.json": `{"m":{"command":"x"}}`,
			},
			[]string{"command a.md", "command b/c.md", "agent r.md", "skill s/SKILL.md", "skill s/ref/a.md", "hooks " + hook, "servers " + server}, "",
		},
		"named paths": {
			map[string]string{
				manifestFile: `{"name":"p","commands":["./x/one.md","more"],"agents":"./y/","skills":"./z","hooks":"./h.json","mcpServers":"./m.json"}`,
				"x/one.md":   "x", "x/two.md": "x", "more/d.md": "x", "y/e.md": "x", "z/SKILL.md": "x", "h.json": hook, "m.json": server,
			},
			[]string{"command d.md", "command one.md", "agent e.md", "skill z/SKILL.md", "hooks " + hook, "servers " + server}, "",
		},
		"inline": {
			map[string]string{
				manifestFile: `{"name":"p","commands":{"go":{"source":"./x.md"},"say":{"content":"hi"}},` +
					`"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"mcpServers":{"m":{"command":"x"}}}`,
				"x.md": "x",
			},
			[]string{"command go.md", "command say.md", "hooks " + hook, "servers " + server}, "",
		},
		"hooks of several files": {
			map[string]string{manifestFile: `{"name":"p","hooks":["./hooks/hooks.json","./h.json"]}`, "hooks/hooks.json": hook, "h.json": hook},
			[]string{`hooks {"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]},{"hooks":[{"type":"command","command":"x"}]}]}}`}, "",
		},
		"without a manifest": {map[string]string{"commands/a.md": "x"}, []string{"command a.md"}, ""},
		"one skill": {
			map[string]string{"SKILL.md": "x", "a.md": "y"}, []string{"skill fallback/SKILL.md", "skill fallback/a.md"}, "",
		},
		"Codex": {
			map[string]string{
				".codex-plugin/plugin.json": `{"name":"p","skills":"./skills/","apps":"./.app.json","hooks":{}}`, "skills/s/SKILL.md": "x", ".app.json": "{}",
			},
			[]string{"skill s/SKILL.md"}, "apps",
		},
		"Gemini CLI": {
			map[string]string{
				"gemini-extension.json": `{"name":"p","contextFileName":"GEMINI.md",` +
					`"mcpServers":{"m":{"command":"${extensionPath}${/}x","cwd":"${extensionPath}"}}}`,
				"commands/a/b.toml": "description = \"D\"\nprompt = \"\"\"Do {{args}} !{git log} @{a.md}\"\"\"", "commands/c.toml": "description = \"D\"",
				"hooks/hooks.json": "{}",
			},
			[]string{"command a/b.md", `servers {"mcpServers":{"m":{"command":"${CLAUDE_PLUGIN_ROOT}/x"}}}`},
			"a file of rules; copy its text to AGENTS.md of your project|hooks of Gemini CLI, whose events, input and output differ|" +
				"commands/c.toml: it has no prompt|the MCP server m: cwd has no effect",
		},
		"unsupported": {
			map[string]string{
				manifestFile: `{"name":"p","lspServers":{"a":{}},"outputStyles":"./o","dependencies":[],"zzz":1}`, "commands/a.md": "x", "bin/x": "x",
			},
			[]string{"command a.md"},
			"language servers; [[lsp]] of the configuration has them|output styles|programs for the PATH of commands, in bin/|" +
				manifestFile + ": unknown keys: zzz",
		},
		"missing paths": {
			map[string]string{manifestFile: `{"name":"p","commands":"./gone.md"}`, "commands/a.md": "x"},
			[]string{"command a.md"}, manifestFile + ": commands: there is no gone.md",
		},
		"a broken entry": {
			map[string]string{".mcp.json": `{"mcpServers":{"a":{"command":"x"},"b":{"type":"carrier-pigeon"}}}`},
			[]string{`servers {"mcpServers":{"a":{"command":"x"},"b":{"type":"carrier-pigeon"}}}`}, `the MCP server b: unknown type "carrier-pigeon"`,
		},
		"other events": {
			map[string]string{"hooks/hooks.json": `{"PreCompact":[],"Stop":[]}`},
			[]string{`hooks {"hooks":{"PreCompact":null,"Stop":null}}`}, "hooks of these events are not run: PreCompact",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(treeOf(tt.files), "fallback")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, partsOf(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := strings.Join(append(p.Unsupported, p.LeftOut...), "|"); got != tt.notes {
				t.Errorf("the notes are %s, want %s", got, tt.notes)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":             {map[string]string{"README.md": "x"}, "it is not a plug-in: it has neither"},
		"an empty manifest":   {map[string]string{manifestFile: `{"name":"p"}`}, "it is empty"},
		"only unsupported":    {map[string]string{manifestFile: `{"name":"p","themes":"./t"}`}, "it has only parts that have no counterpart here: themes"},
		"broken JSON":         {map[string]string{manifestFile: "{\n\"name\":\n}"}, manifestFile + ":3: "},
		"a number as a name":  {map[string]string{manifestFile: "{\n\"name\": 7}"}, manifestFile + ":2: name must not be a JSON number"},
		"a list":              {map[string]string{manifestFile: "[]"}, manifestFile + ":1:"},
		"a large manifest":    {map[string]string{manifestFile: `{"name":"` + strings.Repeat("x", 10<<20) + `"}`}, "has more than 1 MiB"},
		"a deep manifest":     {map[string]string{manifestFile: strings.Repeat("[", 200_000)}, manifestFile},
		"a name with a slash": {map[string]string{manifestFile: `{"name":"../../x"}`}, "its name ../../x is not one of"},
		"a name with dots":    {map[string]string{manifestFile: `{"name":".."}`}, "its name .. is not one of"},
		"an escape in a name": {map[string]string{manifestFile: `{"name":"a\u001b[31m"}`}, "is not one of"},
		"a long name":         {map[string]string{manifestFile: `{"name":"` + strings.Repeat("x", 41) + `"}`}, "is not one of"},
		"a path out":          {map[string]string{manifestFile: `{"name":"p","commands":"../x"}`}, "commands: ../x leads out of the plug-in"},
		"a path out inside":   {map[string]string{manifestFile: `{"name":"p","agents":["./a/../../x"]}`}, "leads out of the plug-in"},
		"an absolute path":    {map[string]string{manifestFile: `{"name":"p","skills":"/etc"}`}, "/etc is not a path inside"},
		"a path of Windows":   {map[string]string{manifestFile: `{"name":"p","skills":".\\..\\x"}`}, "is not a path inside"},
		"hooks out":           {map[string]string{manifestFile: `{"name":"p","hooks":"../h.json"}`}, "leads out of the plug-in"},
		"servers out":         {map[string]string{manifestFile: `{"name":"p","mcpServers":["../m.json"]}`}, "leads out of the plug-in"},
		"broken hooks":        {map[string]string{"hooks/hooks.json": "{\n\n\"hooks\": 1}"}, "hooks/hooks.json:"},
		"hooks of no list":    {map[string]string{"hooks/hooks.json": `{"hooks":{"Stop":{}}}`}, "hooks/hooks.json: Stop is not a list of hooks"},
		"broken servers":      {map[string]string{".mcp.json": "x"}, ".mcp.json:1: "},
		"commands of a type":  {map[string]string{manifestFile: `{"name":"p","commands":7}`}, "commands must be a path or a list of paths"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(treeOf(tt.files), "fallback")
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\x1b\n") || len(err.Error()) > 20_000 {
				t.Errorf("%v, %.300v, want %s", p, err, tt.want)
			}
		})
	}
}

// TestFiles checks the files of a part as a file system, with variables replaced in Markdown.
func TestFiles(t *testing.T) {
	p, err := Parse(treeOf(map[string]string{
		"skills/a/SKILL.md": "${CLAUDE_PLUGIN_ROOT} ${CLAUDE_SKILL_DIR} ${CLAUDE_PLUGIN_DATA} ${HOME}",
		"skills/a/x/y.sh":   "${CLAUDE_PLUGIN_ROOT}",
		"skills/b/SKILL.md": "b", "skills/b/large.md": strings.Repeat("x", maxKept+1),
	}), "p")
	must(t, err)
	p = p.At("/plugin", "/data")
	got, err := fs.ReadFile(p.Skills, "a/SKILL.md")
	if want := "/plugin /plugin/skills/a /data ${HOME}"; string(got) != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if got, _ := fs.ReadFile(p.Skills, "a/x/y.sh"); string(got) != "${CLAUDE_PLUGIN_ROOT}" {
		t.Errorf("a script was changed: %q", got)
	}
	if _, err := fs.ReadFile(p.Skills, "b/large.md"); err == nil {
		t.Error("a large file was kept")
	}
	for dir, want := range map[string]string{".": "a/ b/ ", "a": "SKILL.md x/ ", "a/x": "y.sh ", "gone": "", "a/x/y.sh": ""} {
		entries, err := fs.ReadDir(p.Skills, dir)
		got := ""
		for _, e := range entries {
			got += e.Name()
			if e.IsDir() {
				got += "/"
			}
			got += " "
		}
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s has %q, %v", dir, got, err)
		}
	}
	for _, name := range []string{"gone", "a", "../a/SKILL.md", "a/../a/SKILL.md"} {
		if f, err := p.Skills.Open(name); err == nil {
			t.Errorf("%s was opened: %v", name, f)
		}
	}
	if fmt.Sprint(p.Variables()[RootVariable], p.Variables()["PLUGIN_DATA"]) != "/plugin/data" {
		t.Error(p.Variables())
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"name":"p","commands":"./x"}`, `{"hooks":{}}`, `{"mcpServers":{}}`)
	f.Add(`{"commands":{"a":{"content":"x"}}}`, `{"Stop":[{}]}`, `{"a":{}}`)
	f.Fuzz(func(t *testing.T, manifest, hooks, servers string) {
		p, err := Parse(treeOf(map[string]string{manifestFile: manifest, "hooks/hooks.json": hooks, ".mcp.json": servers, "x/a.md": "x", "commands/b.md": "y"}), "p")
		if err == nil {
			p.At("/plugin", "/data").Variables()
			if checkName(p.Name) != nil {
				t.Errorf("the name %q", p.Name)
			}
		}
	})
}

func FuzzFromGeminiCommand(f *testing.F) {
	f.Add("prompt = \"a {{args}} !{b} @{c}\"\ndescription = \"d\"")
	f.Fuzz(func(t *testing.T, text string) {
		if out, err := FromGeminiCommand([]byte(text)); err == nil && len(out) == 0 {
			t.Errorf("%q becomes nothing", text)
		}
	})
}
