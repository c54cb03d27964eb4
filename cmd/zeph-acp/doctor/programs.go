package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// shellProgram reports which shell runs commands.
func shellProgram(ctx context.Context) []Finding {
	path, err := shell.FindShell()
	if err != nil {
		return []Finding{failure("neither bash nor sh is in PATH, so no command runs", "install bash (on Windows: Git for Windows)")}
	}
	out, err := run(ctx, program.Command{Name: path, Args: []string{"-c", "echo it runs"}})
	if err != nil || strings.TrimSpace(string(out)) != "it runs" {
		return []Finding{failure(fmt.Sprintf("%s does not run commands: %v %s", path, err, out), "put another bash before it in PATH")}
	}
	if !shell.HasBash() {
		return []Finding{warning(path+" runs commands: bash is not in PATH", "install bash: models write for it")}
	}
	return []Finding{passed(path)}
}

// gitProgram reports whether git runs.
func gitProgram(ctx context.Context) []Finding {
	path, err := exec.LookPath(program.GitName)
	if err != nil {
		return []Finding{warning("git is not in PATH", "install git: /review and many commands of models need it")}
	}
	out, err := run(ctx, program.Command{Name: path, Args: []string{"--version"}})
	if err != nil {
		return []Finding{warning(fmt.Sprintf("%s does not run: %v", path, err), "repair it: /review and many commands of models need it")}
	}
	return []Finding{passed(fmt.Sprintf("%s (%s)", strings.TrimSpace(string(out)), path))}
}

// sandbox reports whether commands can be confined as the configuration wants.
func (e *examination) sandbox(ctx context.Context) []Finding {
	cfg := e.app.Config
	roots, err := workspace.New(e.Dir)
	if err != nil {
		return []Finding{failure(err.Error(), "change to a directory that exists")}
	}
	setup := sandbox.Session{Roots: roots, Network: cfg.Tools.Shell.AllowNetwork, Home: config.HomeDir(e.getenv), Getenv: e.getenv}
	return append(e.allowedCommands(ctx, sandbox.New(cfg.Tools.Sandbox, setup)), boxFindings(sandbox.NewBox(setup))...)
}

// boxFindings reports whether commands can run without a question in a box.
func boxFindings(box *sandbox.Box) (found []Finding) {
	if box == nil {
		return []Finding{warning(strings.TrimPrefix(box.State(), "Box: "), "use Linux 6.2 or newer with Landlock, or macOS; docs/sandbox.md says what a box is")}
	}
	if err := box.Ready(); err != nil {
		return []Finding{warning("commands that only read are asked about: "+err.Error(), "start in a smaller directory, or name fewer files in deny_read")}
	}
	for line := range strings.Lines(box.State()) {
		found = append(found, passed(strings.TrimSpace(strings.TrimPrefix(line, "Box: "))))
	}
	return found
}

// allowedCommands reports whether the commands that the user allows can be confined.
func (e *examination) allowedCommands(ctx context.Context, box *sandbox.Sandbox) []Finding {
	if box == nil {
		abi, reason := sandbox.Available()
		if abi <= 0 {
			return []Finding{passed("off, and not available here: " + reason)}
		}
		return []Finding{passed("off; [tools.sandbox] enabled = true confines commands")}
	}
	if problem := box.Warning(); problem != "" {
		f := warning(problem, "use Linux 5.13 or newer with Landlock, or change [tools.sandbox]")
		if box.Required() {
			f.State = Failure
		}
		return []Finding{f}
	}
	if err := runInSandbox(ctx, box); err != nil {
		return []Finding{failure(
			fmt.Sprintf("a command does not run in the sandbox: %v", err),
			"change [tools.sandbox]; docs/sandbox.md lists the limits",
		)}
	}
	return []Finding{passed(strings.TrimPrefix(box.State(), "Sandbox: "))}
}

// runInSandbox runs a shell in the sandbox, with a command that does nothing.
func runInSandbox(ctx context.Context, box *sandbox.Sandbox) error {
	path, err := shell.FindShell()
	if err != nil {
		return err
	}
	_, err = (&program.Runner{
		Env: shell.Env(os.Environ(), nil),
		Confine: func(p process.Program, _, _ []string) (process.Program, error) {
			var err error
			p.Path, p.Args, p.Env, err = box.Wrap(p.Path, p.Args, p.Env)
			return p, err
		},
	}).Run(ctx, program.Command{Name: path, Args: []string{"-c", ":"}, Dir: os.TempDir()})
	return err
}

// run runs a program as zeph-acp runs those that it needs.
func run(ctx context.Context, c program.Command) ([]byte, error) {
	c.Dir = os.TempDir()
	return app.Programs(setting.Default[config.Config](), nil).Run(ctx, c)
}
