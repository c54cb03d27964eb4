// Package machine makes tests independent of the machine that runs them. It is for tests
// only: the binary must not import it.
//
// A package whose tests start other programs runs them by [Tests] in its TestMain. They
// then have a home directory of their own, without the user's configuration of git, npm or
// other programs, the usual umask, and a plain path for temporary files. [Outside] returns
// directories that are outside of the directories for temporary files wherever the user's
// home directory is, and [ModuleDir] returns the sources of modules.
package machine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// The user's directories, before [Tests.Run] sets others; "" if there is none.
var (
	home, _  = os.UserHomeDir()
	cache, _ = os.UserCacheDir()
)

// Home returns the user's own home directory, for the caches of package managers that
// tests of public packages share. It skips the test if there is none.
func Home(t testing.TB) string {
	t.Helper()
	if home == "" {
		t.Skip("needs a home directory")
	}
	return home
}

// Tests are the tests of a package.
type Tests struct{ *testing.M }

// Run runs the tests on a machine without configuration, and returns the exit status.
func (t Tests) Run() int {
	dir, err := temporary()
	if err == nil {
		defer os.RemoveAll(dir)
		err = clean(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "preparing the tests:", err)
		return 1
	}
	return t.M.Run()
}

// plainPath matches the paths that need no quotes and leave room for the names below them,
// of sockets for example.
var plainPath = regexp.MustCompile(`^[A-Za-z0-9/._+-]{1,64}$`)

// temporary returns a new directory, and makes its parent the directory for temporary files.
// Scripts and addresses of tests contain paths, so that path is plain, without symlinks.
func temporary() (string, error) {
	parent, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return "", err
	}
	if filepath.Separator == '/' {
		for _, other := range []string{"/tmp", "/var/tmp"} {
			if real, err := filepath.EvalSymlinks(other); err == nil && !plainPath.MatchString(parent) {
				parent = real
			}
		}
		if err := os.Setenv("TMPDIR", parent); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(parent, "zeph-acp-home-")
}

// foreign are the prefixes of variables by which users configure programs that tests
// start, zeph-acp included.
var foreign = []string{"GIT_", "NPM_CONFIG_", "YARN_", "PNPM_", "ZEPH_", "XDG_", "PIP_", "RIPGREP_CONFIG_PATH=", "CLICOLOR", "FORCE_COLOR=", "NO_COLOR=", "GREP_COLOR", "LS_COLORS="}

// kept are variables with such a prefix that name no configuration.
var kept = []string{"XDG_RUNTIME_DIR="}

// clean makes dir the home directory of this process, without any configuration. The go
// command and toolchains keep their caches.
func clean(dir string) error {
	if err := keepCaches(); err != nil {
		return err
	}
	for _, entry := range os.Environ() {
		has := func(prefix string) bool { return strings.HasPrefix(strings.ToUpper(entry), prefix) }
		if slices.ContainsFunc(foreign, has) && !slices.ContainsFunc(kept, has) {
			name, _, _ := strings.Cut(entry, "=")
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	setUmask()
	for name, value := range map[string]string{
		"HOME": dir, "USERPROFILE": dir,
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_ATTR_NOSYSTEM": "1",
		"NPM_CONFIG_GLOBALCONFIG": os.DevNull, "NPM_CONFIG_UPDATE_NOTIFIER": "false",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte(gitConfig), 0o600)
}

// gitConfig lets tests commit. git starts nothing in the background, which would write into
// a directory that a test removes.
const gitConfig = `[user]
	name = n
	email = e@example.com
[init]
	defaultBranch = master
[gc]
	auto = 0
[maintenance]
	auto = false
`

// keepCaches sets the variables of the go command, of Rust and of Node to their effective
// values, most of which depend on the home directory.
func keepCaches() error {
	names := []string{"GOCACHE", "GOENV", "GOMODCACHE", "GOPATH"}
	out, err := exec.Command("go", append([]string{"env", "-json"}, names...)...).Output()
	values := map[string]string{}
	if err == nil {
		err = json.Unmarshal(out, &values)
	}
	if err != nil && !errors.Is(err, exec.ErrNotFound) { // a test binary runs without Go too
		return fmt.Errorf("go env: %w", err)
	}
	for name, dir := range map[string]string{"RUSTUP_HOME": ".rustup", "CARGO_HOME": ".cargo", "PYENV_ROOT": ".pyenv", "NVM_DIR": ".nvm"} {
		if _, err := os.Stat(filepath.Join(home, dir)); err == nil && home != "" && os.Getenv(name) == "" {
			values[name] = filepath.Join(home, dir)
		}
	}
	for name, value := range values {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Outside returns a new directory, without symlinks in its path, that is outside of the
// directories for temporary files, which are open to commands. It skips the test if there
// is none.
func Outside(t testing.TB) string {
	t.Helper()
	var open []string
	for _, dir := range []string{os.TempDir(), "/tmp"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			open = append(open, real)
		}
	}
	if cache != "" {
		_ = os.MkdirAll(cache, 0o700) // without it, another place is used
	}
	for _, parent := range []string{cache, home, "/var/tmp", "/dev/shm"} {
		real, err := filepath.EvalSymlinks(parent)
		if err != nil || parent == "" || slices.ContainsFunc(open, func(dir string) bool { return within(dir, real) }) {
			continue
		}
		dir, err := os.MkdirTemp(real, "zeph-acp-test-")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := commands.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	t.Skip("needs a directory outside of the directories for temporary files")
	return ""
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// ModuleDir returns the directory, without symlinks, of a module that go.mod requires. It unpacks
// the module if necessary, and skips the test if it cannot be fetched.
func ModuleDir(t testing.TB, module string) string {
	t.Helper()
	cmd := exec.Command("go", "mod", "download", "-json", module)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var got struct{ Dir, Error string }
	if len(out) > 0 && json.Unmarshal(out, &got) == nil && got.Dir != "" && got.Error == "" {
		if dir, err := filepath.EvalSymlinks(got.Dir); err == nil {
			return dir
		}
	}
	t.Skipf("needs the module %s: %v %s %s", module, err, got.Error, &stderr)
	return ""
}
