package client

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
	"github.com/zeph-acp/zeph-acp/integration/fakelsp"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestMain lets the test binary be a language server.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakelsp.Argument {
		fakelsp.Serve(os.Args[2:])
		return
	}
	os.Exit(machine.Tests{M: m}.Run())
}

// patient is long enough for any machine, and does not make tests slow: nothing waits for
// the whole of it unless a report is missing.
var patient = Timeouts{Start: time.Minute, Load: time.Minute, Silent: time.Minute, Quiet: 10 * time.Millisecond}

// begin starts a server with a habit.
func begin(t *testing.T, habit string, timeouts Timeouts) *Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(Options{
		Program: process.Program{Path: self, Args: []string{fakelsp.Argument, habit}, Env: os.Environ(), Dir: t.TempDir()},
		Folder:  "/w", Settings: []byte(`{"fake":{"strict":true}}`), Timeouts: timeouts,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// edit is a change of /w/a from one text to another.
func (s *Server) edit(from, to string) (own, others []string) {
	<-s.Before("/w/a", "fake", from, from != "").Done()
	<-s.After("/w/a", "fake", to).Done()
	return s.news()
}

func (s *Server) news() (own, others []string) {
	show := func(all []Diagnostic) (out []string) {
		for _, d := range all {
			out = append(out, fmt.Sprintf("%s:%d:%d %d %s %s", filepath.Base(d.Path), d.Line, d.Column, d.Severity, d.Code, d.Message))
		}
		return out
	}
	a, b := s.NewDiagnostics([]string{"/w/a"})
	return show(a), show(b)
}

func TestNewDiagnostics(t *testing.T) {
	t.Parallel()
	for _, habit := range []string{"push", "bare", "pull", "asks", "quiet"} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			s := begin(t, habit, patient)
			for _, step := range []struct{ from, to, want string }{
				{"error: zero\n", "error: zero\nerror: one\n", "a:2:1 1 E1 one"},
				{"error: zero\nerror: one\n", "x\n\n\nerror: one\n𝕏y warning: two\n", "a:5:4 2 E1 two"},
				{"x\n\n\nerror: one\n𝕏y warning: two\n", "𝕏y warning: two\nx\n\nerror: one\n", ""},
				{"𝕏y warning: two\nx\n\nerror: one\n", "error: one\nx\n\nerror: one\n", "a:1:1 1 E1 one"},
				{"error: one\nx\n\nerror: one\n", "x\n", ""},
				{"x\n", "error: one\n", "a:1:1 1 E1 one"}, // new again
			} {
				own, others := s.edit(step.from, step.to)
				if got := strings.Join(own, "; "); got != step.want || len(others) > 0 {
					t.Errorf("%q: %s, others %q, want %s", step.to, got, others, step.want)
				}
			}
			if err := s.Err(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDiagnosticsBeforeTheFirstEdit(t *testing.T) {
	t.Parallel()
	s := begin(t, "loads", patient)
	own, others := s.edit("error: old\n", "error: old\nerror: new\nbreaks b: gone\nbreaks old: more\n")
	if diff := cmp.Diff([]string{"a:2:1 1 E1 new"}, own); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b:1:1 1 E1 gone", "old:1:1 1 E1 more"}, others); diff != "" {
		t.Error(diff)
	}
	own, others = s.edit("error: old\nerror: new\nbreaks b: gone\nbreaks old: more\n", "x\nbreaks b: gone\n")
	if len(own)+len(others) > 0 {
		t.Errorf("got %q, others %q, want none", own, others)
	}
}

// A file that does not exist has no diagnostics before, whatever it gets.
func TestNewFile(t *testing.T) {
	t.Parallel()
	s := begin(t, "push", patient)
	own, _ := s.edit("", "error: one\n")
	if diff := cmp.Diff([]string{"a:1:1 1 E1 one"}, own); diff != "" {
		t.Error(diff)
	}
}

// A report that comes late is shown with the next edit.
func TestLateReport(t *testing.T) {
	t.Parallel()
	timeouts := patient
	timeouts.Silent = 20 * time.Millisecond
	s := begin(t, "late", timeouts)
	<-s.Before("/w/a", "fake", "x\n", true).Done()
	<-s.After("/w/a", "fake", "error: one\n").Done() // followed by didSave, with which the report comes
	<-s.After("/w/a", "fake", "error: one\nerror: two\n").Done()
	for {
		s.mu.Lock()
		changed, current := s.changed, s.documents[pathname.URI("/w/a")].isReported()
		s.mu.Unlock()
		if current {
			break
		}
		<-changed
	}
	own, _ := s.news()
	if diff := cmp.Diff([]string{"a:1:1 1 E1 one", "a:2:1 1 E1 two"}, own); diff != "" {
		t.Error(diff)
	}
}

// A server that breaks the protocol ends, and says why.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	for habit, want := range map[string]string{
		"exits":    "it ended: no license",
		"dies":     "it ended: panic: out of ideas",
		"nonsense": "it sent a line that is not of the protocol",
		"long":     "it sent a line that is not of the protocol",
		"huge":     "it sent a message of more than 8 MiB",
		"flood":    "it sent more than 32 MiB unasked",
	} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			s := begin(t, habit, patient)
			if own, others := s.edit("x\n", "error: one\n"); len(own)+len(others) > 0 {
				t.Errorf("got %q, others %q, want none", own, others)
			}
			<-s.Ended()
			if err := s.Err(); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

// A server that never answers or never reports delays nobody longer than that.
func TestSilentServers(t *testing.T) {
	t.Parallel()
	for _, habit := range []string{"hangs", "silent", "deaf", "questions"} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			s := begin(t, habit, Timeouts{Start: 100 * time.Millisecond, Load: 100 * time.Millisecond, Silent: 20 * time.Millisecond, Quiet: 10 * time.Millisecond})
			if own, others := s.edit("x\n", "error: one\n"); len(own)+len(others) > 0 {
				t.Errorf("got %q, others %q, want none", own, others)
			}
		})
	}
}

