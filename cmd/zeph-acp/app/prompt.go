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
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// systemPrompt is the system prompt of one session. It is written when a model
// first needs it, so that a session costs nothing until then, and stays as it is
// until the conversation is cleared: files of the project that change meanwhile
// would cost the provider's cache.
type systemPrompt struct {
	write func() string

	mu      sync.Mutex
	written string
}

func (p *systemPrompt) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written == "" {
		p.written = p.write()
	}
	return p.written
}

// ready has it written for a model that needs one, so that the user is warned
// before the turn.
func (p *systemPrompt) ready(m llm.Model) {
	if _, direct := m.(local.Direct); !direct {
		p.text()
	}
}

// forget has it written anew when it is next needed.
func (p *systemPrompt) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written = ""
}

// systemPrompt makes the system prompt of a session: of its directories, read as
// the file tools read, and of the user's skills.
func (a *App) systemPrompt(cfg config.Config, s session.Setup, in places) *systemPrompt {
	return &systemPrompt{write: func() string {
		p := prompt.Read(projectFiles{in.files}, in.roots.Dirs(), prompt.Limits{Total: cfg.Agent.MaxRulesBytes}, a.filters.mask(cfg.Tools.Filters.Security))
		for _, w := range p.Warnings {
			a.Log.Warn(w, "session", s.ID)
			s.Warn(w)
		}
		f := prompt.Facts{Dirs: p.Dirs, OS: runtime.GOOS, Shell: "bash", Rules: p.Rules, NoTools: !cfg.Tools.Enabled}
		for _, s := range in.skills.Skills {
			f.Skills = append(f.Skills, prompt.Skill{Name: s.Name, Description: s.Description})
		}
		return prompt.System(f)
	}}
}

// projectFiles are the files of a session's directories, as package prompt reads
// them.
type projectFiles struct{ roots *workspace.Roots }

// Open opens what lies in the roots, links to elsewhere excluded.
func (p projectFiles) Open(path string) (io.ReadCloser, string, int64, error) {
	real, err := p.roots.Resolve(path)
	if err != nil {
		return nil, "", 0, refused(err)
	}
	f, info, err := p.roots.Open(real)
	if err != nil {
		return nil, "", 0, refused(err)
	}
	return f, real, info.Size(), nil
}

// maxNames bounds the names that are looked at in one directory.
const maxNames = 1000

// List returns the names in a directory.
func (p projectFiles) List(dir string) ([]string, error) {
	real, err := p.roots.Resolve(dir)
	if err != nil {
		return nil, refused(err)
	}
	d, err := p.roots.Dir(real)
	if err != nil {
		return nil, refused(err)
	}
	defer d.Close()
	entries, _, err := d.ReadDir(maxNames)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, refused(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}

// Has returns those of the names that are there.
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

// refused tells package prompt that the user has forbidden to read a file.
func refused(err error) error {
	_, denied := errors.AsType[*workspace.DeniedError](err)
	_, private := errors.AsType[*workspace.PrivateError](err)
	if denied || private {
		return fmt.Errorf("%w: %w", prompt.ErrDenied, err)
	}
	return err
}
