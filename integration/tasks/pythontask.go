package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// python installs the requirements of a Python project and repairs it. Its pip and pytest
// replay what the real ones printed, so that it needs neither Python nor a network.
var python = task{
	name:   "python",
	prompt: "Install this project, run its tests, and fix what fails.",
	prepare: func(ctx context.Context, w *workspace) error {
		if err := unpackPython(w); err != nil {
			return err
		}
		failed, place := regexp.MustCompile(`^FAILED (\S+)`), regexp.MustCompile(`^(\w+/\w+\.py:\d+): \w`)
		out, err := recordings.ReadFile("testdata/python/pytest.1")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(out)) {
			if m := failed.FindStringSubmatch(line); m != nil {
				_, name, _ := strings.Cut(m[1], "::")
				w.need("failing test", name)
			}
			if m := place.FindStringSubmatch(line); m != nil {
				w.need("place of a failure", m[1])
			}
		}
		w.need("an installed version", "networkx-", "requests-")
		w.need("the bug", "(a + b) // b")
		return replayed(ctx, w)
	},
	steps: []agents.Call{
		command("git status --short && ls -R"),
		read("README.md", 0, 0),
		read("requirements.txt", 0, 0),
		command("pip install -r requirements.txt"),
		command("pip install -e ."),
		command("pytest -v"),
		read("ledger/money.py", 0, 0),
		read("tests/test_money.py", 0, 0),
		search("split", "."),
		command("pytest tests/test_money.py"),
		edit("ledger/money.py", "    return (a + b) // b\n", "    return (a + b - 1) // b\n"),
		command("pytest -v"),
		read("ledger/report.py", 0, 0),
		read("tests/test_report.py", 0, 0),
		edit("ledger/report.py", "    return f\"{name:<{width}}{amount:>12}\"\n", "    return f\"{name:<{width}}{str(amount):>12}\"\n"),
		command("pytest tests/test_report.py"),
		command("pytest -v"),
		command("git diff"),
		command("pip list"),
		command("pytest -q"),
	},
	check: "grep -q 'a + b - 1' ledger/money.py && grep -q 'str(amount)' ledger/report.py",
}

//go:embed testdata/python
var recordings embed.FS

// unpackPython writes the files of the project.
func unpackPython(w *workspace) error {
	data, err := recordings.ReadFile("testdata/python/project.txtar")
	if err != nil {
		return err
	}
	for _, f := range txtar.Parse(data).Files {
		path := filepath.Join(w.dir, filepath.FromSlash(f.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, f.Data, 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// replay is the program in place of pip and pytest: its nth run prints the nth recording.
const replay = `#!/bin/sh
n=$(($(cat "$0.runs" 2>/dev/null || echo 0) + 1))
echo $n > "$0.runs"
cat "$0.$n"
exit "$(cat "$0.$n.exit")"
`

// replayed commits the project, and puts the recordings on PATH.
func replayed(ctx context.Context, w *workspace) error {
	bin := filepath.Join(filepath.Dir(w.dir), "bin")
	files, err := fs.Sub(recordings, "testdata/python")
	if err == nil {
		err = os.CopyFS(bin, files)
	}
	for _, name := range []string{"pip", "pytest"} {
		err = errors.Join(err, os.WriteFile(filepath.Join(bin, name), []byte(replay), 0o700))
	}
	w.addPath(bin)
	return errors.Join(err, w.do(ctx, "git init -q && git add . && git commit -qm 'import ledger'"))
}

// recordPython plays the steps of the task with the real pip and pytest, and writes what
// they print to testdata. It runs in this directory, in a virtual environment.
func recordPython(ctx context.Context) error {
	root, err := os.MkdirTemp("", "zeph-tasks-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	w, err := newWorkspace(root)
	if err != nil {
		return err
	}
	err = errors.Join(unpackPython(w), w.do(ctx, "python3 -m venv ../venv && ../venv/bin/pip install -q --upgrade pip"))
	if err != nil {
		return err
	}
	w.env = append(w.env, "PIP_DISABLE_PIP_VERSION_CHECK=1", "PATH="+filepath.Join(root, "venv", "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE"} {
		if v, ok := os.LookupEnv(name); ok {
			w.env = append(w.env, name+"="+v)
		}
	}
	index := regexp.MustCompile(`(?m)^Looking in indexes: .*\n|https?://\S+/`) // depends on the machine
	runs := map[string]int{}
	for _, c := range python.steps {
		switch program, _, _ := strings.Cut(c.Command, " "); {
		case c.Verb == agents.Edits:
			err = w.replace(c.Path, c.Old, c.New)
		case program == "pip" || program == "pytest":
			out, failed := w.output(ctx, c.Command)
			code := 0
			if exit, ok := errors.AsType[*exec.ExitError](failed); ok {
				code, failed = exit.ExitCode(), nil
			}
			runs[program]++
			out = strings.ReplaceAll(index.ReplaceAllString(out, ""), root, "/home/dev")
			name := fmt.Sprintf("testdata/python/%s.%d", program, runs[program])
			err = errors.Join(failed, os.WriteFile(name, []byte(out), 0o600), os.WriteFile(name+".exit", fmt.Appendln(nil, code), 0o600))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
