package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const markers = "# Page\n<!-- speed: written by go run ./integration/cmd/bench -peers -->\nold\n<!-- end of speed -->\nby hand\n"

// A part is replaced between its markers, again and again, and all other text stays.
func TestReplacePart(t *testing.T) {
	page := markers
	for _, text := range []string{"first\n", "\nsecond"} {
		var err error
		if page, err = replacePart(page, "speed", text); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(page, "# Page\n<!-- speed") || !strings.HasSuffix(page, "<!-- end of speed -->\nby hand\n") ||
			!strings.Contains(page, "-->\n\n"+strings.TrimSpace(text)+"\n\n<!--") || strings.Contains(page, "old") {
			t.Errorf("the page is now:\n%s", page)
		}
	}
	end := "<!-- end of speed -->"
	for _, page := range []string{"", markers[:40], strings.Replace(markers, end, "", 1), end + strings.Replace(markers, end, "", 1)} {
		if _, err := replacePart(page, "speed", "x"); err == nil || !strings.Contains(err.Error(), "needs two markers") {
			t.Errorf("%q: %v", page, err)
		}
	}
}

// The page of the repository has the markers of each part.
func TestPageHasParts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range partNames() {
		if _, err := replacePart(string(page), name, "x"); err != nil {
			t.Error(err)
		}
	}
}

// Bad flags are refused before anything is measured or built.
func TestBadFlags(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("no markers\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, run := range map[string]func() error{
		"-rounds must be at least 1":         func() error { return (&options{}).run(nil) },
		"a directory and -parts need -peers": func() error { return (&options{rounds: 1}).run([]string{"dir"}) },
		"flags come before the directory": func() error {
			return (&options{rounds: 1, peers: true}).run([]string{"dir", "-rounds", "3"})
		},
		"no such directory: nowhere": func() error { return (&options{rounds: 1, peers: true, page: page}).run([]string{"nowhere"}) },
		"needs two markers":          func() error { return (&options{rounds: 1, peers: true, page: page}).run(nil) },
		`unknown part "fun"`:         func() error { return (&options{}).setParts("speed,fun") },
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func peerWith(name string, start float64, failed error) *peer {
	p := &peer{contender: contender{name: name, samples: map[*row][]float64{}}, version: name + " 1.0", failed: failed}
	p.add(peerStart, start)
	return p
}

// The text beside the table says where another agent is faster, and which were not measured.
func TestBesideTable(t *testing.T) {
	broken := peerWith("broken", 1, errors.New("initialize: EOF\nof a program"))
	got := besideTable([]*peer{peerWith("ours", 10, nil), peerWith("slow", 1200, nil), broken})
	for _, want := range []string{
		"| ours | 10 | – |", "| slow | 1200 (120 ×) | – |", "Versions: ours 1.0, slow 1.0.", "zeph-acp is first in each column.",
		"- broken was not measured: initialize: EOF of a program",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	got = besideTable([]*peer{peerWith("ours", 10, nil), peerWith("quick", 5.04, nil)})
	if !strings.Contains(got, "zeph-acp is not first in: start → `initialize` (quick).") || !strings.Contains(got, "| quick | 5 (0.5 ×)") {
		t.Error(got)
	}
}

func TestTasksTable(t *testing.T) {
	got := tasksTable([]cost{
		{Task: "a", Agent: "ours", Bytes: 5000, Billed: 1000, Facts: 3, Kept: 3},
		{Task: "a", Agent: "other", Bytes: 10000, Billed: 1500, Facts: 3, Kept: 1, Notes: []string{"made 2 of\n20 calls"}},
		{Task: "b", Agent: "ours", Bytes: 5000, Billed: 1234567, Facts: 2, Kept: 2},
	})
	for _, want := range []string{
		"| agent | `a` | `b` | billed tokens, sum | kB sent, sum | facts |",
		"| ours | 1,000 (3 of 3) | 1,234,567 (2 of 2) | 1,235,567 | 10 | 5 of 5 |",
		"| other | 1,500 (1 of 3) | – | – | – | – |", // no sum without each task
		"- other, `a`: made 2 of 20 calls",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{0.034: "0.03", 0.996: "1", 5.04: "5", 5.26: "5.3", 9.96: "10", 42.12: "42.1", 99.6: "100", 1234.5: "1234"} {
		if got := figure(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	out := "=== RUN\n    a_test.go:1: attacks held: 3 of 3\n    a_test.go:1: attacks held: 0 of 20\n    b_test.go:2: facts kept: 7 of 8\n"
	if held, all := count(out, "attacks held"); held != 3 || all != 23 {
		t.Errorf("%d of %d attacks", held, all)
	}
	if kept, all := count(out, "facts kept"); kept != 7 || all != 8 {
		t.Errorf("%d of %d facts", kept, all)
	}
}

// The size of a program is its package's with the packages that Node finds for it, each once.
func TestInstallation(t *testing.T) {
	const tool = `{"name":"@a/tool","version":"1.2.3","dependencies":{"b":"1"},"optionalDependencies":{"absent":"1"}}`
	dir := t.TempDir()
	for name, text := range map[string]string{
		"node_modules/@a/tool/package.json":                          tool,
		"node_modules/@a/tool/bin/tool":                              strings.Repeat("x", 1<<20),
		"node_modules/@a/tool/node_modules/c/package.json":           `{"name":"c","version":"2.0.0","dependencies":{"b":"1"}}`,
		"node_modules/@a/tool/node_modules/unused/index.js":          strings.Repeat("x", 1<<20),
		"node_modules/b/package.json":                                `{"name":"b","version":"1.0.0","dependencies":{"@a/tool":"1"}}`,
		"node_modules/b/data":                                        strings.Repeat("x", 2<<20),
		"node_modules/unrelated/data":                                strings.Repeat("x", 1<<20),
		"alone/program":                                              strings.Repeat("x", 1<<19),
		"node_modules/@a/tool/node_modules/c/node_modules/nothing/x": "x",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	for program, want := range map[string]struct {
		mib     float64
		version string
	}{"node_modules/@a/tool/bin/tool": {3, "@a/tool 1.2.3"}, "alone/program": {0.5, ""}} {
		mib, version, err := installation(filepath.Join(dir, filepath.FromSlash(program)))
		if err != nil || version != want.version || mib < want.mib || mib > want.mib+0.01 {
			t.Errorf("%s: %.2f MiB, %q, %v", program, mib, version, err)
		}
	}
	if _, _, err := installation(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a program that does not exist has a size")
	}
}
