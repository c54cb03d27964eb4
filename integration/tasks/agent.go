package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// find returns the path of the program, or "".
func find(a *agents.Agent, o options) string {
	if !a.Peer {
		return o.binary
	}
	return agents.Find(o.peers, a.Program)
}

// An outcome is what a task cost an agent.
type outcome struct {
	task     *task
	agent    *agents.Agent
	rounds   []*bill
	facts    int
	lost     []fact
	notes    []string // what went wrong
	finished bool     // the work is done
}

func (o *outcome) sound() bool { return len(o.lost) == 0 && o.finished }

// total returns the bill of all rounds.
func (o *outcome) total() *bill {
	sum := newBill()
	for _, b := range o.rounds {
		sum.add(b)
	}
	return sum
}

const (
	turnTimeout = 10 * time.Minute // of a task, on a busy machine
	grace       = 15 * time.Second // between the model's last answer and the end of the agent
)

// play lets an agent do a task in a new workspace below root.
func play(ctx context.Context, root, keep string, t *task, a *agents.Agent, program string) (*outcome, error) {
	root = filepath.Join(root, t.name+"-"+a.Name)
	w, err := newWorkspace(root)
	if err != nil {
		return nil, err
	}
	if err := t.prepare(ctx, w); err != nil {
		return nil, fmt.Errorf("preparing: %w", err)
	}
	m, err := agents.NewModel()
	if err != nil {
		return nil, err
	}
	defer m.Quit()
	ended := m.Script(len(t.steps), func(n int) agents.ToolCall { return a.Call(t.steps[n], w.dir) })
	if a.Peer { // its scripts find the interpreter that was installed with it
		w.addPath(filepath.Dir(program))
	}
	env, files := a.Config(m.Base)
	if files == nil {
		files = map[string]string{}
	}
	files[".bash_profile"] = "export PATH='" + w.path() + "'\n" // login shells begin with the system's
	if err := agents.WriteFiles(filepath.Join(root, "home"), files); err != nil {
		return nil, err
	}
	turn, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	cmd := exec.CommandContext(turn, program, a.Turn(t.prompt)...)
	cmd.Dir, cmd.Env = w.dir, append(slices.Clone(w.env), env...)
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	failed := cmd.Start()
	if failed == nil {
		go func() { // some agents stay for a while after the end
			select {
			case <-ended:
				time.AfterFunc(grace, cancel)
			case <-turn.Done():
			}
		}()
		failed = cmd.Wait()
	}
	got := m.Received()
	o := &outcome{task: t, agent: a, facts: len(w.facts), lost: lost(w.facts, got.Requests)}
	counted := meter{}
	for _, r := range got.Requests {
		o.rounds = append(o.rounds, counted.bill(r))
	}
	if failed != nil && turn.Err() == nil {
		o.notes = append(o.notes, fmt.Sprintf("exited with %v: %s", failed, tail(said.String())))
	}
	if got.Answered < len(t.steps) {
		o.notes = append(o.notes, fmt.Sprintf("made %d of %d calls", got.Answered, len(t.steps)))
	}
	if len(got.Absent) > 0 {
		o.notes = append(o.notes, "does not have these tools that the model called: "+strings.Join(got.Absent, ", "))
	}
	if out, err := w.output(ctx, t.check); err != nil {
		o.notes = append(o.notes, fmt.Sprintf("the work is not done: %s: %s", t.check, tail(out)))
	}
	o.finished = len(o.notes) == 0
	if keep != "" {
		return o, keepAll(got, filepath.Join(keep, filepath.Base(root)), said.Bytes())
	}
	return o, nil
}

// keepAll writes all requests, and what the agent printed.
func keepAll(got agents.Received, dir string, said []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, body := range got.Bodies {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.json", i+1)), body, 0o600); err != nil {
			return err
		}
	}
	said = append(said, strings.Join(got.Unserved, "\n")...)
	return os.WriteFile(filepath.Join(dir, "output"), said, 0o600)
}

// tail returns the end of an output.
func tail(text string) string {
	const most = 300
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-most):]
}
