package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// row is a line of the table.
type row struct {
	name string
	goal string
	unit string
}

// rows are the rows of the table that newRow has made.
var rows []*row

func newRow(name, goal, unit string) *row {
	r := &row{name, goal, unit}
	rows = append(rows, r)
	return r
}

// The rows of the table, in their order.
var (
	rowStart       = newRow("process start → initialize", "≤ 2.5 × bare", "ms")
	rowStartCPU    = newRow("the same, processor time", "", "ms")
	rowNew         = newRow("first session/new, right after initialize", "≤ 3 ms", "ms")
	rowNewCPU      = newRow("the same, processor time", "", "ms")
	rowNewRested   = newRow("the same after 200 ms", "≤ 3 ms", "ms")
	rowFirst       = newRow("first prompt, right after session/new", "≤ 4 ms", "ms")
	rowFirstCPU    = newRow("the same, processor time", "", "ms")
	rowFirstAgain  = newRow("the same in a home with sessions", "≤ 4 ms", "ms")
	rowFirstRested = newRow("the same after 200 ms, in a new home", "≤ 4 ms", "ms")
	rowPrompt      = newRow("a prompt over HTTP", "≤ 1.5 ms", "ms")
	rowPromptCPU   = newRow("the same, processor time", "", "ms")
	rowRead        = newRow("a read call over HTTP, calls 5 to 60", "≤ 1.5 ms", "ms")
	rowReadCPU     = newRow("the same, processor time", "≤ 1.5 ms", "ms")
	rowLate        = newRow("a read call, calls 290 to 310 / 5 to 25", "≤ 1.2 ×", "×")
	rowLateCPU     = newRow("the same, processor time", "≤ 1.2 ×", "×")
	rowBash        = newRow("a bash call in the client's terminal", "≤ 4 ms", "ms")
	rowBashCPU     = newRow("the same, processor time without the command", "", "ms")
	rowOpen20      = newRow("20 sessions opened at once", "≤ 12 ms", "ms")
	rowOpen20CPU   = newRow("the same, processor time", "", "ms")
	rowPrompt20    = newRow("20 sessions prompted at once", "≤ 50 ms", "ms")
	rowPrompt20CPU = newRow("the same, processor time", "", "ms")
	rowIdle        = newRow("resident after initialize and a session", "≤ 14 MiB", "MiB")
	rowWorked      = newRow("resident after the work", "≤ 24 MiB", "MiB")
	rowBinary      = newRow("binary", "≤ 40 MiB", "MiB")
)

const (
	noCapabilities  = `{}`
	hasTerminals    = `{"terminal":true}`
	calls           = 310
	sessionsAtOnce  = 20
	promptsInARound = 10
)

// contender is a program that is measured, with its samples.
type contender struct {
	name    string
	path    string
	floor   bool // it has neither terminals nor several sessions
	samples map[*row][]float64
}

func (c *contender) add(r *row, v float64) { c.samples[r] = append(c.samples[r], v) }

