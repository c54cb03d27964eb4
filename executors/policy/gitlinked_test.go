package policy_test

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command"
)

// Git commands that only read need no permission in a linked worktree which its repository knows.
func TestLinkedWorktree(t *testing.T) {
	pool := newPool(t)
	td := take(t, pool, "git-linked-worktree")
	for script, want := range map[string]string{
		"git log -1 --format=%s":              "third\n",
		"cd src && git status --short ../sub": " M ../sub/x.go\n",
		"git grep -c func main.go":            "main.go:1\n",
		"git ls-files a.txt | xargs head -1":  "one\n",
	} {
		runs, ok, asked := judge(t, td, "code", script)
		if !ok || asked {
			t.Errorf("%q asks", script)
			continue
		}
		if got := string(td.Run(runs, command.GitSafeEnv()...)); got != want {
			t.Errorf("%q prints %q, want %q", script, got, want)
		}
	}
	if changed := giveBack(t, td); len(changed) > 0 {
		t.Error("the commands change", strings.Join(changed, " "))
	}
}
