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

// anyMay are packages that every other one may import: they have no domain, and import no
// package of the module.
var anyMay = []string{"executors/images", "executors/lazyregexp", "executors/quantity", "executors/texts", "executors/tighten", "executors/visible"}

// importTable lists the packages of the module that a package may import: those in
// the first row whose pattern matches the package. Patterns are those of path.Match,
// relative to the module; "x/..." matches x and every package below it.
var importTable = []struct {
	packages string
	may      []string
}{
	{"acp", nil},
	{"executors", []string{"executors/endless"}},
	{"executors/endless", nil},
	{"session/llm", nil},
	{"session/llm/wire", []string{"session/llm", "executors/backoff"}},
	{"session/llm/textcalls", []string{"session/llm"}},
	{"session/llm/llmtest", []string{"session/llm"}},
	{"session/llm/provider", []string{"session/llm", "session/llm/*", "executors/backoff"}},
	{"session/llm/failover", []string{"session/llm", "executors/backoff"}},
	{"session/llm/*", []string{"session/llm", "session/llm/wire", "session/llm/textcalls"}},
	{"protocol-fixtures/...", []string{"protocol-fixtures/..."}},
	{"executors/command/plain", nil},
	{"executors/command/follow", []string{"executors/command"}},
	{"executors/command", []string{"executors/command/plain"}},
	{"executors/workspace", nil},
	{"executors/workspace/steering", nil},
	{"executors/workspace/named", []string{"executors/wildcard"}},
	{"executors/files/walk", []string{"executors", "executors/workspace"}},
	{"executors/files/search", []string{"executors", "executors/pattern"}},
	{"executors/files/code", []string{"executors", "executors/files/search"}},
	{"executors/marks", nil},
	{"executors/files", []string{"executors", "executors/marks", "executors/workspace", "executors/pattern", "executors/files/*"}},
	{"executors/automaton", nil},
	{"executors/images", nil},
	{"executors/lazyregexp", nil},
	{"executors/quantity", nil},
	{"executors/pattern", []string{"executors/automaton"}},
	{"executors/diagnostics", []string{"executors", "executors/command", "executors/workspace", "executors/shell", "executors/shell/process"}},
	{"executors/shell", []string{"executors", "executors/command", "executors/workspace", "executors/shell/process", "executors/shell/rollback"}},
	{"executors/shell/process", []string{"executors"}},
	{"executors/shell/rollback", []string{"executors", "executors/command", "executors/workspace"}},
	{"executors/shell/sandbox", []string{"executors", "executors/shell/process", "executors/workspace"}},
	{"executors/mcp/oauth", []string{"executors"}},
	{"executors/mcp/oauth/oauthtest", nil},
	{"executors/mcp/stdio", []string{"executors", "executors/shell/process"}},
	{
		"executors/mcp",
		[]string{
			"executors",
			"executors/approval",
			"executors/backoff",
			"executors/endless",
			"executors/mcp/*",
			"executors/shell/process",
			"executors/trace",
			"executors/web",
		},
	},
	{"executors/lsp/client", []string{"executors/shell/process"}},
	{
		"executors/lsp",
		[]string{
			"executors",
			"executors/approval",
			"executors/diagnostics",
			"executors/files/walk",
			"executors/lsp/client",
			"executors/shell/process",
			"executors/workspace",
		},
	},
	{"executors/wildcard", nil},
	{"executors/hooks", []string{"executors", "executors/approval", "executors/command", "executors/command/follow", "executors/shell/process"}},
	{"executors/authorize/target", []string{"executors", "executors/command", "executors/command/follow", "executors/workspace", "executors/workspace/named"}},
	{"executors/authorize/cedarpolicy", []string{"executors", "executors/authorize", "executors/authorize/target"}},
	{"executors/authorize", []string{"executors", "executors/authorize/target", "executors/command", "executors/pattern", "executors/wildcard"}},
	{
		"executors/policy",
		[]string{"executors", "executors/answers", "executors/command", "executors/command/*", "executors/wildcard", "executors/workspace", "executors/workspace/*"},
	},
	{"executors/adversarial", []string{"executors", "executors/judge"}},
	{"executors/infoflow", []string{"executors", "executors/command", "executors/command/follow", "executors/workspace"}},
	{"executors/tighten", nil},
	{"executors/visible", nil},
	{"executors/schedule/cron", nil},
	{"executors/schedule", []string{"executors", "executors/schedule/cron"}},
	{"executors/rewind", []string{"executors", "executors/files/walk", "executors/workspace"}},
	{"executors/vector", nil},
	{"executors/otlp", nil},
	{"executors/trace", []string{"executors", "executors/backoff", "executors/otlp"}},
	{"executors/worktree", []string{"executors", "executors/program"}},
	{"executors/program", []string{"executors", "executors/shell/process"}},
	{"executors/memory", []string{"executors", "executors/vector", "executors/workspace"}},
	{"executors/*", []string{"executors", "executors/backoff", "executors/command", "executors/workspace", "executors/pattern"}},
	{"filter", []string{"executors", "executors/command", "executors/marks", "executors/workspace", "filter/*"}},
	{"filter/text", []string{"executors", "executors/automaton"}}, // spools its lines
	{"filter/redact", []string{"filter/text"}},
	{"filter/strategy", []string{"filter/text"}},
	{"filter/strategy/strategytest", []string{"filter/strategy", "filter/text"}},
	{"filter/*", []string{"filter/strategy", "filter/text"}},
	{"audit", []string{"executors", "executors/command", "executors/workspace"}},
	{"ideproxy", []string{"acp", "executors", "executors/*"}},
	{"session/transcript", []string{"acp", "session/llm"}},
	{
		"session/agent",
		[]string{
			"acp",
			"executors",
			"executors/trace",
			"session/llm",
			"session/llm/local",
			"session/llm/picture",
			"session/transcript",
		},
	},
	{"session/agent/frontmatter", nil},
	{"session/agent/filecommand", []string{"executors", "executors/approval", "session/agent/frontmatter", "session/agent/skills"}},
	{"session/agent/question", []string{"executors"}},
	{"session/agent/subagent", []string{"executors", "executors/approval", "session/agent/frontmatter"}},
	{
		"session/agent/skills",
		[]string{"executors", "executors/approval", "executors/command", "executors/wildcard", "session/agent/frontmatter"},
	},
	{"session/agent/toolset", []string{"executors", "executors/vector", "session/llm"}},
	{"session/agent/*", []string{"executors", "session/llm"}},
	{"session/store", nil},
	{"session/tasks", []string{"executors/schedule", "executors/schedule/cron", "session/store"}},
	{"session", []string{"acp", "session/agent", "session/llm", "session/llm/local", "session/store", "session/transcript"}},
	{"integration/cmd/...", nil},
	{"integration/*", []string{"acp", "protocol-fixtures/..."}},
	{"integration", []string{"acp", "protocol-fixtures/...", "integration/*"}},
	{"cmd/zeph-acp/config/toml", []string{"executors"}},
	{"cmd/zeph-acp/keys", []string{"executors", "cmd/zeph-acp/config/toml", "session/llm/provider"}},
	{"cmd/zeph-acp/config", []string{"acp", "audit", "executors/...", "filter", "session/...", "cmd/zeph-acp/config/toml", "cmd/zeph-acp/keys"}},
	{"cmd/zeph-acp/...", []string{"acp", "audit", "executors/...", "filter/...", "ideproxy", "protocol-fixtures", "session/...", "cmd/zeph-acp/..."}},
}

// forbidden lists packages for tests, which the binary must not contain.
var forbidden = []string{
	"github.com/coder/acp-go-sdk",
	"github.com/rogpeppe/go-internal/testscript",
	"github.com/santhosh-tekuri/jsonschema",
	"github.com/google/go-cmp",
	"testing",
	module + "/session/llm/llmtest",
	module + "/executors/mcp/oauth/oauthtest",
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
			if !ok || slices.Contains(anyMay, ours) || slices.ContainsFunc(importTable[row].may, func(pattern string) bool { return fits(pattern, ours) }) {
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
var programs = []string{"os/exec", "github.com/rogpeppe/go-internal/testscript", module + "/executors/shell/...", module + "/executors/worktree"}

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
