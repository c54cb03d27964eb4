package provider

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The pages that repeat facts about a type have those of its entry in kinds.
func TestKindsDocumented(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	types := regexp.MustCompile(`(?m)^type = .* # .*$`).FindString(read("../../../docs/configuration.md"))
	models := read("../../../docs/models.md")
	for _, k := range kinds {
		if k.offline {
			continue
		}
		row := regexp.MustCompile("(?m)^\\| \\[?`" + k.name + "`.*$").FindString(models)
		if row == "" || !strings.Contains(row, k.model) || !strings.Contains(row, k.keyEnv) {
			t.Errorf("got the row %q of the types in docs/models.md, want %s with its model %q and its key %q", row, k.name, k.model, k.keyEnv)
		}
		if !strings.Contains(types, k.name) {
			t.Errorf("docs/configuration.md has %q, want %s too", types, k.name)
		}
		for _, file := range []string{"../../../README.md", "../../../docs/reference/settings.md", "../local/direct.md"} {
			if k.public && !strings.Contains(read(file), k.keyEnv) {
				t.Errorf("%s lists the variables of keys without %s", file, k.keyEnv)
			}
		}
	}
}

// A public type needs no more than its entry to have an address.
func TestDefaultAddresses(t *testing.T) {
	for _, k := range kinds {
		p := Provider{Type: k.name}
		if got := p.baseURL(func(string) string { return "" }); k.public && (got != k.address || !isWebAddress(got)) {
			t.Errorf("got the address %q for %s, want %q", got, k.name, k.address)
		}
	}
	for typ, want := range map[string]string{TypeCompatible: "", TypeDirect: ""} { // an example is no default
		p := Provider{Type: typ}
		if got := p.baseURL(func(string) string { return "" }); got != want {
			t.Errorf("got the address %q for %s, want %q", got, typ, want)
		}
	}
}
