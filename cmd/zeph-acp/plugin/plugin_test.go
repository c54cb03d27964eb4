package plugin

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
)

var update = flag.Bool("update", false, "rewrite the expected reports about public plug-ins")

// TestPublicPlugins reads plug-ins that others have published. Each loads with the expected parts, or the error says
// why it does not.
func TestPublicPlugins(t *testing.T) {
	dirs, err := filepath.Glob("testdata/public/[a-z]*")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < 10 {
		t.Fatalf("only %d plug-ins", len(dirs))
	}
	for _, dir := range dirs {
		name := filepath.Base(dir)
		t.Run(name, func(t *testing.T) {
			listed := ""
			if name == "gopls-lsp" { // only in a marketplace
				listed = name
			}
			s, err := bundle.ParseSource(dir)
			if err != nil {
				t.Fatal(err)
			}
			open := func(ctx context.Context, s bundle.Source) (*bundle.Folder, error) { return bundle.Open(ctx, nil, s) }
			got := ""
			if p, err := bundle.Fetch(t.Context(), open, s, listed); err != nil {
				got = fmt.Sprintf("refused: %v\n", err)
			} else {
				var b strings.Builder
				p.From = bundle.Source{Dir: "DIR", Sub: "."}
				r := newReport(p)
				r.write(&b, p)
				got = r.brings() + "\n\n" + strings.Replace(b.String(), p.Tree.Hash(), "HASH", 1) // modes differ between systems
			}
			file := filepath.Join("testdata/want", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDifference(t *testing.T) {
	old := bundle.Tree{
		"a": {Data: []byte("x\n")}, "gone": {Data: []byte("g\n")}, "same": {Data: []byte("s")}, "mode": {Data: []byte("m")}, "bin": {Data: []byte{0}},
	}
	fresh := bundle.Tree{
		"a": {Data: []byte("y\x1b[31m\n")}, "new": {Data: []byte("n\n")}, "same": {Data: []byte("s")}, "mode": {Data: []byte("m"), Exec: true},
		"bin": {Data: []byte{0, 1}},
	}
	var b strings.Builder
	if err := showDifference(&b, old, fresh); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-x\n", "+y<U+001B>[31m\n", "gone is removed", "new is new", "+n\n", "the mode of mode changes", "bin differs"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "same") {
		t.Errorf("an unchanged file in\n%s", b.String())
	}
}