// Memory stays bounded for any number of diagnostics.
func TestManyDiagnostics(t *testing.T) {
	t.Parallel()
	s := begin(t, "many", patient)
	<-s.Before("/w/a", "fake", "x\n", true).Done()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.reported[pathname.URI("/w/file7")]; len(r.pushed) != maxPerFile {
		t.Errorf("%d diagnostics of one file", len(r.pushed))
	}
	long := []diagnostic{{Message: strings.Repeat("x", maxText)}}
	for i := range maxReported + 1 {
		s.changeReport(fmt.Sprint(i), func(r *report) { r.pushed = slices.Repeat(long, maxPerFile) })
	}
	if s.reportBytes > maxReportBytes || len(s.reported) != maxReported {
		t.Errorf("%d bytes of %d files", s.reportBytes, len(s.reported))
	}
}

// Documents are closed when there are too many.
func TestManyDocuments(t *testing.T) {
	t.Parallel()
	s := begin(t, "push", patient)
	for i := range 2 * maxOpen {
		<-s.Before(fmt.Sprintf("/w/%d", i), "fake", "x", true).Done()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.documents) != maxOpen {
		t.Errorf("%d documents are open", len(s.documents))
	}
}

func TestURI(t *testing.T) {
	for path, want := range map[string]string{
		"/w/a b.go":    "file:///w/a%20b.go",
		"/w/ä#?%41.go": "file:///w/%C3%A4%23%3F%2541.go",
	} {
		if got := pathname.URI(path); got != want || localPath(got) != path {
			t.Errorf("pathname.URI(%q) = %q, back %q", path, got, localPath(got))
		}
	}
	for uri, want := range map[string]string{
		"file:///w/%61": "/w/a", "http://x/y": "", "file://host/x": "", "%": "", "file:///a%00b": "", "untitled:x": "",
	} {
		if got := localPath(uri); got != want {
			t.Errorf("Path(%q) = %q, want %q", uri, got, want)
		}
	}
}
