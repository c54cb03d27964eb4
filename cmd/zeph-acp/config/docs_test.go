package config

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"

	"github.com/google/go-cmp/cmp"
)

// The samples that are generated: those marked "defaults" show all keys of their tables, and those
// marked "example" only have the sentences.
var generated = regexp.MustCompile("(?s)```toml (defaults|example)\n(.*?)```")

// settingsPages are the pages with such samples.
func settingsPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, dir := range []string{"../../../docs", "../../../docs/reference"} {
		all, err := filepath.Glob(dir + "/*.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range all {
			if text, err := os.ReadFile(page); err == nil && generated.Match(text) {
				pages = append(pages, page)
			}
		}
	}
	if len(pages) == 0 {
		t.Fatal("no page of docs has samples of settings")
	}
	return pages
}

// samples returns the samples of the settings pages: samples of all keys with their defaults, and examples.
func samples(t *testing.T) (defaults, examples []string) {
	t.Helper()
	for _, page := range settingsPages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range generated.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "defaults" {
				defaults = append(defaults, m[2])
			} else {
				examples = append(examples, m[2])
			}
		}
	}
	return defaults, examples
}

// regenerate returns a page with the tables of its samples written from the tags: in samples of defaults
// the keys, their defaults and sentences, in examples the sentences.
func regenerate(page string) string {
	return generated.ReplaceAllStringFunc(page, func(block string) string {
		m := generated.FindStringSubmatch(block)
		var out []string
		seen := map[string]bool{}
		for _, table := range strings.Split(strings.TrimSpace(m[2]), "\n\n") {
			header, lines, _ := strings.Cut(table, "\n")
			v := tableAt(reflect.ValueOf(setting.Default[Config]()), strings.Split(strings.Trim(header, "[]"), "."))
			switch {
			case m[1] == "defaults" && !strings.HasPrefix(header, "[["):
				out = append(out, header+"\n"+keysOf(v))
			case v.Kind() == reflect.Struct:
				out = append(out, header+"\n"+withSentences(v.Type(), lines, seen))
			default:
				out = append(out, table+"\n")
			}
		}
		return "```toml " + m[1] + "\n" + strings.Join(out, "\n") + "```"
	})
}

// tableAt returns the table at a path, or an element of the array or map of tables there.
func tableAt(v reflect.Value, path []string) reflect.Value {
	switch {
	case v.Kind() == reflect.Slice:
		return tableAt(reflect.Zero(v.Type().Elem()), path)
	case len(path) == 0:
		return v
	case v.Kind() == reflect.Map:
		return tableAt(reflect.Zero(v.Type().Elem()), path[1:])
	}
	for _, f := range setting.Fields(v.Type()) {
		if f.Key == path[0] {
			return tableAt(v.FieldByIndex(f.Index), path[1:])
		}
	}
	return reflect.ValueOf(0)
}

// withSentences returns the lines of an example. The first line of a key has its sentence.
func withSentences(t reflect.Type, lines string, seen map[string]bool) string {
	var out [][2]string
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		text, _, _ := strings.Cut(line, " # ")
		text = strings.TrimRight(text, " ")
		sentence := ""
		for _, f := range setting.Fields(t) {
			if id := t.String() + "." + f.Key; strings.HasPrefix(text, f.Key+" =") && !seen[id] {
				seen[id], sentence = true, f.Describe()
			}
		}
		out = append(out, [2]string{text, sentence})
	}
	return align(out)
}

// The tables of the pages are generated from the tags. Run with -update to write them again.
func TestTables(t *testing.T) {
	for _, file := range settingsPages(t) {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := regenerate(string(page))
		if *update && want != string(page) {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, string(page)); diff != "" {
			t.Errorf("%s differs from the tags; write it with go test ./cmd/zeph-acp/config -run 'TestTables|TestInitial' -update (-tags +page)\n%s", file, diff)
		}
	}
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
	for _, path := range slices.Sorted(maps.Keys(settable(new(Config)))) {
		if l.origins[path] == "" {
			t.Errorf("%s is on no page: write the header of a new table, [TABLE], into a sample that is marked \"toml defaults\", "+
				"then write the keys with -update, as in TestTables", path)
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
				t.Errorf("%s of %v is in no example: add it to a sample that is marked \"toml example\"", f.Key, typ)
			}
		}
	}
}
