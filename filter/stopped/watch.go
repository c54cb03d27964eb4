package stopped

import (
	"bytes"
	"slices"
	"strings"
)

const (
	lastLines = 3   // lines of the end
	maxSteps  = 3   // last lines of steps
	maxTasks  = 8   // tasks in progress, the latest
	maxOpen   = 256 // tasks that are remembered, and kinds of steps
)

// Watch collects the lines of one output. The zero value is ready.
type Watch struct {
	last  []seen
	steps map[string]seen
	tasks []task
	count int // lines
}

// seen is a line and its number.
type seen struct {
	at   int
	line []byte
}

// task is a test or task in progress.
type task struct {
	seen
	kind   *kind
	name   string
	serial bool
}

// Line handles the next line, which it does not keep.
func (w *Watch) Line(l []byte) {
	w.count++
	if len(bytes.TrimSpace(l)) == 0 {
		return
	}
	if len(w.last) < lastLines {
		w.last = append(w.last, seen{})
	} else {
		first := w.last[0]
		copy(w.last, w.last[1:])
		w.last[lastLines-1] = first
	}
	last := &w.last[len(w.last)-1]
	last.at, last.line = w.count, append(last.line[:0], l...)
	if announces().Match(l) {
		w.handleTask(l)
	}
	if m := step.FindSubmatch(l); m != nil {
		name := strings.ToLower(strings.TrimRight(string(m[1]), "0123456789/%[] "))
		if _, known := w.steps[name]; known || len(w.steps) < maxOpen {
			if w.steps == nil {
				w.steps = map[string]seen{}
			}
			w.steps[name] = seen{w.count, bytes.Clone(l)}
		}
	}
}

// handleTask begins or ends the tasks that a line names.
func (w *Watch) handleTask(l []byte) {
	for i := range kinds {
		k := &kinds[i]
		if name := nameIn(k.end.FindSubmatch(l)); name != "" {
			w.tasks = slices.DeleteFunc(w.tasks, func(t task) bool {
				return t.kind == k && (t.name == name || strings.HasPrefix(t.name, name+"/"))
			})
			return
		}
		name := nameIn(k.begin.FindSubmatch(l))
		if name == "" {
			continue
		}
		t := task{seen{w.count, bytes.Clone(l)}, k, name, k.serial != "" && bytes.HasPrefix(l, []byte(k.serial))}
		w.tasks = slices.DeleteFunc(w.tasks, func(o task) bool {
			isOver := t.serial && o.serial && strings.HasPrefix(o.name, parent(name)) && !strings.HasPrefix(name, o.name+"/")
			return o.kind == k && (o.name == name || isOver)
		})
		if len(w.tasks) == maxOpen {
			w.tasks = slices.Delete(w.tasks, 0, 1)
		}
		w.tasks = append(w.tasks, t)
		return
	}
}

// nameIn returns the last group that matched.
func nameIn(groups [][]byte) string {
	for _, g := range slices.Backward(groups) {
		if len(g) > 0 {
			return string(g)
		}
	}
	return ""
}

// parent returns the name up to the last slash.
func parent(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }

// Lines returns the lines that have to stay, in their order, and how many more tasks were in progress.
func (w *Watch) Lines() (lines [][]byte, more int) {
	all := slices.Clone(w.last)
	steps := make([]seen, 0, len(w.steps))
	for _, s := range w.steps {
		steps = append(steps, s)
	}
	byPlace := func(a, b seen) int { return a.at - b.at }
	slices.SortFunc(steps, byPlace)
	all = append(all, steps[max(0, len(steps)-maxSteps):]...)
	more = max(0, len(w.tasks)-maxTasks)
	for _, t := range w.tasks[more:] {
		all = append(all, t.seen)
	}
	slices.SortFunc(all, byPlace)
	all = slices.CompactFunc(all, func(a, b seen) bool { return a.at == b.at })
	for _, s := range all {
		lines = append(lines, s.line)
	}
	return lines, more
}
