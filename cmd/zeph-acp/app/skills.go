package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/llm/local"
)

// skills returns the skills of a session. No file of the repository is read before its
// first turn.
func (a *App) skills(cfg config.Config, s session.Setup, dirs sessionDirs, st *sessionTools) *skills.Set {
	o := skills.Options{
		Config: cfg.Tools.Skills, Dir: dirs.roots.Cwd(), Warn: s.Warn,
		Desk:  a.approvalDesk(s),
		Level: func(name string) string { return st.gates.trust.Skill(name).String() },
		SetLevel: func(name, level string) string {
			return st.Trust("set skill:" + name + " " + level)
		},
		OnRead: st.gates.trust.ReadSkill,
		System: func() string { return st.system.text() },
		Secret: func(name string) string { return a.skillSecret(cfg, name) },
	}
	if a.Skills != "" {
		o.Sources = append(o.Sources, skills.Source{Name: "yours", FS: os.DirFS(a.Skills)})
	}
	if a.ProjectSkills && cfg.Tools.Enabled {
		for _, dir := range skills.ProjectDirs {
			path := filepath.Join(dirs.roots.Cwd(), filepath.FromSlash(dir))
			o.Sources = append(o.Sources, skills.Source{Name: dir, FS: projectDir{dirs.files, path}, Project: true})
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
func (st *sessionTools) Skills(rest string) string { return st.skills.Command(rest) }

// readySkills brings the skills of the repository up to date before a turn. Without a
// model nothing would use them, so the user is not asked.
func (st *sessionTools) readySkills(ctx context.Context) {
	if _, direct := st.model().(local.Direct); !direct {
		st.skills.Ready(ctx)
	}
}

// promptSkills returns the skills for the system prompt.
func promptSkills(set *skills.Set) (all []prompt.Skill) {
	for _, s := range set.Usable() {
		all = append(all, prompt.Skill{Name: s.Name, Description: s.Description})
	}
	return all
}
