package policy

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command"
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
		"bash": {"ls"}, "timeout": {"timeout 5 ls"}, "env": {"env LC_ALL=C ls"}, "grep": {"egrep x f", "find . | xargs grep x"}, "gcc": {"go env", "go list"}, "node": {"npm --version"}, "git-lfs": {"git status"},
		"other": nil,
	} {
		project := t.TempDir()
		if err := os.WriteFile(filepath.Join(project, own), nil, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", project+string(filepath.ListSeparator)+path)
		p := permissionCheck{Permission: &Permission{Roots: roots(project)}, stats: &workspace.StatCache{}}
		for _, script := range append(scripts, "ls", "timeout 5 env ls", "egrep x f", "go env", "npm --version", "git status") {
			call := bash(script)
			call.Card.Dir = project
			_, err := p.plainForm(call, parse(script, project, ""), nil)
			if err == nil && slices.Contains(scripts, script) || own == "other" && err != nil {
				t.Errorf("%s with a %s of the project: %v", script, own, err)
			}
		}
	}
}

// A program of a version manager needs permission where a file of the directory
// may name what runs.
func TestOwnVersion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have an extension on Windows")
	}
	if !isShimDir("/home/u/.volta/bin") || isShimDir("/usr/bin") {
		t.Error("the directories of shims")
	}
	for name, tt := range map[string]struct {
		file, text string
		asks       bool
	}{
		"no file":                  {"README", "nodejs path:./tools", false},
		"versions of asdf":         {".tool-versions", "# see https://x.example\nnodejs 20.1.0 system # c\nruby ref:4f1c latest:3\n", false},
		"a directory for asdf":     {".tool-versions", "nodejs path:tools\n", true},
		"an absolute one":          {"../.tool-versions", "ruby 3.1\nnodejs path:/tmp/x\n", true},
		"a version of pyenv":       {".python-version", "3.12.1\npypy3.9-7.3\n", false},
		"a way out of the manager": {".python-version", "../../src/tools", true},
		"versions of mise":         {"mise.toml", "min_version = '1'\n[tools]\nnode = '20'\ngo = ['1.25', '1.24']\n[tasks.a]\nrun = 'x/y'\n", false},
		"a directory for mise":     {".mise.local.toml", "[tools]\nnode = 'path:tools'\n", true},
		"escaped":                  {".config/mise/conf.d/a.toml", "[tools]\nnode = \"\\u0070ath:tools\"\n", true},
		"options of a tool":        {"mise.toml", "[tools]\nnode = { path = 'tools' }\n", true},
		"a package":                {"mise.toml", "[tools]\n'npm:evil' = '1'\n", true},
		"a script for variables":   {"mise/config.toml", "[env]\n_.source = 'x'\n", true},
		"a template":               {"mise.toml", "[tools]\nnode = '{{ exec(command=\"x\") }}'\n", true},
		"not TOML":                 {"mise.toml", "[tools", true},
		"versions of proto":        {".prototools", "node = '20'\n", false},
		"a plugin of proto":        {".prototools", "node = '20'\n[plugins.tools]\nnode = 'file://./x.wasm'\n", true},
		"a directory":              {".nvmrc/x", "", true},
		"hooks of Volta":           {".volta/hooks.json", `{"events": {"publish": {"bin": "./x"}}}`, true},
		"versions of Volta":        {"package.json", `{"name": "a/b", "volta": {"node": "20.1.0"}}`, false},
		"a package for Volta":      {"package.json", `{"volta": {"extends": "../c/package.json"}}`, true},
		"a toolchain of rustup":    {"rust-toolchain.toml", "[toolchain]\nchannel = '1.80'\n", false},
		"a channel of rustup":      {"rust-toolchain", "nightly\n", false},
		"the user's own":           {"../../.tool-versions", "nodejs path:/opt/node\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			project, shims := filepath.Join(home, "work", "project"), filepath.Join(home, "manager", "shims")
			for path, text := range map[string]string{filepath.Join(project, "README"): "", filepath.Join(project, tt.file): tt.text, filepath.Join(shims, "node"): "", filepath.Join(home, "bin", "ruby"): ""} {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", shims+string(filepath.ListSeparator)+filepath.Join(home, "bin"))
			link := filepath.Join(home, "link")
			if err := os.Symlink(project, link); err != nil {
				t.Fatal(err)
			}
			p := permissionCheck{Permission: &Permission{Roots: roots(project), Home: home}}
			for _, dir := range []string{project, link} {
				if err := p.checkVersionFiles("cargo", []string{dir}); (err != nil) != strings.HasPrefix(tt.file, "rust-toolchain") {
					t.Errorf("in %s cargo: %v", dir, err)
				}
				if err := p.checkVersionFiles("node", []string{dir}); (err != nil) != tt.asks {
					t.Errorf("in %s asks %v: %v", dir, !tt.asks, err)
				}
			}
			if err := p.checkVersionFiles("ruby", []string{project}); err != nil {
				t.Error("a program that is not a shim:", err)
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

// A grep that is not GNU's reads files outside through links below a directory.
func TestLinksBelow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("grep is GNU's on Windows")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, busybox := filepath.Join(dir, "project"), filepath.Join(dir, "busybox")
	for _, path := range []string{filepath.Join(project, "src", "a.go"), filepath.Join(project, "docs", "a.md"), filepath.Join(project, "gen", "a.go"), busybox} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{filepath.Join(project, "src", "out"): "/etc/passwd", filepath.Join(project, "docs", "in"): "../docs", filepath.Join(project, "gen", "result"): "/etc", filepath.Join(project, "src", "x.go"): "/etc/passwd", filepath.Join(dir, "grep"): busybox} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	own, err := workspace.New(project)
	if err != nil {
		t.Fatal(err)
	}
	for script, asks := range map[string]bool{
		"grep -r x": true, "grep -rn x .": true, "grep -r x src": true, "grep --recursive x src/": true, "grep -d recurse x src": true, "egrep -r x s*": true, "cd src && grep -r x": true,
		"grep -r x docs": false, "grep x src/a.go": false, "grep -r x src/a.go": false, "grep -r x gen": true, "diff src docs": true, "diff docs docs": false, "gofmt -l gen": false, "gofmt -l .": true, "gofmt -d s*": true, "gofmt -d docs": false,
	} {
		form, err := plain.Parse(script, plain.Shell{Dir: project}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g := guardCheck{&Guard{Roots: own}, NewShellPolicy(ShellDefaults(), Config{}, ""), &workspace.StatCache{}}
		if _, ask := g.judgeNamedFiles(form); (len(ask) > 0) != asks {
			t.Errorf("%s: %q", script, ask)
		}
	}
}
