package listing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
)

// Names without a dot at the last level are directories only if tree says so. All directories stay.
func TestTreeLevels(t *testing.T) {
	tree := func(slash string, summary string) string {
		var b strings.Builder
		b.WriteString(".\n├── bin" + slash + "\n")
		for i := range 400 {
			fmt.Fprintf(&b, "│   ├── tool%c%c\n", 'a'+i/20, 'a'+i%20)
		}
		b.WriteString("├── lib" + slash + "\n")
		for i := range 100 {
			fmt.Fprintf(&b, "│   ├── f%c%c.so\n", 'a'+i/20, 'a'+i%20)
			if i%10 == 0 {
				fmt.Fprintf(&b, "│   ├── dir%c%s\n", 'a'+i/10, slash)
			}
		}
		b.WriteString("└── LICENSE\n\n" + summary + "\n")
		return b.String()
	}
	for name, tt := range map[string]struct {
		command, in string
		want, gone  []string
		others      []string
	}{
		"another command": {"tree -d docs", tree("", "12 directories, 501 files") + "docs\n└── editors\n", []string{"  toolaa\n", "12 directories, 501 files"},
			[]string{"toolsb"}, []string{"ls -L 1", "tree -L 2"}},
		"programs": {"tree -L 2", tree("", "12 directories, 501 files"),
			[]string{" bin\n", "  toolaa\n", " lib\n", "12 directories, 501 files"}, []string{"toolsb"}, nil},
		"slashes": {"tree -FL 2", tree("/", "12 directories, 501 files"),
			[]string{" bin/\n", " lib/\n", "  dira/\n", "  dirj/\n"}, []string{"toolsb"}, nil},
		"as many as tree counts": {"tree -L 2", strings.ReplaceAll(tree("", "413 directories, 100 files"), "├── tool", "├── pkg"),
			[]string{" bin\n", "  pkgsb\n", "  dirj\n"}, []string{"fej.so"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["listing"], "")
			got, _ := strategytest.Filter(t, s, strategy.Run{Command: tt.command, Others: tt.others}, tt.in)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is gone:\n%s", want, got)
				}
			}
			for _, gone := range tt.gone {
				if strings.Contains(got, gone) {
					t.Errorf("%q is not gone:\n%s", gone, got)
				}
			}
		})
	}
}
