package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A part is a section of the page that this command writes.
type part struct {
	name  string
	write func(o *options, root, dir string) (string, error) // measures, and returns Markdown
}

// parts are the parts of the page in their order. They are not in a variable, which could not
// be initialized with functions that use it.
func parts() []part {
	return []part{
		{"speed", (*options).speed},
		{"tasks", (*options).tasks},
		{"proof", (*options).proof},
	}
}

func partNames() (names []string) {
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}

// writePage measures the parts, and replaces each between its markers in the page. All other
// text of the page stays. dir has the programs of the other agents; PATH is searched too.
func (o *options) writePage(root, dir string) error {
	page, err := os.ReadFile(o.page)
	if err != nil {
		return err
	}
	var chosen []part
	for _, p := range parts() {
		if len(o.parts) > 0 && !slices.Contains(o.parts, p.name) {
			continue
		}
		if _, err := replacePart(string(page), p.name, ""); err != nil { // before the measurement
			return fmt.Errorf("%s: %w", o.page, err)
		}
		chosen = append(chosen, p)
	}
	if o.binary == "" {
		if o.binary, err = build(root, "cmd/zeph-acp"); err != nil {
			return err
		}
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	for _, p := range chosen {
		text, err := p.write(o, root, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Println(text)
		if page, err = os.ReadFile(o.page); err != nil { // it may have been edited meanwhile
			return err
		}
		out, err := replacePart(string(page), p.name, text)
		if err != nil {
			return fmt.Errorf("%s: %w", o.page, err)
		}
		if err := os.WriteFile(o.page, []byte(out), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// replacePart replaces the text between the markers of a part.
func replacePart(page, name, text string) (string, error) {
	begin, end := "<!-- "+name+": written by go run ./integration/cmd/bench -peers -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("the part %s needs two markers, %q and %q", name, strings.TrimSpace(begin), end)
	}
	return before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after, nil
}

// A table is a table in Markdown.
type table struct{ strings.Builder }

func (t *table) row(cells ...string) { t.WriteString("| " + strings.Join(cells, " | ") + " |\n") }

func (t *table) head(cells ...string) {
	t.row(cells...)
	t.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// machine describes where and when a part was measured. load is the load average before it.
func machine(load string) string {
	text := fmt.Sprintf("%s/%s, %d processors", runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		_, rest, _ := strings.Cut(string(info), "model name")
		name, _, _ := strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
		if name = strings.TrimSpace(name); name != "" {
			text += " (" + name + ")"
		}
	}
	text += ", " + runtime.Version() + ", " + time.Now().Format("2 January 2006")
	if load != "" {
		text += ", load average " + load + " before and " + loadAverage() + " after"
	}
	return text
}

// loadAverage returns the load of the last minute, or "".
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg") // only on Linux
	load, _, _ := strings.Cut(string(text), " ")
	return load
}
