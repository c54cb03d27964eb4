package copies

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/process/program"
)

// Limits on the changes that are brought back.
const (
	maxChanges = 1000
	maxFile    = 10 << 20 // bytes
	maxTotal   = 64 << 20 // bytes, of both sides
)

// Change is a change of one file.
type Change struct {
	Path       string  // relative to the top directory, with slashes
	Old, New   *string // nil means that there was, or is, no file
	Unwritable string  // why it cannot be written by a call; empty if it can be
	Note       string  // a part of it that is not written; empty if there is no such part
}

// changes returns the changes since the copy was made. Ignored files do not count.
func (c *Copy) changes(ctx context.Context) ([]Change, error) {
	now, err := c.writeTree(ctx)
	if err != nil {
		return nil, err
	}
	strays, err := c.strays(ctx)
	if err != nil {
		return nil, err
	}
	out, err := c.runMeta(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", c.base, now)
	if err != nil {
		return nil, err
	}
	var all []Change
	var raw [][]string
	var names []string
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		facts := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(facts) != 5 {
			return nil, fmt.Errorf("git diff-tree: %q", facts)
		}
		if facts[0] == modeNone && facts[1] == modeModule {
			continue // its files are strays
		}
		ch := newChange(facts, fields[i+1], len(all))
		if ch.Unwritable == "" {
			names = append(names, facts[2], facts[3])
		}
		all, raw = append(all, ch), append(raw, facts)
	}
	texts, err := c.readTexts(ctx, names)
	for i := range all {
		all[i].setTexts(raw[i], texts)
	}
	for _, s := range strays {
		all = append(all, Change{Path: s.path, Unwritable: s.why()})
	}
	return all, err
}

// The modes of entries of a tree.
const (
	modeNone       = "000000"
	modeFile       = "100644"
	modeExecutable = "100755"
	modeLink       = "120000"
	modeModule     = "160000"
)

// newChange returns a change without its texts, by its line of git diff-tree and the number
// of changes before it.
func newChange(facts []string, path string, before int) (ch Change) {
	ch.Path = path
	modes := facts[:2]
	switch {
	case before >= maxChanges:
		ch.Unwritable = "there are too many changes"
	case !utf8.ValidString(path):
		ch.Unwritable = "its name is not UTF-8"
	case modes[0] == modeModule || modes[1] == modeModule:
		ch.Unwritable = "it is a separate repository"
	case modes[0] == modeLink || modes[1] == modeLink:
		ch.Unwritable = "it is a symbolic link"
	case modes[1] == modeExecutable && modes[0] != modeExecutable:
		ch.Note = "is executable in the copy only"
	case modes[0] == modeExecutable && modes[1] == modeFile:
		ch.Note = "is no longer executable in the copy only"
	}
	return ch
}

// setTexts adds the texts of the two sides, by the names of their contents.
func (ch *Change) setTexts(facts []string, texts map[string]blobText) {
	for i, side := range []**string{&ch.Old, &ch.New} {
		if facts[i] == modeNone || ch.Unwritable != "" {
			continue
		}
		t := texts[facts[2+i]]
		*side, ch.Unwritable = &t.text, t.problem
	}
}

// blobText is the text of an object, or the reason why it cannot be used.
type blobText struct{ text, problem string }

