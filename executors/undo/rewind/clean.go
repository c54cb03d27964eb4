package rewind

import (
	"os"
	"path/filepath"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

const (
	cleanEvery  = time.Hour          // a clean-up of one workspace
	unusedAfter = 7 * 24 * time.Hour // after it the survey of an unused workspace is dropped
)

// hashPattern finds the hashes of contents in any file of this package.
var hashPattern = lazyregexp.New(`"hash":"([0-9a-f]{64})"`)

// clean removes contents that no file of this package names any longer, in this
// workspace and in unused ones. It runs at most once an hour.
func (s *Session) clean() {
	bases, err := filepath.Glob(filepath.Join(s.Data, DirName, "*"))
	if err != nil {
		return
	}
	for _, base := range bases {
		stamp := filepath.Join(base, "cleaned")
		if info, err := os.Stat(stamp); err == nil && s.Now().Sub(info.ModTime()) < cleanEvery {
			continue
		}
		if err := undo.WriteFile(stamp, nil); err != nil {
			continue
		}
		c := cleaner{base: base, now: s.Now(), maxBytes: s.Limits.MaxBytes}
		if err := c.run(); err != nil {
			s.Log.Debug("clean up kept files", "dir", base, "err", err)
		}
	}
}

// cleaner cleans up one workspace.
type cleaner struct {
	base     string
	now      time.Time
	maxBytes int64 // bytes of contents
}

// run removes contents that no point names. While too many bytes are left, it drops the
// oldest point and repeats.
func (c cleaner) run() error {
	survey := filepath.Join(c.base, "index.json")
	if info, err := os.Stat(survey); err == nil && c.now.Sub(info.ModTime()) > unusedAfter {
		os.Remove(survey)
	}
	for {
		named, err := c.referenced()
		if err != nil {
			return err
		}
		left, err := store(c.base).Sweep(named, c.now)
		if err != nil || left <= c.maxBytes || !c.dropOldest() {
			return err
		}
	}
}

// referenced returns the hashes that a file of the workspace names.
func (c cleaner) referenced() (map[string]bool, error) {
	files, err := c.files("*")
	if err != nil {
		return nil, err
	}
	named := map[string]bool{}
	for _, file := range append(files, filepath.Join(c.base, "index.json")) {
		data, err := os.ReadFile(file)
		if undo.IgnoreMissing(err) != nil {
			return nil, err // an unreadable file may name any content
		}
		for _, m := range hashPattern.FindAllSubmatch(data, -1) {
			named[string(m[1])] = true
		}
	}
	return named, nil
}

func (c cleaner) files(pattern string) ([]string, error) {
	return filepath.Glob(filepath.Join(c.base, "sessions", "*", pattern))
}

// dropOldest drops the oldest point of all sessions. It returns false if there is none.
func (c cleaner) dropOldest() bool {
	dirs, err := filepath.Glob(filepath.Join(c.base, "sessions", "*"))
	if err != nil {
		return false
	}
	var oldest string
	var at time.Time
	for _, dir := range dirs {
		files, err := pointNames(dir)
		if err != nil || len(files) == 0 {
			continue
		}
		if info, err := os.Stat(files[0]); err == nil && (oldest == "" || info.ModTime().Before(at)) {
			oldest, at = files[0], info.ModTime()
		}
	}
	return oldest != "" && dropPoint(oldest) == nil
}
