package app

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema"
)

var update = flag.Bool("update", false, "rewrite the agent's lines of the fixtures")

// TestFixtures plays all fixtures. It also validates each frame of the agent
// against the schemas of the protocol.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("../../../protocol-fixtures/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	t.Cleanup(Isolate())
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			f, err := fixtures.Parse(file, data)
			if err != nil {
				t.Fatal(err)
			}
			v := schema.Load(t)
			err = Replay(t.Context(), f, func(f *fixtures.Fixture, c fixtures.Conn) error {
				c.Trace = v.Frame
				if !*update {
					return fixtures.Play(f, c)
				}
				if data, err = fixtures.Rewrite(f, c); err != nil {
					return err
				}
				return os.WriteFile(file, data, 0o644)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
