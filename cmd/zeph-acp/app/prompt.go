package app

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// systemPrompt is the system prompt of one session. It is written when a model
// first needs it, so that a session costs nothing before. It then stays the
// same until the conversation is cleared: if it followed changes of the
// project's files, each change would invalidate the provider's cache.
type systemPrompt struct {
	write func(warn func(string)) string
	warn  func(string)

	mu      sync.Mutex
	written string
}

func (p *systemPrompt) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written == "" {
		p.written = p.write(p.warn)
	}
	return p.written
}

// ready writes the prompt for a model that needs one, so that the user sees its
// warnings before the turn.
func (p *systemPrompt) ready(m llm.Model) {
	if _, direct := m.(local.Direct); !direct {
		p.text()
	}
}

// forget discards the prompt; the next use writes it again.
func (p *systemPrompt) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = ""
}

// systemPrompt returns the system prompt of a session: about its directories,
// read as the file tools read them, and its skills.
func (a *App) systemPrompt(cfg config.Config, s session.Setup, in sessionDirs, offered *skills.Set) *systemPrompt {
	warn := func(w string) {
		a.Log.Warn(w, "session", s.ID)
		s.Warn(w)
	}
	return &systemPrompt{warn: warn, write: func(warn func(string)) string {
		p := prompt.Read(projectFiles{in.files}, in.roots.Dirs(), prompt.Limits{Total: cfg.Agent.MaxRulesBytes}, a.filters.mask(cfg.Tools.Filters.Security))
		for _, w := range p.Warnings {
			warn(w)
		}
		f := prompt.Facts{Dirs: p.Dirs, OS: runtime.GOOS, Shell: "bash", Rules: p.Rules, NoTools: !cfg.Tools.Enabled, Append: a.SystemAppend}
		if cfg.Tools.Enabled {
			f.Skills = promptSkills(offered)
		}
		return prompt.System(f)
	}}
}

// projectFiles are the files of a session's directories, in the form that
// package prompt reads.
type projectFiles struct{ roots *workspace.Roots }

// Open opens a file within the roots. It does not follow links that lead out of
// them.
func (p projectFiles) Open(path string) (io.ReadCloser, string, int64, error) {
	real, err := p.roots.Resolve(path)
	if err != nil {
		return nil, "", 0, asNotPermitted(err)
	}
	f, info, err := p.roots.Open(real)
	if err != nil {
		return nil, "", 0, asNotPermitted(err)
	}
	return f, real, info.Size(), nil
}

// maxNames limits the names that are read in one directory.
const maxNames = 1000

// List returns the names in a directory.
func (p projectFiles) List(dir string) ([]string, error) {
	real, err := p.roots.Resolve(dir)
	if err != nil {
		return nil, asNotPermitted(err)
	}
	d, err := p.roots.Dir(real)
	if err != nil {
		return nil, asNotPermitted(err)
	}
	defer d.Close()
	entries, _, err := d.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, asNotPermitted(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Has returns those names that exist.
func (p projectFiles) Has(dir string, names []string) []string {
	d, err := p.roots.Dir(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	var there []string
	for _, name := range names {
		if _, err := d.Lstat(name); err == nil {
			there = append(there, name)
		}
	}
	return there
}

// asNotPermitted marks an error for package prompt if the user's rules forbid reading
// the file.
func asNotPermitted(err error) error {
	_, denied := errors.AsType[*workspace.DeniedError](err)
	_, private := errors.AsType[*workspace.PrivateError](err)
	if denied || private {
		return fmt.Errorf("%w: %w", prompt.ErrDenied, err)
	}
	return err
}
