package app

import (
	"errors"
	"slices"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/undo/copies"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// agentFiles returns the files of zeph-acp, which no tool may touch: they hold keys and
// permissions. A tool that opened and closed the database in this process would also remove
// the locks on it.
func agentFiles(p config.Paths) *workspace.AgentFiles {
	settings := []string{
		"config.toml",
		"config.toml.bak*",
		"filters.toml",
		answers.FileName,
		hooks.FileName,
		keys.FileName,
		keys.FileName + ".lock",
		keys.LoginsFile,
		keys.Temporary("*"),
	}
	data := []string{
		config.StoreFile,
		config.StoreFile + "-wal",
		config.StoreFile + "-shm",
		config.StoreFile + "-journal",
		config.StoreFile + "*",
		listsFile,
		keys.Temporary(listsFile),
		approval.FileName,
		keys.Temporary(approval.FileName),
		rewind.DirName,
		bundle.RecordsFile,
		keys.Temporary(bundle.RecordsFile),
	}
	state := []string{"audit.jsonl", "audit.jsonl*", copies.DirName}
	places := []workspace.Place{{Dir: p.Config, Files: settings}, {Dir: p.Data, Files: data, Open: bundle.OpenDirs}, {Dir: p.State, Files: state}}
	if p.Config == p.Data && p.Data == p.State { // ZEPH_HOME, which may be a project of the user
		places = []workspace.Place{{Dir: p.Config, Files: slices.Concat(settings, data, state), Mixed: true, Open: bundle.OpenDirs}}
	}
	o := &workspace.AgentFiles{}
	for _, place := range places {
		if place.Dir != "" {
			o.Places = append(o.Places, place)
		}
	}
	return o
}

// agentFilesBeside returns the files of zeph-acp for a sub-agent in a copy of the project. The
// copy is below a private directory, but open to the tools; the repository next to it stays
// private.
func agentFilesBeside(own *workspace.AgentFiles, c *copies.Copy) *workspace.AgentFiles {
	out := &workspace.AgentFiles{}
	if own == nil {
		return out
	}
	for _, p := range own.Places {
		if i := slices.Index(p.Files, copies.DirName); i >= 0 {
			p.Files, p.Mixed = slices.Delete(slices.Clone(p.Files), i, i+1), true
		}
		out.Places = append(out.Places, p)
	}
	out.Places = append(out.Places, workspace.Place{Dir: c.Meta})
	return out
}

// isAgentFile reports whether a path in the workspace leads to a file of zeph-acp.
func isAgentFile(roots *workspace.Roots, path string) bool {
	_, err := roots.Resolve(path)
	_, private := errors.AsType[*workspace.AgentFileError](err)
	return private
}
