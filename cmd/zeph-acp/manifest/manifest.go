// Package manifest writes the entry of zeph-acp for the ACP registry, from which editors
// install agents: https://agentclientprotocol.com/get-started/registry.
//
// Start with [New]; [Icon] is the picture that the registry wants next to the entry.
//
// Why does no path inside an archive have a version? The registry updates the addresses and the
// packages of an entry by itself at each release, and nothing else in it.
package manifest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Repository is the address of the source.
const Repository = "https://github.com/zeph-acp/zeph-acp"

// Latest is the address below which the files of the newest release are. Only files whose
// names have no version can be named with it.
const Latest = Repository + "/releases/latest/download"

// Dir is the directory that every archive holds.
const Dir = "zeph-acp"

// Icon is a picture of 16 by 16 pixels in the color of the text around it, as SVG.
//
//go:embed icon.svg
var Icon []byte

// Entry is an entry of the registry:
// https://github.com/agentclientprotocol/registry/blob/main/FORMAT.md.
type Entry struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Version      string       `json:"version"`
	Description  string       `json:"description"`
	Repository   string       `json:"repository"`
	Website      string       `json:"website"`
	Authors      []string     `json:"authors"`
	License      string       `json:"license"`
	LicenseURL   string       `json:"license_url"`
	Distribution Distribution `json:"distribution"`
	Preview      Preview      `json:"preview"`
}

// Distribution are the ways to install: the archives, by the registry's names of the platforms,
// and a package of npm.
type Distribution struct {
	Binary map[string]Binary `json:"binary,omitempty"`
	NPX    NPX               `json:"npx"`
}

// NPX is a package that npx starts.
type NPX struct {
	Package string   `json:"package"` // with its version
	Args    []string `json:"args"`
}

// Preview is the channel for users who want to try the next release. Its version is the newest of
// all, X.Y.Z-preview.N or X.Y.Z, and it has packages only. The registry moves it on when
// npm has a newer version, so an entry names the release itself at first.
type Preview struct {
	Version      string       `json:"version"`
	Distribution Distribution `json:"distribution"`
}

// Binary is the archive of one platform.
type Binary struct {
	Archive string   `json:"archive"`          // its address
	SHA256  string   `json:"sha256,omitempty"` // in hexadecimal digits
	Cmd     string   `json:"cmd"`              // in the unpacked archive
	Args    []string `json:"args"`
}

// Archive is a released archive.
type Archive struct {
	OS, Arch string // in Go's words
	Name     string // of the file
	SHA256   string // in hexadecimal digits; empty means unknown
}

// platforms are the registry's names.
var platforms = map[string]string{
	"darwin/arm64": "darwin-aarch64", "darwin/amd64": "darwin-x86_64",
	"linux/arm64": "linux-aarch64", "linux/amd64": "linux-x86_64",
	"windows/arm64": "windows-aarch64", "windows/amd64": "windows-x86_64",
}

// URL returns the address below which the archives of a version are.
func URL(version string) string { return Repository + "/releases/download/v" + version }

// Archives returns the archives of a version, without their sums.
func Archives(version string) (all []Archive) {
	for _, system := range []string{"darwin", "linux", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			suffix := ".tar.gz"
			if system == "windows" {
				suffix = ".zip"
			}
			all = append(all, Archive{OS: system, Arch: arch, Name: fmt.Sprintf("zeph-acp_%s_%s_%s%s", version, system, arch, suffix)})
		}
	}
	return all
}

// WithSums returns the archives of a version with the sums of the files in a directory,
// which must hold all of them.
func WithSums(version, dir string) ([]Archive, error) {
	all := Archives(version)
	for i, a := range all {
		f, err := os.Open(filepath.Join(dir, a.Name))
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		all[i].SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return all, nil
}

// New returns the entry of a version whose archives are below an address. Archives of
// systems that the registry does not have are left out.
func New(version, url string, archives []Archive) Entry {
	e := Entry{
		ID: "zeph-acp", Name: "Zeph", Version: version,
		Description: "Coding agent that works through the editor: its terminals, its buffers, its permissions",
		Repository:  Repository, Website: Repository + "#readme",
		Authors: []string{"The zeph-acp authors"}, License: "MIT", LicenseURL: Repository + "/blob/main/LICENSE",
		Distribution: Distribution{Binary: map[string]Binary{}, NPX: npx(version)},
		Preview:      Preview{Version: version, Distribution: Distribution{NPX: npx(version)}},
	}
	for _, a := range archives {
		name, ok := platforms[a.OS+"/"+a.Arch]
		if !ok {
			continue
		}
		cmd := "./" + Dir + "/zeph-acp"
		if a.OS == "windows" {
			cmd += ".exe"
		}
		e.Distribution.Binary[name] = Binary{Archive: strings.TrimSuffix(url, "/") + "/" + a.Name, SHA256: a.SHA256, Cmd: cmd, Args: []string{"serve"}}
	}
	return e
}

func npx(version string) NPX { return NPX{Package: "zeph-acp@" + version, Args: []string{"serve"}} }

// JSON returns the text of agent.json.
func (e Entry) JSON() ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(e)
	return []byte(b.String()), err
}
