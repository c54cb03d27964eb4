package fixtures

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
)

// silence is how long the agent must write nothing to count as waiting for the client.
// Only Rewrite uses it.
const silence = 400 * time.Millisecond

// Rewrite plays the client's part of a fixture and returns the file with the agent's
// lines replaced by those it writes now. A line {"agent": null} marks a place where
// the client waits for lines that are not known yet. Names keep their values; UUIDs
// without a name get one: $S for sessions, $M1 for messages, $T1 for tool calls, $U1
// for others. $MODEL is a model in the directory of the run. "$ANY" stays, and replaces
// values that differ between runs or machines.
//
// A golden file records the actual behaviour, not the right one: read the
// difference.
func Rewrite(f *Fixture, c Conn) ([]byte, error) {
	p := newPlayer(c)
	lines, err := p.rewrite(f)
	if err := cmp.Or(err, p.end()); err != nil {
		return nil, err
	}
	out := *f.archive
	out.Files = slices.Clone(f.archive.Files)
	for i := range out.Files {
		if out.Files[i].Name == "frames.jsonl" {
			out.Files[i].Data = lines
		}
	}
	return txtar.Format(&out), nil
}

// rewrite plays the client's lines and returns frames.jsonl with the agent's current lines.
func (p *player) rewrite(f *Fixture) ([]byte, error) {
	if !f.initializes() {
		if err := p.initialize(f); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	n := newNames(func(string) bool { return false })
	if dir := filepath.Dir(string(p.Workspace)); filepath.IsAbs(dir) && dir != filepath.Dir(dir) {
		n.runPaths = []string{dir} // exists in this run only
		n.differs = n.hasRunPath
	}
	for _, run := range runs(f.steps) {
		at, err := run[0], error(nil)
		if at.side == client {
			at, err = p.send(run)
			writeTexts(&out, run)
		} else {
			if at.blankBefore {
				out.WriteByte('\n')
			}
			err = p.rewriteSteps(&out, run, n)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: frames.jsonl:%d: %w", f.Name, at.line, err)
		}
	}
	return out.Bytes(), nil
}

func writeTexts(out *bytes.Buffer, run []step) {
	for _, s := range run {
		if s.blankBefore {
			out.WriteByte('\n')
		}
		out.WriteString(s.text + "\n")
	}
}

// rewriteSteps writes consecutive lines of the agent with its current frames. Frames that match an
// array's stay in the array, in its order.
func (p *player) rewriteSteps(out *bytes.Buffer, run []step, names *names) error {
	var groups [][]newFrame
	groupOf := map[int]int{} // the index of the group of a step, by the index of the step
	old := oldFrames(run)
	for n := 0; ; n++ {
		wait := silence
		if n == 0 || len(old) > 0 {
			wait = patience
		}
		got, err := p.read(wait)
		if errors.Is(err, errSilent) {
			break
		}
		if err != nil {
			return err
		}
		from, at := -1, 0
		var text string
		if i := p.similar(old, got); i >= 0 {
			from, at = old[i].line, old[i].at
			text, err = p.line(names, old[i].frame, got)
			old = append(old[:i], old[i+1:]...)
		} else {
			text, err = p.line(names, nil, got)
		}
		if err != nil {
			return err
		}
		if i, ok := groupOf[from]; ok {
			groups[i] = append(groups[i], newFrame{at, text})
			continue
		}
		if from >= 0 && len(run[from].frames) > 1 {
			groupOf[from] = len(groups)
		}
		groups = append(groups, []newFrame{{at, text}})
	}
	for _, g := range groups {
		if len(g) == 1 {
			fmt.Fprintf(out, "{\"agent\":  %s}\n", g[0].text)
			continue
		}
		slices.SortStableFunc(g, func(a, b newFrame) int { return a.at - b.at })
		texts := make([]string, len(g))
		for i, l := range g {
			texts[i] = l.text
		}
		fmt.Fprintf(out, "{\"agent\":  [%s]}\n", strings.Join(texts, ", "))
	}
	return nil
}

// newFrame is a frame in the fixture's form.
type newFrame struct {
	at   int // its place in the array that it was in
	text string
}

// oldFrame is a frame of the agent that a fixture has.
type oldFrame struct {
	line  int // index in its run
	at    int // index in its line
	frame []byte
}

// oldFrames returns the frames of consecutive lines of the agent.
func oldFrames(run []step) []oldFrame {
	var all []oldFrame
	for i, s := range run {
		for at, f := range s.frames {
			all = append(all, oldFrame{i, at, f})
		}
	}
	return all
}

// similar returns the index of the old frame that got matches or replaces, -1 if there
// is none.
func (p *player) similar(old []oldFrame, got []byte) int {
	for i, o := range old {
		if Match(o.frame, got, maps.Clone(p.bindings)) == nil {
			return i
		}
	}
	kind := func(frame []byte) string {
		e := envelopeOf(frame)
		if e.Method == "" {
			return string(plainjson.Canonical(e.ID))
		}
		return e.Method + " " + e.Params.Update.Kind + " " + e.Params.Update.Status
	}
	for i, o := range old {
		if kind(o.frame) == kind(got) {
			return i
		}
	}
	return -1
}

// line writes a frame in the fixture's form. It keeps the names of the old line and
// of known values, and creates names for other values that differ between runs.
func (p *player) line(n *names, before, got []byte) (string, error) {
	tree, err := parseNode(got)
	if err != nil {
		return "", err
	}
	if before != nil {
		old, err := parseNode(before)
		if err != nil {
			return "", err
		}
		tree.adopt(n, old)
		tree.loosen(n, old)
	} else {
		tree.loosen(n, nil)
	}
	tree.strings("", n.replace)
	named := tree.String()
	if d := Match([]byte(named), got, p.bindings); d != nil {
		return "", fmt.Errorf("the names do not fit: %w", d)
	}
	return named, nil
}

// adopt keeps the old line's names for the values in the same places, and its "$ANY".
func (n *node) adopt(names *names, old *node) {
	name, isText := old.text()
	value, valueIsText := n.text()
	switch {
	case isText && name == "$ANY":
		*n = node{raw: old.raw, fixed: true}
	case isText && valueIsText && nameWhole.MatchString(name):
		names.bind(name[1:], value)
	case isText && nameWhole.MatchString(name): // such as the id of a request
		*n = node{raw: old.raw, fixed: true}
	}
	for _, m := range n.members {
		if o := old.member(m.key); o != nil {
			m.value.adopt(names, o)
		}
	}
	for i := range min(len(n.items), len(old.items)) {
		n.items[i].adopt(names, old.items[i])
	}
}
