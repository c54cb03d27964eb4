package main

import (
	"crypto/sha256"
	"encoding/hex"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
)

// bill is a bill of materials in the form of CycloneDX 1.6,
// https://cyclonedx.org/docs/1.6/json/. It names the modules that the linker recorded in
// the binary, so it cannot differ from the shipped program.
type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     billMetadata `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type billMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"` // "application" or "library"
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	URL        string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// billOfMaterials returns the bill of a binary. Its serial number is made from the binary,
// so that equal binaries have equal bills.
func billOfMaterials(s source, t target, info *debug.BuildInfo, binary []byte) (string, error) {
	sum := sha256.Sum256(binary)
	main := component{
		Type: "application", Ref: purl(info.Main.Path, "v"+s.version) + "?os=" + t.os + "&arch=" + t.arch,
		Name: "zeph-acp", Version: s.version, Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, URL: purl(info.Main.Path, "v"+s.version),
	}
	main.Licenses = make([]license, 1)
	main.Licenses[0].License.ID = "MIT"
	for _, setting := range info.Settings {
		main.Properties = append(main.Properties, property{"go:build:" + setting.Key, setting.Value})
	}
	b := bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial:       "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, sum[:]).String(),
		Metadata:     billMetadata{s.time.Format(time.RFC3339), main},
		Components:   []component{library("std", strings.TrimPrefix(info.GoVersion, "go"), "")},
		Dependencies: []dependency{{Ref: main.Ref}},
	}
	for _, m := range modules(info) {
		b.Components = append(b.Components, library(m.Path, m.Version, m.Sum))
	}
	for _, c := range b.Components {
		b.Dependencies[0].DependsOn = append(b.Dependencies[0].DependsOn, c.Ref)
	}
	return indented(b)
}

// library returns the component of a module. sum is its hash in go.sum, which is not the
// hash of one file and therefore a property.
func library(path, version, sum string) component {
	c := component{Type: "library", Ref: purl(path, version), Name: path, Version: version, URL: purl(path, version)}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}

// purl returns the package URL of a module, https://github.com/package-url/purl-spec.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// modules returns the modules in a binary, without the main one.
func modules(info *debug.BuildInfo) []*debug.Module {
	all := make([]*debug.Module, 0, len(info.Deps))
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, m)
	}
	return all
}
