package sandbox

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// git reads a submodule from the project and from the submodule itself, whose repository then lies
// outside of the session.
func TestBoxSubmodule(t *testing.T) {
	b := newBoxed(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=n", "-c", "user.email=e@x"}, args...)...)
		cmd.Env = append(b.env, "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	library := b.home + "/library"
	git("init", "-q", library)
	git("-C", library, "commit", "-q", "--allow-empty", "-m", "of the library")
	git("init", "-q", b.proj)
	git("-C", b.proj, "submodule", "--quiet", "add", library, "lib")
	git("-C", b.proj, "commit", "-q", "-m", "of the project")
	outer := NewBox(b.session)
	roots, err := workspace.New(b.proj + "/lib")
	if err != nil {
		t.Fatal(err)
	}
	inside := b.session
	inside.Roots = roots
	inner := NewBox(inside)
	for name, tt := range map[string]struct {
		box          *Box
		script, want string
	}{
		"status":         {outer, "git submodule status", " lib (heads/"},
		"log in it":      {outer, "cd lib && git log --format=%s && git status --short", "of the library\n"},
		"log of both":    {outer, "git log --format=%s && git -C lib log --format=%s", "of the project\nof the library\n"},
		"its own folder": {inner, "cd lib && git log --format=%s && git status --short", "of the library\n"},
	} {
		for how, run := range map[string]func(testing.TB, *Box, string) (string, int){"here": b.run, "launcher": b.launch} {
			if text, code := run(t, tt.box, tt.script); code != 0 || !strings.Contains(text, tt.want) {
				t.Errorf("%s, %s: exit %d, %q; want %q", how, name, code, text, tt.want)
			}
		}
	}
	if text, code := b.run(t, inner, "cat a.txt"); code == 0 {
		t.Errorf("a session in the submodule reads the project: %q", text)
	}
}
