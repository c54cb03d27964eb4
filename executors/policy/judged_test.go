package policy

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command/plain"
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
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", strings.Join(tt.path, string(filepath.ListSeparator)))
			p := ruling{Permission: &Permission{Roots: roots(tt.root)}}
			if got := p.ownProgram(&plain.Command{Words: []string{tt.program}}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
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
		if got := (judge{now: &workspace.Moment{}}).tempDirs(); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v, want %v", temp, got, want)
		}
	}
}
