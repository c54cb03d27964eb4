package imports

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/filter/redact"
)

// state is what happens to a part of the other agent's settings.
type state int

// The states.
const (
	adds    state = iota
	there         // nothing to do: it was imported before, or is read where it is
	leaves        // it has no counterpart, or needs a decision of the user
	unreads       // it cannot be read
)

// titles are the titles of the states in the plan.
var titles = map[state]string{
	adds:    "To be added",
	there:   "There already",
	leaves:  "No counterpart, or left to you",
	unreads: "Cannot be read",
}

// step is a line of the plan.
type step struct {
	state state
	what  string   // the part
	why   string   // where it goes, or the reason
	text  []string // shown in full below the line
	do    func() error
}

// importer makes the plan.
type importer struct {
	home, project string // absolute; project is "" if there is none
	getenv        func(string) string
	loaded        *config.Loaded
	options       config.Options

	plan   []step
	rules  []*permissions.Import
	hooks  []hookGroup
	taken  map[string]bool // names that the plan gives to new parts, by kind and name
	failed bool
}

func (i *importer) add(s step) { i.plan = append(i.plan, s) }

// note adds a line of the plan without work.
func (i *importer) note(state state, what, format string, args ...any) {
	if state == unreads {
		i.failed = true
	}
	i.add(step{state: state, what: what, why: fmt.Sprintf(format, args...)})
}

// unread notes a file that cannot be read.
func (i *importer) unread(file string, err error) {
	i.note(unreads, i.shown(file), "%s", strings.ReplaceAll(err.Error(), file+":", "line "))
}

// take reports whether a name is free in the plan, and takes it.
func (i *importer) take(kind, name string) bool {
	if i.taken == nil {
		i.taken = map[string]bool{}
	}
	key := kind + " " + strings.ToLower(name)
	free := !i.taken[key]
	i.taken[key] = true
	return free
}

// leave notes parts of the project that exist and are not imported, with the reasons.
func (i *importer) leave(reasons map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(reasons)) {
		if exists(filepath.Join(i.project, name)) {
			i.note(leaves, name, "%s", reasons[name])
		}
	}
}

// steps returns the lines of a state.
func (i *importer) steps(s state) (all []step) {
	for _, one := range i.plan {
		if one.state == s {
			all = append(all, one)
		}
	}
	return all
}

// print writes the plan.
func (i *importer) print(w io.Writer, agent string) error {
	var b strings.Builder
	mask, err := redact.NewScanner(nil)
	if err != nil {
		return err
	}
	shown := func(text string) string {
		text, _ = mask.Mask(text)
		return cli.OneLine(text)
	}
	for _, s := range []state{adds, there, leaves, unreads} {
		steps := i.steps(s)
		if len(steps) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", titles[s])
		for _, one := range steps {
			line := "  " + shown(one.what)
			if one.why != "" {
				line += ": " + shown(one.why)
			}
			b.WriteString(line + "\n")
			for _, text := range one.text {
				b.WriteString("      " + shown(text) + "\n")
			}
		}
	}
	if len(i.plan) == 0 {
		fmt.Fprintf(&b, "No settings of %s were found.\n", agent)
	} else if len(i.steps(adds)) == 0 {
		b.WriteString("There is nothing to add.\n")
	}
	_, err = io.WriteString(w, b.String())
	return err
}
