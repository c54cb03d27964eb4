package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// systemPrograms are directories with programs and libraries of the system. Commands in a box read
// and run what is in them.
var systemPrograms = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap", "/run/current-system",
}

// systemData are other files and directories of the system that commands in a box read. Of /proc
// the kernel shows them no memory, files or environment of processes outside the box.
var systemData = []string{
	"/proc", "/sys/devices", "/sys/class", "/sys/block", "/sys/bus", "/sys/dev", "/sys/fs/cgroup", "/sys/module", "/sys/kernel/mm",
	"/run/utmp", "/run/systemd/resolve/resolv.conf", "/run/systemd/resolve/stub-resolv.conf", "/run/NetworkManager/resolv.conf",
	"/var/lib/dpkg", "/var/lib/apt/lists", "/var/lib/apt/extended_states", "/var/cache/apt/pkgcache.bin", "/var/cache/apt/srcpkgcache.bin",
	"/var/lib/rpm", "/var/lib/pacman/local", "/var/lib/ca-certificates", "/var/lib/locales", "/var/cache/fontconfig", "/run/utmps",
}

// toolDir is a directory of a toolchain.
type toolDir struct {
	path  string
	store bool // it only contains what tools have downloaded or built, so its names are not checked
}

// toolDirs returns the directories of toolchains that the environment names, or that lie in
// their usual place below the home directory. They need not exist.
func toolDirs(home string, getenv func(string) string) []toolDir {
	var all []toolDir
	add := func(variable, fallback string, store bool, below ...string) {
		base := ""
		if variable != "" {
			base = getenv(variable)
		}
		if !filepath.IsAbs(base) {
			if home == "" || fallback == "" {
				return
			}
			base = filepath.Join(home, fallback)
		}
		for _, name := range below {
			all = append(all, toolDir{filepath.Join(base, name), store})
		}
	}
	add("GOROOT", "", true, "bin", "src", "pkg", "lib", "misc", "VERSION", "go.env")
	gopath, _, _ := strings.Cut(getenv("GOPATH"), string(filepath.ListSeparator))
	if filepath.IsAbs(gopath) {
		all = append(all, toolDir{filepath.Join(gopath, "pkg"), true})
	} else {
		add("", "go", true, "pkg")
	}
	add("GOMODCACHE", "", true, "")
	add("GOCACHE", "", true, "")
	add("XDG_CACHE_HOME", ".cache", true, "go-build")
	add("CARGO_HOME", ".cargo", true, strings.Fields("bin registry git")...)
	add("RUSTUP_HOME", ".rustup", true, "toolchains", "settings.toml", "update-hashes")
	for variable, fallback := range map[string]string{
		"PYENV_ROOT": ".pyenv", "NVM_DIR": ".nvm", "RBENV_ROOT": ".rbenv", "NODENV_ROOT": ".nodenv", "GOENV_ROOT": ".goenv",
		"ASDF_DIR": ".asdf", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise", "VOLTA_HOME": ".volta",
		"FNM_DIR": ".local/share/fnm", "PNPM_HOME": ".local/share/pnpm", "BUN_INSTALL": ".bun", "DENO_INSTALL": ".deno",
		"N_PREFIX": "n", "SDKMAN_DIR": ".sdkman", "DOTNET_ROOT": ".dotnet", "JULIAUP_HOME": ".juliaup", "ELAN_HOME": ".elan",
		"GHCUP_INSTALL_BASE_PREFIX": ".ghcup", "OPAMROOT": ".opam", "rvm_path": ".rvm", "PROTO_HOME": ".proto",
	} {
		add(variable, fallback, false, "")
	}
	for _, variable := range []string{
		"VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GEM_HOME", "NODE_HOME", "M2_HOME", "MAVEN_HOME", "GRADLE_HOME", "FLUTTER_ROOT", "ANDROID_HOME",
	} {
		add(variable, "", false, "")
	}
	add("HOMEBREW_PREFIX", "", true, "bin", "lib", "opt", "Cellar", "share", "include", "libexec")
	add("PYTHONUSERBASE", ".local", true, "lib")
	add("XDG_DATA_HOME", ".local/share", true, "uv/python", "uv/tools", "pipx/venvs", "pypoetry/venv")
	for _, dir := range []string{
		".local/pipx/venvs", ".gem/ruby", ".m2/repository", ".ivy2/cache", ".nuget/packages", ".cabal/packages", ".julia/packages", "sdk", ".jdks",
		".npm-global/lib", ".terminfo", ".nix-profile",
	} {
		add("", dir, true, "")
	}
	slices.SortStableFunc(all, func(a, b toolDir) int { return strings.Compare(a.path, b.path) })
	return all
}

// toolFiles returns files of the user's configuration that toolchains need. They need not exist.
func toolFiles(home string, getenv func(string) string) []string {
	var all []string
	cargo, config := getenv("CARGO_HOME"), getenv("XDG_CONFIG_HOME")
	if home != "" {
		if cargo == "" {
			cargo = filepath.Join(home, ".cargo")
		}
		if config == "" {
			config = filepath.Join(home, ".config")
		}
		all = append(all, filepath.Join(home, ".tool-versions"))
	}
	if filepath.IsAbs(cargo) {
		for _, name := range []string{"config.toml", "config", ".crates.toml", ".crates2.json"} {
			all = append(all, filepath.Join(cargo, name))
		}
	}
	if filepath.IsAbs(config) {
		all = append(all, filepath.Join(config, "go", "env"), filepath.Join(config, "mise", "config.toml"))
	}
	if path := getenv("GOENV"); filepath.IsAbs(path) {
		all = append(all, path)
	}
	return all
}

// shellOutside returns an error if a root contains the shell: nothing in the roots can be run.
func shellOutside(roots []string) error {
	for _, name := range []string{"bash", "sh"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			continue
		}
		for _, root := range roots {
			if workspace.Within(root, path) {
				return fmt.Errorf("the session's directory %s contains the programs of the system", root)
			}
		}
		return nil
	}
	return errors.New("there is no shell")
}
