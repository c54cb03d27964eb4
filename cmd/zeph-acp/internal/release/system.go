package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	// RPM is a binary format with an index of tags, and this library is the smallest that
	// writes it. The shipped binary does not contain it.
	"github.com/google/rpmpack"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// Facts of the packages for Debian and RPM.
const (
	maintainer = "The zeph-acp authors <" + manifest.Repository + "/issues>"
	summary    = "Coding agent for editors that speak the Agent Client Protocol"
	about      = "An editor starts zeph-acp and lets it work on the project: commands run in the\neditor's terminals, edits go through its buffers, and it asks before changes."
)

// recommended are packages that a static binary can run without: certificates for HTTPS, and git.
var recommended = []string{"ca-certificates", "git"}

// layout says where a family of systems wants files that others have elsewhere.
type layout struct{ zsh, license string }

var (
	debian = layout{zsh: "usr/share/zsh/vendor-completions", license: "usr/share/doc/zeph-acp/copyright"}
	fedora = layout{zsh: "usr/share/zsh/site-functions", license: "usr/share/licenses/zeph-acp/LICENSE"}
)

// place returns the files of an archive as a package installs them.
func (l layout) place(files contents) (contents, error) {
	placed := newContents(files.time)
	for name, file := range files.MapFS {
		data, to := file.Data, ""
		switch {
		case file.Mode.IsDir() || name == "completions/zeph-acp.ps1":
			continue
		case name == "zeph-acp":
			to = "usr/bin/zeph-acp"
		case name == "LICENSE":
			to = l.license
		case name == "completions/_zeph-acp":
			to = l.zsh + "/_zeph-acp"
		case name == "completions/zeph-acp.bash":
			to = "usr/share/bash-completion/completions/zeph-acp"
		case name == "completions/zeph-acp.fish":
			to = "usr/share/fish/vendor_completions.d/zeph-acp.fish"
		case strings.HasPrefix(name, "man/"):
			to = "usr/share/" + name + ".gz"
			var err error
			if data, err = compressed(data); err != nil {
				return placed, err
			}
		default:
			to = "usr/share/doc/zeph-acp/" + name
		}
		placed.add(to, data, file.Mode)
	}
	return placed, nil
}

// compressed returns data in the form of gzip, without a time.
func compressed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	return b.Bytes(), errors.Join(err, w.Close())
}

// systemVersion returns a version in the order of dpkg and rpm, where 0.2.0~preview.1 is
// before 0.2.0, and a hyphen is not allowed.
func (r *release) systemVersion() string { return strings.ReplaceAll(r.version, "-", "~") }

// writeDeb writes the package for Debian, Ubuntu and their relatives, after deb(5). The
// format is two archives in a third one, so it needs no library.
func (r *release) writeDeb(t target, files contents) error {
	files, err := debian.place(files)
	if err != nil {
		return err
	}
	size, sums := 0, ""
	for _, name := range slices.Sorted(maps.Keys(files.MapFS)) {
		if file := files.MapFS[name]; !file.Mode.IsDir() {
			size += len(file.Data)
			sums += fmt.Sprintf("%x  %s\n", md5.Sum(file.Data), name)
		}
	}
	control := newContents(r.time)
	control.add("md5sums", []byte(sums), 0o644)
	control.add("control", fmt.Appendf(nil, `Package: zeph-acp
Version: %s
Architecture: %s
Maintainer: %s
Installed-Size: %d
Recommends: %s
Section: devel
Priority: optional
Homepage: %s
Description: %s
 %s
`, r.systemVersion(), t.arch, maintainer, (size+1023)/1024, strings.Join(recommended, ", "), manifest.Repository, summary,
		strings.ReplaceAll(about, "\n", "\n ")), 0o644)
	b := bytes.NewBufferString("!<arch>\n")
	member := func(name string, data []byte) {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", name, r.time.Unix(), 0, 0, "100644", len(data), data)
		if len(data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	member("debian-binary", []byte("2.0\n"))
	for _, part := range []struct {
		name  string
		files contents
	}{{"control.tar.gz", control}, {"data.tar.gz", files}} {
		packed, err := archive(part.files, false)
		if err != nil {
			return err
		}
		member(part.name, packed)
	}
	return r.write(fmt.Sprintf("zeph-acp_%s_%s.deb", r.version, t.arch), b.Bytes())
}

// writeRPM writes the package for Fedora, openSUSE and their relatives.
func (r *release) writeRPM(t target, files contents) error {
	files, err := fedora.place(files)
	if err != nil {
		return err
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[t.arch]
	if arch == "" {
		return fmt.Errorf("no name of RPM for the processor %s", t.arch)
	}
	var recommends rpmpack.Relations
	for _, name := range recommended {
		if err := recommends.Set(name); err != nil {
			return err
		}
	}
	p, err := rpmpack.NewRPM(rpmpack.RPMMetaData{
		Name: "zeph-acp", Summary: summary, Description: about, Version: r.systemVersion(), Release: "1", Arch: arch,
		Vendor: "zeph-acp", Packager: maintainer, URL: manifest.Repository, Licence: "MIT",
		BuildHost: "localhost", BuildTime: r.time, Epoch: rpmpack.NoEpoch, Recommends: recommends,
	})
	if err != nil {
		return err
	}
	for name, file := range files.MapFS {
		f := rpmpack.RPMFile{Name: "/" + name, Body: file.Data, Mode: uint(file.Mode.Perm()), Owner: "root", Group: "root", MTime: uint32(r.time.Unix())}
		switch {
		case file.Mode.IsDir() && path.Base(name) != "zeph-acp" && !strings.Contains(name, "/zeph-acp/"):
			continue // other packages own it
		case file.Mode.IsDir():
			f.Mode |= 0o040000
		case name == fedora.license:
			f.Type = rpmpack.LicenceFile
		case strings.HasPrefix(name, "usr/share/doc/"), strings.HasPrefix(name, "usr/share/man/"):
			f.Type = rpmpack.DocFile
		}
		p.AddFile(f)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		return err
	}
	return r.write(fmt.Sprintf("zeph-acp-%s-1.%s.rpm", r.systemVersion(), arch), b.Bytes())
}
