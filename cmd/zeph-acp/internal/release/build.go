package main

import (
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

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

// make builds one target, and writes its archive and its bill of materials.
func (r *release) make(ctx context.Context, work string, t target) (builtTarget, error) {
	binary := filepath.Join(work, t.os+"-"+t.arch, t.program())
	if err := r.build(ctx, t, binary); err != nil {
		return builtTarget{}, err
	}
	content, err := os.ReadFile(binary)
	if err != nil {
		return builtTarget{}, err
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return builtTarget{}, err
	}
	if !r.snapshot && !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" }) {
		return builtTarget{}, errors.New("the binary does not name its commit: make the release in a clone, not in a further work tree of git")
	}
	notices, err := notices(ctx, r.root, info)
	if err != nil {
		return builtTarget{}, err
	}
	bill, err := billOfMaterials(r.source, t, info, content)
	if err != nil {
		return builtTarget{}, err
	}
	name := fmt.Sprintf("zeph-acp_%s_%s_%s", r.version, t.os, t.arch)
	files := append([]file{
		{t.program(), content, 0o755},
		{"THIRD_PARTY_NOTICES.txt", notices, 0o644},
		{"sbom.cdx.json", []byte(bill), 0o644},
	}, r.files...)
	archive, err := writeArchive(t, manifest.Dir, r.time, files)
	if err != nil {
		return builtTarget{}, err
	}
	b := builtTarget{target: t, archive: name + archiveSuffix(t)}
	sum := sha256.Sum256(archive)
	b.sum = hex.EncodeToString(sum[:])
	if err := os.WriteFile(filepath.Join(r.out, name+".cdx.json"), []byte(bill), 0o644); err != nil {
		return builtTarget{}, err
	}
	return b, os.WriteFile(filepath.Join(r.out, b.archive), archive, 0o644)
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

// common reads the files that every archive has.
func (r *release) common() ([]file, error) {
	var files []file
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE"} {
		content, err := os.ReadFile(filepath.Join(r.root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, content, 0o644})
	}
	for _, from := range []struct{ dir, as string }{{r.manual, "."}, {filepath.Join(r.root, "docs"), "docs"}} {
		err := filepath.WalkDir(from.dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			in, err := filepath.Rel(from.dir, name)
			if err != nil {
				return err
			}
			files = append(files, file{path.Join(from.as, filepath.ToSlash(in)), content, 0o644})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}