// readTexts returns the texts of objects. Names of zeros are left out.
func (c *Copy) readTexts(ctx context.Context, names []string) (map[string]blobText, error) {
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Trim(name, "0") == "" })
	slices.Sort(names)
	names = slices.Compact(names)
	texts := map[string]blobText{}
	if len(names) == 0 {
		return texts, nil
	}
	sizes, err := c.runMeta(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	room, wanted := maxTotal, names[:0]
	for i, line := range strings.Split(strings.TrimSpace(string(sizes)), "\n") {
		n, err := strconv.Atoi(line)
		if i >= len(names) || err != nil {
			return nil, fmt.Errorf("git cat-file: %q", line)
		}
		if n > maxFile || n > room {
			texts[names[i]] = blobText{problem: "it is too large"}
			continue
		}
		room -= n
		wanted = append(wanted, names[i])
	}
	data, err := c.runMeta(ctx, strings.NewReader(strings.Join(wanted, "\n")+"\n"), "cat-file", "--batch=%(objectsize)")
	for _, name := range wanted {
		head, rest, _ := bytes.Cut(data, []byte("\n"))
		n, wrong := strconv.Atoi(string(head))
		if err != nil || wrong != nil || n >= len(rest) {
			return nil, cmp.Or(err, fmt.Errorf("git cat-file: %q", head))
		}
		content := rest[:n]
		data = rest[n+1:] // after the newline
		texts[name] = blobText{text: string(content)}
		if !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 {
			texts[name] = blobText{problem: "it is not a text"}
		}
	}
	return texts, nil
}

// Kept are the paths under which changes are kept for the user. A path is empty if there
// are no such changes.
type Kept struct {
	Patch string // a file for git apply
	Files string // a directory with the files that no patch holds, or with the whole copy
}

// Keep stores the changes of some files, all if there are no paths. Files that no patch
// holds are moved out of the copy. If git cannot compute all changes, the whole copy is.
func (c *Copy) Keep(ctx context.Context, paths []string) (k Kept, err error) {
	patch, others, err := c.splitChanges(ctx, paths)
	if err != nil && paths == nil && ctx.Err() == nil && c.exists() {
		others = []stray{{path: "."}}
	}
	if len(others) > 0 {
		var moved error
		k.Files, moved = c.setAside(others)
		err = errors.Join(err, moved)
	}
	if err != nil || len(patch) == 0 {
		return k, err
	}
	k.Patch = filepath.Join(c.options.State, c.options.Name+"-"+c.id+patchEnd)
	return k, os.WriteFile(k.Patch, patch, 0o600)
}

// splitChanges returns the changes of some files, all if there are no paths, as a patch, and
// the files that no patch holds.
func (c *Copy) splitChanges(ctx context.Context, paths []string) (patch []byte, others []stray, err error) {
	strays, err := c.strays(ctx)
	if err != nil {
		return nil, nil, err
	}
	var held []string
	for _, s := range strays {
		switch {
		case paths != nil && !slices.Contains(paths, s.path):
		case s.noPatch == "":
			held = append(held, s.path)
		default:
			others = append(others, s)
		}
	}
	if len(paths) > 200 { // a command line has limits
		paths = nil
	}
	patch, err = c.patch(ctx, paths, held)
	return patch, others, err
}

// patch returns the changes of the files in paths and strays, for git apply. Without paths
// it covers all files.
func (c *Copy) patch(ctx context.Context, paths, strays []string) ([]byte, error) {
	now, err := c.writeTree(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"--literal-pathspecs", "diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=all", c.base, now, "--"}
	patch, err := c.runMeta(ctx, nil, append(args, paths...)...)
	if err != nil {
		return nil, err
	}
	for _, path := range strays {
		more, err := c.runMeta(ctx, nil, "diff", "--no-index", "--binary", "--full-index", "--no-ext-diff", "--no-textconv",
			"--", "/dev/null", path)
		if err != nil && !program.ExitedWith(err, exitFilesDiffer) {
			return patch, err
		}
		patch = append(patch, more...)
	}
	return patch, nil
}

// exitFilesDiffer is the exit status of git diff --no-index if the files differ.
const exitFilesDiffer = 1

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
	out, err := c.git.run(ctx, dir, "merge-file", "-p", "-q", "ours", "base", "theirs")
	if _, ok := errors.AsType[*program.ExitError](err); ok { // the number of conflicts, or a text that git cannot merge
		return "", false, nil
	}
	return string(out), err == nil, err
}
