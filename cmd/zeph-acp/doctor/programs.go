package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// shellProgram reports which shell runs commands.
func shellProgram(ctx context.Context) []Finding {
	path, err := shell.FindShell()
	if err != nil {
		return []Finding{{
			State: Failure,
			Text:  "neither bash nor sh is in PATH, so no command runs",
			Fix:   "install bash (on Windows: Git for Windows)",
		}}
	}
	out, err := exec.CommandContext(ctx, path, "-c", "echo it runs").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "it runs" {
		return []Finding{{
			State: Failure,
			Text:  fmt.Sprintf("%s does not run commands: %v %s", path, err, out),
			Fix:   "put another bash before it in PATH",
		}}
	}
	if !shell.HasBash() {
		return []Finding{{State: Warning, Text: path + " runs commands: bash is not in PATH", Fix: "install bash: models write for it"}}
	}
	return []Finding{{State: OK, Text: path}}
}

// gitProgram reports whether git runs.
func gitProgram(ctx context.Context) []Finding {
	path, err := exec.LookPath("git")
	if err != nil {
		return []Finding{{State: Warning, Text: "git is not in PATH", Fix: "install git: /review and many commands of models need it"}}
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return []Finding{{
			State: Warning,
			Text:  fmt.Sprintf("%s does not run: %v", path, err),
			Fix:   "repair it: /review and many commands of models need it",
		}}
	}
	return []Finding{{State: OK, Text: fmt.Sprintf("%s (%s)", strings.TrimSpace(string(out)), path)}}
}

// sandbox reports whether commands can be confined as the configuration wants.
func (e *examination) sandbox(ctx context.Context) []Finding {
	cfg := e.app.Config
	roots, err := workspace.New(e.Dir)
	if err != nil {
		return []Finding{{State: Failure, Text: err.Error(), Fix: "change to a directory that exists"}}
	}
	box := sandbox.New(cfg.Tools.Sandbox, sandbox.Setup{Roots: roots, Network: cfg.Tools.Shell.AllowNetwork, Home: config.HomeDir(e.getenv)})
	if box == nil {
		abi, reason := sandbox.Available()
		if abi <= 0 {
			return []Finding{{State: OK, Text: "off, and not available here: " + reason}}
		}
		return []Finding{{State: OK, Text: "off; [tools.sandbox] enabled = true confines commands"}}
	}
	if warning := box.Warning(); warning != "" {
		f := Finding{State: Warning, Text: warning, Fix: "use Linux 5.13 or newer with Landlock, or change [tools.sandbox]"}
		if box.Required() {
			f.State = Failure
		}
		return []Finding{f}
	}
	if err := runInSandbox(ctx, box); err != nil {
		return []Finding{{
			State: Failure,
			Text:  fmt.Sprintf("a command does not run in the sandbox: %v", err),
			Fix:   "change [tools.sandbox]; docs/sandbox.md lists the limits",
		}}
	}
	return []Finding{{State: OK, Text: strings.TrimPrefix(box.State(), "Sandbox: ")}}
}

// runInSandbox runs a shell in the sandbox, with a command that does nothing.
func runInSandbox(ctx context.Context, box *sandbox.Sandbox) error {
	path, err := shell.FindShell()
	if err != nil {
		return err
	}
	program, args, env, err := box.Wrap(path, []string{"-c", ":"}, os.Environ())
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
