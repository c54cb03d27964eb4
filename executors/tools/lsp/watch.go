package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
)

// maxWatched bounds the entries of a project that are compared for a server that does
// not watch files itself. Entries beyond it are not compared.
const maxWatched = 50000

// stamps are the sizes and times of a project's files, by absolute path.
type stamps map[string]stamp

// stamp is the size of a file in bytes, and the time of its last change.
type stamp struct{ size, changed int64 }

// mayChange reports whether a call may change files that it does not name, as a command
// or the tool of an MCP server can.
func mayChange(call *executors.Call) bool {
	if !call.Spec.Effect.Has(executors.Mutates) && call.Server() == "" {
		return false
	}
	return call.Plain == nil || !call.Plain.ReadOnly
}

// ExpectChanges records that files of the project may change other than by an edit, such as by a
// command. It must be called before they change. The next edit reports the changes to the
// servers.
func (s *Session) ExpectChanges(ctx context.Context) {
	if s == nil {
		return
	}
	s.watching.Lock()
	defer s.watching.Unlock()
	for _, srv := range s.all() {
		if !srv.entry.needsWatch || srv.client() == nil {
			continue
		}
		if srv.files == nil {
			srv.files = s.stampFiles(ctx, srv)
		}
		srv.changesExpected = true
	}
}

// catchUp reports to the servers the changes since the last edit: files of the
// project that commands changed, and open documents that changed in any other way. It
// leaves out the documents of this edit.
func (s *Session) catchUp(ctx context.Context, e *edit) {
	s.watching.Lock()
	defer s.watching.Unlock()
	for _, srv := range s.all() {
		running := srv.client()
		if running == nil {
			continue
		}
		if srv.changesExpected {
			now := s.stampFiles(ctx, srv)
			running.FilesChanged(srv.files.changes(now))
			srv.files, srv.changesExpected = now, s.options.Busy != nil && s.options.Busy()
		}
		for path, was := range srv.open {
			if slices.ContainsFunc(e.files, func(f file) bool { return f.path == path }) || s.stamp(path) == was {
				continue
			}
			text, err := s.sourceText(ctx, path)
			if err != nil {
				running.FilesChanged([]client.Change{{Path: path, Kind: client.Deleted}})
				delete(srv.open, path)
				continue
			}
			running.Before(path, srv.entry.language(path), text, true)
			srv.open[path] = s.stamp(path)
		}
	}
}

// recordSent records that a server has the present text of a file.
func (s *Session) recordSent(srv *server, path string) {
	s.watching.Lock()
	defer s.watching.Unlock()
	if srv.open == nil {
		srv.open = stamps{}
	}
	srv.open[path] = s.stamp(path)
}

// stamp returns the stamp of a file; zero if it cannot be read.
func (s *Session) stamp(path string) stamp {
	info, err := s.options.Roots.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.Size(), info.ModTime().UnixNano()}
}

// stampFiles returns the files of a server's project that matter to it.
func (s *Session) stampFiles(ctx context.Context, srv *server) stamps {
	found := stamps{}
	tree := walk.Tree{Roots: s.options.Roots, Dir: srv.folder, Ignore: true, Budget: maxWatched}
	type item struct {
		path string
		stamp
	}
	visit := func() walk.Visit[*item] {
		return func(e walk.Entry, _ func() bool) (*item, bool, error) {
			if !srv.entry.serves(e.Name) && !slices.Contains(srv.entry.Markers, e.Name) {
				return nil, false, nil
			}
			path := filepath.Join(srv.folder, filepath.FromSlash(e.Path()))
			return &item{path, s.stamp(path)}, true, nil
		}
	}
	_, err := walk.Do(ctx, tree, visit, func(i *item) int { return len(i.path) }, func(i *item) bool {
		found[i.path] = i.stamp
		return true
	})
	if err != nil {
		s.options.Log.Debug("look at a project", "dir", srv.folder, "err", err)
	}
	return found
}

// changes returns the differences between two results of stampFiles, the earlier one
// first.
func (before stamps) changes(now stamps) []client.Change {
	var out []client.Change
	for _, path := range slices.Sorted(maps.Keys(now)) {
		switch was, ok := before[path]; {
		case !ok:
			out = append(out, client.Change{Path: path, Kind: client.Created})
		case was != now[path]:
			out = append(out, client.Change{Path: path, Kind: client.Changed})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, ok := now[path]; !ok {
			out = append(out, client.Change{Path: path, Kind: client.Deleted})
		}
	}
	return out
}
