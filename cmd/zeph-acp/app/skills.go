package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// skills returns the skills of a session. No file of the repository is read before its
// first turn.
func (b *sessionBuilder) skills() *skills.Set {
	o := skills.Options{
		Config: b.cfg.Tools.Skills, Dir: b.dirs.roots.Cwd(), Known: catalogue.Known, Warn: b.session.Warn,
		Desk:  b.approvalDesk(),
		Level: func(name string) string { return b.tools.gates.trust.Skill(name).String() },
		SetLevel: func(name, level string) string {
			return b.tools.Trust(context.Background(), "set skill:"+name+" "+level)
		},
		OnRead: b.tools.gates.trust.ReadSkill,
		System: func() string { return b.tools.system.text() },
		Secret: b.skillSecret,
	}
	project := skills.ProjectDirs
	if !b.cfg.Tools.Enabled {
		project = nil
	}
	o.Sources = b.skillSources(b.app.Skills, project)
	return skills.New(o)
}

// skillSources returns the directories of skills or of commands: the user's, unless it is empty,
// and the repository's, if the user is asked about them.
func (b *sessionBuilder) skillSources(users string, project []string) []skills.Source {
	var all []skills.Source
	if users != "" {
		all = append(all, skills.Source{Name: "yours", Path: users, FS: os.DirFS(users)})
	}
	if !b.app.ProjectSkills {
		return all
	}
	for _, dir := range project {
		path := filepath.Join(b.dirs.roots.Cwd(), filepath.FromSlash(dir))
		all = append(all, skills.Source{Name: dir, FS: projectDir{b.dirs.files, path}, Project: true})
	}
	return all
}

// skillSecret returns a variable for the commands of a skill: the one that the user has set
// for skills, else NAME unless it belongs to a provider of models.
func (b *sessionBuilder) skillSecret(name string) string {
	value := b.app.environ(config.SecretPrefix + name)
	if value == "" && !shell.Reserved(name, localShell(b.cfg).Block) {
		value = b.app.environ(name)
	}
	if value != "" {
		b.app.filters.learn(value)
	}
	return value
}

// Skills lists the skills, or carries out a command about one, for /skills and /skill.
func (st *sessionTools) Skills(_ context.Context, rest string) string { return st.skills.Command(rest) }

// readySkills brings the skills of the repository up to date before a turn. Without a
// model nothing would use them, so the user is not asked.
func (st *sessionTools) readySkills(ctx context.Context) {
	if !isDirect(st.model()) {
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
