package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// skills returns the skills of a session. No file of the repository is read before its
// first turn.
func (a *App) skills(cfg config.Config, s session.Setup, in sessionDirs, k *keeper) *skills.Set {
	o := skills.Options{
		Config: cfg.Tools.Skills, Dir: in.roots.Cwd(), Warn: s.Warn,
		Desk:  a.desk(s),
		Level: func(name string) string { return k.gates.trust.Skill(name).String() },
		SetLevel: func(name, level string) string {
			return k.Trust("set skill:" + name + " " + level)
		},
		Read:   k.gates.trust.ReadSkill,
		System: func() string { return k.system.text() },
		Secret: func(name string) string { return a.skillSecret(cfg, name) },
	}
	if a.Skills != "" {
		o.Sources = append(o.Sources, skills.Source{Name: "yours", FS: os.DirFS(a.Skills)})
	}
	if a.ProjectSkills && cfg.Tools.Enabled {
		for _, dir := range skills.ProjectDirs {
			o.Sources = append(o.Sources, skills.Source{Name: dir, FS: projectDir{in.files, filepath.Join(in.roots.Cwd(), filepath.FromSlash(dir))}, Project: true})
		}
	}
	return skills.New(o)
}

// skillSecret returns a variable for the commands of a skill: the one that the user has set
// for skills, else NAME unless it belongs to a provider of models.
func (a *App) skillSecret(cfg config.Config, name string) string {
	value := a.environ(config.SecretPrefix + name)
	if value == "" && !shell.Reserved(name, localShell(cfg, nil).Block) {
		value = a.environ(name)
	}
	if value != "" {
		a.filters.learn(value)
	}
	return value
}

// Skills lists the skills, or carries out a command about one, for /skills and /skill.
func (k *keeper) Skills(rest string) string { return k.skills.Command(rest) }

// readySkills brings the skills of the repository up to date before a turn. Without a
// model nothing would use them, so the user is not asked.
func (k *keeper) readySkills(ctx context.Context) {
	if _, direct := k.model().(local.Direct); !direct {
		k.skills.Ready(ctx)
	}
}

// promptSkills returns the skills for the system prompt.
func promptSkills(set *skills.Set) (all []prompt.Skill) {
	for _, s := range set.Usable() {
		all = append(all, prompt.Skill{Name: s.Name, Description: s.Description})
	}
	return all
}

// projectDir is a directory of the repository as a file system. Like the file tools it
// follows no link out of the roots, and opens no file that the user's rules hide.
type projectDir struct {
	roots *workspace.Roots
	dir   string // absolute
}

// resolve returns the absolute path of a name, without links.
func (p projectDir) resolve(name string) (string, error) {
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if _, err := os.Lstat(p.dir); err != nil { // costs nothing in a project without it
		return "", err
	}
	real, err := p.roots.Resolve(path)
	if err == nil {
		_, err = p.roots.Lstat(real)
	}
	if errors.Is(asNotPermitted(err), prompt.ErrDenied) { // hidden by the user's own rules
		err = fs.ErrNotExist
	}
	return real, err
}

// Open opens a regular file.
func (p projectDir) Open(name string) (fs.File, error) {
	real, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	f, _, err := p.roots.Open(real)
	return f, err
}

// Stat describes a file.
func (p projectDir) Stat(name string) (fs.FileInfo, error) {
	real, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	return p.roots.Lstat(real)
}

// ReadDir lists a directory, sorted by name.
func (p projectDir) ReadDir(name string) ([]fs.DirEntry, error) {
	real, err := p.resolve(name)
	if err != nil {
		return nil, err
	}
	d, err := p.roots.Dir(real)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, _, err := d.ReadDir(maxNames + 1)
	if len(entries) > maxNames { // a part of them could not be compared
		err = fmt.Errorf("more than %d names", maxNames)
	} else if errors.Is(err, io.EOF) {
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}
