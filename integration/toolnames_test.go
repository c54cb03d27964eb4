package integration

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// describeTools are the packages that make tools, so each of them names its own.
var describeTools = []string{
	"executors/tools/...", "executors/links/overflow", "session/agent/native", "session/agent/question",
	"session/agent/skills", "session/agent/subagent", "session/agent/toolset",
}

// otherWords are the strings that are also names of tools, by the file or directory that uses them
// for something else.
var otherWords = map[string][]string{
	"executors/command":   {"bash", "read", "grep", "fetch"}, // programs
	"executors/process":   {"bash"},
	"executors/sandbox":   {"bash"},
	"filter":              {"bash", "grep", "fetch", "read", "write"}, // programs, strategies and words
	"protocol-fixtures":   {"bash", "read", "write", "edit", "fetch"}, // scenarios, and kinds of the protocol
	"session/llm/llmtest": {"bash", "read", "write", "web_scrape"},    // sample tools of requests to models
	"ideproxy":            {"bash", "read", "write"},                  // the shell, and operations on files

	"cmd/zeph-acp/app/prompt.go":             {"bash"},                  // the shell that the system prompt names
	"cmd/zeph-acp/completion.go":             {"bash"},                  // the shell to complete for
	"cmd/zeph-acp/filter/list.go":            {"fetch"},                 // a strategy
	"cmd/zeph-acp/permissions/gemini.go":     {"ask_user"},              // a decision of Gemini CLI
	"cmd/zeph-acp/permissions/import.go":     {"write"},                 // a flag
	"acp/change.go":                          {"edit"},                  // a kind of the protocol
	"cmd/zeph-acp/story/cardnode.go":         {"read", "edit", "fetch"}, // kinds of the protocol
	"executors/executors.go":                 {"read", "edit", "fetch"},
	"session/transcript/check.go":            {"read", "edit", "fetch"},
	"executors/record.go":                    {"web_scrape", "diagnostics"}, // sources of content in the audit log
	"executors/gates/rules/target/script.go": {"grep"},                      // a program
	"cmd/zeph-acp/imports/imports.go":        {"write"},                     // a flag
	"cmd/zeph-acp/plugin/bundle/git.go":      {"fetch"},                     // a command of git
	"executors/permission/decide.go":         {"bash"},
	"executors/permission/plain.go":          {"bash"},
	"executors/permission/agentfiles.go":     {"grep"},
	"executors/workspace/branch_linux.go":    {"read"}, // an operation
	"executors/workspace/named/commands.go":  {"bash"}, // a member of foreign inputs
}

// TestToolNames checks that no code outside of the packages of tools decides by the name of a tool:
// what is true of a tool is in its description. A new tool would be missed otherwise.
func TestToolNames(t *testing.T) {
	out, err := exec.Command(binary, "tools", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var tools []struct{ Name string }
	if err := json.Unmarshal(out, &tools); err != nil || len(tools) < 20 {
		t.Fatalf("got %d tools, %v", len(tools), err)
	}
	names := map[string]bool{}
	for _, tool := range tools {
		names[tool.Name] = true
	}
	used := map[string]bool{}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		rel := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || rel == "integration" || strings.HasPrefix(d.Name(), ".") && path != ".."):
			return fs.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), strings.HasSuffix(rel, "cataloguetest/head.go"):
			return nil
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if slices.ContainsFunc(describeTools, func(pattern string) bool { return fits(pattern, pkg) }) {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !names[text] {
				return true
			}
			for of, words := range otherWords {
				if (of == rel || strings.HasPrefix(rel, of+"/")) && slices.Contains(words, text) {
					used[of] = true
					return true
				}
			}
			t.Errorf("%s names the tool %s: let the tool's description say what is special about it", files.Position(literal.Pos()), text)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for of := range otherWords {
		if !used[of] {
			t.Errorf("%s no longer uses a word that is also the name of a tool: remove its row", of)
		}
	}
}
