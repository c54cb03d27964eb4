// Command release makes the files of a release from the commit of the working directory:
//
//	go run ./cmd/zeph-acp/internal/release [-out DIR] [-target OS/ARCH,…] [-url URL] [-snapshot]
//
// It promises that two runs on the same commit with the same Go version write equal bytes,
// on any machine: see [writeArchive]. DIR then has an archive and a bill of materials for
// each target, SHA256SUMS, a Homebrew formula, a Scoop manifest, and the entry of the ACP
// registry.
//
// Why no existing release tool? The common ones also sign, upload and announce. This
// repository needs only files that users can check.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/manifest"
)

const (
	home       = "https://github.com/zeph-acp/zeph-acp"
	about      = "Coding agent for editors that speak the Agent Client Protocol"
	allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"
)

func main() {
	var r release
	targets := ""
	flag.StringVar(&r.out, "out", "dist", "write into `DIR`, which must be empty or missing")
	flag.StringVar(&targets, "target", allTargets, "build for `OS/ARCH,…`")
	flag.StringVar(&r.url, "url", "", "the archives will be below `URL`; the default is the release of the version at "+home)
	flag.BoolVar(&r.snapshot, "snapshot", false, "also release a commit without the version's tag, or with changes")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx, os.Stdout, strings.Split(targets, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one run.
type release struct {
	out, url string
	snapshot bool

	source
	files []file // common to all archives
}

// target is a system with a processor.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program returns the name of the binary.
func (t target) program() string {
	if t.os == "windows" {
		return "zeph-acp.exe"
	}
	return "zeph-acp"
}

// builtTarget is the result for one target.
type builtTarget struct {
	target
	archive string // its name
	sum     string // SHA-256 of the archive, in hexadecimal digits
}

// run makes the release and prints the sums.
func (r *release) run(ctx context.Context, w io.Writer, targets []string) error {
	if err := makeEmptyDir(r.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "zeph-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if r.source, err = readSource(ctx, work, r.snapshot); err != nil {
		return err
	}
	if r.url == "" {
		r.url = manifest.URL(r.version)
	}
	if r.files, err = r.common(); err != nil {
		return err
	}
	var all []builtTarget
	for _, name := range targets {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("-target %s: want OS/ARCH, such as linux/amd64", name)
		}
		b, err := r.make(ctx, work, target{system, arch})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, b)
	}
	return r.finish(w, all)
}

// finish writes the files that name all archives.
func (r *release) finish(w io.Writer, all []builtTarget) error {
	var sums strings.Builder
	for _, b := range all {
		fmt.Fprintf(&sums, "%s  %s\n", b.sum, b.archive)
	}
	scoop, err := scoopManifest(r.version, r.url, all)
	if err != nil {
		return err
	}
	entry, err := registryEntry(r.version, r.url, all)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"SHA256SUMS":    sums.String(),
		"agent.json":    entry,
		"icon.svg":      string(manifest.Icon),
		"zeph-acp.rb":   formula(r.version, r.url, all),
		"zeph-acp.json": scoop,
	} {
		if text == "" { // no archive for these systems
			continue
		}
		if err := os.WriteFile(filepath.Join(r.out, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(w, sums.String())
	return err
}

// makeEmptyDir creates dir. A directory with files is an error, since files of another
// version would look like ours.
func makeEmptyDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove it, or name another directory with -out", dir)
	}
	return os.MkdirAll(dir, 0o755)
}
