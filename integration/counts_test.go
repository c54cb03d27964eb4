package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	formatVerb = regexp.MustCompile(`%%|%[-+# 0]*[\d.*]*[a-zA-Z]`)
	pluralNext = regexp.MustCompile(`^ (?:more |tool )?([a-z]+[^s\W]s)\b`)
	// notCounted are words after a number that are no nouns in the plural, or units.
	notCounted = regexp.MustCompile(`^(ms|is|was|has|as|others|chars)$`)
	// linesToLines is the statistics of the filters, which programs read.
	linesToLines = regexp.MustCompile(`%d lines -> %d lines`)
)

// TestCountedNouns checks that messages have "1 line" and not "1 lines": a number that may be
// one is written by quantity.Count. Constants are fine.
func TestCountedNouns(t *testing.T) {
	err := filepath.WalkDir("..", func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == ".git" || name == "testdata" || name == "integration" || name == "protocol-fixtures" || name == "strategytest" {
			return filepath.SkipDir
		}
		set := token.NewFileSet()
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		var files []*ast.File
		constants := map[string]bool{}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(set, source, nil, 0)
			if err != nil {
				return err
			}
			files = append(files, f)
			ast.Inspect(f, func(n ast.Node) bool {
				if g, ok := n.(*ast.GenDecl); ok && g.Tok == token.CONST {
					for _, s := range g.Specs {
						for _, name := range s.(*ast.ValueSpec).Names {
							constants[name.Name] = true
						}
					}
				}
				return true
			})
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					checkCounts(t, set, call, constants)
				}
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkCounts checks the format of a call, such as one of fmt.Sprintf.
func checkCounts(t *testing.T, set *token.FileSet, call *ast.CallExpr, constants map[string]bool) {
	for at, arg := range call.Args {
		lit, ok := arg.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || !strings.Contains(lit.Value, "%d ") || linesToLines.MatchString(lit.Value) {
			continue
		}
		format, _ := strconv.Unquote(lit.Value) // the parser has accepted it
		next := at
		for _, verb := range formatVerb.FindAllStringIndex(format, -1) {
			if format[verb[0]:verb[1]] == "%%" {
				continue
			}
			next++
			noun := pluralNext.FindStringSubmatch(format[verb[1]:])
			if format[verb[0]:verb[1]] != "%d" || noun == nil || notCounted.MatchString(noun[1]) || next >= len(call.Args) || isConstant(call.Args[next], constants) {
				continue
			}
			t.Errorf("%s: %q may be of one: use quantity.Count", set.Position(call.Pos()), format[verb[0]:verb[1]]+" "+noun[1])
		}
		return
	}
}

// isConstant reports whether an expression is a constant of its package, or a name of
// another package, most of which are constants.
func isConstant(e ast.Expr, constants map[string]bool) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return constants[e.Name]
	case *ast.BinaryExpr:
		return isConstant(e.X, constants) && isConstant(e.Y, constants)
	case *ast.ParenExpr:
		return isConstant(e.X, constants)
	case *ast.SelectorExpr:
		x, ok := e.X.(*ast.Ident)
		return ok && x.Obj == nil && ast.IsExported(e.Sel.Name) && len(x.Name) > 3 // names of variables are shorter, names of packages are not
	}
	return false
}
