package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// System returns the name that Node has for the operating system.
func (t target) System() string {
	if t.os == "windows" {
		return "win32"
	}
	return t.os
}

// Processor returns the name that Node has for the processor.
func (t target) Processor() string {
	if t.arch == "amd64" {
		return "x64"
	}
	return t.arch
}

// Program returns the name of the binary, for templates.
func (t target) Program() string { return t.program() }

// Targets returns all targets, for templates.
func (f facts) Targets() (all []target) {
	for name := range strings.SplitSeq(allTargets, ",") {
		os, arch, _ := strings.Cut(name, "/")
		all = append(all, target{os, arch})
	}
	return all
}

// writeNPM writes the package @zeph-acp/SYSTEM-PROCESSOR for npm, which has the binary of one
// target. The package zeph-acp names all of them as optional dependencies, and npm installs the
// one whose fields os and cpu match. So nothing is downloaded by a script, which many users
// forbid. See https://docs.npmjs.com/cli/configuring-npm/package-json#os.
func (r *release) writeNPM(t target, files contents) error {
	f := r.facts()
	f.Target = t
	text, err := f.fill("npm/platform.json")
	if err != nil {
		return err
	}
	p := newContents(r.time)
	p.add("package.json", text, 0o644)
	for _, name := range []string{t.program(), "LICENSE", "THIRD_PARTY_NOTICES.txt"} {
		p.add(name, files.MapFS[name].Data, files.MapFS[name].Mode)
	}
	return r.writeTarball(fmt.Sprintf("zeph-acp-%s-%s", t.System(), t.Processor()), p)
}

// writeWrapper writes the package zeph-acp, which starts the binary of the other package.
func (r *release) writeWrapper(f facts) error {
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return err
	}
	p := newContents(r.time)
	p.add("LICENSE", license, 0o644)
	for _, name := range []string{"package.json", "README.md", "zeph-acp.js"} {
		text, err := f.fill("npm/" + name)
		if err != nil {
			return err
		}
		p.add(name, text, 0o644)
	}
	p.MapFS["zeph-acp.js"].Mode = 0o755
	return r.writeTarball("zeph-acp", p)
}

// writeTarball writes a package as npm pack does.
func (r *release) writeTarball(name string, p contents) error {
	packed, err := archive(p.below("package"), false)
	if err != nil {
		return err
	}
	return r.write(fmt.Sprintf("npm/%s-%s.tgz", name, r.version), packed)
}
