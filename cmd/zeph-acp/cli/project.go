package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// ProjectFlags select a project, or all.
type ProjectFlags struct {
	Dir         string
	AllProjects bool
}

// Register adds the flags. things names what they select: "the entries of".
func (p *ProjectFlags) Register(cmd *cobra.Command, things string) {
	cmd.Flags().StringVar(&p.Dir, "cwd", "", things+" the project `DIR` instead of the current directory")
	cmd.Flags().BoolVar(&p.AllProjects, "all-projects", false, things+" all projects")
}

// Roots returns the workspace roots of the selected project.
func (p *ProjectFlags) Roots() (*workspace.Roots, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return nil, err
	}
	return workspace.New(dir)
}
