// Command bench measures the speed and size of zeph-acp against a fake model on
// loopback, and prints a table with the goal of each figure:
//
//	go run ./integration/cmd/bench [-against FILE] [-rounds N] [-binary FILE]
//	go run ./integration/cmd/bench -peers [-rounds N] [-parts NAMES] [DIR]
//
// The floor is measured in the same run: for the start a Go program that answers
// one line (bare), for all else a Go program that only posts, reads and shows
// (loop). -against names another build of zeph-acp, such as an earlier version.
// Programs take turns, so that other load on the machine affects all of them, and
// each figure is the median of its samples.
//
// With -peers it measures zeph-acp beside the other agents of package agents that are
// installed, in DIR or on PATH, and writes the results into docs/benchmarks.md, between the
// page's markers. See writePage.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	o := options{}
	flag.StringVar(&o.binary, "binary", "", "measure this `FILE` instead of a new build")
	flag.StringVar(&o.against, "against", "", "measure this `FILE` too")
	flag.IntVar(&o.rounds, "rounds", 15, "`N`umber of starts; long turns are a third of it")
	flag.BoolVar(&o.peers, "peers", false, "measure beside other agents, on PATH or in the directory after the flags, and write the page")
	flag.StringVar(&o.page, "page", "docs/benchmarks.md", "the `FILE` that -peers writes")
	flag.Func("parts", "measure and write only these `PARTS` of the page, separated by commas: "+strings.Join(partNames(), ", "), o.setParts)
	flag.Parse()
	if err := o.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	binary, against, page string
	rounds                int
	peers                 bool
	parts                 []string // empty contains all
}

func (o *options) setParts(list string) error {
	o.parts = strings.Split(list, ",")
	for _, name := range o.parts {
		if !slices.Contains(partNames(), name) {
			return fmt.Errorf("unknown part %q", name)
		}
	}
	return nil
}

func (o *options) run(args []string) error {
	switch {
	case o.rounds < 1:
		return fmt.Errorf("-rounds must be at least 1, not %d", o.rounds)
	case !o.peers && (len(args) > 0 || len(o.parts) > 0):
		return errors.New("a directory and -parts need -peers")
	case len(args) > 1:
		return fmt.Errorf("unexpected %q: flags come before the directory", args[1:])
	}
	dir := strings.Join(args, "")
	if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
		return fmt.Errorf("no such directory: %s", dir)
	}
	root, err := os.MkdirTemp("", "zeph-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if !o.peers {
		return run(os.Stdout, root, o.binary, o.against, o.rounds)
	}
	return o.writePage(root, dir)
}

const module = "github.com/zeph-acp/zeph-acp"

// build builds a package as it is shipped.
func build(root, pkg string) (string, error) {
	path := filepath.Join(root, filepath.Base(pkg)+".exe")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, module+"/"+pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
}

// run measures zeph-acp and its floor, and prints the table.
func run(w io.Writer, root, binary, against string, rounds int) (err error) {
	if binary == "" {
		if binary, err = build(root, "cmd/zeph-acp"); err != nil {
			return err
		}
	}
	bare, err := build(root, "integration/cmd/bench/bare")
	if err != nil {
		return err
	}
	loop, err := build(root, "integration/cmd/bench/loop")
	if err != nil {
		return err
	}
	if err := workspace(root); err != nil {
		return err
	}
	m, err := newModel()
	if err != nil {
		return err
	}
	defer m.quit()
	b := &bench{root: root, model: m}
	all := []*contender{{name: "zeph-acp", path: binary}, {name: "floor", path: loop, floor: true}}
	if against != "" {
		all = append(all, &contender{name: "against", path: against})
	}
	for _, c := range all {
		if err := c.prepare(root); err != nil {
			return err
		}
	}
	if err := b.measure(all, bare, rounds); err != nil {
		return err
	}
	return print(w, all)
}

// prepare copies the program. How much of a file a kernel maps around a page depends
// on how the file was written, and a linker writes differently.
func (c *contender) prepare(root string) error {
	c.samples = map[*row][]float64{}
	code, err := os.ReadFile(c.path)
	if err != nil {
		return err
	}
	c.add(rowBinary, float64(len(code))/(1<<20))
	c.path = filepath.Join(root, "copy-of-"+c.name+".exe")
	return os.WriteFile(c.path, code, 0o700)
}

// measure lets the contenders take turns.
func (b *bench) measure(all []*contender, bare string, rounds int) error {
	for i := range rounds {
		for _, c := range all {
			measures := []func(*contender) error{b.first, b.rested}
			if i%3 == 0 {
				measures = append(measures, b.work, b.terminal)
			}
			for _, measure := range measures {
				if err := measure(c); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
		}
		if err := b.bare(all[1], bare); err != nil {
			return fmt.Errorf("bare: %w", err)
		}
	}
	return nil
}

// bare measures the start of the bare program, which is the floor of that row.
func (b *bench) bare(floor *contender, path string) error {
	began := time.Now()
	a, err := start(path, b.root, b.model.base)
	if err != nil {
		return err
	}
	if err := a.initialize(noCapabilities); err != nil {
		return err
	}
	floor.add(rowStart, ms(time.Since(began)))
	return a.stop()
}

// print writes the table.
func print(w io.Writer, all []*contender) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\tto hold")
	for _, c := range all {
		fmt.Fprint(t, "\t", c.name)
	}
	fmt.Fprintln(t, "\t× floor\t× against")
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t%s", r.name, r.goal)
		ours, _ := all[0].median(r)
		ratios := ""
		for i, c := range all {
			v, ok := c.median(r)
			if !ok {
				fmt.Fprint(t, "\t–")
				ratios += "\t–"
				continue
			}
			fmt.Fprintf(t, "\t%.2f %s", v, r.unit)
			if i > 0 {
				ratios += fmt.Sprintf("\t%.2f", ours/v)
			}
		}
		fmt.Fprintln(t, ratios)
	}
	return t.Flush()
}
