package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// seatbeltSession is a session of a user with toolchains, settings and secrets.
type seatbeltSession struct {
	home, root string // without links
	session    Session
}

func newSeatbeltSession(t *testing.T) *seatbeltSession {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a box of macOS needs its paths")
	}
	home := realPath(t.TempDir())
	write := func(path, text string, mode os.FileMode) {
		path = filepath.Join(home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	write("app/main.go", "package main", 0o644)
	write("zeph/keys.toml", "", 0o600)
	write(".local/bin/tool", "#!/bin/sh", 0o755)
	write("opt/other/bin/linked", "#!/bin/sh", 0o755)
	write("opt/other/lib/x", "", 0o644)
	write(".gitconfig", "[include]\n\tpath = .gitmore\n", 0o644)
	write(".gitmore", "", 0o644)
	write(".config/git/config", "[http]\n\textraheader = Authorization: x\n", 0o644)
	write("go/pkg/mod/x.go", "", 0o644)
	write("dotfiles/private.d/a", "", 0o644)
	write(".aws/credentials", "", 0o600)
	links := errors.Join(os.Symlink(filepath.Join(home, "opt/other/bin/linked"), filepath.Join(home, ".local/bin/linked")),
		os.Symlink(filepath.Join(home, "dotfiles"), filepath.Join(home, "dots")))
	if links != nil {
		t.Fatal(links)
	}
	root := filepath.Join(home, "app")
	t.Setenv("HOME", home)
	own := &workspace.AgentFiles{Places: []workspace.Place{{Dir: filepath.Join(home, "zeph"), Files: []string{"keys.toml*"}}}}
	roots, err := workspace.New(root)
	if err != nil {
		t.Fatal(err)
	}
	roots = roots.Without(own)
	env := map[string]string{"PATH": "/usr/bin:" + filepath.Join(home, ".local/bin") + ":" + root + ":" + home}
	return &seatbeltSession{home: home, root: root, session: Session{
		Roots: roots, OwnFiles: own.Places, Home: home, Getenv: func(name string) string { return env[name] }, Limit: time.Minute,
		DenyPatterns: []string{"*.pem", "~/dots/private.d/**"}, Refuses: func(string) bool { return false },
	}}
}

// The session, declared toolchains and git's settings are granted.
func TestSeatbeltOfSession(t *testing.T) {
	s := newSeatbeltSession(t)
	box, err := newSeatbelt(s.session)
	if err != nil {
		t.Fatal(err)
	}
	if err := box.check(); err != nil {
		t.Fatal(err)
	}
	box.temp = "/private/tmp/t1"
	text, err := box.profile()
	if err != nil {
		t.Fatal(err)
	}
	rules := parseSeatbelt(t, text)
	for path, want := range map[string][2]bool{ // read, execute
		"app/main.go":           {true, false},
		"app/a.pem":             {false, false},
		"zeph/keys.toml":        {false, false},
		".local/bin/tool":       {true, true},
		"opt/other/bin/linked":  {true, true},
		"opt/other/bin/another": {false, false},
		"opt/other/lib/x":       {true, true},
		".gitconfig":            {true, false},
		".gitmore":              {true, false},
		".config/git/config":    {false, false}, // it holds a token
		"go/pkg/mod/x.go":       {true, true},
		".aws/credentials":      {false, false},
		"dotfiles/private.d/a":  {false, false},
		"other/x":               {false, false},
		".bash_history":         {false, false},
	} {
		path = filepath.Join(s.home, path)
		if got := [2]bool{rules.allow("file-read-data", path), rules.allow("process-exec", path)}; got != want {
			t.Errorf("%s: read and execute %v, want %v", path, got, want)
		}
	}
	if !strings.Contains(box.describe(), filepath.Join(s.home, ".gitconfig")) {
		t.Errorf("%s", box.describe())
	}
}

// What the profile could not hold makes commands ask.
func TestSeatbeltOfSessionRefuses(t *testing.T) {
	s := newSeatbeltSession(t)
	if err := os.Link(filepath.Join(s.home, "zeph/keys.toml"), filepath.Join(s.root, "notes")); err != nil {
		t.Skip(err)
	}
	own := &workspace.AgentFiles{Places: []workspace.Place{{Dir: filepath.Join(s.home, "zeph"), Files: []string{"keys.toml"}}}}
	s.session.Roots = s.session.Roots.Without(own)
	if _, err := newSeatbelt(s.session); err == nil || !strings.Contains(err.Error(), "second name") {
		t.Errorf("a hard link to a key: %v", err)
	}
	for _, dir := range []string{"/", "/usr"} {
		roots, err := workspace.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		s.session.Roots = roots
		if _, err := newSeatbelt(s.session); err == nil {
			t.Errorf("%s is a session's directory, and there is a box", dir)
		}
	}
}

// A program starts as sandbox-exec with its profile, and has bounds and a temporary directory.
func TestSeatbeltConfined(t *testing.T) {
	s := newSeatbeltSession(t)
	box, err := newSeatbelt(s.session)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := box.confined(process.Program{Path: "sh", Args: []string{"-c", "ls"}, Dir: s.root, Env: []string{"A=b"}, MaxTime: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(prog.Temp)
	if info, err := os.Stat(prog.Temp); err != nil || info.Mode().Perm() != 0o700 || prog.MaxTemp != process.MaxTempBytes {
		t.Errorf("temporary directory %s, at most %d bytes: %v", prog.Temp, prog.MaxTemp, err)
	}
	box.temp = realPath(prog.Temp)
	text, err := box.profile()
	if err != nil {
		t.Fatal(err)
	}
	limited := process.Program{Path: "sh", Args: []string{"-c", "ls"}}.Limited()
	if prog.Path != sandboxExec || len(prog.Args) != 5 || prog.Args[1] != text || !filepath.IsAbs(prog.Args[2]) ||
		!slices.Equal(prog.Args[3:], limited.Args) || prog.Confine != nil {
		t.Errorf("%s %q", prog.Path, prog.Args)
	}
	if !slices.Contains(prog.Env, "TMPDIR="+box.temp) || !slices.Contains(prog.Env, "A=b") || prog.MaxTime != time.Minute || prog.Dir != s.root {
		t.Errorf("%+v", prog)
	}
	if _, err := box.confined(process.Program{Path: "no-such-program"}); err == nil {
		t.Error("a program that does not exist is confined")
	}
}

// A trial finds each way in which a system does not hold the box.
func TestSeatbeltProblem(t *testing.T) {
	holds := func(args []string) error { // as macOS decides about this profile
		if args[0] == "--version" {
			return nil // it runs outside of the box
		}
		rules := parseSeatbelt(t, args[1])
		argv := args[2:]
		last := argv[len(argv)-1]
		operation := "file-read-data"
		switch {
		case len(argv) == 1:
			operation = "process-exec"
		case strings.Contains(strings.Join(argv, " "), ">"):
			operation = "file-write-create"
		}
		if !rules.allow("process-exec", argv[0]) || last != "--version" && !rules.allow(operation, last) {
			return errors.New("exit status 1")
		}
		return nil
	}
	if problem := seatbeltProblem(func(path string, args ...string) error { return holds(args) }); problem != "" {
		t.Errorf("a system that holds the box: %s", problem)
	}
	if problem := seatbeltProblem(func(string, ...string) error { return errors.New("exit status 71") }); !strings.Contains(problem,
		"does not run: exit status 71") {
		t.Errorf("a system without sandbox-exec: %q", problem)
	}
	for word, want := range map[string]string{
		"/outside": "reads files outside", "/refused.key": "deny_read", "/root/new": "writes the session", "/root/run": "runs programs of the session",
		"/root/open": "cannot read", "/temp/new": "cannot write",
		"--version": "git does not run",
	} {
		problem := seatbeltProblem(func(path string, args ...string) error {
			err := holds(args)
			if len(args) > 1 && strings.HasSuffix(args[len(args)-1], word) { // the system decides otherwise
				if err == nil {
					return errors.New("exit status 1")
				}
				return nil
			}
			return err
		})
		if !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q", word, problem, want)
		}
	}
}
