package app

import (
	"context"
	"os"
	"path/filepath"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// skillsFeature has the tools that load and invoke skills. No file of the repository is read before
// the first turn.
func (b *sessionBuilder) skillsFeature(set *skills.Set) Feature {
	return Feature{
		Name: "skills", Tools: set, Reset: set.Reset,
		Warnings: func() []string { return set.Warnings },
		Ready: func(ctx context.Context, _ string) {
			if !isDirect(b.session.Model()) { // without a model nothing would use them, so the user is not asked
				set.Ready(ctx)
			}
		},
		Builtins: []session.Builtin{
			{
				Name: "skills", Description: "Show the skills with their source, trust and state",
				Run: func(context.Context, string) string { return set.Command("") },
			},
			{
				Name: "skill", Description: "Approve a skill, or block it", Hint: "trust|block NAME",
				Run: func(_ context.Context, rest string) string { return set.Command(rest) },
			},
		},
	}
}

// skills returns the skills of a session. system returns the system prompt, and setTrust carries out
// the command /trust.
func (b *sessionBuilder) skills(levels *trust.Trust, system func() (system, project string), setTrust func(rest string) string) *skills.Set {
	o := skills.Options{
		Config: b.cfg.Tools.Skills, Dir: b.dirs.roots.Cwd(), Known: catalogue.Known, Warn: b.session.Warn,
		Desk:     b.approvalDesk(),
		Level:    func(name string) string { return levels.Skill(name).String() },
		SetLevel: func(name, level string) string { return setTrust("set skill:" + name + " " + level) },
		OnRead:   levels.ReadSkill,
		System:   system,
		Secret:   b.skillSecret,
	}
	project := skills.ProjectDirs
	if !b.cfg.Tools.Enabled {
		project = nil
	}
	o.Sources = b.skillSources(b.app.Skills, b.plugins.sources(pluginSkills), project)
	return skills.New(o)
}

// skillSources returns the directories of skills or of commands: the user's, unless it is empty, the
// plug-ins', and the repository's, if the user is asked about them.
func (b *sessionBuilder) skillSources(users string, plugins []skills.Source, project []string) []skills.Source {
	var all []skills.Source
	if users != "" {
		all = append(all, skills.Source{Name: "yours", Path: users, FS: os.DirFS(users)})
	}
	all = append(all, plugins...)
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

// promptSkills returns the skills for the system prompt.
func promptSkills(set *skills.Set) (all []prompt.Skill) {
	for _, s := range set.Usable() {
		all = append(all, prompt.Skill{Name: s.Name, Description: s.Description})
	}
	return all
}
