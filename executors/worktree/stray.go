package worktree

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"
)

// strays returns the files of the copy that git add leaves out: those in the directories
// of submodules, in repositories that the sub-agent made, and with names that git
// reserves. Paths are relative to the top directory, with slashes.
func (c *Copy) strays(ctx context.Context) (files []string, err error) {
	others, err := c.meta(ctx, nil, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	tracked, err := c.meta(ctx, nil, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, err
	}
	places := strings.Split(strings.TrimSuffix(string(others), "\x00"), "\x00")
	for entry := range strings.SplitSeq(string(tracked), "\x00") {
		if facts, name, _ := strings.Cut(entry, "\t"); strings.HasPrefix(facts, modeModule+" ") {
			places = append(places, name)
		}
	}
	for _, place := range places {
		if place != "" && ctx.Err() == nil {
			files = c.regular(place, files)
		}
	}
	return files, ctx.Err()
}

// regular appends the regular files in a place of the copy, up to maxChanges of at most
// maxFile bytes, without those of git.
func (c *Copy) regular(place string, files []string) []string {
	_ = filepath.WalkDir(filepath.Join(c.Root, filepath.FromSlash(place)), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil: // it cannot be read, or is gone
			return nil
		case len(files) >= maxChanges:
			return fs.SkipAll
		case e.IsDir() && strings.EqualFold(e.Name(), ".git"):
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile || strings.EqualFold(e.Name(), ".git") {
			return nil
		}
		if rel, err := filepath.Rel(c.Root, path); err == nil {
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	return files
}
