package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testName = regexp.MustCompile("`(\\w+)\\.(Test\\w+)`")

// TestSecurityPage checks that each threat of docs/security.md names a test, and that
// the tests exist in the packages that it names.
func TestSecurityPage(t *testing.T) {
	tests := map[string]bool{} // by "package.Test"
	_, sources := repositoryFiles(t)
	for _, source := range sources {
		if !strings.HasSuffix(source, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", source), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
				tests[strings.TrimSuffix(file.Name.Name, "_test")+"."+f.Name.Name] = true
			}
		}
	}
	page := readText(t, filepath.Join("docs", "security.md"))
	for _, name := range testName.FindAllStringSubmatch(page, -1) {
		if test := name[1] + "." + name[2]; !tests[test] {
			t.Errorf("there is no test %s", test)
		}
	}
	_, table, _ := strings.Cut(section(t, "docs/security.md", "Threats"), "|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(strings.TrimSpace(table), "\n")
	if len(rows) < 12 {
		t.Errorf("the table has %d threats", len(rows))
	}
	for _, row := range rows {
		if cells := strings.Split(row, " | "); len(cells) != 3 || !testName.MatchString(cells[2]) {
			t.Errorf("no test shows: %s", row)
		}
	}
}
