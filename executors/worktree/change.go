package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Limits on the changes that are brought back.
const (
	maxChanges = 1000
	maxFile    = 10 << 20 // bytes
)

// Change is a change of one file.
type Change struct {
	Path     string  // relative to the top directory, with slashes
	Old, New *string // nil means that there was, or is, no file
	Left     string  // why it cannot be written by a call; empty if it can
	Note     string  // a part of it that is not written; empty if there is no such part
}

// Changes returns the changes since the copy was made. Ignored files do not count.
func (c *Copy) Changes(ctx context.Context) ([]Change, error) {
	now, err := c.tree(ctx)
	if err != nil || now == c.base {
		return nil, err
	}
	out, err := c.meta(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", c.base, now)
	if err != nil {
		return nil, err
	}
	var all []Change
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		ch, err := c.change(ctx, strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1], len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, ch)
	}
	return all, nil
}

// The modes of entries of a tree.
const (
	modeNone       = "000000"
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeModule     = "160000"
)

// change returns a change by its line of git diff-tree, with the number of changes before
// it.
func (c *Copy) change(ctx context.Context, facts []string, path string, before int) (ch Change, err error) {
	ch.Path = path
	if len(facts) != 5 {
		return ch, fmt.Errorf("git diff-tree: %q", facts)
	}
	modes := facts[:2]
	switch {
	case before >= maxChanges:
		ch.Left = "there are too many changes"
	case !utf8.ValidString(path):
		ch.Left = "its name is not UTF-8"
	case modes[0] == modeModule || modes[1] == modeModule:
		ch.Left = "it is a repository of its own"
	case modes[0] == modeLink || modes[1] == modeLink:
		ch.Left = "it is a symbolic link"
	case modes[1] == modeExecutable && modes[0] != modeExecutable:
		ch.Note = "is executable in the copy only"
	case modes[0] == modeExecutable && modes[1] == modeFile:
		ch.Note = "is no longer executable in the copy only"
	}
	if ch.Left != "" {
		return ch, nil
	}
	for i, side := range []**string{&ch.Old, &ch.New} {
		if modes[i] == modeNone || ch.Left != "" {
			continue
		}
		var text string
		if text, ch.Left, err = c.blob(ctx, facts[2+i]); err != nil {
			return ch, err
		}
		*side = &text
	}
	return ch, nil
}

// blob returns the text of an object, or why it has none.
func (c *Copy) blob(ctx context.Context, name string) (text, left string, err error) {
	size, err := c.meta(ctx, nil, "cat-file", "-s", name)
	if err != nil {
		return "", "", err
	}
	if len(strings.TrimSpace(string(size))) > len(fmt.Sprint(maxFile)) {
		return "", "it is too large", nil
	}
	data, err := c.meta(ctx, nil, "cat-file", "blob", name)
	switch {
	case err != nil:
		return "", "", err
	case len(data) > maxFile:
		return "", "it is too large", nil
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", "it is not a text", nil
	}
	return string(data), "", nil
}

// Patch returns the changes of some files, all if there are no paths, for git apply.
func (c *Copy) Patch(ctx context.Context, paths []string) ([]byte, error) {
	now, err := c.tree(ctx)
	if err != nil || now == c.base {
		return nil, err
	}
	args := []string{"--literal-pathspecs", "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", c.base, now, "--"}
	return c.meta(ctx, nil, append(args, paths...)...)
}

// Keep stores a patch of some files, all if there are no paths, and returns its path. It
// is empty if there is no change.
func (c *Copy) Keep(ctx context.Context, paths []string) (string, error) {
	if len(paths) > 200 { // a command line has limits
		paths = nil
	}
	patch, err := c.Patch(ctx, paths)
	if err != nil || len(patch) == 0 {
		return "", err
	}
	name := filepath.Join(c.o.State, c.o.Name+"-"+c.id+patchEnd)
	return name, os.WriteFile(name, patch, 0o600)
}

// merge returns a text with the changes from base to each of two others. ok is false if
// both changed the same lines.
func (c *Copy) merge(ctx context.Context, ours, base, theirs string) (text string, ok bool, err error) {
	dir, err := os.MkdirTemp(c.Meta, "merge-")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	for name, content := range map[string]string{"ours": ours, "base": base, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return "", false, err
		}
	}
	out, err := c.git.run(ctx, dir, nil, nil, "merge-file", "-p", "-q", "ours", "base", "theirs")
	if e := new(exec.ExitError); errors.As(err, &e) { // the number of conflicts, or a text that git cannot merge
		return "", false, nil
	}
	return string(out), err == nil, err
}
