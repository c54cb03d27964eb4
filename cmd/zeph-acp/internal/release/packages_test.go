package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// usePackages installs the packages for this system among the files of a release, with the
// tools of Debian, RPM and npm that this machine has, into directories of the test.
func usePackages(t *testing.T, files map[string][]byte) {
	here := target{runtime.GOOS, runtime.GOARCH}
	t.Run("deb", func(t *testing.T) {
		file := fileOf(t, files, "_"+here.arch+".deb")
		need(t, "dpkg-deb", "dpkg")
		info := printed(t, "dpkg-deb", "--info", file)
		for _, want := range []string{"Package: zeph-acp\n", "Architecture: " + here.arch + "\n", "Recommends: ca-certificates, git\n"} {
			if !strings.Contains(info, want) {
				t.Errorf("no %q in\n%s", want, info)
			}
		}
		root := t.TempDir()
		printed(t, "dpkg-deb", "--extract", file, root)
		runInstalled(t, filepath.Join(root, "usr/bin/zeph-acp"))
		for _, want := range []string{
			"share/man/man1/zeph-acp.1.gz", "share/bash-completion/completions/zeph-acp", "share/zsh/vendor-completions/_zeph-acp",
			"share/fish/vendor_completions.d/zeph-acp.fish", "share/doc/zeph-acp/copyright", "share/doc/zeph-acp/docs/README.md",
		} {
			if _, err := os.Stat(filepath.Join(root, "usr", want)); err != nil {
				t.Error(err)
			}
		}
		if os.Getuid() != 0 {
			t.Skip("dpkg installs as root only, so the package was only unpacked")
		}
		// The database of another root, where the package is installed, verified and purged.
		admin := filepath.Join(root, "var/lib/dpkg")
		for _, dir := range []string{"info", "updates"} {
			if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		dpkg := []string{"--root=" + root, "--force-not-root", "--force-bad-path", "--log=" + filepath.Join(root, "log")}
		printed(t, "dpkg", append(dpkg, "--install", file)...)
		if out := printed(t, "dpkg", append(dpkg, "--verify", "zeph-acp")...); out != "" {
			t.Errorf("files differ from their sums: %s", out)
		}
		if out := printed(t, "dpkg", append(dpkg, "--search", "/usr/bin/zeph-acp")...); !strings.HasPrefix(out, "zeph-acp: ") {
			t.Errorf("the owner of the program is %q", out)
		}
		printed(t, "dpkg", append(dpkg, "--purge", "zeph-acp")...)
		if _, err := os.Stat(filepath.Join(root, "usr/bin/zeph-acp")); err == nil {
			t.Error("the program is still there after a purge")
		}
	})
	t.Run("rpm", func(t *testing.T) {
		file := fileOf(t, files, ".rpm")
		need(t, "rpm")
		if out := printed(t, "rpm", "--checksig", file); !strings.Contains(out, "digests OK") {
			t.Errorf("the check says %s", out)
		}
		info := printed(t, "rpm", "-qp", "--queryformat", "%{name} %{license} %{url} [%{recommends} ]", file)
		if want := "zeph-acp MIT https://github.com/zeph-acp/zeph-acp ca-certificates git "; info != want {
			t.Errorf("the package says %q, want %q", info, want)
		}
		for line := range strings.Lines(printed(t, "rpm", "-qpl", file)) {
			if !strings.Contains(line, "zeph-acp") {
				t.Errorf("the package owns %s", line)
			}
		}
		root := t.TempDir()
		rpm := []string{"--root", root, "--dbpath", "/var/lib/rpm", "--nodeps"}
		if os.Getuid() != 0 {
			t.Skip("rpm changes its root as root only, so the package was only read")
		}
		printed(t, "rpm", append(rpm, "--install", file)...)
		runInstalled(t, filepath.Join(root, "usr/bin/zeph-acp"))
		printed(t, "rpm", append(rpm, "--verify", "zeph-acp")...)
		printed(t, "rpm", append(rpm, "--erase", "zeph-acp")...)
		if left := readFiles(t, filepath.Join(root, "usr")); len(left) > 0 {
			t.Errorf("%d files are still there after the removal", len(left))
		}
	})
	t.Run("npm", func(t *testing.T) {
		binary := fileOf(t, files, ".tgz")
		need(t, "npm", "node")
		wrapper := t.TempDir()
		r := release{out: wrapper, version: versionOf(binary)}
		var err error
		if r.root, err = output(t.Context(), "", nil, "git", "rev-parse", "--show-toplevel"); err != nil {
			t.Fatal(err)
		}
		if err := r.writeWrapper(r.facts()); err != nil {
			t.Fatal(err)
		}
		prefix := t.TempDir()
		t.Setenv("npm_config_cache", t.TempDir())
		npm := []string{"--offline", "--no-audit", "--no-fund", "--prefix", prefix}
		printed(t, "npm", append([]string{"install", binary, filepath.Join(wrapper, "npm", "zeph-acp-"+r.version+".tgz")}, npm...)...)
		runInstalled(t, "npx", "--prefix", prefix, "--no-install", "zeph-acp")
		program := filepath.Join(prefix, "node_modules", "zeph-acp", "zeph-acp.js")
		cmd := exec.Command("node", program, "run", "--no-such-flag")
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != 2 {
			t.Errorf("a wrong command line exits with %v, want the status 2 of the binary", err)
		}
		if err := os.RemoveAll(filepath.Join(prefix, "node_modules", "@zeph-acp")); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("node", program, "version").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not installed. Install zeph-acp again without --omit=optional") {
			t.Errorf("without the binary: %v, %s", err, out)
		}
	})
}

// versionOf returns the version in the name of a package for npm.
func versionOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), ".tgz")
	_, version, _ := strings.Cut(strings.TrimPrefix(name, "zeph-acp-"), "64-")
	return version
}

// fileOf writes the file of a release with an ending. It skips the test if there is none, since
// the release is not for a system with such packages.
func fileOf(t *testing.T, files map[string][]byte, ending string) string {
	t.Helper()
	here := target{runtime.GOOS, runtime.GOARCH}
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[here.arch]
	for name, data := range files {
		forHere := strings.Contains(name, here.arch) || strings.Contains(name, machine) || strings.Contains(name, here.System()+"-"+here.Processor())
		if forHere && strings.HasSuffix(name, ending) {
			file := filepath.Join(t.TempDir(), filepath.Base(name))
			if err := os.WriteFile(file, data, 0o644); err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	if runtime.GOOS == "linux" || ending == ".tgz" {
		t.Fatalf("no file that ends in %s", ending)
	}
	t.Skip("a release for this system has no packages for Linux")
	return ""
}

// need skips a test if a program is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the package is tried out with %s, which is not installed here", name)
		}
	}
}

// printed runs a program, which must succeed, and returns what it prints on stdout.
func printed(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, out, stderr.String())
	}
	return string(out)
}

// runInstalled checks that an installed program prints its version.
func runInstalled(t *testing.T, name string, args ...string) {
	t.Helper()
	if out := printed(t, name, append(args, "version")...); !strings.HasPrefix(out, "zeph-acp ") {
		t.Errorf("version printed %q", out)
	}
}
