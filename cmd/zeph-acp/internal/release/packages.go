package main

import (
	"embed"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// packages are the templates of a Homebrew formula, https://docs.brew.sh/Formula-Cookbook,
// and of a Scoop manifest, https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests.
//
//go:embed packages
var packages embed.FS

// writePackages writes the files of package managers into dir, if sums, by target, has all
// targets.
func writePackages(dir, version string, sums map[string]string) error {
	for name := range strings.SplitSeq(allTargets, ",") {
		if sums[name] == "" {
			return nil
		}
	}
	templates := template.New("").Funcs(template.FuncMap{
		"version": func() string { return version },
		"sum":     func(os, arch string) string { return sums[os+"/"+arch] },
		"url":     func(os, arch string) string { return manifest.URL(version) + "/" + target{os, arch}.archive(version) },
	})
	templates, err := templates.ParseFS(packages, "packages/*")
	if err != nil {
		return err
	}
	for _, name := range []string{"zeph-acp.rb", "zeph-acp.json"} {
		var text strings.Builder
		if err := templates.ExecuteTemplate(&text, name, nil); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
