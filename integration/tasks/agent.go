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
)

// An agent is a program that does tasks.
type agent struct {
	name    string
	peer    bool   // another program than ours
	program string // its file name
	// start returns the arguments and variables of a turn, and the files that it needs,
	// relative to its home.
	start func(base, prompt string) (args, env []string, files map[string]string)
	tools map[verb]translation
}

// A translation makes a call of an agent's tool. The path is absolute.
type translation struct {
	tool string
	args func(c call, path string) any
}

func agentNames() (all []string) {
	for _, a := range agents {
		all = append(all, a.name)
	}
	return all
}

// find returns the path of the program, or "".
func (a *agent) find(o options) string {
	if !a.peer {
		return o.binary
	}
	if o.peers != "" {
		if path, err := filepath.Abs(filepath.Join(o.peers, a.program)); err == nil {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	path, _ := exec.LookPath(a.program) // "" if it is not there
	return path
}

// call translates a call. An agent without a tool for it runs a command.
func (a *agent) call(c call, dir string) toolCall {
	t, ok := a.tools[c.verb]
	if !ok {
		c, t = c.asCommand(), a.tools[runs]
	}
	return toolCall{t.tool, t.args(c, filepath.Join(dir, filepath.FromSlash(c.path)))}
}

// asCommand returns a command that does what the call does.
func (c call) asCommand() call {
	switch c.verb {
	case reads:
		if c.to == 0 {
			return command("cat " + c.path)
		}
		return command(fmt.Sprintf("sed -n %d,%dp %s", c.from, c.to, c.path))
	case searches:
		return command(fmt.Sprintf("grep -rnE '%s' %s", c.pattern, c.path))
	}
	return c
}

// An outcome is what a task cost an agent.
type outcome struct {
	task     *task
	agent    *agent
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
	turnTimeout = 4 * time.Minute  // of a task
	grace       = 15 * time.Second // between the model's last answer and the end of the agent
)

// play lets an agent do a task in a new workspace below root.
func play(ctx context.Context, root, keep string, t *task, a *agent, program string) (*outcome, error) {
	root = filepath.Join(root, t.name+"-"+a.name)
	w, err := newWorkspace(root)
	if err != nil {
		return nil, err
	}
	if err := t.prepare(ctx, w); err != nil {
		return nil, fmt.Errorf("preparing: %w", err)
	}
	m, err := newModel(len(t.steps), func(n int) toolCall { return a.call(t.steps[n], w.dir) })
	if err != nil {
		return nil, err
	}
	defer m.quit()
	if a.peer { // its scripts find the interpreter that was installed with it
		w.addPath(filepath.Dir(program))
	}
	args, env, files := a.start(m.base, t.prompt)
	if files == nil {
		files = map[string]string{}
	}
	files[".bash_profile"] = "export PATH='" + w.path() + "'\n" // login shells begin with the system's
	for name, text := range files {
		path := filepath.Join(root, "home", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	turn, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	cmd := exec.CommandContext(turn, program, args...)
	cmd.Dir, cmd.Env = w.dir, append(slices.Clone(w.env), env...)
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	failed := cmd.Start()
	if failed == nil {
		go func() { // some agents stay for a while after the end
			select {
			case <-m.ended:
				time.AfterFunc(grace, cancel)
			case <-turn.Done():
			}
		}()
		failed = cmd.Wait()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &outcome{task: t, agent: a, facts: len(w.facts), lost: lost(w.facts, m.requests)}
	counted := meter{}
	for _, r := range m.requests {
		o.rounds = append(o.rounds, counted.bill(r))
	}
	if failed != nil && turn.Err() == nil {
		o.notes = append(o.notes, fmt.Sprintf("exited with %v: %s", failed, tail(said.String())))
	}
	if m.answered < len(t.steps) {
		o.notes = append(o.notes, fmt.Sprintf("made %d of %d calls", m.answered, len(t.steps)))
	}
	if out, err := w.output(ctx, t.check); err != nil {
		o.notes = append(o.notes, fmt.Sprintf("the work is not done: %s: %s", t.check, tail(out)))
	}
	o.finished = len(o.notes) == 0
	if keep != "" {
		return o, m.keep(filepath.Join(keep, filepath.Base(root)), said.Bytes())
	}
	return o, nil
}

// keep writes all requests, and what the agent printed.
func (m *model) keep(dir string, said []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, body := range m.bodies {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.json", i+1)), body, 0o600); err != nil {
			return err
		}
	}
	said = append(said, strings.Join(m.unserved, "\n")...)
	return os.WriteFile(filepath.Join(dir, "output"), said, 0o600)
}

// tail returns the end of an output.
func tail(text string) string {
	const most = 300
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-most):]
}
