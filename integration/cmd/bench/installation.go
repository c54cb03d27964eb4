package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// installation returns the size of an installed program in MiB, with the packages of npm that
// it needs but without Node, and the name and version of its package. The version is empty if a
// program belongs to no package.
func installation(program string) (mib float64, version string, err error) {
	program, err = filepath.EvalSymlinks(program)
	if err != nil {
		return 0, "", err
	}
	dir := filepath.Dir(program)
	for filepath.Base(filepath.Dir(dir)) != "node_modules" && !strings.HasPrefix(filepath.Base(filepath.Dir(dir)), "@") {
		if dir == filepath.Dir(dir) { // a program by itself
			info, err := os.Stat(program)
			if err != nil {
				return 0, "", err
			}
			return float64(info.Size()) / (1 << 20), "", nil
		}
		dir = filepath.Dir(dir)
	}
	seen := map[string]int64{} // bytes by directory
	version, err = addPackage(dir, seen)
	sum := int64(0)
	for n := range maps.Values(seen) {
		sum += n
	}
	return float64(sum) / (1 << 20), version, err
}

// addPackage adds a package of npm and the packages that it needs, and returns its name and version.
func addPackage(dir string, seen map[string]int64) (version string, err error) {
	if _, ok := seen[dir]; ok {
		return "", nil
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return "", err
	}
	var pkg struct {
		Name, Version                                        string
		Dependencies, OptionalDependencies, PeerDependencies map[string]string
	}
	if err := json.Unmarshal(text, &pkg); err != nil {
		return "", err
	}
	if seen[dir], err = sizeOf(dir); err != nil {
		return "", err
	}
	for _, needs := range []map[string]string{pkg.Dependencies, pkg.OptionalDependencies, pkg.PeerDependencies} {
		for name := range needs {
			if needed := resolve(dir, name); needed != "" { // optional ones may be for other systems
				_, failed := addPackage(needed, seen)
				err = errors.Join(err, failed)
			}
		}
	}
	return pkg.Name + " " + pkg.Version, err
}

// resolve returns the directory of a package that a package imports, as Node finds it, or "".
func resolve(from, name string) string {
	for {
		dir := filepath.Join(from, "node_modules", filepath.FromSlash(name))
		if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
			return dir
		}
		if from == filepath.Dir(from) {
			return ""
		}
		from = filepath.Dir(from)
	}
}

// sizeOf returns the bytes of the files below a directory, without the packages in it.
func sizeOf(dir string) (sum int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
