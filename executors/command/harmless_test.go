package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// The table has no unknown key, and no option that starts a program, writes a file elsewhere or
// weakens a check.
func TestHarmlessTable(t *testing.T) {
	var table harmlessTable
	dec := toml.NewDecoder(bytes.NewReader(harmlessTOML))
	if err := dec.DisallowUnknownFields().Decode(&table); err != nil {
		t.Fatal(err)
	}
	if len(table.Program) < 20 || len(table.Variables) < 20 {
		t.Fatalf("%d programs, %d variables", len(table.Program), len(table.Variables))
	}
	dangerous := strings.Fields("exec eval plugin filter config script shell pager editor command output force destroy push delete require preload init rc hook profile")
	for _, p := range table.Program {
		if !slices.Contains([]string{"", "names", "texts"}, p.Operands) {
			t.Errorf("%q: operands = %q", p.Names, p.Operands)
		}
		for _, o := range strings.Fields(p.Flags + " " + p.Values + " " + p.Switches) {
			if o[0] != '-' || len(o) < 2 || strings.Contains(strings.TrimSuffix(o, "*"), "*") {
				t.Errorf("%q: %q is not an option", p.Names, o)
			}
		}
		for _, o := range strings.Fields(p.Flags + " " + p.Values) {
			name := strings.TrimLeft(o, "-")
			if slices.ContainsFunc(dangerous, func(word string) bool { return strings.Contains(name, word) }) &&
				!slices.Contains([]string{"output-format", "no-config", "ignore-scripts", "configuration", "config", "output", "no-cli-pager", "filter"}, name) {
				t.Errorf("%q: %q is declared harmless", p.Names, o)
			}
		}
	}
}

// An option is known only as it is declared: not abbreviated, not negated, not in another bundle.
func TestOptionUse(t *testing.T) {
	for _, tt := range []struct {
		words, option string
		want          OptionUse
	}{
		{"go test", "-run=X", OptionHarmless}, {"go test", "-run", OptionHarmlessValue}, {"go test", "--run", OptionUnknown},
		{"go test", "-runx", OptionUnknown}, {"go test", "-exec", OptionUnknown}, {"go test", "-x", OptionSwitch}, {"go", "-race", OptionUnknown},
		{"pytest", "-xvs", OptionHarmless}, {"pytest", "-xk", OptionHarmlessValue}, {"pytest", "-n4", OptionHarmless}, {"pytest", "-pevil", OptionUnknown},
		{"pytest", "-xpevil", OptionUnknown}, {"pytest", "--tb=short", OptionHarmless}, {"pytest", "--no-tb", OptionUnknown},
		{"kubectl get", "-nx", OptionUnknown}, {"kubectl get", "-n", OptionHarmlessValue}, {"kubectl get", "--kubeconfig=x", OptionUnknown},
		{"kubectl delete", "-n", OptionUnknown}, {"gcc", "-DX=1", OptionHarmless}, {"gcc", "-Wl,-plugin", OptionUnknown},
		{"tar", "-xz", OptionSwitch}, {"tar", "-xI", OptionUnknown}, {"npm", "--silent", OptionHarmless}, {"unknown", "-v", OptionUnknown},
	} {
		if got := OptionsOf(strings.Fields(tt.words)).Use(tt.option); got != tt.want {
			t.Errorf("%s %s: %d, want %d", tt.words, tt.option, got, tt.want)
		}
	}
}
