// Command architecture draws docs/architecture.svg, the parts of zeph-acp and their imports:
//
//	go run ./integration/cmd/architecture
//
// A part is a directory with all packages below it that are no part of their own. An arrow is drawn from a
// part to each part that it imports, unless another path of arrows leads there. A part stands above all that
// it imports, so the command fails if parts import each other.
package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// part is one box.
type part struct {
	name, about string
	dirs        []string // besides name; one that ends in a slash means the packages below it alone
}

var parts = []part{
	{"cmd/zeph-acp", "the commands", nil},
	{"cmd/zeph-acp/app", "builds server and chain", nil},
	{"cmd/zeph-acp/headless", "the client of run and chat", nil},
	{"cmd/zeph-acp/config", "the TOML file, keys, plug-ins", []string{"cmd/zeph-acp/keys", "cmd/zeph-acp/catalogue", "cmd/zeph-acp/plugin/bundle"}},
	{"session", "sessions and turns", nil},
	{"session/agent", "the turn loop", []string{"session/goal"}},
	{"session/store", "SQLite", nil},
	{"session/transcript", "the event log", nil},
	{"session/llm", "models", nil},
	{"ideproxy", "work in the editor", nil},
	{"acp", "the protocol", nil},
	{"executors/tools", "the tools", nil},
	{"executors/gates", "links that deny or ask", nil},
	{"executors/links", "links that change a run", nil},
	{"executors/permission", "allow, ask or deny", nil},
	{"executors/undo", "brings files back", nil},
	{"executors/sandbox", "confines commands", nil},
	{"executors/process", "child processes", nil},
	{"executors/workspace", "roots, guarded paths", []string{"executors/tools/files/walk"}},
	{"executors", "Call, Result, Executor", nil},
	{"executors/command", "shell scripts, parsed", nil},
	{"audit", "the record of calls", nil},
	{"filter", "filters of output", []string{"filter/text"}},
	{"filter/text/...", "text helpers", []string{"filter/text/"}},
}

const module = "github.com/zeph-acp/zeph-acp/"

func main() {
	if err := write(".", filepath.Join("docs", "architecture.svg")); err != nil {
		fmt.Fprintln(os.Stderr, "architecture:", err)
		os.Exit(1)
	}
}

// write draws the module at root.
func write(root, file string) error {
	g, err := read(root)
	if err != nil {
		return err
	}
	rows, err := g.rows()
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(draw(g.reduced(), rows)), 0o644)
}

// graph has the parts that each part imports, sorted.
type graph map[string][]string

// partOf returns the part with a package, or "": the one with the longest directory.
func partOf(pkg string) (name string) {
	longest := 0
	for _, p := range parts {
		for _, dir := range append(p.dirs, p.name) {
			below, only := strings.CutSuffix(dir, "/")
			if (strings.HasPrefix(pkg, below+"/") || pkg == dir && !only) && len(dir) > longest {
				name, longest = p.name, len(dir)
			}
		}
	}
	return name
}

// read returns the imports between the parts of a module, without the imports of tests.
func read(root string) (graph, error) {
	imports := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || d.Name() == "internal" || strings.HasPrefix(d.Name(), ".") && name != root {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(name))
		from := partOf(filepath.ToSlash(rel))
		if err != nil || from == "" || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if pkg, ok := strings.CutPrefix(imported, module); ok && partOf(pkg) != "" && partOf(pkg) != from {
				if imports[from] == nil {
					imports[from] = map[string]bool{}
				}
				imports[from][partOf(pkg)] = true
			}
		}
		return nil
	})
	g := graph{}
	for _, p := range parts {
		g[p.name] = slices.Sorted(maps.Keys(imports[p.name]))
	}
	return g, err
}
