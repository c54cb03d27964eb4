package rollback

import (
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

func TestWrites(t *testing.T) {
	const all = "all"
	for script, want := range map[string][]string{
		"ls -l; cat a | grep x":          nil,
		"git status && go version":       nil,
		"echo hi > a":                    {"/w/a"},
		"echo hi >> sub/a 2> err":        {"/w/sub/a", "/w/err"},
		"cat < a":                        nil,
		"rm -rf build old":               {"/w/build", "/w/old"},
		"cd sub && rm x":                 {"/w/sub/x"},
		"mv a b; cp -r /abs c":           {"/w/a", "/w/b", "/abs", "/w/c"},
		"touch 'a b'":                    {"/w/a b"},
		"echo x | tee -a log":            {"/w/log"},
		"chmod +x run":                   {"/w/run"},
		"rm *.o":                         {all},
		"rm $files":                      {all},
		"rm ../x":                        {all},
		"echo > $f":                      {all},
		"cp --backup a b":                {all},
		"mv -bf a b":                     {all},
		"ln -S .old -sf a b":             {all},
		"sed -i s/a/b/ x":                {all},
		"make":                           {all},
		"./script.sh":                    {all},
		"env rm x":                       {all},
		"PATH=.:$PATH; ls":               {all},
		"LD_PRELOAD=./x.so ls":           {all},
		"bash -c 'echo hi > a'":          {all},
		"eval \"$x\"":                    {all},
		"if then":                        {all},
		"find . -delete":                 {all},
		"python3 -c 'open(\"a\",\"w\")'": {all},
		"git checkout .":                 {all},
		"sort -o a a":                    {all},
		"":                               nil,
	} {
		paths, _, any := Writes(command.Parse(script, command.Shell{Dir: "/w", Home: "/h"}))
		if any {
			paths = []string{all}
		}
		slices.Sort(paths)
		if slices.Sort(want); !slices.Equal(paths, want) {
			t.Errorf("%q: got %q, want %q", script, paths, want)
		}
	}
}

// Only a program that may write below a directory has trees, since what is below them may
// be much.
func TestWritesBelow(t *testing.T) {
	for script, want := range map[string][]string{
		"mkdir -p d && touch d/x":  nil,
		"echo a > d/x; rmdir e":    nil,
		"rm -rf d; mkdir d":        {"/w/d"},
		"cp -r a d":                {"/w/a", "/w/d"},
		"mkdir -p new; mv a new/b": {"/w/a", "/w/new/b"},
		"chmod -R go-w d":          {"/w/d"},
	} {
		_, trees, all := Writes(command.Parse(script, command.Shell{Dir: "/w", Home: "/h"}))
		if slices.Sort(trees); all || !slices.Equal(trees, want) {
			t.Errorf("%q: got %q, %t, want %q", script, trees, all, want)
		}
	}
}
