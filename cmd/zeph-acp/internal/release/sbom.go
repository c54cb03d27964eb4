package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"
)

// object is a JSON object. Its members are written in the order of their names.
type object = map[string]any

// billOfMaterials returns the bill of a binary in the form of CycloneDX 1.6,
// https://cyclonedx.org/docs/1.6/json/. It names the modules that the linker recorded in
// the binary, so it cannot differ from the shipped program. Its serial number is made from
// the binary, so that equal binaries have equal bills.
func (r *release) billOfMaterials(t target, info *debug.BuildInfo, binary []byte) ([]byte, error) {
	sum := sha256.Sum256(binary)
	url := purl(info.Main.Path, "v"+r.version)
	ref := url + "?os=" + t.os + "&arch=" + t.arch
	var settings []object
	for _, s := range info.Settings {
		settings = append(settings, object{"name": "go:build:" + s.Key, "value": s.Value})
	}
	components := []object{library("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range modules(info) {
		components = append(components, library(m.Path, m.Version, m.Sum))
	}
	var refs []any
	for _, c := range components {
		refs = append(refs, c["bom-ref"])
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(object{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"serialNumber": "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, sum[:]).String(),
		"metadata": object{"timestamp": r.time.Format(time.RFC3339), "component": object{
			"type": "application", "bom-ref": ref, "name": "zeph-acp", "version": r.version, "purl": url,
			"hashes":     []object{{"alg": "SHA-256", "content": hex.EncodeToString(sum[:])}},
			"licenses":   []object{{"license": object{"id": "MIT"}}},
			"properties": settings,
		}},
		"components":   components,
		"dependencies": []object{{"ref": ref, "dependsOn": refs}},
	})
	return out.Bytes(), err
}

// library returns the component of a module. sum is its hash in go.sum, which is not the
// hash of one file and therefore a property.
func library(path, version, sum string) object {
	c := object{"type": "library", "bom-ref": purl(path, version), "name": path, "version": version, "purl": purl(path, version)}
	if sum != "" {
		c["properties"] = []object{{"name": "go:sum", "value": sum}}
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
