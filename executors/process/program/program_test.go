//go:build unix

package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/process"
)

func runner() *Runner { return &Runner{Env: []string{"PATH=" + os.Getenv("PATH"), "A=a"}} }

func sh(script string) Command { return Command{Name: "sh", Args: []string{"-c", script}, Dir: "/"} }

func TestRun(t *testing.T) {
	t.Setenv("ZEPH_TEST_KEY", "secret")
	for name, tt := range map[string]struct {
		command Command
		want    string
		err     string // a part of it; empty for none
	}{
		"output":          {command: sh(`printf 'a\377'; echo no >&2`), want: "a\377"},
		"input":           {command: Command{Name: "cat", Dir: "/", Stdin: strings.NewReader("in")}, want: "in"},
		"no input":        {command: Command{Name: "cat", Dir: "/"}},
		"unread input":    {command: Command{Name: "true", Dir: "/", Stdin: strings.NewReader(strings.Repeat("x", 1<<20))}},
		"environment":     {command: Command{Name: "sh", Args: []string{"-c", `echo "$A$B$ZEPH_TEST_KEY$PWD"`}, Dir: "/tmp", Env: []string{"B=b"}}, want: "ab/tmp\n"},
		"fails":           {command: sh(`echo out; echo first >&2; echo second >&2; exit 3`), want: "out\n", err: "sh: first"},
		"warns and fails": {command: sh(`echo warning: w >&2; echo fatal: f >&2; exit 3`), err: "sh: fatal: f"},
		"fails silently":  {command: sh(`exit 3`), err: "sh: exit status 3"},
		"by a signal":     {command: sh(`kill -9 $$`), err: "sh: it was ended by SIGKILL"},
		"not installed":   {command: Command{Name: "no-such-program", Dir: "/"}, err: "no-such-program: "},
		"too long":        {command: Command{Name: "yes", Dir: "/", MaxOutput: 10}, err: ErrTooLong.Error()},
		"just fits":       {command: Command{Name: "echo", Args: []string{"123456789"}, Dir: "/", MaxOutput: 10}, want: "123456789\n"},
		"too slow": {command: Command{Name: "sleep", Args: []string{"999"}, Dir: "/", Timeout: 50 * time.Millisecond},
			err: "sleep: it did not end within 50ms"},
		"a daemon": {command: sh(`sleep 999 & echo up`), want: "up\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runner().Run(t.Context(), tt.command)
			if string(out) != tt.want {
				t.Errorf("got %q, want %q", out, tt.want)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got the error %v, want %q", err, tt.err)
			}
		})
	}
}

func TestRunCancelled(t *testing.T) {
	why := errors.New("no more")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := runner().Run(ctx, sh("sleep 999")); err != why {
		t.Errorf("got %v", err)
	}
}

// A program that the project brings along does not run, by any name.
func TestRunProgramOfProject(t *testing.T) {
	project, bin := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "evil"), []byte("#!/bin/sh\necho ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(project, "evil"), filepath.Join(bin, "evil")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{project, bin} {
		t.Setenv("PATH", path)
		for _, c := range []Command{{Read: []string{project}}, {Write: []string{project}}} {
			c.Name, c.Dir = "evil", project
			if out, err := runner().Run(t.Context(), c); !errors.Is(err, ErrOfProject) {
				t.Errorf("with PATH=%s it printed %q, %v", path, out, err)
			}
		}
	}
}

// Run passes the directories of a command to the box, and nothing runs if the box fails.
func TestRunConfined(t *testing.T) {
	r := runner()
	var got []string
	r.Confine = func(p process.Program, read, write []string) (process.Program, error) {
		got = slices.Concat(read, []string{"|"}, write)
		p.Confine = func() error { return errors.New("no box") }
		return p, nil
	}
	c := sh("echo ran")
	c.Read, c.Write = []string{"/r"}, []string{"/w"}
	out, err := r.Run(t.Context(), c)
	if err == nil || len(out) > 0 || !slices.Equal(got, []string{"/r", "|", "/w"}) {
		t.Errorf("got %q, %v, directories %q", out, err, got)
	}
}

// repositories makes repositories in a directory: "p" with the linked worktree "linked", "p/sub"
// as a submodule of p, and "x" with other files.
func repositories(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	script := `set -e
for r in x p; do git init -q $r; git -C $r commit -q --allow-empty -m 1; done
git -C p worktree add -q ../linked
git -C p -c protocol.file.allow=always submodule --quiet add ../x sub
mkdir -p p/a/b none evil forged/.fake evilsub moved
git init -q --separate-git-dir=elsewhere apart
echo "gitdir: ../p/.git/worktrees/linked" >evil/.git
echo "gitdir: ../p/.git/modules/sub" >evilsub/.git
ln -s ../p/.git moved/.git
cp -r p/.git/worktrees/linked forged/.git-dir
mkdir -p forged/worktrees; mv forged/.git-dir forged/worktrees/w
echo "gitdir: worktrees/w" >forged/.git; echo "$PWD/forged/.git" >forged/worktrees/w/gitdir; echo "$PWD/p/.git" >forged/worktrees/w/commondir`
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// A file .git leads to another repository only if that one names the directory too: a project
// from the net could name any repository of the user.
func TestFindRepository(t *testing.T) {
	base := repositories(t)
	for dir, want := range map[string]Repository{
		"p":       {Top: "p"},
		"p/a/b":   {Top: "p"},
		"linked":  {Top: "linked", Common: "p/.git"},
		"p/sub":   {Top: "p/sub", Common: "p/.git/modules/sub"},
		"apart":   {Top: "apart"}, // the other directory does not name it
		"evil":    {Top: "evil"},
		"evilsub": {Top: "evilsub"},
		"forged":  {Top: "forged", Common: "forged"}, // which has no more than itself
		"moved":   {Top: "moved"},
		"none":    {Top: "none"},
	} {
		want.Top = filepath.Join(base, want.Top)
		if want.Common != "" {
			want.Common = filepath.Join(base, want.Common)
		}
		if got := runner().FindRepository(t.Context(), filepath.Join(base, dir)); got != want {
			t.Errorf("%s: got %+v, want %+v", dir, got, want)
		}
	}
}
