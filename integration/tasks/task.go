package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// A task is work that an agent does with a scripted model.
type task struct {
	name    string
	prompt  string
	prepare func(ctx context.Context, w *workspace) error // makes the files, and finds out the facts
	steps   []agents.Call
	check   string // a command that succeeds once the work is done
}

// tasks are the tasks in their order.
var tasks = []*task{&failing, &python, &review, &rename}

func taskNames() (all []string) {
	for _, t := range tasks {
		all = append(all, t.name)
	}
	return all
}

func command(line string) agents.Call { return agents.Call{Verb: agents.Runs, Command: line} }

func read(path string, from, to int) agents.Call {
	return agents.Call{Verb: agents.Reads, Path: path, From: from, To: to}
}

func edit(path, old, new string) agents.Call {
	return agents.Call{Verb: agents.Edits, Path: path, Old: old, New: new}
}

func search(word, path string) agents.Call {
	return agents.Call{Verb: agents.Searches, Pattern: word, Path: path}
}

// A fact is a text that the task needs: some result of a tool must contain it.
type fact struct{ kind, text string }

// A workspace is the directory that an agent works in.
type workspace struct {
	dir   string
	env   []string // of the agent and of all commands
	facts []fact
}

// need adds facts, each once.
func (w *workspace) need(kind string, texts ...string) {
	for _, text := range texts {
		one := fact{kind, strings.TrimSpace(text)}
		known := false
		for _, f := range w.facts {
			known = known || f.text == one.text
		}
		if !known {
			w.facts = append(w.facts, one)
		}
	}
}

// newWorkspace makes an empty workspace below root.
func newWorkspace(root string) (*workspace, error) {
	dir := filepath.Join(root, "work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	out, err := exec.Command("go", "env", "-json", "GOMODCACHE", "GOCACHE", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var goEnv map[string]string
	if err := json.Unmarshal(out, &goEnv); err != nil {
		return nil, err
	}
	home := filepath.Join(root, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	w := &workspace{dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat",
		"CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
		"GIT_AUTHOR_DATE=2026-01-01T12:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T12:00:00Z",
	}}
	for k, v := range goEnv {
		w.env = append(w.env, k+"="+v)
	}
	const config = "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n"
	return w, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600)
}

// addPath puts a directory in front of PATH.
func (w *workspace) addPath(dir string) {
	w.env = append(w.env, "PATH="+dir+string(os.PathListSeparator)+w.path())
}

// path returns PATH.
func (w *workspace) path() (path string) {
	for _, v := range w.env {
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			path = value
		}
	}
	return path
}

// output runs a command in the workspace. It returns the output also if the command fails.
func (w *workspace) output(ctx context.Context, line string) (string, error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", line)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// do runs commands that must succeed.
func (w *workspace) do(ctx context.Context, lines ...string) error {
	for _, line := range lines {
		if out, err := w.output(ctx, line); err != nil {
			return fmt.Errorf("%s: %w\n%s", line, err, out)
		}
	}
	return nil
}

// copyModule replaces the files of the workspace with those of a module, such as
// "golang.org/x/sync@v0.1.0".
func (w *workspace) copyModule(ctx context.Context, module string) error {
	out, err := w.output(ctx, "cd / && go mod download -json "+module)
	if err != nil {
		return fmt.Errorf("go mod download %s: %w\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		return err
	}
	old, err := os.ReadDir(w.dir)
	if err != nil {
		return err
	}
	for _, entry := range old {
		if entry.Name() == ".git" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(w.dir, entry.Name())); err != nil {
			return err
		}
	}
	if err := os.CopyFS(w.dir, os.DirFS(m.Dir)); err != nil {
		return err
	}
	return w.do(ctx, "chmod -R u+w .") // files of the module cache are read-only
}

// replace edits a file.
func (w *workspace) replace(path, old, new string) error {
	path = filepath.Join(w.dir, path)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if strings.Count(string(data), old) != 1 {
		return fmt.Errorf("%s does not have once: %s", path, old)
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600)
}

// lines returns the lines of a command's output.
func (w *workspace) lines(ctx context.Context, line string) ([]string, error) {
	out, err := w.output(ctx, line)
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(out), "\n"), nil
}
