package code

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// declarations returns what goDeclarations finds.
func declarations(src string) (all []goDeclaration) {
	goDeclarations([]byte(src), func(d goDeclaration) { all = append(all, d) })
	return all
}

// parsed returns the declarations of a file by the syntax tree of go/parser. The file
// must have no mistake.
func parsed(t *testing.T, src string) (all []goDeclaration) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(kind, container string, name *ast.Ident, from, to token.Pos) {
		at := func(p token.Pos) int { return fset.PositionFor(p, false).Offset }
		all = append(all, goDeclaration{kind, container, name.Name, fset.PositionFor(name.Pos(), false).Line, at(from), at(to)})
	}
	members := func(kind string, container *ast.Ident, list *ast.FieldList) {
		for _, f := range list.List {
			for _, name := range f.Names {
				add(kind, container.Name, name, f.Names[len(f.Names)-1].End(), f.Type.End())
			}
		}
	}
	typeSpec := func(s *ast.TypeSpec) {
		switch t := s.Type.(type) {
		case *ast.StructType:
			add("struct", "", s.Name, s.Name.End(), t.Pos())
			members("field", s.Name, t.Fields)
		case *ast.InterfaceType:
			add("interface", "", s.Name, s.Name.End(), t.Pos())
			members("signature", s.Name, t.Methods)
		default:
			add("type", "", s.Name, s.Name.End(), s.End())
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			end := d.End()
			if d.Body != nil {
				end = d.Body.Lbrace
			}
			if d.Recv == nil || len(d.Recv.List) == 0 {
				add("func", "", d.Name, d.Name.End(), end)
			} else {
				add("method", receiver(d.Recv.List[0].Type), d.Name, d.Name.End(), end)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					typeSpec(s)
				case *ast.ValueSpec:
					for _, name := range s.Names {
						add(d.Tok.String(), "", name, s.Names[len(s.Names)-1].End(), s.End())
					}
				}
			}
		}
	}
	return all
}

// receiver returns the name of a method's type.
func receiver(t ast.Expr) string {
	for {
		switch e := t.(type) {
		case *ast.StarExpr:
			t = e.X
		case *ast.ParenExpr:
			t = e.X
		case *ast.IndexExpr:
			t = e.X
		case *ast.IndexListExpr:
			t = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// TestGoDeclarations compares the declarations of odd files, and of this repository, with
// those of go/parser.
func TestGoDeclarations(t *testing.T) {
	for _, src := range []string{
		"func F[K comparable, V any](m map[K]V, f func() struct{ A int }) (_ interface{ M() }, err error) { return struct{ A int }{1} }",
		"func external(a int) int\nfunc (*T) one()\nfunc (t *T[K, V]) two() {}\nfunc ((((T)))) three() {}\nfunc (T,) four() {}",
		"type A[T any] struct{}\ntype B[T interface{ ~int }, U any] interface{ m(T) U }\ntype C[T ~int | string] []T\ntype D[T []int] struct { x T }\ntype E[P *Q,] struct{ p P }",
		"type F [5]struct{ x int }\ntype G [N]interface{ M() }\ntype H [N + 1]struct{ x int }\ntype I []struct{ x int }\ntype J [len(x)]struct{}\ntype K [...]struct{ x int }\ntype L [p.N * 2]struct{}",
		"type M = struct{ a, b int }\ntype N = map[string]struct{ x int }\ntype O (struct{ x int })\ntype P func(a int) (b int)\ntype Q[T any] = []T",
		"type (\n\tR struct {\n\t\tS\n\t\t*T `tag`\n\t\tp.U\n\t\tG[int]\n\t\tp.G[int] `tag`\n\t\ta [N]int\n\t\tb, c []G[int] \"tag\" // comment\n\t\td struct {\n\t\t\tx int\n\t\t} `tag`\n\t\tf func() (int, error); g int }\n\tV interface {\n\t\tio.Reader\n\t\t~int | string\n\t\tG[int]\n\t\tM(a, b int) (c struct{ x int })\n\t\tn() }\n)",
		"const a, b = iota, 2\nconst (\n\tc int = iota // c\n\td\n\te, _\n)\nvar f = func() int {\n\tx := 1\n\treturn x\n}\nvar g, h = []int{\n\t1,\n}, `raw\n`\nvar ( i map[string]int; j = struct{ x int }{1} )\nvar _ I = T{}",
		"import (\n\t\"fmt\"\n)\n\nimport \"os\"\n\n/* func no() */\nvar s = \"func no()\"\n\nfunc f() {\n\ttype inner struct{ x int }\n\tvar v int\n\tgo func() {}()\n}",
		"//line other.go:100\nfunc f() {}",
	} {
		src = "package p\n" + src
		if diff := cmp.Diff(parsed(t, src), declarations(src), cmp.AllowUnexported(goDeclaration{})); diff != "" {
			t.Errorf("%s\n(-parser +ours)\n%s", src, diff)
		}
	}
	files := 0
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution); err != nil {
			return nil // a test of mistakes
		}
		files++
		if diff := cmp.Diff(parsed(t, string(src)), declarations(string(src)), cmp.AllowUnexported(goDeclaration{})); diff != "" {
			t.Errorf("%s (-parser +ours)\n%s", path, diff)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestGoMistakes checks that a mistake hides no declaration after it.
func TestGoMistakes(t *testing.T) {
	for src, want := range map[string]string{
		"func a() { if x {\n\nfunc b() {}\n":                      "a b",
		"func a(\n\nfunc b() {}\n":                                "b",
		"type a struct {\n\tx int\n\nvar b = (1\n\nconst c = 1\n": "a x b c",
		"var a = `\nfunc b() {}":                                  "a",
		")]} func a() {}\n":                                       "a",
		"func a() {}\n}\nfunc b() {}":                             "a b",
		"const (\n\ta = 1\n\nfunc b() {}":                         "a b",
		"var (":                                                   "",
		"type a":                                                  "a",
		"func (t *T) a(x, y int":                                  "",
		"import (\n\nfunc a() {}":                                 "a",
	} {
		var names []string
		for _, d := range declarations("package p\n" + src) {
			names = append(names, d.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %s, want %s", src, got, want)
		}
	}
	if goDeclarations([]byte("func a() {}"), func(goDeclaration) {}) {
		t.Error("a text without a package clause is a Go file")
	}
}