// median returns the middle sample; ok is false if there is none.
func (c *contender) median(r *row) (v float64, ok bool) {
	s := slices.Sorted(slices.Values(c.samples[r]))
	if len(s) == 0 || s[len(s)/2] == 0 {
		return 0, false
	}
	return s[len(s)/2], true
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// bench measures contenders on a workspace below root.
type bench struct {
	root  string
	model *model
}

// timed returns how long do takes.
func timed(do func() error) (float64, error) {
	began := time.Now()
	err := do()
	return ms(time.Since(began)), err
}

// first measures a process from its start to its first prompts, each step right
// after the one before.
func (b *bench) first(c *contender) error {
	began := time.Now()
	a, err := start(c.path, b.root, b.model.base)
	if err != nil {
		return err
	}
	if err := a.initialize(noCapabilities); err != nil {
		return err
	}
	if !c.floor { // the floor of a start is the bare program's
		c.add(rowStart, ms(time.Since(began)))
		c.add(rowStartCPU, ms(a.processor()))
	}
	step := func(wall, processor *row, do func() error) error {
		before := a.processor()
		took, err := timed(do)
		c.add(wall, took)
		c.add(processor, ms(a.processor()-before))
		return err
	}
	var session string
	if err := step(rowNew, rowNewCPU, func() (err error) { session, err = a.open(); return err }); err != nil {
		return err
	}
	b.model.script(nil, nil)
	prompt := func() error { return a.prompt(session) }
	if err := step(rowFirst, rowFirstCPU, prompt); err != nil {
		return err
	}
	for range promptsInARound {
		if err := step(rowPrompt, rowPromptCPU, prompt); err != nil {
			return err
		}
	}
	if err := a.stop(); err != nil {
		return err
	}
	return b.again(c, a.home)
}

// again measures the first prompt of another process in a home where a database is.
func (b *bench) again(c *contender, home string) error {
	a, err := startAt(home, c.path, b.root, b.model.base)
	if err != nil {
		return err
	}
	session, err := a.begin(noCapabilities)
	if err != nil {
		return err
	}
	took, err := timed(func() error { return a.prompt(session) })
	if err != nil {
		return err
	}
	c.add(rowFirstAgain, took)
	return a.stop()
}

// rested measures the same with a pause before each step, as after a user's click.
func (b *bench) rested(c *contender) error {
	const pause = 200 * time.Millisecond
	a, err := start(c.path, b.root, b.model.base)
	if err != nil {
		return err
	}
	if err := a.initialize(noCapabilities); err != nil {
		return err
	}
	time.Sleep(pause)
	var session string
	took, err := timed(func() (err error) { session, err = a.open(); return err })
	if err != nil {
		return err
	}
	c.add(rowNewRested, took)
	time.Sleep(pause)
	c.add(rowIdle, resident(a.cmd.Process.Pid))
	b.model.script(nil, nil)
	if took, err = timed(func() error { return a.prompt(session) }); err != nil {
		return err
	}
	c.add(rowFirstRested, took)
	return a.stop()
}

// point is the state of an agent when a request arrives at its model.
type point struct {
	at        time.Time
	processor time.Duration
}

// turn runs a turn with these calls and returns a point for each request.
func (b *bench) turn(a *agent, session string, calls []string) ([]point, error) {
	var points []point
	b.model.script(calls, func() { points = append(points, point{time.Now(), a.processor()}) })
	defer b.model.script(nil, nil)
	return points, a.prompt(session)
}

// perCall returns the median time and the mean processor time of a call between
// two requests, in ms.
func perCall(points []point) (wall, processor float64) {
	var walls []float64
	for i := range points[1:] {
		walls = append(walls, ms(points[i+1].at.Sub(points[i].at)))
	}
	slices.Sort(walls)
	used := points[len(points)-1].processor - points[0].processor
	return walls[len(walls)/2], ms(used) / float64(len(walls))
}

// work measures a long turn of reads, then many sessions at once.
func (b *bench) work(c *contender) error {
	a, err := start(c.path, b.root, b.model.base)
	if err != nil {
		return err
	}
	session, err := a.begin(noCapabilities)
	if err != nil {
		return err
	}
	var reads []string
	for i := range calls + 5 {
		reads = append(reads, fmt.Sprintf(`read {"path":"file%03d.txt"}`, i))
	}
	points, err := b.turn(a, session, reads)
	if err != nil {
		return err
	}
	wall, processor := perCall(points[5:60])
	c.add(rowRead, wall)
	c.add(rowReadCPU, processor)
	early, earlyCPU := perCall(points[5:25])
	late, lateCPU := perCall(points[calls-20 : calls])
	c.add(rowLate, late/early)
	c.add(rowLateCPU, lateCPU/earlyCPU)
	if !c.floor {
		if err := b.crowd(c, a); err != nil {
			return err
		}
	}
	c.add(rowWorked, resident(a.cmd.Process.Pid))
	return a.stop()
}

// crowd opens sessions at the same time, then prompts them at the same time.
func (b *bench) crowd(c *contender, a *agent) error {
	var sessions []string
	before := a.processor()
	took, err := timed(func() (err error) {
		for range sessionsAtOnce {
			if err := a.send("session/new", a.newParams()); err != nil {
				return err
			}
		}
		sessions, err = a.answers(sessionsAtOnce)
		return err
	})
	if err != nil {
		return err
	}
	c.add(rowOpen20, took)
	c.add(rowOpen20CPU, ms(a.processor()-before))
	before = a.processor()
	took, err = timed(func() error {
		for _, s := range sessions {
			if err := a.send("session/prompt", promptParams(s)); err != nil {
				return err
			}
		}
		_, err := a.answers(sessionsAtOnce)
		return err
	})
	c.add(rowPrompt20, took)
	c.add(rowPrompt20CPU, ms(a.processor()-before))
	return err
}

// terminal measures commands in the terminals of the client. The floor is the
// same command as the client runs it, with its output in a buffer, without an agent.
func (b *bench) terminal(c *contender) error {
	const commands = 20
	if c.floor {
		for range commands {
			cmd := exec.Command("bash", "-c", "wc -c file001.txt")
			cmd.Dir = filepath.Join(b.root, "work")
			took, err := timed(func() error { _, err := cmd.CombinedOutput(); return err })
			if c.add(rowBash, took); err != nil {
				return err
			}
		}
		return nil
	}
	a, err := start(c.path, b.root, b.model.base)
	if err != nil {
		return err
	}
	session, err := a.begin(hasTerminals)
	if err != nil {
		return err
	}
	var runs []string
	for i := range commands {
		runs = append(runs, fmt.Sprintf(`bash {"command":"wc -c file%03d.txt"}`, i))
	}
	points, err := b.turn(a, session, runs)
	if err != nil {
		return err
	}
	wall, processor := perCall(points[5:]) // the first calls compile the filter rules
	c.add(rowBash, wall)
	c.add(rowBashCPU, processor)
	return a.stop()
}

// fileName returns the name of a file of the workspace.
func fileName(n int) string { return fmt.Sprintf("file%03d.txt", n) }

// workspace writes the files that the model reads.
func workspace(root string) error {
	dir := filepath.Join(root, "work")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i := range calls + 5 {
		var text []byte
		for line := range 20 {
			text = fmt.Appendf(text, "func name%d_%d() { return } // a line of a file\n", i, line)
		}
		if err := os.WriteFile(filepath.Join(dir, fileName(i)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
