package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// scriptWindow is the context window of a fixture's model, in tokens.
const scriptWindow = 100_000

// Replay starts a fresh server for a fixture, with a workspace and a
// configuration of its own. Play (fixtures.Play, or a function that rewrites)
// acts as its client. Only the fixture's config.toml counts. If it names no
// provider, the model is model.jsonl if the fixture has that file, and otherwise
// Direct. A provider of type script can name a model file of the fixture.
//
// Commands in a fixture still see the process's environment; see [Isolate].
func Replay(ctx context.Context, f *fixtures.Fixture, play func(*fixtures.Fixture, fixtures.Conn) error) (err error) {
	dir, err := os.MkdirTemp("", "zeph-replay-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	w := fixtures.Workspace(filepath.Join(dir, "w"))
	l, err := unpack(f, dir, w, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	a := newReplayed(l)
	said := strings.Join(f.Said("Box: "), "\n") // a recording has the lines of its machine
	a.BoxState = func() string { return said }
	defer func() { err = errors.Join(err, a.Close()) }()

	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := a.Server().Serve(ctx, in, out)
		_ = out.CloseWithError(err) // the client reads to the end
		served <- err
	}()
	err = play(f, fixtures.Conn{In: clientOut, Out: clientIn, Workspace: w})
	return errors.Join(err, <-served)
}

// newReplayed returns the app of a fixture's configuration.
func newReplayed(l *config.Loaded) *App {
	a := New(l, slog.New(slog.DiscardHandler))
	a.Model, a.Settle, a.ProjectHooks, a.ProjectSkills, a.ProjectAgents = "", 0, true, true, true
	a.Scripted = true
	a.BoxState = func() string { return "" } // it differs between machines
	a.FindServer = fixtureServer
	a.Credentials.Run = nil // a recording starts nothing of the user's
	a.Getenv = keys.NewKeys(l.Paths.Config, provider.Keys(l.Config.LLM), func(string) string { return "" }).Getenv
	return a
}

// mainModel is the script of the model that a fixture uses unless it configures
// providers.
const mainModel = "model.jsonl"

// fixtureServer finds the one language server that a fixture can have. It never runs.
func fixtureServer(name string) (string, error) {
	if name == "fixture-server" {
		return filepath.Join(string(filepath.Separator), name), nil
	}
	return "", exec.ErrNotFound
}

// unpack writes a fixture's files below dir and returns its configuration, with other values
// for some keys.
func unpack(f *fixtures.Fixture, dir string, w fixtures.Workspace, flags map[string]string) (*config.Loaded, error) {
	files := map[string][]byte{
		"config.toml": []byte(w.Real(string(f.Config))),
	}
	for name, data := range f.Models {
		files[name] = []byte(w.Real(string(data)))
	}
	for name, data := range f.Files {
		files["w/"+name] = data
	}
	for name, data := range f.Skills {
		files["skills/"+name] = data
	}
	if err := os.Mkdir(string(w), 0o700); err != nil {
		return nil, err
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := keys.MakeDir(filepath.Dir(path)); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return nil, err
		}
	}
	return loadUnpacked(f, dir, w, flags)
}

// loadUnpacked returns the configuration of an unpacked fixture.
func loadUnpacked(f *fixtures.Fixture, dir string, _ fixtures.Workspace, flags map[string]string) (*config.Loaded, error) {
	l, err := config.Load(config.Options{File: filepath.Join(dir, "config.toml"), Flags: flags, Environ: []string{"ZEPH_HOME=" + dir}})
	if err != nil {
		return nil, err
	}
	if f.Speaks2() && l.Config.ACP.Protocol == acp.Protocol1 { // a recording has no configuration
		l.Config.ACP.Protocol = acp.ProtocolAuto
	}
	l.Config.LLM.FindOllama, l.Config.LLM.ListModels = false, false
	for i, p := range l.Config.LLM.Providers {
		if _, ok := f.Models[p.Model]; ok && p.Type == provider.TypeScript {
			l.Config.LLM.Providers[i].Model = filepath.Join(dir, p.Model)
		}
	}
	if len(l.Config.LLM.Providers) == 0 {
		p := provider.Provider{Type: provider.TypeDirect}
		if f.Models[mainModel] != nil {
			p = provider.Provider{Type: provider.TypeScript, Model: filepath.Join(dir, mainModel), ContextWindow: scriptWindow}
		}
		l.Config.LLM.Providers = []provider.Provider{p}
	}
	return l, nil
}

// neededVars are the variables that programs cannot run without.
var neededVars = []string{"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "USERPROFILE", "SYSTEMROOT", "COMSPEC", "PATHEXT"}

// gitAlone keeps the configuration of the user and of the machine from git.
var gitAlone = map[string]string{"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"}

// Isolate removes the variables that programs can run without from this
// process's environment, and git's view of the user's configuration, so that no key or
// setting of the user reaches a fixture. Restore sets them again.
func Isolate() (restore func()) {
	var removed [][2]string
	for _, e := range os.Environ() {
		name, value, _ := strings.Cut(e, "=")
		if name != "" && !slices.Contains(neededVars, strings.ToUpper(name)) && os.Unsetenv(name) == nil {
			removed = append(removed, [2]string{name, value})
		}
	}
	for name, value := range gitAlone {
		_ = os.Setenv(name, value) // valid
	}
	return func() {
		for name := range gitAlone {
			_ = os.Unsetenv(name)
		}
		for _, e := range removed {
			_ = os.Setenv(e[0], e[1]) // it was valid before
		}
	}
}
