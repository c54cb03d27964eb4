package highlight

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

var update = flag.Bool("update", false, "write languages.zip, and the expected pieces")

// chosen are the languages that people work in, by their names in chroma. The first that fits a
// file is used.
var chosen = []string{
	"Go", "Rust", "Python", "JavaScript", "TypeScript", "react", "Java", "Kotlin", "C", "C++", "C#", "Ruby", "PHP", "Swift", "Objective-C",
	"Bash", "Bash Session", "fish", "PowerShell", "Batchfile", "SQL", "PL/pgSQL", "PostgreSQL SQL dialect", "MySQL", "HTML", "CSS", "SCSS", "Sass", "JSON",
	"YAML", "TOML", "XML", "SYSTEMD", "INI", "properties", "markdown", "Diff", "Docker", "Makefile", "CMake", "Meson", "Nix", "Lua", "Zig",
	"Haskell", "OCaml", "FSharp",
	"Elixir", "Erlang", "Gleam", "Clojure", "Scala", "Groovy", "Dart", "R", "Julia", "Perl", "Terraform", "HCL", "Protocol Buffer", "GraphQL", "vue",
	"Django/Jinja", "Go Text Template", "Handlebars", "Nginx configuration file", "VimL", "Common Lisp", "Scheme", "Awk",
	"D", "Nim", "Crystal", "Elm", "V", "Odin", "verilog", "VHDL", "Fortran", "ObjectPascal", "Matlab", "TeX", "GLSL", "NASM", "LLVM", "Tcl",
	"Gherkin", "Jsonnet", "CUE", "Prolog", "Ada", "Solidity", "Nu", "VB.net", "CoffeeScript", "HLSL", "Puppet", "Thrift", "GDScript",
	"COBOL", "Org Mode", "Typst", "Bicep", "QML", "Vala", "Lean", "Coq", "Standard ML", "ArmAsm", "GAS", "Twig",
}

// more are the names and files that chroma lacks.
var more = map[string]definition{
	"HTML":             {Aliases: []string{"svelte", "astro"}, Files: []string{"*.svelte", "*.astro"}},
	"JSON":             {Aliases: []string{"jsonc", "json5", "jsonl", "ndjson"}, Files: []string{"*.jsonl", "*.jsonc", "*.json5", "*.ipynb"}},
	"Bash":             {Aliases: []string{"shellscript"}, Files: []string{".profile", ".envrc"}},
	"Bash Session":     {Aliases: []string{"terminal"}},
	"JavaScript":       {Aliases: []string{"mjs", "cjs", "node"}, Files: []string{"*.cjs"}},
	"TypeScript":       {Aliases: []string{"mts", "cts"}},
	"Python":           {Aliases: []string{"starlark", "bazel"}, Files: []string{"*.star", "*.bzl"}},
	"Go":               {Files: []string{"go.mod"}},
	"Go Text Template": {Aliases: []string{"gotmpl", "go-template", "tmpl"}, Files: []string{"*.tmpl", "*.gotmpl"}},
	"Makefile":         {Files: []string{"*.mak"}},
	"Docker":           {Aliases: []string{"containerfile"}, Files: []string{"Containerfile"}},
	"XML":              {Aliases: []string{"svg", "plist"}, Files: []string{"*.csproj", "*.props", "*.targets", "*.plist"}},
	"C++":              {Aliases: []string{"hpp", "cc"}},
	"Common Lisp":      {Aliases: []string{"elisp", "emacs-lisp"}, Files: []string{"*.el"}},
	"Diff":             {Aliases: []string{"patch"}},
}

// lexerOf returns a lexer of chroma with rules that can be written: that of a file, or one that is
// written in Go.
func lexerOf(t *testing.T, dir, name string) *chroma.RegexLexer {
	t.Helper()
	file := strings.ToLower(strings.ReplaceAll(name, " ", "_")) + ".xml"
	if l, err := chroma.NewXMLLexer(os.DirFS(dir), "lexers/embedded/"+file); err == nil {
		return l
	}
	l := lexers.Get(name)
	if r, ok := l.(*chroma.RegexLexer); ok {
		return r
	}
	if v := reflect.ValueOf(l); v.IsValid() && v.Kind() == reflect.Pointer { // one that wraps another
		if inner := v.Elem().FieldByName("Lexer"); inner.IsValid() {
			return inner.Interface().(*chroma.RegexLexer)
		}
	}
	t.Fatalf("chroma has no lexer %s whose rules can be read", name)
	return nil
}

