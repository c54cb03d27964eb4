//go:build unix

package diagnostics

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// tree makes files in a directory of its own, executable if they begin with
// "#!". PATH contains only its bin directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(dir, "w")
	os.MkdirAll(root, 0o755)
	for name, text := range files {
		path := filepath.Join(root, name)
		if program, ok := strings.CutPrefix(name, "PATH/"); ok {
			path = filepath.Join(dir, "bin", program)
		}
		os.MkdirAll(filepath.Dir(path), 0o755)
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	return root
}

func tools(t *testing.T, root string, cfg Config) executors.Registry {
	t.Helper()
	roots, err := workspace.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return New(shell.Local{}, roots, cfg)
}

func call(t *testing.T, tool executors.Executor, input string) (*executors.Call, error) {
	t.Helper()
	c := &executors.Call{Tool: Tool, Input: json.RawMessage(input)}
	card, err := tool.Prepare(t.Context(), c)
	c.Card = card
	return c, err
}

func run(t *testing.T, root, input string) executors.Result {
	t.Helper()
	tool := tools(t, root, setting.Default[Config]())
	c, _ := call(t, tool, input)
	res, err := tool.Execute(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

const script = "#!/bin/sh\n"

func TestPlan(t *testing.T) {
	all := map[string]string{"PATH/cargo": script, "PATH/go": script, "PATH/tsc": script, "PATH/eslint": script, "PATH/ruff": script, "PATH/mypy": script}
	const mypy = "mypy --show-column-numbers --show-error-codes --hide-error-context --no-error-summary --no-pretty --no-color-output"
	for name, tt := range map[string]struct {
		files       []string // NAME or NAME=text
		input, want string
	}{
		"rust":           {[]string{"Cargo.toml"}, `{}`, "cargo check --message-format=json"},
		"clippy":         {[]string{"Cargo.toml"}, `{"kind":"clippy"}`, "cargo clippy --message-format=json"},
		"rust workspace": {[]string{"Cargo.toml=[workspace]\n", "a/Cargo.toml"}, `{}`, "cargo check --message-format=json --workspace"},
		"member": {[]string{"Cargo.toml=[workspace]\n", "a/Cargo.toml", "a/src/lib.rs"}, `{"path":"a/src"}`,
			"(cd a && cargo check --message-format=json)"},
		"two crates": {[]string{"a/Cargo.toml", "b/Cargo.toml"}, `{}`,
			"(cd a && cargo check --message-format=json); (cd b && cargo check --message-format=json)"},
		"go":                   {[]string{"go.mod"}, `{}`, "go build -o /dev/null ./...; go vet -json ./..."},
		"go, directory":        {[]string{"go.mod", "x/y/a.go"}, `{"path":"x/y"}`, "go build -o /dev/null ./x/y/...; go vet -json ./x/y/..."},
		"go, file":             {[]string{"go.mod", "x/a.go"}, `{"path":"x/a.go"}`, "go build -o /dev/null ./x; go vet -json ./x"},
		"go, file in the root": {[]string{"go.mod", "a.go", "tsconfig.json"}, `{"path":"a.go"}`, "go build -o /dev/null .; go vet -json ."},
		"go, another module":   {[]string{"go.mod", "x/go.mod"}, `{"path":"x"}`, "(cd x && go build -o /dev/null ./...); (cd x && go vet -json ./...)"},
		"typescript":           {[]string{"tsconfig.json"}, `{}`, "tsc --noEmit --pretty false"},
		"solution":             {[]string{`tsconfig.json={"files":[],"references":[{"path":"a"}]}`, "a/tsconfig.json"}, `{}`, "tsc -b --noEmit --pretty false"},
		"own tsc":              {[]string{"tsconfig.json", "node_modules/.bin/tsc=" + script}, `{}`, "./node_modules/.bin/tsc --noEmit --pretty false"},
		"hoisted tsc": {[]string{"packages/a/tsconfig.json", "node_modules/.bin/tsc=" + script}, `{}`,
			"(cd packages/a && ../../node_modules/.bin/tsc --noEmit --pretty false)"},
		"eslint": {[]string{"eslint.config.mjs"}, `{}`, "eslint . -f json --no-error-on-unmatched-pattern"},
		"eslint, file": {[]string{".eslintrc.json", "src/a b.js", "pyproject.toml"}, `{"path":"src/a b.js"}`,
			"eslint './src/a b.js' -f json --no-error-on-unmatched-pattern"},
		"eslint in package":  {[]string{`package.json={"eslintConfig":{}}`}, `{}`, "eslint . -f json --no-error-on-unmatched-pattern"},
		"python":             {[]string{"pyproject.toml", "sub/pyproject.toml"}, `{}`, "ruff check --no-fix --output-format json .; " + mypy + " ."},
		"python, only files": {[]string{"a.py"}, `{}`, "ruff check --no-fix --output-format json .; " + mypy + " ."},
		"mypy knows files":   {[]string{"setup.cfg=[mypy]\nfiles = src\n"}, `{}`, "ruff check --no-fix --output-format json .; " + mypy},
		"own ruff":           {[]string{"setup.py", ".venv/bin/ruff=" + script}, `{}`, "./.venv/bin/ruff check --no-fix --output-format json .; " + mypy + " ."},
		"mixed": {[]string{"go.mod", "web/tsconfig.json", "web/node_modules/x/tsconfig.json", "crates/Cargo.toml"}, `{}`,
			"(cd crates && cargo check --message-format=json); go build -o /dev/null ./...; go vet -json ./...; (cd web && tsc --noEmit --pretty false)"},
		"odd names": {[]string{"-rf/tsconfig.json", "a;b/tsconfig.json"}, `{}`,
			"(cd ./-rf && tsc --noEmit --pretty false); (cd 'a;b' && tsc --noEmit --pretty false)"},
		"hidden and deep": {[]string{"go.mod", ".x/Cargo.toml", "a/b/c/d/Cargo.toml", "vendor/x/go.mod"}, `{}`,
			"go build -o /dev/null ./...; go vet -json ./..."},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for n, text := range all {
				files[n] = text
			}
			for _, f := range tt.files {
				n, text, _ := strings.Cut(f, "=")
				files[n] = text
			}
			root := tree(t, files)
			c, err := call(t, tools(t, root, setting.Default[Config]()), tt.input)
			if diff := cmp.Diff(tt.want, c.Card.Command()); err != nil || diff != "" {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
			if c.Card.Dir() != root || c.Card.Kind != executors.KindExecute || len(c.Card.Paths) != 1 {
				t.Errorf("got the card %+v, want one path in %s", c.Card, root)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	root := tree(t, map[string]string{"empty/x": "", "go.mod": "", "PATH/go": script})
	os.Symlink(filepath.Dir(root), filepath.Join(root, "out"))
	syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600)
	for input, want := range map[string]executors.Category{
		`{"path":".."}`:             executors.PolicyBlocked,
		`{"path":"out"}`:            executors.PolicyBlocked,
		`{"path":"/etc"}`:           executors.PolicyBlocked,
		`{"path":"nope"}`:           executors.InvalidParameters,
		`{"path":"fifo"}`:           executors.InvalidParameters,
		`{"kind":"install"}`:        executors.InvalidParameters,
		`{"max_diagnostics":"two"}`: executors.TypeMismatch,
	} {
		_, err := call(t, tools(t, root, setting.Default[Config]()), input)
		if f, ok := errors.AsType[*executors.Failure](err); !ok || f.Category != want {
			t.Errorf("%s: %v", input, err)
		}
	}
	os.Remove(filepath.Join(root, "go.mod"))
	if res := run(t, root, `{}`); !res.Failed || !strings.Contains(res.ForModel(), "Cargo.toml") {
		t.Errorf("no project: got %s, want a failure that names Cargo.toml", res.ForModel())
	}
}

// prints is a program that prints a file of testdata.
func prints(t *testing.T, name, more string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return script + "/bin/cat '" + abs + "'\n" + more + "\n"
}

func TestRun(t *testing.T) {
	root := tree(t, map[string]string{
		"rust/Cargo.toml": "", "rust/src/main.rs": "", "rust/src/util.rs": "",
		"ts/tsconfig.json": "", "ts/src/a.ts": "",
		"PATH/cargo": prints(t, "cargo-clippy.jsonl", "echo Checking >&2"),
		"PATH/tsc":   prints(t, "tsc.txt", "exit 2"),
	})
	res := run(t, root, `{}`)
	want := `5 errors, 4 warnings
rust/src/main.rs:3:9: warning: unused variable: ` + "`unused`" + ` [unused_variables]
rust/src/util.rs:1:13: warning: writing ` + "`&Vec` instead of `&[_]`" + ` involves a new object where a slice will do [clippy::ptr_arg]
rust/src/util.rs:2:8: warning: length comparison to zero [clippy::len_zero]
rust/src/util.rs:3:5: warning: unneeded ` + "`return`" + ` statement [clippy::needless_return]
ts/src/a.ts:2:16: error: Type 'string' is not assignable to type 'number'. [TS2322]
ts/src/a.ts:2:29: error: Type 'number' is not assignable to type 'string'. [TS2322]
ts/src/a.ts:4:3: error: Argument of type '(s: string) => void' is not assignable to parameter of type '(n: number) => void'. Types of parameters 's' and 'n' are incompatible. Type 'number' is not assignable to type 'string'. [TS2345]
ts/src/a.ts:5:26: error: Cannot find name 'missing'. [TS2304]
ts/src/a.ts:6:41: error: Type '(x: string) => number' is not assignable to type '(x: number) => string'. Types of parameters 'x' and 'x' are incompatible. Type 'number' is not assignable to type 'string'. [TS2322]
[checked with cargo check, tsc]`
	if diff := cmp.Diff(want, res.ForModel()); diff != "" || res.Failed {
		t.Errorf("failed %t (-want +got)\n%s", res.Failed, diff)
	}
	if l := res.Locations; len(l) != 8 || l[0] != (executors.Location{Path: filepath.Join(root, "rust/src/main.rs"), Line: 3}) {
		t.Errorf("got the locations %v, want 8, the first in main.rs", l)
	}
	if raw := res.Raw.(Report); len(raw.Diagnostics) != 9 || raw.Diagnostics[0] != (Diagnostic{"rust/src/main.rs", 3, 9, Warning, "unused_variables",
		"unused variable: `unused`"}) {
		t.Errorf("raw %+v", raw)
	}

	res = run(t, root, `{"max_diagnostics":2}`)
	if !strings.Contains(res.ForModel(), "5 errors, 4 warnings\nts/src/a.ts:2:16: ") || !strings.Contains(res.ForModel(),
		"[7 more left out") || len(res.Raw.(Report).Diagnostics) != 2 {
		t.Errorf("two: %s", res.ForModel())
	}
	res = run(t, root, `{"path":"rust/src/util.rs"}`)
	if !strings.HasPrefix(res.ForModel(), "3 warnings\nrust/src/util.rs") || !strings.Contains(res.ForModel(),
		"[1 more in the project outside rust/src/util.rs]") {
		t.Errorf("file: %s", res.ForModel())
	}
}

func TestWarnings(t *testing.T) {
	for name, tt := range map[string]struct {
		files  map[string]string
		want   string
		failed bool
	}{
		"absent": {map[string]string{"Cargo.toml": ""}, "No diagnostics\n[warning: cargo is not installed, so . was not checked with cargo check]", false},
		"all absent": {map[string]string{"go.mod": "", "web/tsconfig.json": "", "web/eslint.config.js": "", "py/setup.py": ""},
			"No diagnostics\n[warning: go is not installed, so . was not checked with go build]\n[warning: go is not installed, so . was not checked with go vet]\n" +
				"[warning: tsc is not installed, so web was not checked with tsc]\n[warning: eslint is not installed, so web was not checked with eslint]\n" +
				"[warning: neither ruff nor mypy is installed, so Python in py was not checked]", false},
		"wanted": {map[string]string{"pyproject.toml": "[tool.mypy]\n", "PATH/ruff": script + "echo '[]'"},
			"No diagnostics\n[warning: mypy is not installed, so . was not checked with mypy]\n[checked with ruff]", false},
		"not wanted": {map[string]string{"pyproject.toml": "", "PATH/ruff": script + "echo '[]'"}, "No diagnostics\n[checked with ruff]", false},
		"clean":      {map[string]string{"Cargo.toml": "", "PATH/cargo": script}, "No diagnostics\n[checked with cargo check]", false},
		"broken": {map[string]string{"Cargo.toml": "", "PATH/cargo": script + "printf 'error: \\033[31mno\\n such command\\n' >&2; exit 101"},
			"[tool_error]\ncategory: permanent_failure\nerror: nothing could be checked\nsuggestion: See the warnings below for the cause.\nretryable: false\n" +
				"[warning: cargo check failed (exit 101): error: \uFFFD[31mno; such command]", true},
		"one broken": {map[string]string{"Cargo.toml": "", "PATH/cargo": script + "kill -9 $$", "tsconfig.json": "", "PATH/tsc": script},
			"No diagnostics\n[warning: cargo check failed (SIGKILL): it wrote nothing]\n[checked with tsc]", false},
		"no interpreter": {map[string]string{"tsconfig.json": "", "PATH/tsc": "#!/no/such\n"},
			"[tool_error]\ncategory: permanent_failure\nerror: nothing could be checked\nsuggestion: See the warnings below for the cause.\nretryable: false\n" +
				"[warning: tsc could not be started: fork/exec PATH/tsc: no such file or directory]", true},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, tt.files)
			res := run(t, root, `{}`)
			text := strings.ReplaceAll(res.ForModel(), filepath.Join(filepath.Dir(root), "bin"), "PATH")
			if diff := cmp.Diff(tt.want, text); diff != "" || res.Failed != tt.failed {
				t.Errorf("failed %t (-want +got)\n%s", res.Failed, diff)
			}
			if raw, _ := json.Marshal(res.Raw); !strings.HasPrefix(string(raw), `{"diagnostics":[]`) {
				t.Errorf("got the raw output %s, want no diagnostics", raw)
			}
		})
	}
}

func TestOutputIsBounded(t *testing.T) {
	root := tree(t, map[string]string{"tsconfig.json": "", "PATH/tsc": script + `
long=x; for i in 1 2 3 4 5 6 7 8 9 10; do long=$long$long; done
i=0; while [ $i -lt 6000 ]; do i=$((i+1)); echo "a.ts($i,1): error TS1: $i $long"; done; exit 2`})
	cfg := setting.Default[Config]()
	cfg.MaxDiagnostics = 500
	tool := tools(t, root, cfg)
	c, _ := call(t, tool, `{"max_diagnostics":100000}`)
	res, err := tool.Execute(t.Context(), c)
	raw, _ := json.Marshal(res.Raw)
	if err != nil || len(res.ForModel()) > cfg.MaxOutputChars || len(raw) > 2*cfg.MaxOutputChars || !strings.Contains(res.ForModel(),
		"list is not complete") || !strings.Contains(res.ForModel(), "more left out") {
		t.Errorf("%v, text %d, raw %d bytes, %.2000s", err, len(res.ForModel()), len(raw), res.ForModel())
	}
}

func TestTimeout(t *testing.T) {
	root := tree(t, map[string]string{
		"tsconfig.json": "", "eslint.config.js": "", "PATH/eslint": script,
		"PATH/tsc": script + "echo 'a.ts(1,2): error TS1: m'; exec /bin/sleep 999",
	})
	cfg := setting.Default[Config]()
	cfg.Timeout = 1
	tool := tools(t, root, cfg)
	c, _ := call(t, tool, `{}`)
	res, err := tool.Execute(t.Context(), c)
	if err != nil || res.Category() != executors.Timeout || !res.Failed || !strings.Contains(res.ForModel(),
		"\na.ts:1:2: error: m [TS1]\n[warning: tsc was stopped") || !strings.Contains(res.ForModel(), "eslint was not run") {
		t.Errorf("%v: %s", err, res.ForModel())
	}
}

func TestCancelEndsTheWholeTree(t *testing.T) {
	root := tree(t, map[string]string{"tsconfig.json": "", "PATH/tsc": script + "exec 3>fifo; (trap '' TERM; echo ok >&3; while :; do /bin/sleep 1; done) & wait"})
	fifo := filepath.Join(root, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	tool := tools(t, root, setting.Default[Config]())
	c, _ := call(t, tool, `{}`)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := tool.Execute(ctx, c)
		ended <- err
	}()
	f, err := os.Open(fifo) // waits for the program
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel(stop)
	if err := <-ended; err != stop {
		t.Errorf("got %v", err)
	}
	if rest, err := io.ReadAll(f); err != nil { // ends when no process has it open
		t.Errorf("%q, %v", rest, err)
	}
}

func TestRunsOnlyWhatWasShown(t *testing.T) {
	files := map[string]string{"a/x": "", "PATH/tsc": script + "echo ran > /dev/full", "PATH/cargo": script + ": > ran"}
	root := tree(t, files)
	os.WriteFile(filepath.Join(root, "tsconfig.json"), nil, 0o600)
	tool := tools(t, root, setting.Default[Config]())
	c, _ := call(t, tool, `{}`)
	os.WriteFile(filepath.Join(root, "Cargo.toml"), nil, 0o600)
	res, err := tool.Execute(t.Context(), c)
	if _, ran := os.Stat(filepath.Join(root, "ran")); err != nil || !res.Failed || ran == nil || !strings.Contains(res.ForModel(), "changed") {
		t.Errorf("%v, %v: %s", err, ran, res.ForModel())
	}
}

func TestProgramsSeeNoSecrets(t *testing.T) {
	root := tree(t, map[string]string{"tsconfig.json": "", "PATH/tsc": script + `echo "a.ts(1,1): error TS1: <$MY_TOKEN$CORP_X|$HARMLESS$EXTRA|$PWD|$*>"`})
	for name, value := range map[string]string{"MY_TOKEN": "1", "CORP_X": "2", "HARMLESS": "3"} {
		t.Setenv(name, value)
	}
	roots, err := workspace.New(root)
	if err != nil {
		t.Fatal(err)
	}
	tool := New(shell.Local{Block: []string{"CORP_"}, Extra: []string{"EXTRA=4"}}, roots, setting.Default[Config]())
	c, _ := call(t, tool, `{}`)
	res, err := tool.Execute(t.Context(), c)
	if want := "<|34|" + root + "|--noEmit --pretty false>"; err != nil || !strings.Contains(res.ForModel(), want) {
		t.Errorf("%v: %s", err, res.ForModel())
	}
}

// The one toolchain that exists wherever this test runs.
func TestGo(t *testing.T) {
	path := os.Getenv("PATH")
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	root := tree(t, map[string]string{
		"m/go.mod":        "module example.com/m\n\ngo 1.24\n",
		"m/a/a.go":        "package a\n\nfunc F() int {\n\treturn \"x\"\n}\n",
		"m/b/b.go":        "package b\n\nfunc F() {}\n",
		"m/b/b_test.go":   "package b\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) { F(1) }\n",
		"m/doc/a.txt":     "",
		"m/cmd/x/main.go": "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Printf(\"%d\\n\", \"x\") }\n",
	})
	t.Setenv("PATH", path)
	t.Setenv("GOTOOLCHAIN", "local")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	res := run(t, root, `{}`)
	for _, want := range []string{
		"2 errors, 1 warning\n",
		"m/a/a.go:4:9: error: cannot use ",
		"m/b/b_test.go:5:30: error: too many arguments in call to F ",
		"m/cmd/x/main.go:5:27: warning: fmt.Printf format %d has arg \"x\" of wrong type string [printf]\n",
		"[checked with go build, go vet]",
	} {
		if !strings.Contains(res.ForModel(), want) {
			t.Errorf("no %q in\n%s", want, res.ForModel())
		}
	}
	none := run(t, root, `{"path":"m/doc"}`)
	if !none.Failed || !strings.Contains(none.ForModel(), "nothing could be checked") || strings.Contains(none.ForModel(),
		"checked with") || strings.Count(none.ForModel(), "no Go packages") != 1 {
		t.Errorf("of a directory without Go:\n%s", none.ForModel())
	}
	left, _ := os.ReadDir(filepath.Join(root, "m"))
	if i := slices.IndexFunc(left, func(e os.DirEntry) bool { return e.Name() == "x" || e.Name() == "m" }); i >= 0 {
		t.Errorf("go build left %s", left[i].Name())
	}
}
