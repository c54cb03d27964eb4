package session

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// sameDir returns an error if a client names another directory than the
// session's.
func sameDir(stored, named string) error {
	if stored == filepath.Clean(named) {
		return nil
	}
	if named, err := os.Stat(named); err == nil && isDir(stored, named) {
		return nil
	}
	return acp.ParamsErrorf("cwd", "the session's directory is %s", stored)
}

// isDir reports whether path leads to that directory.
func isDir(path string, dir os.FileInfo) bool {
	info, err := os.Stat(path)
	return err == nil && os.SameFile(info, dir)
}

// query selects the sessions with a prompt, of one directory unless cwd is empty. Another
// session may have the directory by another path, such as through a link.
func (s *Sessions) query(ctx context.Context, cwd string) (store.Query, error) {
	q := store.Query{Kind: transcript.Prompt{}.Kind()}
	if cwd == "" {
		return q, nil
	}
	q.CWD = filepath.Clean(cwd)
	dirs, err := s.Store.Directories(ctx)
	if err != nil {
		return q, err
	}
	q.Also = s.otherPaths(ctx, q.CWD, dirs)
	return q, nil
}

// slowDirs is how long List examines the directories of other sessions. One may be on a
// server that does not answer.
const slowDirs = 200 * time.Millisecond

// otherPaths returns the subset of paths that leads to the directory cwd.
func (s *Sessions) otherPaths(ctx context.Context, cwd string, paths []string) []string {
	ctx, cancel := context.WithTimeout(ctx, slowDirs)
	defer cancel()
	found := make(chan []string, 1)
	go func() {
		s.looking.Lock() // a stat that never returns occupies a thread
		defer s.looking.Unlock()
		var others []string
		if dir, err := os.Stat(cwd); err == nil {
			for _, path := range paths {
				if path != cwd && isDir(path, dir) {
					others = append(others, path)
				}
			}
		}
		found <- others
	}()
	select {
	case others := <-found:
		return others
	case <-ctx.Done():
		return nil
	}
}
