package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
)

// BenchmarkNoSkills measures the first turn of a session without skills, and a later
// one.
func BenchmarkNoSkills(b *testing.B) {
	dir := b.TempDir()
	roots, err := workspace.New(dir)
	if err != nil {
		b.Fatal(err)
	}
	open := func() *skills.Set {
		o := skills.Options{Config: setting.Default[skills.Config](), Known: cataloguetest.Known, Dir: dir,
			Sources: []skills.Source{{Name: "yours", FS: os.DirFS(filepath.Join(dir, "none"))}}}
		for _, name := range skills.ProjectDirs {
			o.Sources = append(o.Sources, skills.Source{Name: name, FS: projectDir{roots, filepath.Join(dir, name)}, Project: true})
		}
		return skills.New(o)
	}
	turn := func(s *skills.Set) {
		if s.Waiting() {
			b.Fatal("there are skills")
		}
		s.Ready(b.Context())
		s.Tools()
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			turn(open())
		}
	})
	b.Run("later", func(b *testing.B) {
		b.ReportAllocs()
		s := open()
		for b.Loop() {
			turn(s)
		}
	})
}