// rulesOf returns the rules of a language. Those that only code can express are replaced.
func rulesOf(t *testing.T, l *chroma.RegexLexer) chroma.Rules {
	t.Helper()
	rules, err := l.Rules()
	if err != nil {
		t.Fatal(err)
	}
	rules = rules.Clone()
	if l.Config().Name != "Go" {
		return rules
	}
	for i, r := range rules["root"] {
		if strings.HasPrefix(r.Pattern, "(`)") { // text in backquotes, read as a template
			rules["root"][i] = chroma.Rule{Pattern: "`[^`]*`", Type: chroma.LiteralString}
		}
	}
	return rules
}

// inHTML returns the rules of PHP for files, which begin as HTML.
func inHTML(php chroma.Rules) chroma.Rules {
	rules := php.Rename("root", "php")
	rules["root"] = []chroma.Rule{
		{Pattern: `<\?(php)?`, Type: chroma.CommentPreproc, Mutator: chroma.Push("php")},
		{Pattern: `(?:[^<]|<(?!\?))+`, Type: chroma.Using("HTML")},
	}
	return rules
}

var emptyElement = regexp.MustCompile(`<([a-z][^<>]*)></[a-z]+>`)

// written returns rules as XML.
func written(t *testing.T, rules chroma.Rules) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("<rules>")
	for _, state := range slices.Sorted(maps.Keys(rules)) {
		b.WriteString("<state name=\"")
		_ = xml.EscapeText(&b, []byte(state))
		b.WriteString("\">")
		for _, r := range rules[state] {
			data, err := xml.Marshal(r)
			if err != nil {
				t.Fatalf("%s: %v", r.Pattern, err)
			}
			b.Write(emptyElement.ReplaceAll(data, []byte("<$1/>")))
		}
		b.WriteString("</state>")
	}
	b.WriteString("</rules>")
	return b.Bytes()
}

// archived returns the files of the archive.
func archived(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	var list []definition
	add := func(d definition, rules chroma.Rules) {
		d.Rules = strings.ToLower(strings.NewReplacer(" ", "-", "/", "-").Replace(d.Name)) + ".xml"
		files[d.Rules] = written(t, rules)
		list = append(list, d)
	}
	for _, name := range chosen {
		l := lexerOf(t, dir, name)
		c, m := l.Config(), more[name]
		d := definition{
			Name: c.Name, Aliases: append(slices.Clone(c.Aliases), m.Aliases...), Files: append(slices.Clone(c.Filenames), m.Files...),
			CaseInsensitive: c.CaseInsensitive, DotAll: c.DotAll, NotMultiline: c.NotMultiline,
		}
		if name == "PHP" {
			file := d
			file.Name, file.Aliases = "PHTML", []string{"phtml"}
			add(file, inHTML(rulesOf(t, l)))
			d.Files = nil
		}
		add(d, rulesOf(t, l))
	}
	var err error
	if files[listName], err = json.Marshal(list); err != nil {
		t.Fatal(err)
	}
	return files
}

var using = regexp.MustCompile(`<using lexer="([^"]*)"`)

// The archive holds the definitions of the chroma in go.mod, and each language that another one
// uses. The terms of chroma are beside it.
func TestDefinitions(t *testing.T) {
	dir := chromaDir(t)
	want := archived(t, dir)
	if *update {
		writeArchive(t, want)
	}
	r, err := zip.OpenReader("languages.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, f := range r.File {
		if !bytes.Equal(content(&r.Reader, f.Name), want[f.Name]) {
			t.Errorf("%s is not what the chroma in go.mod has: run go generate ./cmd/zeph-acp/headless/highlight", f.Name)
		}
		for _, m := range using.FindAllStringSubmatch(string(want[f.Name]), -1) {
			if Named(m[1]).IsPlain() {
				t.Errorf("%s uses %s, which is not in the archive", f.Name, m[1])
			}
		}
		delete(want, f.Name)
	}
	for _, l := range definitions().all {
		if l.compiled() == nil {
			t.Errorf("the rules of %s do not compile", l.chroma.Config().Name)
		}
	}
	for name := range want {
		t.Errorf("%s is missing: run go generate ./cmd/zeph-acp/headless/highlight", name)
	}
	terms, err := os.ReadFile(filepath.Join(dir, "COPYING"))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("languages.LICENSE", terms, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("languages.LICENSE"); err != nil || !bytes.Equal(got, terms) {
		t.Errorf("languages.LICENSE is not the license of chroma (%v)", err)
	}
}

// writeArchive writes languages.zip.
func writeArchive(t *testing.T, files map[string][]byte) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmp.Or(w.Close(), os.WriteFile("languages.zip", b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// chromaDir returns the directory of chroma in the module cache.
func chromaDir(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
