package update

import (
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// installation is what can be known about this program without a server.
type installation struct {
	path   string // of the program, without symbolic links
	system string // in Go's words
	home   string
	getenv func(string) string
	info   *debug.BuildInfo // may be nil
	exists func(file string) bool
	run    func(name string, args ...string) string // stdout; "" after a failure
}

// way is a way to install, with the lines to type.
type way struct {
	how    string // after "zeph-acp was"
	update []string
	remove []string
}

const (
	scriptLine = "curl -fsSL " + manifest.Latest + "/install.sh | sh"
	goPackage  = "github.com/zeph-acp/zeph-acp/cmd/zeph-acp"
	goLine     = "CGO_ENABLED=0 go install " + goPackage + "@latest"
	cloneLine  = `git pull && CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" ./cmd/zeph-acp`
	newest     = manifest.Repository + "/releases/latest"
)

// find returns the way by which the program was installed. Where a manager of packages keeps a
// program decides first, then what the linker recorded about the build.
func (i installation) find() way {
	file := strings.ReplaceAll(i.path, `\`, "/")
	if i.system == "windows" {
		file = strings.ToLower(file)
	}
	remove := []string{i.removalOf(i.path)}
	switch {
	case strings.HasPrefix(file, "/nix/store/"):
		return way{"installed with Nix", []string{"nix profile upgrade zeph-acp"}, []string{"nix profile remove zeph-acp"}}
	case strings.Contains(file, "/Cellar/zeph-acp/"):
		return way{"installed with Homebrew", []string{"brew update && brew upgrade zeph-acp"}, []string{"brew uninstall zeph-acp"}}
	case strings.Contains(file, "/apps/zeph-acp/") && i.system == "windows":
		return way{"installed with Scoop", []string{"scoop update zeph-acp"}, []string{"scoop uninstall zeph-acp"}}
	case strings.Contains(file, "/node_modules/@zeph-acp/"):
		return i.findNode(file)
	}
	if dir := path.Dir(file); dir == "/usr/bin" || dir == "/bin" {
		return i.findPackage()
	}
	switch {
	case i.isContainer() && path.Dir(file) == "/usr/local/bin":
		return way{"put into a container image", []string{"curl -fsSLO " + manifest.Latest + "/Containerfile", "podman build -t zeph-acp -f Containerfile ."},
			[]string{"podman image rm zeph-acp"}}
	case i.isModule():
		return way{"built by go install", []string{goLine}, remove}
	case !i.isRelease():
		return way{"built in a clone", []string{cloneLine + "    # in the clone"}, remove}
	case i.exists(filepath.Join(filepath.Dir(i.path), "sbom.cdx.json")):
		return way{"unpacked from an archive, by an editor or by hand",
			[]string{"An editor updates what it installed. By hand, replace the directory by the archive from " + newest}, []string{i.removalOf(filepath.Dir(i.path))}}
	case i.system == "windows":
		return way{"copied from an archive", []string{"Replace it by the program in the archive from " + newest}, remove}
	}
	return way{"installed by install.sh, or copied from an archive", []string{i.scriptLine()}, remove}
}

// findNode returns the way for a program in a directory of npm or of a similar program.
func (i installation) findNode(file string) way {
	project := i.path[:strings.Index(file, "/node_modules/")]
	switch {
	case strings.Contains(file, "/_npx/"):
		return way{"fetched by npx", []string{"npx zeph-acp@latest"}, []string{"npm cache clean --force    # empties the whole cache"}}
	case strings.Contains(file, "/.bun/"):
		return way{"installed with Bun", []string{"bun add -g zeph-acp@latest"}, []string{"bun remove -g zeph-acp"}}
	case strings.Contains(file, "/pnpm/global/"):
		return way{"installed with pnpm", []string{"pnpm add -g zeph-acp@latest"}, []string{"pnpm remove -g zeph-acp"}}
	case strings.Contains(file, "/yarn/global/"):
		return way{"installed with Yarn", []string{"yarn global upgrade zeph-acp --latest"}, []string{"yarn global remove zeph-acp"}}
	case i.exists(filepath.Join(project, "package.json")):
		return way{"installed with npm, or a similar program, for the project " + project,
			[]string{"npm install zeph-acp@latest    # there"}, []string{"npm uninstall zeph-acp    # there"}}
	}
	return way{"installed with npm", []string{"npm install -g zeph-acp@latest"}, []string{"npm uninstall -g zeph-acp"}}
}

// findPackage asks the databases of dpkg and rpm for the owner of a program in a directory where
// only packages put files.
func (i installation) findPackage() way {
	switch {
	case strings.HasPrefix(i.run("dpkg-query", "--search", i.path), "zeph-acp:"):
		return way{"installed with the package for Debian",
			[]string{"sudo apt install ./zeph-acp_VERSION_ARCH.deb    # from " + newest}, []string{"sudo apt remove zeph-acp"}}
	case i.run("rpm", "-q", "--queryformat", "%{NAME}", "-f", i.path) == "zeph-acp":
		return way{"installed with the package for RPM",
			[]string{"sudo rpm -U zeph-acp-VERSION-1.ARCH.rpm    # from " + newest}, []string{"sudo rpm -e zeph-acp"}}
	}
	return way{"installed into a directory of the system",
		[]string{"With its package manager. If none knows the file, replace it by the program in the archive from " + newest},
		[]string{"With its package manager. If none knows the file: sudo " + i.removalOf(i.path)}}
}

// isContainer reports whether docker or podman started this process.
func (i installation) isContainer() bool {
	return i.system == "linux" && (i.exists("/.dockerenv") || i.exists("/run/.containerenv"))
}

// isModule reports whether go install built the program from a downloaded module, whose
// repository the linker does not see.
func (i installation) isModule() bool {
	return i.info != nil && i.setting("vcs.revision") == "" && strings.HasPrefix(i.info.Main.Version, "v")
}

// isRelease reports whether the program was built at the tag of a version, without changes, and
// is not where go install puts the build of a clone.
func (i installation) isRelease() bool {
	if i.info == nil || !strings.HasPrefix(i.info.Main.Version, "v") {
		return false
	}
	version := i.info.Main.Version
	if module.IsPseudoVersion(version) || strings.Contains(version, "+") {
		return false
	}
	dir := filepath.Dir(i.path)
	bin := []string{filepath.Join(i.home, "go", "bin"), i.getenv("GOBIN")}
	for _, gopath := range filepath.SplitList(i.getenv("GOPATH")) {
		bin = append(bin, filepath.Join(gopath, "bin"))
	}
	for _, b := range bin {
		if b == dir {
			return false
		}
	}
	return true
}

// setting returns a setting of the build.
func (i installation) setting(key string) string {
	for _, s := range i.info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// scriptLine returns the line that installs into the program's directory.
func (i installation) scriptLine() string {
	dir := filepath.Dir(i.path)
	if dir == filepath.Join(i.home, ".local", "bin") {
		return scriptLine
	}
	return strings.TrimSuffix(scriptLine, "sh") + "ZEPH_INSTALL_DIR=" + quoted(dir) + " sh"
}

// removalOf returns the line that deletes the program, or its directory.
func (i installation) removalOf(file string) string {
	command, recursive, word := "rm ", "rm -r ", quoted(file)
	if i.system == "windows" {
		command, recursive, word = "del ", "rmdir /s ", `"`+file+`"`
	}
	if file != i.path {
		command = recursive
	}
	return command + word
}

// quoted returns a path as a word of a shell.
func quoted(file string) string {
	if strings.Trim(file, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return file
	}
	return "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}
