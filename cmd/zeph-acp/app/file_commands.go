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
		Sources: b.skillSources(b.app.Commands, filecommand.ProjectDirs),
	})
}

// fileCommands returns the commands that files define.
func (st *sessionTools) fileCommands() []session.Command {
	var out []session.Command
	for _, c := range st.commandFiles.Commands() {
		if !st.hasTool(c.Name) {
			out = append(out, session.Command(c))
		}
	}
	return out
}

// hasTool reports whether the user can call a tool of that name, which then comes before
// a command of a file.
func (st *sessionTools) hasTool(name string) bool {
	_, ok := executors.Find(st.tools.Tools(), name)
	return ok
}

// expandFile returns the prompt of a file.
func (st *sessionTools) expandFile(ctx context.Context, name, rest string) (session.Expansion, bool, error) {
	if st.hasTool(name) {
		return session.Expansion{}, false, nil
	}
	p, reply, ok, err := st.commandFiles.Expand(ctx, name, rest)
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
