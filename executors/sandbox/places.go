package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// devices are the entries of /dev that programs commonly need. Disks and
// cameras are not among them; extra_write can name those.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm"}

// Temporary returns the directories for temporary files, the usual one first.
func Temporary() []string { return []string{os.TempDir(), "/tmp", "/var/tmp"} }

// caches returns the directories of build tools in the home directory whose
// contents can be downloaded or built again. They contain no configuration and
// no programs that run by themselves.
func caches(home string, getenv func(string) string) []string {
	var all []string
	add := func(variable, fallback string, below ...string) {
		base := getenv(variable)
		if !filepath.IsAbs(base) {
			if home == "" {
				return
			}
			base = filepath.Join(home, fallback)
		}
		for _, name := range below {
			all = append(all, filepath.Join(base, name))
		}
	}
	add("XDG_CACHE_HOME", ".cache", "") // Go builds, pip, uv, yarn, deno, pre-commit, ccache and more
	gopath, _, _ := strings.Cut(getenv("GOPATH"), string(filepath.ListSeparator))
	if gopath == "" {
		gopath = filepath.Join(home, "go")
	}
	if filepath.IsAbs(gopath) {
		all = append(all, filepath.Join(gopath, "pkg"))
	}
	add("CARGO_HOME", ".cargo", strings.Fields("registry git .package-cache .package-cache-mutate .global-cache")...)
	add("npm_config_cache", ".npm", "")
	add("YARN_CACHE_FOLDER", filepath.Join(".yarn", "berry", "cache"), "")
	add("", filepath.Join(".local", "share", "pnpm"), "store")
	add("BUN_INSTALL_CACHE_DIR", filepath.Join(".bun", "install", "cache"), "")
	add("GRADLE_USER_HOME", ".gradle", "caches", "daemon", "native", "notifications", "wrapper", ".tmp", "kotlin-profile")
	add("", ".m2", "repository")
	add("", ".ivy2", "cache")
	add("NUGET_PACKAGES", filepath.Join(".nuget", "packages"), "")
	add("COMPOSER_CACHE_DIR", filepath.Join(".composer", "cache"), "")
	add("", ".cabal", "packages")
	add("CCACHE_DIR", ".ccache", "")
	for _, variable := range []string{"GOCACHE", "GOMODCACHE", "PIP_CACHE_DIR", "UV_CACHE_DIR"} { // by default below one of those
		if dir := getenv(variable); filepath.IsAbs(dir) {
			all = append(all, dir)
		}
	}
	return all
}

// programDirs returns the directories of programs in the home directory: those in
// PATH, and the toolchains of rustup, which are not in its bin directory.
func programDirs(home string, getenv func(string) string) []string {
	if home == "" {
		return nil
	}
	all := []string{filepath.Join(home, ".rustup")}
	for _, dir := range filepath.SplitList(getenv("PATH")) {
		if rel, err := filepath.Rel(home, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			all = append(all, filepath.Join(home, names(rel)[0]))
		}
	}
	return all
}

// writablePlace is a file or directory that commands may write.
type writablePlace struct {
	path    string   // absolute, without links
	links   []string // the links that led to it
	isCache bool     // not a repository: it is not searched for unreadable files
}

// writablePlaces returns the files and directories that commands may write. It ignores
// a link inside a writable directory, since a command could have made it.
func writablePlaces(roots, temps, caches, extra []string, home string) []writablePlace {
	var all []writablePlace
	for _, dir := range roots { // without links
		all = append(all, writablePlace{path: dir})
	}
	add := func(place writablePlace) {
		p, ok := followLinks(place.path)
		p.isCache = place.isCache
		known := slices.ContainsFunc(all, func(q writablePlace) bool { return q.path == p.path })
		if ok && !known && p.path != "/" {
			all = append(all, p)
		}
	}
	for _, dir := range temps {
		add(writablePlace{path: dir, isCache: true})
	}
	for _, dir := range caches {
		if p, ok := followLinks(dir); ok && !workspace.Within(p.path, home) { // GOPATH=~ or an ancestor would include everything
			add(writablePlace{path: dir, isCache: true})
		}
	}
	for _, path := range extra {
		add(writablePlace{path: expandHome(path, home)})
	}
	return slices.DeleteFunc(all, func(p writablePlace) bool {
		return slices.ContainsFunc(p.links, func(link string) bool {
			return slices.ContainsFunc(all, func(q writablePlace) bool { return workspace.Within(q.path, link) })
		})
	})
}

// expandHome replaces "~/" if the home directory is known.
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return filepath.Clean(path)
}

// followLinks resolves the links of an absolute path. ok is false if the target
// does not exist.
func followLinks(path string) (writablePlace, bool) {
	if !filepath.IsAbs(path) {
		return writablePlace{}, false
	}
	p := writablePlace{path: "/"}
	todo := names(path)
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			p.path = filepath.Dir(p.path)
			continue
		}
		next := filepath.Join(p.path, name)
		info, err := os.Lstat(next)
		if err != nil {
			return writablePlace{}, false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			p.path = next
			continue
		}
		target, err := os.Readlink(next)
		if p.links = append(p.links, next); err != nil || len(p.links) > 40 { // the limit of Linux
			return writablePlace{}, false
		}
		if filepath.IsAbs(target) {
			p.path = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return p, true
}

// realPath follows the links of a path as far as it exists.
func realPath(path string) string {
	path = filepath.Clean(path)
	if f, err := filepath.EvalSymlinks(path); err == nil {
		return f
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realPath(dir), filepath.Base(path))
	}
	return path
}
