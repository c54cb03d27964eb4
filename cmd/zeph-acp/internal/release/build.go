package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing/fstest" // files in memory
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// target is a system with a processor.
type target struct{ os, arch string }

// program returns the name of the binary.
func (t target) program() string {
	if t.os == "windows" {
		return "zeph-acp.exe"
	}
	return "zeph-acp"
}

// base returns the common beginning of the names of its files.
func (t target) base(version string) string {
	return fmt.Sprintf("zeph-acp_%s_%s_%s", version, t.os, t.arch)
}

// archive returns the name of the archive.
func (t target) archive(version string) string {
	if t.os == "windows" {
		return t.base(version) + ".zip"
	}
	return t.base(version) + ".tar.gz"
}

// make builds one target, and writes its archive, its packages and its bill of materials.
func (r *release) make(ctx context.Context, work string, t target) error {
	binary := filepath.Join(work, t.os+"-"+t.arch, t.program())
	if err := r.build(ctx, t, binary); err != nil {
		return err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	if !r.snapshot && !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }) {
		return errors.New("the binary does not name its commit: make the release in a clone, not in a further work tree of git")
	}
	notices, err := notices(ctx, r.root, info)
	if err != nil {
		return err
	}
	bill, err := r.billOfMaterials(t, info, content)
	if err != nil {
		return err
	}
	files := newContents(r.time)
	files.add(t.program(), content, 0o755)
	files.add("THIRD_PARTY_NOTICES.txt", notices, 0o644)
	files.add("sbom.cdx.json", bill, 0o644)
	if err := errors.Join(files.copy(r.manual, "man", "completions"), files.copy(r.root, "README.md", "CHANGELOG.md", "LICENSE", "docs")); err != nil {
		return err
	}
	archived, err := archive(files.below(manifest.Dir), t.os == "windows")
	if err != nil {
		return err
	}
	if err := errors.Join(r.write(t.base(r.version)+".cdx.json", bill), r.write(t.archive(r.version), archived)); err != nil {
		return err
	}
	if err := r.writeNPM(t, files); err != nil || t.os != "linux" {
		return err
	}
	return errors.Join(r.writeDeb(t, files), r.writeRPM(t, files))
}

// write writes a file of the release, and the directory above it.
func (r *release) write(name string, data []byte) error {
	file := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// build compiles the binary. Every setting that changes the bytes is set here, so that the
// caller's environment does not matter.
func (r *release) build(ctx context.Context, t target, to string) error {
	_, err := output(ctx, r.root, []string{
		"CGO_ENABLED=0",
		"GOOS=" + t.os,
		"GOARCH=" + t.arch,
		"GOAMD64=v1",
		"GOARM64=v8.0",
		"GOFLAGS=-buildvcs=auto", // an empty one leaves the flags of "go env -w" in force
		"GOEXPERIMENT=",
		"GOWORK=off",
		"GOFIPS140=off",
	}, "go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", to, "./cmd/zeph-acp")
	return err
}

// contents are the files of an archive or of a package, which all have one time.
type contents struct {
	fstest.MapFS
	time time.Time
}

func newContents(t time.Time) contents { return contents{fstest.MapFS{}, t} }

// below returns the files as they are in a directory.
func (c contents) below(dir string) contents {
	moved := newContents(c.time)
	for name, file := range c.MapFS {
		if !file.Mode.IsDir() {
			moved.add(path.Join(dir, name), file.Data, file.Mode)
		}
	}
	return moved
}

// add adds a file, and the directories above it.
func (c contents) add(name string, data []byte, mode fs.FileMode) {
	c.MapFS[name] = &fstest.MapFile{Data: data, Mode: mode, ModTime: c.time}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		c.MapFS[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, ModTime: c.time}
	}
}

// copy adds files and whole directories of a directory.
func (c contents) copy(dir string, names ...string) error {
	for _, name := range names {
		err := fs.WalkDir(os.DirFS(dir), name, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			c.add(name, data, 0o644)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// archive packs files. The bytes depend on the files alone: they are sorted, and their
// owner is root.
func archive(files fs.FS, asZip bool) ([]byte, error) {
	var b bytes.Buffer
	if asZip {
		w := zip.NewWriter(&b)
		err := errors.Join(w.AddFS(files), w.Close())
		return b.Bytes(), err
	}
	compressed, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(compressed)
	err = errors.Join(w.AddFS(files), w.Close(), compressed.Close())
	return b.Bytes(), err
}
