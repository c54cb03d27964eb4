package integration

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayStart lists the places of the module that start programs, with the reason. Programs that
// zeph-acp needs for itself start in executors/process/program and nowhere else. The places of the first
// part make processes. The others start programs that the user has approved or named; they do it
// through package process, which ends them with this process.
var mayStart = map[string]string{
	"executors/process/process.go":         "makes the processes of all commands",
	"executors/process/piped.go":           "makes the processes of all servers, hooks and programs",
	"executors/process/session_windows.go": "ends processes with a program of Windows",
	"executors/sandbox/helper_linux.go":    "becomes the command that it confines",
	"executors/sandbox/box_darwin.go":      "tries sandbox-exec, which is the box itself",
	"executors/sandbox/launcher.go":        "makes the process of a command in an editor's terminal, in the box",
	"cmd/zeph-acp/helper/helper.go":        "starts this binary as the reaper",

	"executors/process/program/program.go": "the only start of programs that zeph-acp needs for itself",
	"executors/tools/shell/local.go":       "commands of the tool bash, which permission has decided about",
	"executors/tools/shell/job.go":         "the same in the background",
	"executors/tools/diagnostics/run.go":   "checkers of the tool diagnostics, which permission has decided about",
	"executors/gates/hooks/run.go":         "hooks of the user's configuration, or approved ones",
	"executors/tools/lsp/server.go":        "language servers of the user's configuration, or approved ones",
	"executors/tools/lsp/client/client.go": "the same",
	"executors/tools/mcp/connect.go":       "MCP servers of the user's configuration, or approved ones",
	"executors/tools/mcp/stdio/stdio.go":   "the same",
	"cmd/zeph-acp/certify/certify.go":      "the client that the user names, to test it",
	"cmd/zeph-acp/chat/outside.go":         "the user's own editor, at a key of the user",
	"cmd/zeph-acp/headless/terminal.go":    "terminals of the client of run and chat, for commands of the tool bash",
}

// starters are the functions, methods and types that start a program, by the path of their
// package.
var starters = map[string][]string{
	"os/exec":                     {"Command", "CommandContext", "Cmd"},
	"os":                          {"StartProcess"},
	"syscall":                     {"Exec", "ForkExec", "StartProcess", "CreateProcess", "CreateProcessAsUser"},
	"golang.org/x/sys/unix":       {"Exec"},
	"golang.org/x/sys/windows":    {"CreateProcess", "CreateProcessAsUser", "ShellExecute"},
	"golang.org/x/sys/execabs":    {"Command", "CommandContext", "Cmd"},
	module + "/executors/process": {"Start", "StartPiped"},
	"github.com/modelcontextprotocol/go-sdk/mcp": {"CommandTransport"},
}

// notTheBinary are directories with code that the binary does not contain.
var notTheBinary = []string{"integration", "protocol-fixtures", "cmd/zeph-acp/internal/release", "session/llm/llmtest"}

func TestOnePlaceStartsPrograms(t *testing.T) {
	used := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("..", path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		switch {
		case e.IsDir() && (slices.Contains(notTheBinary, name) || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && name != "."):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for _, what := range startsIn(t, path) {
			used[name] = true
			if mayStart[name] == "" {
				t.Errorf("%s uses %s: programs that zeph-acp needs start with program.Runner.Run, in the box and without keys", name, what)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range mayStart {
		if !used[name] {
			t.Errorf("%s starts no program, so it is wrong in the table", name)
		}
	}
}

// startsIn returns the starters that a file uses.
func startsIn(t *testing.T, path string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // package path by the name in the file
	for _, imported := range file.Imports {
		pkg := strings.Trim(imported.Path.Value, `"`)
		name := pkg[strings.LastIndex(pkg, "/")+1:]
		if imported.Name != nil {
			name = imported.Name.Name
		}
		if name == "." && starters[pkg] != nil {
			found = append(found, "a dot import of "+pkg)
		}
		names[name] = pkg
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // a parameter or a field of that type starts nothing
			return false
		case *ast.CompositeLit: // a program that somebody starts
			if sel, ok := n.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Program" {
				if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] == module+"/executors/process" {
					found = append(found, "process.Program")
				}
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && slices.Contains(starters[names[x.Name]], n.Sel.Name) {
				found = append(found, x.Name+"."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}
