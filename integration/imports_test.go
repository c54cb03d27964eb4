package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/zeph-acp/zeph-acp"

// anyMay are packages that every other one may import: they have no domain, or are values that
// the tools and the protocol share, and import only each other.
var anyMay = []string{"filter/text/*", "executors/filechange"}

// importTable lists the packages of the module that a package may import: the first
// row whose pattern matches the package decides. Patterns are matched by path.Match,
// relative to the module; "x/..." matches x and every package below it.
var importTable = []struct {
	packages string
	may      []string
}{
	{"executors/filechange", nil},
	{"acp/gitpatch", nil},
	{"acp", []string{"acp/gitpatch"}},
	{"executors", []string{"executors/command"}},
	{"session/goal", nil},
	{"session/llm", nil},
	{"session/llm/wire", []string{"session/llm"}},
	{"session/llm/textcalls", []string{"session/llm"}},
	{"session/llm/llmtest", []string{"session/llm"}},
	{"session/llm/provider", []string{"session/llm", "session/llm/*", "session/llm/gemini/models"}},
	{"session/llm/failover", []string{"session/llm"}},
	{"session/llm/pricelist", []string{"session/llm"}},
	{"session/llm/gemini/models", nil},
	{"session/llm/google", []string{"session/llm/wire"}},
	{"session/llm/gemini", []string{"session/llm", "session/llm/wire", "session/llm/gemini/models", "session/llm/picture"}},
	{"session/llm/openai", []string{"session/llm", "session/llm/wire", "session/llm/textcalls", "session/llm/gemini/models"}},
	{"session/llm/*", []string{"session/llm", "session/llm/wire", "session/llm/textcalls"}},
	{"protocol-fixtures/...", []string{"protocol-fixtures/..."}},
	{"executors/command/programs", nil},
	{"executors/command/plain", []string{"executors/command/programs"}},
	{"executors/command/follow", []string{"executors/command"}},
	{"executors/command", []string{"executors/command/plain", "executors/command/programs"}},
	{"executors/workspace", nil},
	{"executors/workspace/steering", nil},
	{"executors/workspace/named", nil},
	{"executors/tools/files/walk", []string{"executors", "executors/workspace"}},
	{"executors/tools/files/search", []string{"executors"}},
	{"executors/tools/files/code", []string{"executors", "executors/tools/files/search"}},
	{"executors/tools/files/charset", nil},
	{"executors/tools/files/notebook", nil},
	{"executors/tools/files/workbook", nil},
	{"executors/tools/files/pdf", nil},
	{"executors/tools/files", []string{"executors", "executors/workspace", "executors/tools/files/*", "filter/text"}},
	{"executors/tools/diagnostics", []string{"executors", "executors/command", "executors/workspace", "executors/tools/shell", "executors/process"}},
	{"executors/tools/shell", []string{"executors", "executors/command", "executors/workspace", "executors/process", "executors/undo", "executors/undo/rollback"}},
	{"executors/process", []string{"executors"}},
	{"executors/undo", []string{"executors", "executors/tools/files/walk", "executors/workspace"}},
	{"executors/undo/rollback", []string{"executors", "executors/command", "executors/undo", "executors/workspace"}},
	{"executors/sandbox", []string{"executors", "executors/process", "executors/workspace"}},
	{"executors/tools/mcp/oauth", []string{"executors"}},
	{"executors/tools/mcp/oauth/oauthtest", nil},
	{"executors/tools/mcp/stdio", []string{"executors", "executors/process"}},
	{
		"executors/tools/mcp",
		[]string{
			"executors",
			"executors/permission/approval",
			"executors/tools/mcp/*",
			"executors/process",
			"executors/links/trace",
			"executors/tools/web",
		},
	},
	{"executors/tools/lsp/client", []string{"executors/process"}},
	{
		"executors/tools/lsp",
		[]string{
			"executors",
			"executors/permission/approval",
			"executors/tools/diagnostics",
			"executors/tools/files/walk",
			"executors/tools/lsp/client",
			"executors/process",
			"executors/workspace",
		},
	},
	{"executors/gates/hooks", []string{"executors", "executors/permission/approval", "executors/command", "executors/command/follow", "executors/process"}},
	{"executors/gates/rules/target",
		[]string{"executors", "executors/command", "executors/command/follow", "executors/command/programs", "executors/workspace", "executors/workspace/named"}},
	{"executors/gates/rules", []string{"executors", "executors/gates/rules/target", "executors/command"}},
	{
		"executors/permission",
		[]string{"executors", "executors/permission/answers", "executors/command", "executors/command/*", "executors/workspace", "executors/workspace/*"},
	},
	{"executors/gates/adversarial", []string{"executors", "executors/gates/judge"}},
	{"executors/gates/flow", []string{"executors", "executors/command", "executors/command/follow", "executors/command/programs", "executors/workspace"}},
	{"filter/text/*", nil},
	{"executors/tools/schedule/cron", nil},
	{"executors/tools/websearch", []string{"executors", "executors/tools/web"}},
	{"executors/tools/schedule", []string{"executors", "executors/tools/schedule/cron"}},
	{"executors/undo/rewind", []string{"executors", "executors/command", "executors/undo", "executors/workspace"}},
	{"executors/links/trace/otlp", nil},
	{"executors/links/trace", []string{"executors", "executors/links/trace/otlp"}},
	{"executors/undo/copies", []string{"executors", "executors/process/program", "executors/undo", "executors/workspace"}},
	{"executors/process/program", []string{"executors", "executors/process"}},
	{"executors/tools/memory", []string{"executors", "executors/workspace"}},
	{"executors/gates/*", []string{"executors", "executors/command", "executors/workspace"}},
	{"executors/links/*", []string{"executors", "executors/workspace"}},
	{"executors/permission/*", []string{"executors"}},
	{"executors/tools/*", []string{"executors", "executors/command", "executors/workspace"}},
	{"filter", []string{"executors", "executors/command", "executors/workspace", "filter/*"}},
	{"filter/text", []string{"executors"}}, // spools its lines
	{"filter/redact", []string{"filter/text"}},
	{"filter/strategy", []string{"filter/text"}},
	{"filter/strategy/strategytest", []string{"filter/strategy", "filter/text"}},
	{"filter/*", []string{"filter/strategy", "filter/text"}},
	{"audit", []string{"executors", "executors/command", "executors/workspace"}},
	{"ideproxy", []string{"acp", "executors", "executors/*", "executors/tools/*"}},
	{"session/transcript", []string{"acp", "session/llm"}},
	{
		"session/agent",
		[]string{
			"acp",
			"executors",
			"executors/links/trace",
			"session/goal",
			"session/llm",
			"session/llm/local",
			"session/llm/picture",
			"session/transcript",
		},
	},
	{"session/agent/frontmatter", []string{"executors"}},
	{"session/agent/filecommand", []string{"executors", "executors/permission/approval", "session/agent/frontmatter", "session/agent/skills"}},
	{"session/agent/question", []string{"executors"}},
	{"session/agent/subagent", []string{"executors", "executors/permission/approval", "session/agent/frontmatter"}},
	{
		"session/agent/skills",
		[]string{"executors", "executors/permission/approval", "executors/command", "session/agent/frontmatter"},
	},
	{"session/agent/toolset", []string{"executors", "session/llm"}},
	{"session/agent/*", []string{"executors", "session/llm"}},
	{"session/store", nil},
	{"session/tasks", []string{"executors/tools/schedule", "executors/tools/schedule/cron", "session/store"}},
	{"session", []string{"acp", "session/agent", "session/goal", "session/llm", "session/llm/local", "session/store", "session/transcript"}},
	{"integration/cmd/bench", []string{"integration/agents"}},
	{"integration/cmd/...", nil},
	{"integration/tasks", []string{"integration/agents", "session/llm"}},
	{"integration/agents", nil},
	{"integration/*", []string{"acp", "protocol-fixtures/..."}},
	{"integration", []string{"acp", "protocol-fixtures/...", "integration/*"}},
	{"cmd/zeph-acp/config/toml", []string{"executors"}},
	{"cmd/zeph-acp/keys", []string{"executors", "cmd/zeph-acp/config/toml", "session/llm/provider"}},
	{"cmd/zeph-acp/catalogue", []string{"executors", "executors/tools/*", "executors/links/*", "session/agent/*"}},
	{
		"cmd/zeph-acp/config",
		[]string{"acp", "audit", "executors/...", "filter", "session/...", "cmd/zeph-acp/catalogue", "cmd/zeph-acp/config/toml", "cmd/zeph-acp/keys"},
	},
	{"cmd/zeph-acp/helper", []string{"executors/process", "executors/sandbox"}},
	{"cmd/zeph-acp/cli", []string{
		"acp", "executors", "executors/workspace", "filter/redact", "protocol-fixtures",
		"cmd/zeph-acp/app", "cmd/zeph-acp/config", "cmd/zeph-acp/config/toml", "cmd/zeph-acp/headless/...",
	}},
	{"docs", nil},
	{"cmd/zeph-acp/topic", []string{"cmd/zeph-acp/cli", "docs", "filter/text/rank"}},
	{"cmd/zeph-acp/...", []string{
		"acp/...", "audit", "executors/...", "filter/...", "ideproxy", "protocol-fixtures", "protocol-fixtures/certify", "session/...", "cmd/zeph-acp/...",
	}},
}

