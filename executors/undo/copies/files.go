package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// modeModule is the mode of a submodule in a tree.
const modeModule = "160000"

// fileList are the files to copy, with slashes and relative to the top directory.
type fileList struct {
	files   []string
	modules []string // directories of submodules
}

// list returns the tracked files, and the new ones that no ignore file names.
func (g git) list(ctx context.Context, r repository) (l fileList, err error) {
	tracked, err := g.run(ctx, r.top, "ls-files", "-z", "--stage")
	if err != nil {
		return l, err
	}
	for entry := range bytes.SplitSeq(tracked, []byte{0}) {
		facts, name, ok := strings.Cut(string(entry), "\t")
		switch {
		case !ok:
		case strings.HasPrefix(facts, modeModule+" "):
			l.modules = append(l.modules, name)
		default:
			l.files = append(l.files, name)
		}
	}
	others, err := g.run(ctx, r.top, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return l, err
	}
	for name := range strings.SplitSeq(string(others), "\x00") {
		if name != "" && !strings.HasSuffix(name, "/") { // else another repository
			l.files = append(l.files, name)
		}
	}
	slices.Sort(l.files)
	l.files = slices.Compact(l.files) // a file with conflicts is listed for each side
	return l, nil
}

// copyFiles copies the files with their contents in the working directory.
func (c *Copy) copyFiles(ctx context.Context, l fileList) error {
	from, err := os.OpenRoot(c.Top)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(c.Root)
	if err != nil {
		return err
	}
	defer to.Close()
	if len(l.files) > c.options.Limits.MaxFiles {
		return c.tooMuch(c.options.Limits.TooManyFiles())
	}
	room := c.options.Limits.MaxBytes
	for _, name := range l.files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.options.Refuses != nil && c.options.Refuses(filepath.Join(c.Top, filepath.FromSlash(name))) {
			continue
		}
		n, err := copyFile(from, to, filepath.FromSlash(name))
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
		if room -= n; room < 0 {
			return c.tooMuch(c.options.Limits.TooManyBytes())
		}
	}
	for _, name := range l.modules {
		if err := to.MkdirAll(filepath.FromSlash(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// tooMuch returns the failure for a project over a limit.
func (c *Copy) tooMuch(why error) error {
	return refusal("the project %s cannot be copied: %v", c.Top, why)
}

// copyFile copies a file or a link, and returns its size. It leaves out everything else,
// and links that lead out of the copy.
func copyFile(from, to *os.Root, name string) (int64, error) {
	info, err := from.Lstat(name)
	if err != nil {
		return 0, undo.IgnoreMissing(err)
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if !link && !info.Mode().IsRegular() {
		return 0, nil
	}
	if err := to.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return 0, err
	}
	if !link {
		return copyContent(from, to, name)
	}
	target, err := from.Readlink(name)
	if err != nil || !staysInside(name, target) {
		return 0, undo.IgnoreMissing(err)
	}
	return 0, to.Symlink(target, name)
}

// staysInside reports whether a link leads to a place in the same tree, whatever the
// other links are.
func staysInside(name, target string) bool {
	down := strings.TrimLeft(filepath.ToSlash(target), "./")
	return !filepath.IsAbs(target) && !slices.Contains(strings.Split(down, "/"), "..") &&
		filepath.IsLocal(filepath.Join(filepath.Dir(name), target))
}

// copyContent copies a regular file with its mode and time. It skips a file that no longer
// exists or is no longer regular.
func copyContent(from, to *os.Root, name string) (n int64, err error) {
	src, err := from.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return 0, undo.IgnoreMissing(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, err
	}
	dst, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return 0, err
	}
	n, err = io.Copy(dst, src)
	if err := errors.Join(err, dst.Close()); err != nil {
		return n, err
	}
	return n, to.Chtimes(name, info.ModTime(), info.ModTime())
}
