package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is the commit that is released.
type source struct {
	root    string // of the repository
	version string // without a "v"
	time    time.Time
	manual  string // directory with man/man1 and completions
}

// readSource reads the facts of the commit. It writes the manual below work.
func readSource(ctx context.Context, work string, snapshot bool) (source, error) {
	root, err := output(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return source{}, err
	}
	s := source{root: root, manual: filepath.Join(work, "manual")}
	if s.time, err = s.date(ctx); err != nil {
		return source{}, err
	}
	// Both commands run the binary with the manual, which is then linked once.
	zephACP := []string{"run", "-tags", "manual", "./cmd/zeph-acp"}
	printed, err := output(ctx, root, nil, "go", append(zephACP, "version")...)
	if err != nil {
		return source{}, err
	}
	line, _, _ := strings.Cut(printed, "\n")
	s.version = strings.TrimPrefix(line, "zeph-acp ")
	if !snapshot {
		if err := s.check(ctx); err != nil {
			return source{}, err
		}
	}
	_, err = output(ctx, root, nil, "go", append(zephACP, "manual", s.manual, strconv.FormatInt(s.time.Unix(), 10))...)
	return s, err
}

// date returns the time of all files of the release: SOURCE_DATE_EPOCH, or that of the
// commit. See https://reproducible-builds.org/specs/source-date-epoch/.
func (s *source) date(ctx context.Context) (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		var err error
		if text, err = output(ctx, s.root, nil, "git", "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s: want seconds since 1970", text)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// check returns an error for a commit that others could not build again.
func (s *source) check(ctx context.Context) error {
	changes, err := output(ctx, s.root, nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if changes != "" {
		return fmt.Errorf("the working directory has changes: commit them, or try with -snapshot\n%s", changes)
	}
	tags, err := output(ctx, s.root, nil, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return err
	}
	if slices.Contains(strings.Fields(tags), "v"+s.version) {
		return nil
	}
	return fmt.Errorf("the commit has no tag v%[1]s: create it with git tag v%[1]s, or try with -snapshot", s.version)
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