// forbidden lists packages for tests, which the binary must not contain.
var forbidden = []string{
	"github.com/coder/acp-go-sdk",
	"github.com/rogpeppe/go-internal/testscript",
	"github.com/santhosh-tekuri/jsonschema",
	"github.com/google/go-cmp",
	"testing",
	module + "/session/llm/llmtest",
	module + "/executors/tools/mcp/oauth/oauthtest",
	module + "/cmd/zeph-acp/catalogue/cataloguetest",
	module + "/integration",
}

func fits(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	ok, _ := path.Match(pattern, pkg) // the patterns are valid
	return ok
}

// goPackage is a package of go list. Imports omits the imports of its tests.
type goPackage struct {
	ImportPath   string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string // of tests in the package with the suffix _test
}

func list(t *testing.T, args ...string) []goPackage {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps,TestImports,XTestImports"}, args...)...)
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var all []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImports(t *testing.T) {
	for _, p := range list(t, "./...") {
		pkg := strings.TrimPrefix(p.ImportPath, module+"/")
		row := slices.IndexFunc(importTable, func(r struct {
			packages string
			may      []string
		}) bool {
			return fits(r.packages, pkg)
		})
		if row < 0 {
			t.Errorf("%s is in no row of the import table: a new concept becomes a sub-package of an existing one", pkg)
			continue
		}
		for _, imported := range p.Imports {
			ours, ok := strings.CutPrefix(imported, module+"/")
			if !ok || mayImport(anyMay, ours) || mayImport(importTable[row].may, ours) {
				continue
			}
			allowed := "nothing of ours"
			if may := importTable[row].may; may != nil {
				allowed = strings.Join(may, ", ")
			}
			t.Errorf("%s imports %s; it may import %s", pkg, ours, allowed)
		}
	}
}

// mayImport reports whether a list of patterns has one for the package.
func mayImport(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return fits(pattern, pkg) })
}

func TestBinaryHasNoTestCode(t *testing.T) {
	for _, p := range list(t, command) {
		for _, dep := range p.Deps {
			for _, f := range forbidden {
				if fits(f+"/...", dep) {
					t.Errorf("the binary contains %s, which is only for tests", dep)
				}
			}
		}
	}
}

// programs are the imports of tests that start programs.
var programs = []string{"os/exec", "github.com/rogpeppe/go-internal/testscript", module + "/executors/tools/shell/...", module + "/executors/process/...",
	module + "/executors/sandbox", module + "/executors/undo/copies"}

// TestCleanMachine checks that the tests of packages that start programs do not see the
// user's configuration of them.
func TestCleanMachine(t *testing.T) {
	const machine = module + "/protocol-fixtures/machine"
	for _, p := range list(t, "./...") {
		tests := slices.Concat(p.TestImports, p.XTestImports)
		starts := slices.IndexFunc(tests, func(pkg string) bool {
			return slices.ContainsFunc(programs, func(pattern string) bool { return fits(pattern, pkg) })
		})
		if starts >= 0 && !slices.Contains(tests, machine) {
			t.Errorf("tests of %s import %s: call machine.Tests in TestMain", p.ImportPath, tests[starts])
		}
	}
}
