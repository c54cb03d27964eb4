package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
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

// make builds one target, and writes its archive and its bill of materials. It returns the
// SHA-256 of the archive, in hexadecimal digits.
func (r *release) make(ctx context.Context, work string, t target) (sum string, err error) {
	binary := filepath.Join(work, t.os+"-"+t.arch, t.program())
	if err := r.build(ctx, t, binary); err != nil {
		return "", err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", err
	}
	if !r.snapshot && !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }) {
		return "", errors.New("the binary does not name its commit: make the release in a clone, not in a further work tree of git")
	}
	notices, err := notices(ctx, r.root, info)
	if err != nil {
		return "", err
	}
	bill, err := r.billOfMaterials(t, info, content)
	if err != nil {
		return "", err
	}
	files := contents{fstest.MapFS{}, r.time}
	files.add(t.program(), content, 0o755)
	files.add("THIRD_PARTY_NOTICES.txt", notices, 0o644)
	files.add("sbom.cdx.json", bill, 0o644)
	if err := errors.Join(files.copy(r.manual, "man", "completions"), files.copy(r.root, "README.md", "CHANGELOG.md", "LICENSE", "docs")); err != nil {
		return "", err
	}
	archived, err := archive(files.MapFS, t.os == "windows")
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256(archived)
	return hex.EncodeToString(hash[:]), errors.Join(
		os.WriteFile(filepath.Join(r.out, t.base(r.version)+".cdx.json"), bill, 0o644),
		os.WriteFile(filepath.Join(r.out, t.archive(r.version)), archived, 0o644),
	)
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
		"GOFLAGS=",
		"GOEXPERIMENT=",
		"GOWORK=off",
		"GOFIPS140=off",
	}, "go", "build", "-trimpath", "-ldflags", "-s -w -buildid=", "-o", to, "./cmd/zeph-acp")
	return err
}

// contents are the files of an archive, which all have one time.
type contents struct {
	fstest.MapFS
	time time.Time
}

// add adds a file, and the directories above it.
func (c contents) add(name string, data []byte, mode fs.FileMode) {
	name = path.Join(manifest.Dir, name)
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
