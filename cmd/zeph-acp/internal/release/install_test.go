package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// site is a release of two versions on a mirror, whose programs are scripts.
type site struct {
	*httptest.Server
	dir      string // of version 1.2.3, with its install.sh
	requests atomic.Int32
	ca       string // file with the server's certificate
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	top := t.TempDir()
	for _, version := range []string{"1.2.2", "1.2.3"} {
		s.dir = filepath.Join(top, "v"+version)
		writeFakes(t, s.dir, version)
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		http.FileServerFS(os.DirFS(top)).ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	s.ca = filepath.Join(top, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(s.ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// writeFakes writes a release of all targets, whose archives have a script as the program.
func writeFakes(t *testing.T, dir, version string) {
	t.Helper()
	r := release{out: dir, version: version, time: time.Unix(1e9, 0)}
	var err error
	if r.root, err = output(t.Context(), "", nil, "git", "rev-parse", "--show-toplevel"); err != nil {
		t.Fatal(err)
	}
	for _, target := range r.facts().Targets() {
		files := newContents(r.time)
		files.add(target.program(), fmt.Appendf(nil, "#!/bin/sh\necho zeph-acp %s for %s %s\n", version, target.os, target.arch), 0o755)
		archived, err := archive(files.below("zeph-acp"), target.os == "windows")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.write(target.archive(version), archived); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.writeRecipes(); err != nil {
		t.Fatal(err)
	}
	sums, err := r.sums()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.write(sumsFile, []byte(sums)); err != nil {
		t.Fatal(err)
	}
}

// shells returns the shells of this machine, as commands that read a script from stdin.
func shells(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	for _, command := range [][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"mksh"}, {"zsh", "--emulate", "sh"}} {
		if path, err := exec.LookPath(command[0]); err == nil {
			found[command[0]] = append([]string{path}, command[1:]...)
		}
	}
	if len(found) == 0 {
		t.Skip("install.sh needs a POSIX shell, and there is none here")
	}
	return found
}

// computer is what a user has: the programs that a shell finds, and a home directory.
type computer struct {
	bin, home string
	env       []string
}

// newComputer makes a computer with the programs that install.sh needs, without some.
func newComputer(t *testing.T, s *site, without ...string) *computer {
	t.Helper()
	m := &computer{bin: t.TempDir(), home: t.TempDir()}
	wgetrc := filepath.Join(m.home, "wgetrc")
	if err := os.WriteFile(wgetrc, []byte("ca_certificate = "+s.ca+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.env = []string{"PATH=" + m.bin, "HOME=" + m.home, "CURL_CA_BUNDLE=" + s.ca, "WGETRC=" + wgetrc, "ZEPH_MIRROR=" + s.URL}
	for _, name := range strings.Fields("cat chmod cp curl gzip head mkdir mktemp mv openssl perl printf rm sha256sum shasum tar uname wget") {
		if path, err := exec.LookPath(name); err == nil && !strings.Contains(" "+strings.Join(without, " ")+" ", " "+name+" ") {
			if err := os.Symlink(path, filepath.Join(m.bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return m
}

// program replaces a program of the computer by a script.
func (m *computer) program(t *testing.T, name, script string) {
	t.Helper()
	file := filepath.Join(m.bin, name)
	_ = os.Remove(file)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// install runs a script and returns what it prints.
func (m *computer) install(shell []string, script string, env ...string) (string, error) {
	cmd := exec.Command(shell[0], shell[1:]...)
	cmd.Env, cmd.Dir = append(m.env, env...), m.home
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func readScript(t *testing.T, s *site) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// needInstall skips a test where the script does not install, or cannot download.
func needInstall(t *testing.T) {
	t.Helper()
	needGit(t)
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("install.sh is for Linux and macOS")
	}
	need(t, "curl", "tar", "gzip", "sha256sum")
}

// TestInstall installs twice with each shell, and looks at what is there and what is said.
func TestInstall(t *testing.T) {
	needInstall(t)
	s := newSite(t)
	script := readScript(t, s)
	for name, shell := range shells(t) {
		t.Run(name, func(t *testing.T) {
			m := newComputer(t, s)
			out, err := m.install(shell, script)
			program := filepath.Join(m.home, ".local/bin/zeph-acp")
			for _, want := range []string{
				"Downloading " + s.URL + "/v1.2.3/zeph-acp_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz\n", "Its SHA-256 sum is right: ",
				"Installed " + program + ", version 1.2.3. No other file was changed.\n", "PATH was not changed",
				"  export PATH=\"" + filepath.Dir(program) + ":$PATH\"\n", "To remove it: rm \"" + program + "\"\n",
			} {
				if err != nil || !strings.Contains(out, want) {
					t.Fatalf("%v, no %q in\n%s", err, want, out)
				}
			}
			if out := printed(t, program); out != "zeph-acp 1.2.3 for "+runtime.GOOS+" "+runtime.GOARCH+"\n" {
				t.Errorf("the installed program prints %q", out)
			}
			out, err = m.install(shell, script, "PATH="+m.bin+":"+filepath.Dir(program))
			if err != nil || !strings.Contains(out, "in place of zeph-acp 1.2.3") || strings.Contains(out, "PATH") {
				t.Errorf("the second time: %v\n%s", err, out)
			}
			files := readFiles(t, m.home)
			delete(files, "wgetrc")
			if len(files) != 1 {
				t.Errorf("%d files are left, want the program alone", len(files))
			}
		})
	}
}

// TestInstallOtherwise runs the script on other machines, and with its variables.
func TestInstallOtherwise(t *testing.T) {
	needInstall(t)
	s := newSite(t)
	script := readScript(t, s)
	unameOf := func(system, processor string) string {
		return "case $1 in -s) echo " + system + " ;; -m) echo " + processor + " ;; esac"
	}
	const nothing = "so nothing was installed"
	for name, tt := range map[string]struct {
		without  string
		programs map[string]string
		env      []string
		want     string // with an error, if it is a message of install.sh
	}{
		"by wget":              {without: "curl", want: "version 1.2.3."},
		"by shasum":            {without: "sha256sum", want: "version 1.2.3."},
		"by openssl":           {without: "sha256sum shasum", want: "version 1.2.3."},
		"another directory":    {env: []string{"ZEPH_INSTALL_DIR=other dir"}, want: "/other dir/zeph-acp, version"},
		"another version":      {env: []string{"ZEPH_VERSION=v1.2.2"}, want: "version 1.2.2."},
		"fish":                 {env: []string{"SHELL=/usr/bin/fish"}, want: "  fish_add_path \""},
		"WSL":                  {programs: map[string]string{"uname": unameOf("Linux", "x86_64")}, want: "linux_amd64.tar.gz"},
		"macOS on Intel":       {programs: map[string]string{"uname": unameOf("Darwin", "x86_64")}, want: "darwin_amd64.tar.gz"},
		"macOS, under Rosetta": {programs: map[string]string{"uname": unameOf("Darwin", "x86_64"), "sysctl": "echo 1"}, want: "darwin_arm64.tar.gz"},
		"Linux on ARM":         {programs: map[string]string{"uname": unameOf("Linux", "aarch64")}, want: "linux_arm64.tar.gz"},
		"another one is first": {programs: map[string]string{"zeph-acp": "echo old"}, env: []string{"ZEPH_INSTALL_DIR=$HOME", "PATH=$BIN:$HOME"},
			want: "finds another one first: $BIN/"},
		"no network programs":  {without: "curl wget", want: "install.sh: this needs curl or wget"},
		"no program for sums":  {without: "sha256sum shasum openssl", want: "install.sh: this needs sha256sum, shasum or openssl"},
		"no tar":               {without: "tar", want: "install.sh: this needs tar"},
		"version is not there": {env: []string{"ZEPH_VERSION=9.9.9"}, want: "install.sh: cannot download " + s.URL + "/v9.9.9/SHA256SUMS"},
		"version is a path":    {env: []string{"ZEPH_VERSION=../../x"}, want: "install.sh: ZEPH_VERSION=../../x: want a version such as 1.2.3"},
		"version is empty":     {env: []string{"ZEPH_VERSION=v"}, want: "install.sh: ZEPH_VERSION=v: want a version"},
		"http": {env: []string{"ZEPH_MIRROR=http://127.0.0.1:1"},
			want: "install.sh: ZEPH_MIRROR=http://127.0.0.1:1: want an address that begins with https://"},
		"unknown certificate": {env: []string{"CURL_CA_BUNDLE=/dev/null"}, want: "install.sh: cannot download"},
		"no home":             {env: []string{"HOME="}, want: "install.sh: HOME is not set"},
		"no directory": {env: []string{"ZEPH_INSTALL_DIR=/dev/null/bin"},
			want: "install.sh: cannot create /dev/null/bin: name another directory"},
		"32 bits": {programs: map[string]string{"uname": unameOf("Linux", "armv7l")},
			want: "install.sh: there is no archive for the processor armv7l"},
		"FreeBSD":                {programs: map[string]string{"uname": unameOf("FreeBSD", "amd64")}, want: "install.sh: there is no archive for FreeBSD"},
		"Windows":                {programs: map[string]string{"uname": unameOf("MINGW64_NT-10.0", "x86_64")}, want: "scoop install https://"},
		"download is cut":        {programs: map[string]string{"curl": `while [ "$1" != -o ]; do shift; done; echo half >"$2"`}, want: nothing},
		"download is empty":      {programs: map[string]string{"curl": `while [ "$1" != -o ]; do shift; done; : >"$2"`}, want: nothing},
		"program does not run":   {programs: map[string]string{"chmod": ":", "cp": `cat </dev/null >"$2"`}, want: nothing},
		"sum program is broken":  {programs: map[string]string{"sha256sum": ":"}, want: nothing},
		"disk is full":           {programs: map[string]string{"cp": "exit 1"}, want: "install.sh: cannot write into"},
		"archive is unreadable":  {programs: map[string]string{"tar": "exit 1"}, want: "install.sh: cannot unpack"},
		"killed in the download": {programs: map[string]string{"curl": "kill -TERM $PPID"}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			for shellName, shell := range shells(t) {
				m := newComputer(t, s, strings.Fields(tt.without)...)
				for program, text := range tt.programs {
					m.program(t, program, text)
				}
				expand := func(text string) string {
					return strings.NewReplacer("$HOME", m.home, "$BIN", m.bin).Replace(text)
				}
				var env []string
				for _, variable := range tt.env {
					env = append(env, expand(variable))
				}
				out, err := m.install(shell, script, env...)
				fails := tt.want == "" || tt.want == nothing || strings.HasPrefix(tt.want, "install.sh: ") || strings.HasPrefix(tt.want, "scoop ")
				if fails != (err != nil) || !strings.Contains(out, expand(tt.want)) {
					t.Errorf("%s: %v, want %q in\n%s", shellName, err, expand(tt.want), out)
				}
				for file := range maps.Keys(readFiles(t, m.home)) {
					if fails && strings.Contains(file, "zeph-acp") {
						t.Errorf("%s: %s is there after a failure", shellName, file)
					}
				}
			}
		})
	}
}

// TestInstallAltered checks that an archive with another sum is not unpacked, and that what was
// installed stays.
func TestInstallAltered(t *testing.T) {
	needInstall(t)
	s := newSite(t)
	script := readScript(t, s)
	m := newComputer(t, s)
	sh := []string{"/bin/sh"}
	if out, err := m.install(sh, script, "ZEPH_VERSION=1.2.2"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive := filepath.Join(s.dir, target{runtime.GOOS, runtime.GOARCH}.archive("1.2.3"))
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1]++
	if err := os.WriteFile(archive, data, 0o644); err != nil {
		t.Fatal(err)
	}
	// The mirror's own sums do not matter.
	r := release{out: s.dir, version: "1.2.3"}
	if err := os.Remove(filepath.Join(s.dir, sumsFile)); err != nil {
		t.Fatal(err)
	}
	sums, err := r.sums()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.write(sumsFile, []byte(sums)); err != nil {
		t.Fatal(err)
	}
	out, err := m.install(sh, script)
	if err == nil || !strings.Contains(out, "is not the file that was released, so nothing was installed.\n  its SHA-256 sum: ") {
		t.Errorf("an altered archive: %v\n%s", err, out)
	}
	if out := printed(t, filepath.Join(m.home, ".local/bin/zeph-acp")); !strings.HasPrefix(out, "zeph-acp 1.2.2 ") {
		t.Errorf("the installed program prints %q, want the one that was there", out)
	}
}

// TestInstallTruncated runs all beginnings of the script. None does anything.
func TestInstallTruncated(t *testing.T) {
	needInstall(t)
	s := newSite(t)
	script := readScript(t, s)
	end := strings.LastIndex(script, "main \"$@\"")
	for name, shell := range shells(t) {
		m := newComputer(t, s)
		for at := 0; at < end; at += 1 + strings.IndexByte(script[at:], '\n') {
			for _, cut := range []int{at, at + 7} {
				out, _ := m.install(shell, script[:min(cut, end)])
				if files := readFiles(t, m.home); s.requests.Load() > 0 || len(files) > 1 || strings.Contains(out, "Installed") {
					t.Fatalf("%s: %d bytes of the script did something:\n%s", name, cut, out)
				}
			}
		}
	}
}
