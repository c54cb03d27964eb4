package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/session/agent/filecommand"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// BenchmarkNoFileCommands measures the cost of a turn in a session without commands of
// files.
func BenchmarkNoFileCommands(b *testing.B) {
	dir := b.TempDir()
	roots, err := workspace.New(dir)
	if err != nil {
		b.Fatal(err)
	}
	o := filecommand.Options{Known: cataloguetest.Known, Dir: dir, Sources: []skills.Source{{Name: "yours", FS: os.DirFS(filepath.Join(dir, "none"))}}}
	for _, name := range filecommand.ProjectDirs {
		o.Sources = append(o.Sources, skills.Source{Name: name, FS: projectDir{roots, filepath.Join(dir, name)}, Project: true})
	}
	set := filecommand.New(o)
	b.ReportAllocs()
	for b.Loop() {
		set.Ready()
	}
}
