package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
)

// change is a change to review.
type change struct {
	dir       string // absolute; the paths of the diff begin here
	about     string // in words, for the model and the title
	diff      string
	untracked []string // names of files without a diff
}

// change returns the change that the user names: by a base, by paths, or as a diff on stdin.
func (r *runner) change(ctx context.Context, base string, paths []string) (c change, err error) {
	limit := r.app.Config.ACP.MaxAttachmentBytes
	if c.dir, err = directory("--cwd", r.dir); err != nil {
		return c, err
	}
	if slices.Contains(paths, stdinPart) {
		if len(paths) > 1 || base != "" {
			return c, usageError(`"-" reads the diff from stdin, and takes neither paths nor --base`)
		}
		c.about = "a diff of the user"
		c.diff, err = readDiff(os.Stdin, limit)
		return c, err
	}
	g := git{ctx: ctx, dir: c.dir, env: r.gitEnv()}
	top, err := g.line("rev-parse", "--show-toplevel")
	if err != nil {
		return c, fmt.Errorf("%s is not in a git repository (%w): pipe a diff to \"zeph-acp review -\"", c.dir, err)
	}
	since, err := g.since(base)
	if err != nil {
		return c, usageError("--base: %w", err)
	}
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "--submodule=short", "--no-color", since, "--"}, paths...)
	if c.diff, err = g.text(limit, args...); err != nil {
		return c, err
	}
	names, err := g.text(limit, append([]string{"ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--"}, paths...)...)
	if err != nil {
		return c, err
	}
	for name := range strings.SplitSeq(strings.Trim(names, "\x00"), "\x00") {
		if name != "" {
			c.untracked = append(c.untracked, executors.Quoted(executors.WholeLine(name)))
		}
	}
	if c.diff == "" && len(c.untracked) == 0 {
		if err := g.unknownPath(paths); err != nil {
			return c, err
		}
	}
	c.untracked = limitNames(c.untracked)
	c.dir, c.about = filepath.FromSlash(top), "the changes since "+executors.Quoted(baseOrHead(base))
	return c, nil
}

// gitEnv returns the environment of git, in which it starts no program of the repository.
func (r *runner) gitEnv() []string {
	return append(os.Environ(), append(command.GitSafeEnv(), "GIT_PAGER=cat", "LC_ALL=C")...)
}

// git runs git in a directory.
type git struct {
	ctx context.Context // of one command of the user
	dir string
	env []string
}

// since returns the commit that the working tree is compared with: where it left the base,
// else its last commit, or an empty tree before the first one.
func (g git) since(base string) (string, error) {
	if strings.HasPrefix(base, "-") {
		return "", fmt.Errorf("%q is not a branch or commit", base)
	}
	if base != "" {
		if _, err := g.line("rev-parse", "--verify", "--quiet", base+"^{commit}"); err != nil {
			return "", fmt.Errorf("there is no branch or commit %q", base)
		}
		since, err := g.line("merge-base", base, "HEAD")
		if err != nil {
			return "", fmt.Errorf("%q and HEAD have no common commit; a shallow clone may lack it", base)
		}
		return since, nil
	}
	if head, err := g.line("rev-parse", "--verify", "--quiet", "HEAD"); err == nil {
		return head, nil
	}
	return g.line("hash-object", "-t", "tree", "--stdin") // which is empty
}

// unknownPath returns an error about the first path that is no file of the repository, which
// is probably misspelled. In CI a review of nothing would pass.
func (g git) unknownPath(paths []string) error {
	for _, path := range paths {
		file := path
		if !filepath.IsAbs(file) {
			file = filepath.Join(g.dir, path)
		}
		if _, err := os.Lstat(file); err == nil {
			continue
		}
		if tracked, err := g.line("ls-files", "-z", "--", path); err == nil && tracked == "" { // a pattern may match
			return usageError("there is no file %s in the repository", oneLine(path))
		}
	}
	return nil
}

// maxGitLine bounds a line of git, in bytes.
const maxGitLine = 256 << 10

// line returns the output of git as one line.
func (g git) line(args ...string) (string, error) {
	text, err := g.text(maxGitLine, args...)
	return strings.TrimRight(text, "\r\n"), err
}

// text returns the output of git, of at most that many bytes.
func (g git) text(limit int, args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	text, err := readDiff(out, limit)
	if err != nil {
		_ = cmd.Process.Kill() // it would wait for a reader
		_ = cmd.Wait()
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		first, _, _ := strings.Cut(stderr.String(), "\n")
		if first == "" {
			return "", err
		}
		return "", errors.New(first)
	}
	return text, nil
}
