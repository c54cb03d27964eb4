// Command release makes the files of a release from the commit of the working directory:
//
//	go run ./cmd/zeph-acp/internal/release [-out DIR] [-target OS/ARCH,…] [-snapshot]
//
// Two runs on the same commit with the same Go version write equal bytes, on any machine:
// see [archive]. DIR then has an archive, the packages and a bill of materials for each target,
// and SHA256SUMS; with all targets also the files that name all archives: see [recipes].
//
// Why no existing release tool? The common ones also sign, upload and announce. This
// repository needs only files that users can check.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const allTargets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	var r release
	targets := ""
	flag.StringVar(&r.out, "out", "dist", "write into `DIR`, which must be empty or missing")
	flag.StringVar(&targets, "target", allTargets, "build for `OS/ARCH,…`")
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
	out      string
	snapshot bool

	root    string    // of the repository
	version string    // without a "v"
	time    time.Time // of all files
	manual  string    // directory with man/man1 and completions
}

// run makes the release and prints the sums.
func (r *release) run(ctx context.Context, w io.Writer, targets []string) error {
	work, err := os.MkdirTemp("", "zeph-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := makeEmptyDir(r.out); err != nil {
		return err
	}
	if err := r.readCommit(ctx, work); err != nil {
		return err
	}
	for _, name := range targets {
		system, arch, ok := strings.Cut(name, "/")
		if !ok {
			return fmt.Errorf("-target %s: want OS/ARCH, such as linux/amd64", name)
		}
		if err := r.make(ctx, work, target{system, arch}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := r.writeRecipes(); err != nil {
		return err
	}
	sums, err := r.sums()
	if err != nil {
		return err
	}
	if err := r.write(sumsFile, []byte(sums)); err != nil {
		return err
	}
	_, err = io.WriteString(w, sums)
	return err
}

// sumsFile is the file with the checksums of the files that a release on GitHub has.
const sumsFile = "SHA256SUMS"

// sums returns the checksums of these files, in the form of sha256sum. The packages for npm are
// in a directory of their own, since its registry has sums itself.
func (r *release) sums() (string, error) {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), entry.Name())
	}
	return text.String(), nil
}

// readCommit reads the facts of the commit. It writes the manual below work.
func (r *release) readCommit(ctx context.Context, work string) (err error) {
	r.manual = filepath.Join(work, "manual")
	if r.root, err = output(ctx, "", nil, "git", "rev-parse", "--show-toplevel"); err != nil {
		return err
	}
	if r.time, err = date(ctx, r.root); err != nil {
		return err
	}
	// Both commands run the binary with the manual, which is then linked once.
	zephACP := []string{"run", "-tags", "manual", "./cmd/zeph-acp"}
	printed, err := output(ctx, r.root, nil, "go", append(zephACP, "version")...)
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(printed, "\n")
	r.version = strings.TrimPrefix(line, "zeph-acp ")
	if !r.snapshot {
		if err := r.check(ctx); err != nil {
			return err
		}
	}
	_, err = output(ctx, r.root, nil, "go", append(zephACP, "manual", r.manual, strconv.FormatInt(r.time.Unix(), 10))...)
	return err
}

// date returns SOURCE_DATE_EPOCH, or the time of the commit. See
// https://reproducible-builds.org/specs/source-date-epoch/.
func date(ctx context.Context, root string) (time.Time, error) {
	commit, err := output(ctx, root, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return time.Time{}, err
	}
	text := cmp.Or(os.Getenv("SOURCE_DATE_EPOCH"), commit)
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s: want seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// check returns an error for a commit that others could not build again.
func (r *release) check(ctx context.Context) error {
	changes, err := output(ctx, r.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the working directory has changes: commit them, or try with -snapshot\n%s", changes)
	}
	tags, err := output(ctx, r.root, nil, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(tags), "v"+r.version) {
		return fmt.Errorf("the commit has no tag v%[1]s: create it with git tag v%[1]s, or try with -snapshot", r.version)
	}
	return nil
}

// makeEmptyDir creates dir. A directory with files is an error, since files of another
// version would look like ours.
func makeEmptyDir(dir string) error {
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		return fmt.Errorf("%s is not empty: remove it, or name another directory with -out", dir)
	}
	return os.MkdirAll(dir, 0o755)
}

// output runs a program and returns its trimmed stdout. environ is added to our own
// environment.
func output(ctx context.Context, dir string, environ []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), environ...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
