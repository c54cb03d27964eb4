package client

import (
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// maxOpen bounds the documents that are open at the same time. The one that was
// used least recently is closed for another.
const maxOpen = 32

// document is an open file.
type document struct {
	version  int
	text     string    // of that version
	sent     time.Time // of that version
	reported int       // the newest version with a report
	last     *Step
	used     time.Time
}

// isReported reports whether the server has reported on the present text.
func (d *document) isReported() bool { return d.reported >= d.version }

// Step is the server's report on one text of a file.
type Step struct {
	done  chan struct{}
	began time.Time
	took  time.Duration // set before done is closed
}

// Took returns the time until the server's report. ok is false before the report.
func (s *Step) Took() (d time.Duration, ok bool) {
	if !isClosed(s.done) {
		return 0, false
	}
	return s.took, true
}

// Done is closed when the server has reported, or will not.
func (s *Step) Done() <-chan struct{} { return s.done }

// Before opens a file with the text that it has before a change. Diagnostics that the
// server reports for this text count as known: [Server.NewDiagnostics] does not return them. A file
// that is already open with the text is not sent again. A file that does not exist yet is
// not opened: the step ends when the server has loaded the project.
func (s *Server) Before(path, language, text string, exists bool) *Step {
	return s.beginStep(path, func(uri string, d *document) {
		waits := exists && s.send(uri, d, language, text) || !exists && s.awaitReady(d)
		if waits && s.awaitReport(d) {
			s.mu.Lock()
			s.markLoaded()
			s.markKnown(uri)
			s.mu.Unlock()
		}
	})
}

// After reports the text of a file after a change.
func (s *Server) After(path, language, text string) *Step {
	return s.beginStep(path, func(uri string, d *document) {
		if s.send(uri, d, language, text) {
			s.awaitReport(d)
		}
	})
}

// beginStep begins a step, which waits for the earlier step of the file: the report on the
// text before a change must come before the change.
func (s *Server) beginStep(path string, work func(uri string, d *document)) *Step {
	uri := pathname.URI(path)
	next := &Step{done: make(chan struct{}), began: time.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		close(next.done)
		return next
	}
	d := s.documents[uri]
	if d == nil {
		s.makeRoom()
		d = &document{}
		s.documents[uri] = d
	}
	earlier := d.last
	d.last, d.used = next, time.Now()
	s.work.Go(func() {
		if earlier != nil {
			<-earlier.done
		}
		work(uri, d)
		next.took = time.Since(next.began)
		close(next.done)
	})
	return next
}

// makeRoom closes the document that was used least recently, if there are too many.
func (s *Server) makeRoom() {
	if len(s.documents) < maxOpen {
		return
	}
	oldest := ""
	for uri, d := range s.documents {
		if isClosed(d.last.done) && (oldest == "" || d.used.Before(s.documents[oldest].used)) {
			oldest = uri
		}
	}
	if oldest != "" {
		s.closeDocument(oldest)
	}
}

// closeDocument closes a document and forgets it; the caller holds s.mu.
func (s *Server) closeDocument(uri string) {
	if s.documents[uri].version > 0 {
		s.post("textDocument/didClose", documentParams{TextDocument: textDocument{URI: uri}})
	}
	delete(s.documents, uri)
}

// awaitReady waits until the server is ready. It reports whether the server still has to load
// the project.
func (s *Server) awaitReady(d *document) bool {
	<-s.ready
	s.mu.Lock()
	defer s.mu.Unlock()
	d.sent = time.Now()
	return s.err == nil && !s.loaded
}

// send sends a text. It reports whether the server has to report on it.
func (s *Server) send(uri string, d *document, language, text string) bool {
	<-s.ready
	s.mu.Lock()
	if s.err != nil || s.documents[uri] != d || d.version > 0 && d.text == text {
		s.mu.Unlock()
		return false
	}
	d.version++
	d.text, d.sent = text, time.Now()
	s.unaskedBytes.Store(0)
	version := d.version
	var sent <-chan struct{}
	if version == 1 {
		sent = s.post("textDocument/didOpen",
			documentParams{TextDocument: textDocument{URI: uri, LanguageID: language, Version: version, Text: &text}})
	} else {
		s.post("textDocument/didChange", documentParams{TextDocument: textDocument{URI: uri, Version: version},
			Changes: []textChange{{text}}})
		sent = s.post("textDocument/didSave", documentParams{TextDocument: textDocument{URI: uri}})
	}
	s.mu.Unlock()
	select {
	case <-sent:
	case <-s.ended:
		return false
	}
	if s.pulls {
		s.pull(uri, d, version)
	}
	return true
}

// awaitReport waits until the server has reported on the present text of a document and has ended
// its work for it. It also returns if the server does not report in time. It reports false if the
// server ended.
func (s *Server) awaitReport(d *document) bool {
	for {
		s.mu.Lock()
		wait, changed := s.remaining(d), s.changed
		if wait <= 0 && s.slowest > 0 && !d.isReported() { // it has reported on others
			s.quietOnClean = true
		}
		s.mu.Unlock()
		if wait <= 0 {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
			timer.Stop()
		case <-timer.C:
		case <-s.ended:
			timer.Stop()
			return false
		}
	}
}

// remaining returns how long to wait further for a report on a document, unless the state
// changes.
func (s *Server) remaining(d *document) time.Duration {
	p := s.options.Timeouts
	since, quiet := time.Since(d.sent), p.Quiet-time.Since(s.lastActive)
	if since > p.Load { // it is never quiet
		return 0
	}
	for _, begun := range s.progress {
		if !s.loaded || begun.After(d.sent) {
			return p.Load - since
		}
	}
	silent := p.Silent
	switch {
	case !s.loaded: // there may be a pause between two parts of the work
		quiet += 4 * p.Quiet
		if !s.quietOnClean {
			silent = p.Load
		}
	case s.quietOnClean && s.slowest > 0: // its reports arrive as fast as earlier ones, or not at all
		silent = min(silent, max(2*s.slowest, 4*p.Quiet))
	}
	if !d.isReported() {
		return max(silent-since, quiet)
	}
	return quiet
}

// Change is a change of a file on the disk.
type Change struct {
	Path string // absolute
	Kind int    // Created, Changed or Deleted
}

// The kinds of a Change, in the protocol's numbers.
const (
	Created = 1
	Changed = 2
	Deleted = 3
)

// FilesChanged reports changes of files, whether they are open or not.
func (s *Server) FilesChanged(changes []Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || !isClosed(s.ready) || len(changes) == 0 {
		return
	}
	var files []watchedFile
	for _, c := range changes {
		uri := pathname.URI(c.Path)
		if c.Kind == Deleted && s.documents[uri] != nil {
			s.closeDocument(uri)
		}
		files = append(files, watchedFile{uri, c.Kind})
	}
	s.post("workspace/didChangeWatchedFiles", object{"changes": files})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
