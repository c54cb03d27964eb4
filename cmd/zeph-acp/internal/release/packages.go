package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// formula returns a Homebrew formula, https://docs.brew.sh/Formula-Cookbook; empty
// without an archive for macOS or Linux.
func formula(version, url string, all []builtTarget) string {
	var systems strings.Builder
	for _, system := range []struct{ os, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var inner strings.Builder
		for _, arch := range []struct{ arch, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			i := slices.IndexFunc(all, func(b builtTarget) bool { return b.target == target{system.os, arch.arch} })
			if i >= 0 {
				fmt.Fprintf(&inner, "    %s do\n      url %q\n      sha256 %q\n    end\n", arch.block, url+"/"+all[i].archive, all[i].sum)
			}
		}
		if inner.Len() > 0 {
			fmt.Fprintf(&systems, "  %s do\n%s  end\n\n", system.block, inner.String())
		}
	}
	if systems.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(`class ZephAcp < Formula
  desc %q
  homepage %q
  version %q
  license "MIT"

%s  def install
    bin.install "zeph-acp"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/zeph-acp.bash" => "zeph-acp"
    zsh_completion.install "completions/_zeph-acp"
    fish_completion.install "completions/zeph-acp.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/zeph-acp version")
  end
end
`, about, home, version, systems.String())
}

// scoopManifest returns a manifest for Scoop,
// https://github.com/ScoopInstaller/Scoop/wiki/App-Manifests; empty without an archive for
// Windows.
func scoopManifest(version, url string, all []builtTarget) (string, error) {
	type download struct {
		URL  string `json:"url"`
		Hash string `json:"hash"`
		Dir  string `json:"extract_dir"`
	}
	archs := map[string]download{}
	for _, b := range all {
		if b.os != "windows" {
			continue
		}
		name := map[string]string{"amd64": "64bit", "arm64": "arm64"}[b.arch]
		archs[name] = download{url + "/" + b.archive, b.sum, manifest.Dir}
	}
	if len(archs) == 0 {
		return "", nil
	}
	return indented(struct {
		Version  string              `json:"version"`
		About    string              `json:"description"`
		Home     string              `json:"homepage"`
		License  string              `json:"license"`
		Archs    map[string]download `json:"architecture"`
		Bin      string              `json:"bin"`
		CheckVer string              `json:"checkver"`
	}{version, about, home, "MIT", archs, "zeph-acp.exe", "github"})
}

// registryEntry returns agent.json for the ACP registry.
func registryEntry(version, url string, all []builtTarget) (string, error) {
	var archives []manifest.Archive
	for _, b := range all {
		archives = append(archives, manifest.Archive{OS: b.os, Arch: b.arch, Name: b.archive, SHA256: b.sum})
	}
	text, err := manifest.New(version, url, archives).JSON()
	return string(text), err
}

// indented returns v as JSON for people.
func indented(v any) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return out.String(), err
}
