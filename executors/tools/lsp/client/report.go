package client

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

const (
	// maxReported bounds the files whose diagnostics are kept, maxPerFile the diagnostics
	// of one file, and maxReportBytes all diagnostics, in bytes.
	maxReported    = 2000
	maxPerFile     = 500
	maxReportBytes = 32 << 20
	// maxPulls is how often a request for diagnostics is repeated if the server cancels
	// it.
	maxPulls = 3
)

// report holds the diagnostics of a file.
type report struct {
	pushed, pulled []diagnostic
	size           int
	known          []Diagnostic // those that are not returned again
	knownText      string       // of the file when they became known; "" if it was not open
}

// recordPublished keeps the diagnostics that a server published.
func (s *Server) recordPublished(p publishParams) {
	path := localPath(p.URI)
	if path == "" {
		return
	}
	uri := pathname.URI(path)
	s.update(func() {
		d := s.documents[uri]
		if d != nil && p.Version != nil && *p.Version < d.version {
			return // another report follows
		}
		s.changeReport(uri, func(r *report) { r.pushed = boundedDiagnostics(p.Diagnostics) })
		if d == nil {
			return
		}
		if !d.isReported() && s.loaded {
			s.slowest = max(s.slowest, time.Since(d.sent))
		}
		d.reported = d.version
	})
}

// pull requests the diagnostics of a document.
func (s *Server) pull(uri string, d *document, version int) {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeouts.Load)
	defer cancel()
	for range maxPulls {
		var answer pullReport
		err := s.conn.Call(ctx, "textDocument/diagnostic", documentParams{TextDocument: textDocument{URI: uri}}, &answer)
		if e, ok := errors.AsType[*jsonrpc2.Error](err); ok && e.Code == serverCancelled {
			continue
		}
		if err != nil {
			return
		}
		s.update(func() {
			s.recordPulled(uri, answer)
			for other, r := range answer.Related {
				if path := localPath(other); path != "" {
					s.recordPulled(pathname.URI(path), r)
				}
			}
			d.reported = max(d.reported, version)
		})
		return
	}
}

func (s *Server) recordPulled(uri string, answer pullReport) {
	if answer.Kind == "full" {
		s.changeReport(uri, func(r *report) { r.pulled = boundedDiagnostics(answer.Items) })
	}
}

// changeReport changes the report of a file, within the limits.
func (s *Server) changeReport(uri string, change func(*report)) {
	r := s.reported[uri]
	if r == nil {
		if len(s.reported) >= maxReported {
			return
		}
		r = &report{}
		s.reported[uri] = r
	}
	change(r)
	s.reportBytes -= r.size
	if r.size = size(r.pushed) + size(r.pulled); s.reportBytes+r.size > maxReportBytes {
		r.pushed, r.pulled, r.size = nil, nil, 0
	}
	s.reportBytes += r.size
}

// boundedDiagnostics returns the diagnostics of a file within the limits.
func boundedDiagnostics(all []diagnostic) []diagnostic {
	all = slices.Clone(all[:min(len(all), maxPerFile)])
	for i := range all {
		d := &all[i]
		d.Source, d.Message = cut(d.Source), cut(d.Message)
		if len(d.Code) > maxText {
			d.Code = nil
		}
	}
	return all
}

// size returns about how much memory diagnostics need, in bytes.
func size(all []diagnostic) int {
	n := 0
	for _, d := range all {
		n += 128 + len(d.Code) + len(d.Source) + len(d.Message)
	}
	return n
}

// markLoaded marks the server as loaded. The diagnostics reported so far precede the first
// change and count as known.
func (s *Server) markLoaded() {
	if s.loaded {
		return
	}
	s.loaded = true
	for uri := range s.reported {
		s.markKnown(uri)
	}
}

// markKnown records the present report on a file, so that it is not returned again.
func (s *Server) markKnown(uri string) {
	if r := s.reported[uri]; r != nil {
		r.known, r.knownText = s.currentDiagnostics(uri), s.textOf(uri)
	}
}

// textOf returns the text of an open file; "" if it is not open.
func (s *Server) textOf(uri string) string {
	if d := s.documents[uri]; d != nil {
		return d.text
	}
	return ""
}

// currentDiagnostics returns the diagnostics of a file.
func (s *Server) currentDiagnostics(uri string) []Diagnostic {
	r := s.reported[uri]
	lines, path := newLines(s.textOf(uri)), localPath(uri)
	var out []Diagnostic
	seen := map[Diagnostic]bool{}
	for _, d := range slices.Concat(r.pushed, r.pulled) {
		if one := d.export(path, lines); d.Severity != hint && !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}

// NewDiagnostics returns the diagnostics that are not known yet: own are of the named files,
// others of other files. They are known from then on. A file whose report is still missing
// is left for the next call.
func (s *Server) NewDiagnostics(paths []string) (own, others []Diagnostic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.loaded {
		return nil, nil
	}
	named := map[string]bool{}
	for _, p := range paths {
		named[pathname.URI(p)] = true
	}
	for _, uri := range slices.Sorted(maps.Keys(s.reported)) {
		if d := s.documents[uri]; d != nil && (!d.isReported() || !named[uri] && !isClosed(d.last.done)) {
			continue
		}
		r := s.reported[uri]
		fresh := newSince(r.known, s.currentDiagnostics(uri), r.knownText, s.textOf(uri))
		if named[uri] {
			own = append(own, fresh...)
		} else {
			others = append(others, fresh...)
		}
		s.markKnown(uri)
	}
	return own, others
}

// update changes the state and wakes the goroutines that wait for a change.
func (s *Server) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.lastActive = time.Now()
	close(s.changed)
	s.changed = make(chan struct{})
}
