package config

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// The documentation must show every key with its default, and only samples that
// load.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	samples := strings.Split(string(text), "```toml\n")[1:]
	for i := range samples {
		samples[i], _, _ = strings.Cut(samples[i], "```")
		if _, err := load(t, samples[i]); err != nil {
			t.Errorf("sample %d: %s", i+1, mistakesOf(t, err))
		}
	}
	l, err := load(t, samples[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Defaults(), l.Config, equalConfigs...); diff != "" {
		t.Errorf("defaults (-code +docs)\n%s", diff)
	}
	for _, path := range toml.Overridable(reflect.TypeFor[Config](), "") {
		if l.origin[path] == "" {
			t.Errorf("%s is not among the keys", path)
		}
	}
	elements := strings.Join(samples[1:], "")
	if _, err := load(t, elements); err != nil {
		t.Errorf("the samples together: %s", mistakesOf(t, err))
	}
	for _, typ := range []reflect.Type{
		reflect.TypeOf(l.Config.LLM.Providers).Elem(),
		reflect.TypeOf(l.Config.Tools.Permissions).Elem().Elem(),
	} {
		for _, f := range toml.Fields(typ) {
			if !strings.Contains(elements, "\n"+f.Key+" = ") {
				t.Errorf("%s of %v is in no sample", f.Key, typ)
			}
		}
	}
}
