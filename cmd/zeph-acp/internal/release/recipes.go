package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"text/template"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// recipes are the templates of the files that name the version and the archives:
//
//   - install.sh, which needs no root
//   - a Homebrew formula, https://docs.brew.sh/Formula-Cookbook
//   - a Scoop manifest, https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests
//   - a Nix flake, https://nix.dev/manual/nix/latest/command-ref/new-cli/nix3-flake
//   - a Containerfile
//   - the packages for npm: see [release.writeNPM]
//
//go:embed recipes
var recipes embed.FS

// facts are the data of a template.
type facts struct {
	Version, Summary string
	Dir              string             // in the archives
	Source           string             // the address of the repository
	Latest           string             // below it are the files of the newest release
	URL              string             // below it are the archives of this version
	Sums             []manifest.Archive // of all archives; empty if one is missing
	Target           target             // of a package for npm
}

func (r *release) facts() facts {
	return facts{
		Version: r.version, Summary: summary, Dir: manifest.Dir,
		Source: manifest.Repository, Latest: manifest.Latest, URL: manifest.URL(r.version),
	}
}

// Archive returns the archive of a target.
func (f facts) Archive(os, arch string) (manifest.Archive, error) {
	for _, a := range f.Sums {
		if a.OS == os && a.Arch == arch {
			return a, nil
		}
	}
	return manifest.Archive{}, fmt.Errorf("no archive for %s/%s", os, arch)
}

// Nix returns the archives of the systems that Nix has, with its names.
func (f facts) Nix() (all []nixArchive) {
	for _, a := range f.Sums {
		if a.OS != "windows" {
			system := strings.NewReplacer("amd64", "x86_64", "arm64", "aarch64").Replace(a.Arch) + "-" + a.OS
			all = append(all, nixArchive{system, f.URL + "/" + a.Name, a.SHA256})
		}
	}
	return all
}

type nixArchive struct{ System, URL, SHA256 string }

// fill returns the text of a template below recipes.
func (f facts) fill(name string) ([]byte, error) {
	parsed, err := template.ParseFS(recipes, "recipes/"+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = parsed.Execute(&b, f)
	return b.Bytes(), err
}

// writeRecipes writes the files that name all archives, if all archives are there.
func (r *release) writeRecipes() error {
	f := r.facts()
	var err error
	f.Sums, err = manifest.WithSums(r.version, r.out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	for _, name := range []string{"install.sh", "zeph-acp.rb", "zeph-acp.json", "Containerfile"} {
		text, err := f.fill(name)
		if err != nil {
			return err
		}
		if err := r.write(name, text); err != nil {
			return err
		}
	}
	text, err := f.fill("flake.nix")
	if err != nil {
		return err
	}
	flake := newContents(r.time)
	flake.add("flake.nix", text, 0o644)
	packed, err := archive(flake.below(manifest.Dir), false)
	if err != nil {
		return err
	}
	// Nix reads a flake from an archive. Its name has no version, so that the newest one
	// always has the same address.
	return errors.Join(r.write("flake.tar.gz", packed), r.writeWrapper(f))
}
