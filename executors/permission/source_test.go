package permission

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// The source of a copy is only read, so that allow_read may name it outside of the roots. The source of a move is
// changed.
func TestSourceOfACopy(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	readable, other := filepath.Join(outside, "o"), filepath.Join(outside, "p")
	for _, name := range []string{readable, other} {
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	session, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	at, err := session.Reading(workspace.ReadRules{Allow: []string{readable}})
	if err != nil {
		t.Fatal(err)
	}
	policy := NewShellPolicy(setting.Default[ShellRules](), Config{}, "", cataloguetest.Known())
	for _, tt := range []struct {
		from, source string
		blocked      bool
	}{{readable, readable, false}, {readable, "", true}, {other, other, true}, {other, "", true}} {
		g := (&Guard{Roots: at}).newCheck(policy, &executors.Call{})
		card := executors.Card{Paths: []string{tt.from, filepath.Join(dir, "x")}, Source: tt.source, NoFollow: true}
		if f := g.checkCardPaths(card, false); (f != nil) != tt.blocked {
			t.Errorf("from %s, which is the source: %t: blocked: %v", filepath.Base(tt.from), tt.source != "", f)
		}
	}
}
