package permission

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// A program that PATH finds inside the session's roots needs permission.
func TestOwnProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have an extension on Windows")
	}
	dir := t.TempDir()
	project, system := filepath.Join(dir, "project"), filepath.Join(dir, "system")
	for _, path := range []string{filepath.Join(project, "bin", "ls"), filepath.Join(system, "ls"), filepath.Join(system, "wc")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(project)
	for name, tt := range map[string]struct {
		path    []string
		program string
		root    string
		want    string
	}{
		"only the system":              {[]string{system}, "ls", project, ""},
		"the project first":            {[]string{filepath.Join(project, "bin"), system}, "ls", project, filepath.Join(project, "bin", "ls")},
		"the project, not clean":       {[]string{project + "/x/../bin/"}, "ls", project, filepath.Join(project, "bin", "ls")},
		"the system first":             {[]string{system, filepath.Join(project, "bin")}, "ls", project, ""},
		"another program":              {[]string{filepath.Join(project, "bin"), system}, "wc", project, ""},
		"a relative directory":         {[]string{system + "x", "bin"}, "ls", project, filepath.Join("bin", "ls")},
		"no such program":              {[]string{"", filepath.Join(project, "bin")}, "cat", project, ""},
		"a builtin":                    {[]string{filepath.Join(project, "bin")}, "echo", project, ""},
		"a root as wide as the system": {[]string{system}, "ls", "/", ""},
		"a directory of the system":    {[]string{system}, "/usr/local/bin/ls", "/usr/local", "/usr/local/bin/ls"},
		"another one":                  {[]string{system}, "/usr/bin/ls", "/usr/local", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", strings.Join(tt.path, string(filepath.ListSeparator)))
			p := permissionCheck{Permission: &Permission{Roots: roots(tt.root)}}
			if got := p.programInRoots(tt.program); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// A program that another one starts counts like the command itself, and so does the
// shell.
func TestOwnProgramOfAnother(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have an extension on Windows")
	}
	path := os.Getenv("PATH")
	for own, scripts := range map[string][]string{
		"bash": {"ls"}, "timeout": {"timeout 5 ls"}, "env": {"env LC_ALL=C ls"}, "grep": {"egrep x f", "find . | xargs grep x"}, "gcc": {"go env", "go list"},
		"node": {"npm --version"}, "git-lfs": {"git status"},
		"other": nil,
	} {
		project := t.TempDir()
		if err := os.WriteFile(filepath.Join(project, own), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", project+string(filepath.ListSeparator)+path)
		p := permissionCheck{Permission: &Permission{Roots: roots(project), Boxed: inBox}, stats: &workspace.StatCache{}}
		for _, script := range append(scripts, "ls", "timeout 5 env ls", "egrep x f", "go env", "npm --version", "git status") {
			call := bashIn(project, "/home/u", script)
			_, err := p.plainForm(call, call.Card.Script, nil)
			if err == nil && slices.Contains(scripts, script) || own == "other" && err != nil {
				t.Errorf("%s with a %s of the project: %v", script, own, err)
			}
		}
	}
}

// A temporary directory counts under its own name and without symlinks.
func TestTempDirs(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("TMPDIR has another name on Windows")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link, dangling := filepath.Join(dir, "link"), filepath.Join(dir, "dangling")
	for name, to := range map[string]string{link: dir, dangling: filepath.Join(dir, "gone")} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	tmp, err := filepath.EvalSymlinks("/tmp")
	if err != nil {
		t.Fatal(err)
	}
	for temp, want := range map[string][]string{
		"/tmp":   {"/tmp"},
		link:     {link, "/tmp", dir},
		dangling: {dangling, "/tmp"},
		"tmp":    {"tmp", "/tmp"},
	} {
		t.Setenv("TMPDIR", temp)
		if tmp != "/tmp" { // on macOS it is a link
			want = append(want, tmp)
		}
		if got := (guardCheck{stats: &workspace.StatCache{}}).tempDirs(); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", temp, got, want)
		}
	}
}

// A device may be read without an end.
func TestEndless(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	for name, to := range map[string]string{"zero": "/dev/zero", "dir": ".", "none": "gone"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	g := guardCheck{stats: &workspace.StatCache{}}
	for path, want := range map[string]bool{
		"/dev/zero": true, "/dev/../dev/zero": true, "/dev/null": false, "/dev/stdin": false, "/dev/stdout": true,
		dir + "/zero": true, dir + "/z*": true, dir + "/*": true, dir + "/f*": false, dir + "/file": false, dir: false, dir + "/dir": false, dir + "/none": false,
	} {
		if got := g.mayNeverEnd(command.Path{Text: path, Abs: []string{path}, Glob: strings.Contains(path, "*")}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
