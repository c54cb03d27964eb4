package config

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"

	"github.com/google/go-cmp/cmp"
)

// settingsPages are the pages whose samples show every key.
var settingsPages = []string{"../../../docs/settings.md", "../../../docs/settings-tools.md", "../../../docs/settings-gates.md", "../../../docs/judge.md", "../../../docs/skills.md", "../../../docs/rewind.md", "../../../docs/agents.md", "../../../docs/memory.md", "../../../docs/schedule.md", "../../../docs/ask-user.md", "../../../docs/lsp.md"}

// samples returns the TOML of the settings pages. The first sample of each page
// has keys with their defaults; all others are examples.
func samples(t *testing.T) (defaults, examples []string) {
	t.Helper()
	for _, page := range settingsPages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(string(text), "```toml\n")[1:]
		for i := range all {
			all[i], _, _ = strings.Cut(all[i], "```")
		}
		defaults, examples = append(defaults, all[0]), append(examples, all[1:]...)
	}
	return defaults, examples
}

// The documentation must show every key with its default, and only samples that
// load.
func TestDocs(t *testing.T) {
	defaults, examples := samples(t)
	for i, sample := range examples {
		if _, err := load(t, sample); err != nil {
			t.Errorf("example %d: %s", i+1, mistakesOf(t, err))
		}
	}
	l, err := load(t, strings.Join(defaults, "\n"))
	if err != nil {
		t.Fatalf("the samples of defaults do not load:\n%s", mistakesOf(t, err))
	}
	if diff := cmp.Diff(setting.Default[Config](), l.Config, equalConfigs...); diff != "" {
		t.Errorf("defaults (-code +docs)\n%s", diff)
	}
	for _, path := range toml.Overridable(reflect.TypeFor[Config](), "") {
		if l.origins[path] == "" {
			t.Errorf("%s is not among the keys", path)
		}
	}
	elements := strings.Join(examples, "")
	if _, err := load(t, elements); err != nil {
		t.Errorf("the examples together: %s", mistakesOf(t, err))
	}
	for _, typ := range []reflect.Type{
		reflect.TypeOf(l.Config.LLM.Providers).Elem(),
		reflect.TypeOf(l.Config.Agents).Elem(),
		reflect.TypeOf(l.Config.Tools.Permissions).Elem().Elem(),
		reflect.TypeOf(l.Config.MCP.Servers).Elem(),
		reflect.TypeOf(l.Config.LSP).Elem(),
		reflect.TypeOf(l.Config.Tools.Policy.Rules).Elem(),
	} {
		for _, f := range setting.Fields(typ) {
			if !strings.Contains(elements, "\n"+f.Key+" = ") {
				t.Errorf("%s of %v is in no example", f.Key, typ)
			}
		}
	}
}
