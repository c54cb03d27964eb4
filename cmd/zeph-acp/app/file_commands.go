package app

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent/filecommand"
)

// fileCommandsFeature has the commands that files define. A tool of the same name comes before one.
func (b *sessionBuilder) fileCommandsFeature(tools executors.Executor) Feature {
	set := b.commandFiles()
	hasTool := func(name string) bool {
		_, ok := executors.Find(tools.Tools(), name)
		return ok
	}
	return Feature{
		Name: "file_commands", Ready: func(context.Context, string) { set.Ready() },
		Prompts: func() (all []session.Command) {
			for _, c := range set.Commands() {
				if !hasTool(c.Name) {
					all = append(all, session.Command(c))
				}
			}
			return all
		},
		Expand: func(ctx context.Context, name, rest string) (session.Expansion, bool, error) {
			if hasTool(name) {
				return session.Expansion{}, false, nil
			}
			return expandFile(ctx, set, name, rest)
		},
	}
}

// commandFiles returns the files of a session that define commands.
func (b *sessionBuilder) commandFiles() *filecommand.Set {
	return filecommand.New(filecommand.Options{
		Dir: b.dirs.roots.Cwd(), Known: catalogue.Known, Warn: b.session.Warn, Announce: b.session.Announce,
		Desk: &approval.Desk{Store: b.app.MCP.Approvals, Ask: b.askApproval()}, // a reply says if one is not used
		Stat: func(path string) (exists, dir bool) {
			real, err := b.dirs.files.Resolve(path)
			if err != nil {
				return false, false
			}
			info, err := b.dirs.files.Lstat(real)
			return err == nil, err == nil && info.IsDir()
		},
		Sources: b.skillSources(b.app.Commands, b.plugins.sources(pluginCommands), filecommand.ProjectDirs),
	})
}

// expandFile returns the prompt of a file.
func expandFile(ctx context.Context, set *filecommand.Set, name, rest string) (session.Expansion, bool, error) {
	p, reply, ok, err := set.Expand(ctx, name, rest)
	e := session.Expansion{Reply: reply, Bounds: p.Bounds, Commands: map[int]string{}}
	for i, part := range p.Parts {
		switch {
		case part.Command != "":
			e.Commands[i] = part.Command
			e.Content = append(e.Content, acp.TextBlock("[The command "+executors.Quoted(part.Command)+" was not run, or it failed]"))
		case part.File != "":
			e.Content = append(e.Content, acp.FileLink(part.Name, part.File))
		default:
			e.Content = append(e.Content, acp.TextBlock(part.Text))
		}
	}
	return e, ok, err
}
