package files

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// searched are public modules whose symbols TestSearchCodeModules looks for.
var searched = []string{
	"github.com/spf13/cobra", "github.com/google/jsonschema-go", "mvdan.cc/sh/v3", "github.com/modelcontextprotocol/go-sdk", "github.com/PuerkitoBio/goquery",
}

// TestSearchCodeModules looks for 40 symbols of each of five modules, as code refers to
// them: by the name alone where the module has no other symbol of that name, else with
// the package or the type. 95 % of the definitions must come first.
func TestSearchCodeModules(t *testing.T) {
	missed, total := 0, 0
	for _, module := range searched {
		dir := machine.ModuleDir(t, module)
		roots, err := workspace.New(dir)
		must(t, err)
		b := &bench{t: t, dir: dir, Registry: New(Disk{Roots: roots}, roots, setting.Default[Config](), nil)}
		for _, s := range sampleSymbols(t, dir, 40) {
			total++
			res, err := b.Execute(t.Context(), b.call("search_code", in{"query": s.query}))
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(res.Text, "\n")
			place, _, _ := strings.Cut(first, " ")
			if !slices.Contains(s.places, place) {
				missed++
				t.Logf("%s: %s: want %v, got %s", module, s.query, s.places, first)
			}
		}
	}
	t.Logf("%d of %d definitions come first", total-missed, total)
	if total < 200 || missed*20 > total {
		t.Errorf("%d of %d definitions do not come first, more than 5 %%", missed, total)
	}
}

// symbol is a definition to look for. It has several places if files for different
// platforms define it.
type symbol struct {
	query  string
	places []string // path:line
}

// sampleSymbols returns n symbols of a module that its code defines outside of tests.
func sampleSymbols(t *testing.T, dir string, n int) []symbol {
	t.Helper()
	bySymbol := map[string]*symbol{} // by directory and qualified name
	names := map[string]map[string]bool{}
	add := func(fset *token.FileSet, pkg, container string, name *ast.Ident) {
		if name.Name == "_" || name.Name == "init" || name.Name == "main" {
			return
		}
		pos := fset.Position(name.Pos())
		query := pkg + "." + name.Name
		if container != "" {
			query = container + "." + name.Name
		}
		key := filepath.Dir(pos.Filename) + " " + query
		if bySymbol[key] == nil {
			bySymbol[key] = &symbol{query: query}
		}
		bySymbol[key].places = append(bySymbol[key].places, fmt.Sprintf("%s:%d", filepath.ToSlash(pos.Filename), pos.Line))
		if names[name.Name] == nil {
			names[name.Name] = map[string]bool{}
		}
		names[name.Name][key] = true
	}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || e.Name() == "vendor") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		must(t, err)
		rel, err := filepath.Rel(dir, path)
		must(t, err)
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, rel, text, 0)
		must(t, err)
		if f.Name.Name == "main" {
			return nil
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				container := ""
				if d.Recv != nil {
					container = regexp.MustCompile(`\w+`).FindString(string(text[fset.Position(d.Recv.List[0].Type.Pos()).Offset:]))
				}
				add(fset, f.Name.Name, container, d.Name)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						add(fset, f.Name.Name, "", s.Name)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add(fset, f.Name.Name, "", name)
						}
					}
				}
			}
		}
		return nil
	}))
	var keys []string
	for key := range bySymbol {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	queries := map[string]int{}
	for _, key := range keys {
		queries[bySymbol[key].query]++
	}
	var sample []symbol
	for _, key := range keys {
		s := *bySymbol[key]
		if queries[s.query] > 1 { // two packages of one name
			continue
		}
		if _, bare, _ := strings.Cut(s.query, "."); len(names[bare]) == 1 {
			s.query = bare
		}
		if sample = append(sample, s); len(sample) == n {
			break
		}
	}
	return sample
}
