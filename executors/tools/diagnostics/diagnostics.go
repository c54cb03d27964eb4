// Package diagnostics implements the tool "diagnostics". It runs the compilers, type
// checkers and linters of a project and returns their findings as one list,
// regardless of the language.
//
// Start with [New]. The project's files determine which programs run: cargo for Cargo.toml, go
// build and go vet for go.mod, tsc for tsconfig.json, ESLint for its configuration, ruff and mypy
// for Python. A call checks the directory that it names, the project around it, and projects below
// it. So one call suffices for a repository with several languages.
//
// Exactly the commands of the card are run, each as an argument vector without a shell. A program
// is stopped with all its children when the turn is cancelled or the time limit is reached. Output,
// time and the list are limited. A missing program is a warning, not a failure. Nothing is
// installed, and the options change no source file (ruff gets --no-fix).
//
// A call needs the same permission as a command, although it only looks for
// mistakes. It runs code of the repository: build.rs and procedural macros, plugins
// and configurations of ESLint and mypy, programs in node_modules/.bin and .venv,
// cgo. It also writes build caches and may download dependencies. So the tool
// declares the effect of bash, and its card shows the equivalent shell script. The
// user sees the whole script. Rules of tools.permissions.diagnostics and
// tools.shell.blocked_commands are matched against each command in it. An "always"
// covers "cargo check" both here and in bash. The mode auto does not treat the call
// as an edit, and the read-only modes deny it. A call without installed programs
// runs nothing; its script is a comment, and the user is not asked.
//
// Execute fails if the project changed since Prepare: it would run a command that was not
// allowed.
package diagnostics

import (
	"context"
	_ "embed" // the description of the tool
	"errors"
	"io/fs"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Tool is the id of the tool.
const Tool = "diagnostics"

//go:embed diagnostics.md
var description string

// New returns the tool of one session. local configures the local programs: the
// variables that are removed and added.
func New(local shell.Local, roots *workspace.Roots, cfg Config) executors.Registry {
	t := &checker{local: local, roots: roots, cfg: cfg}
	return executors.Registry{executors.Bind(executors.Tool{
		Name:        Tool,
		Act:         "Run",
		Description: strings.TrimSpace(description),
		Effect:      executors.Reads | executors.Mutates | executors.Network,
		Kind:        executors.KindExecute,
		Subject:     executors.Script(""),
		Gain:        0.75,
	}, t.prepare, t.execute)}.Limited(cfg.MaxOutputChars)
}

type checker struct {
	local shell.Local
	roots *workspace.Roots
	cfg   Config
}

type checkInput struct {
	Path           string `json:"path,omitempty"`
	Kind           string `json:"kind,omitempty" jsonschema:"enum=check,enum=clippy"`
	MaxDiagnostics int    `json:"max_diagnostics,omitempty" jsonschema:"minimum=1"`
}

func (t *checker) prepare(ctx context.Context, _ *executors.Call, in *checkInput) (executors.Card, error) {
	card := executors.Card{Title: "check the project", Kind: executors.KindExecute}
	p, err := t.planFor(ctx, in)
	if p.target != "" {
		card.Paths = []string{p.target}
	}
	if err == nil {
		card.Script = command.Parse(t.script(p), command.Shell{Dir: t.roots.Cwd()})
		card.Title = p.title(card.Command())
	}
	return card, err
}

func (t *checker) execute(ctx context.Context, call *executors.Call, in *checkInput) (executors.Result, error) {
	p, err := t.planFor(ctx, in)
	switch {
	case ctx.Err() != nil:
		return executors.Result{}, context.Cause(ctx)
	case err != nil:
		return executors.FailWith(err), nil
	case t.script(p) != call.Card.Command():
		return executors.Failuref(executors.PermanentFailure,
			"the project changed since this call was allowed: other programs would be run now").
			Hint("Call diagnostics again.").Result(), nil
	}
	return t.run(ctx, p, in.MaxDiagnostics)
}

// planFor returns the plan of a call. If it fails, the plan may still name the target.
func (t *checker) planFor(ctx context.Context, in *checkInput) (runPlan, error) {
	if in.Kind != "" && in.Kind != "check" && in.Kind != "clippy" { // it becomes an argument
		return runPlan{}, executors.Failuref(executors.InvalidParameters, "kind: must be check or clippy, is %q", in.Kind)
	}
	target, isDir, err := t.target(in.Path)
	if err != nil {
		return runPlan{}, err
	}
	p, err := t.plan(ctx, target, isDir, in.Kind)
	p.target = target
	return p, err
}

// target resolves the path of a call to a file or directory without symlinks.
func (t *checker) target(path string) (abs string, isDir bool, err error) {
	if path == "" {
		path = "."
	}
	var info fs.FileInfo
	if abs, err = t.roots.Resolve(path); err == nil {
		info, err = t.roots.Lstat(abs)
	}
	if outside, ok := errors.AsType[*workspace.OutsideError](err); ok {
		return "", false, executors.Failuref(executors.PolicyBlocked, "%v", outside).
			Hint("Use a path inside them, or ask the user to open that directory too.")
	}
	if _, ok := errors.AsType[*workspace.AgentFileError](err); ok {
		return "", false, executors.Failuref(executors.PolicyBlocked, "%v", &workspace.AgentFileError{Path: path}).
			Hint("Do not try another way.")
	}
	if err != nil {
		return "", false, executors.Failuref(executors.InvalidParameters, "path: %v", err).
			Hint("Name a file or directory of the project, or leave path out.")
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return "", false, executors.Failuref(executors.InvalidParameters, "path: %s is %s, neither a file nor a directory",
			t.roots.Rel(abs), workspace.Describe(info.Mode()))
	}
	return abs, info.IsDir(), nil
}
