package editors

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// named returns a known editor.
func named(t testing.TB, name string) Editor {
	t.Helper()
	for _, e := range All() {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no editor %s", name)
	return Editor{}
}

var entry = Entry{Name: "Zeph", Command: "/bin/zeph-acp"}

func TestEdit(t *testing.T) {
	const whole = "{\n  \"agent_servers\": {\n    \"Zeph\": {\n      \"command\": \"/bin/zeph-acp\",\n      \"args\": []\n    }\n  }\n}\n"
	for name, tt := range map[string]struct{ in, want string }{
		"no file":       {"", whole},
		"space":         {" \n", whole},
		"empty object":  {"{}\n", whole},
		"only comments": {"// mine\n", "// mine\n" + whole},
		"one comment":   {"/* mine */", "/* mine */\n" + whole},
		"nothing to do": {whole, whole},
		"comment at the end": {
			"{\n    \"a\": 1 // one\n}\n",
			"{\n    \"a\": 1, // one\n    \"agent_servers\": {\n        \"Zeph\": {\n            \"command\": \"/bin/zeph-acp\",\n            \"args\": []\n        " +
				"}\n    }\n}\n",
		},
		"trailing commas, tabs, CRLF": {
			"// mine\r\n{\r\n\t\"agent_servers\": {\r\n\t\t\"Other\": {\"command\": \"x\"}, /* keep */\r\n\t},\r\n}\r\n",
			"// mine\r\n{\r\n\t\"agent_servers\": {\r\n\t\t\"Other\": {\"command\": \"x\"}, /* keep */\r\n\t\t\"Zeph\": {\r\n\t\t\t\"command\": " +
				"\"/bin/zeph-acp\",\r\n\t\t\t\"args\": []\r\n\t\t},\r\n\t},\r\n}\r\n",
		},
		"another command": {
			`{"agent_servers": {"Zeph": {"command": "/old/zeph-acp" /* here */, "args": ["serve"], "env": {"K": "v"}}}}`,
			`{"agent_servers": {"Zeph": {"command": "/bin/zeph-acp" /* here */, "args": ["serve"], "env": {"K": "v"}}}}`,
		},
		"another name": {
			`{"agent_servers": {"mine": {"command": "zeph-acp"}}}`,
			`{"agent_servers": {"mine": {"command": "/bin/zeph-acp"}}}`,
		},
		"the last of two tables": {
			`{"agent_servers": {"A": {}}, "agent_servers": {"Zeph": {"command": "x"}}}`,
			`{"agent_servers": {"A": {}}, "agent_servers": {"Zeph": {"command": "/bin/zeph-acp"}}}`,
		},
		"comment without a line break": {
			`{"agent_servers": {"Zeph": {"command": "/old/zeph-acp"}}} // end`,
			`{"agent_servers": {"Zeph": {"command": "/bin/zeph-acp"}}} // end`,
		},
		"byte order mark": {"\ufeff" + whole, "\ufeff" + whole},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := named(t, "jetbrains").edit([]byte(tt.in), entry)
			if diff := cmp.Diff(tt.want, string(got)); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1`:                       "line 1",
		"{\n\"a\" 1}":                   "line 2",
		`[]`:                            "it is not a JSON object",
		`{"agent_servers": []}`:         `"agent_servers" is not a JSON object`,
		`{"agent_servers": {"Zeph":1}}`: `"Zeph" is not a JSON object`,
	} {
		if got, err := named(t, "zed").edit([]byte(in), entry); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
}

// The members differ between the editors.
func TestEditors(t *testing.T) {
	for name, want := range map[string]string{
		"zed":       `{"agent_servers":{"Zeph":{"args":[],"command":"/bin/zeph-acp","type":"custom"}}}`,
		"jetbrains": `{"agent_servers":{"Zeph":{"args":[],"command":"/bin/zeph-acp"}}}`,
		"vscode":    `{"acp.agents":{"Zeph":{"args":[],"command":"/bin/zeph-acp"}}}`,
	} {
		got, err := named(t, name).edit(nil, entry)
		var v any
		if err == nil {
			err = json.Unmarshal(got, &v)
		}
		flat, _ := json.Marshal(v)
		if err != nil || string(flat) != want {
			t.Errorf("%s: got %s, %v, want %s", name, flat, err, want)
		}
	}
}

// A change of settings that can be parsed can be parsed, keeps every other member and each
// comment, and is not repeated.
func FuzzEdit(f *testing.F) {
	for _, seed := range []string{"", "{}", "{}//x", "//x", `{"a":1,}`, "{//x\n\"agent_servers\":{\"Zeph\":{\"command\":1,},},}",
		`{"agent_servers":{"b":{"command":"zeph-acp"}},"agent_servers":{}}`, "{\"a\":1//\n}"} {
		f.Add([]byte(seed))
	}
	e := named(f, "zed")
	f.Fuzz(func(t *testing.T, data []byte) {
		once, err := e.edit(data, entry)
		if err != nil {
			return
		}
		if got := e.command(once); got != entry.Command {
			t.Errorf("%q: command %q in %q", data, got, once)
		}
		twice, err := e.edit(once, entry)
		if err != nil || string(twice) != string(once) {
			t.Errorf("%q was edited to %q, and again to %q, %v; want no second change", data, once, twice, err)
		}
		before, after := rest(t, data), rest(t, once)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%q: %q (-before +after)\n%s", data, once, diff)
		}
	})
}

// rest returns the settings without the table of agents.
func rest(t *testing.T, data []byte) map[string]any {
	t.Helper()
	data = []byte(strings.TrimPrefix(string(data), "\ufeff"))
	if strings.TrimSpace(string(data)) == "" {
		return map[string]any{}
	}
	plain, err := hujson.Standardize(append(data, '\n'))
	if err != nil { // comments alone
		plain, err = hujson.Standardize(append(data, "\n{}"...))
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(plain, &all); err != nil {
		t.Skip(err) // a number that no float can hold
	}
	delete(all, "agent_servers")
	return all
}
