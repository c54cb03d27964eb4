package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/agents"
)

// The columns of the table beside peers.
var (
	peerStart     = &row{name: "start → `initialize`", unit: "ms"}
	peerNew       = &row{name: "first `session/new`", unit: "ms"}
	peerStartCPU  = &row{name: "processor time of both", unit: "ms"}
	peerFirst     = &row{name: "first prompt", unit: "ms"}
	peerPrompt    = &row{name: "a further prompt", unit: "ms"}
	peerCall      = &row{name: "a call that reads a file", unit: "ms"}
	peerIdle      = &row{name: "RSS with a session", unit: "MiB"}
	peerIdlePSS   = &row{name: "PSS with a session", unit: "MiB"}
	peerWorked    = &row{name: "RSS after the work", unit: "MiB"}
	peerWorkedPSS = &row{name: "PSS after the work", unit: "MiB"}
	peerSize      = &row{name: "installed", unit: "MiB"}

	timeColumns   = []*row{peerStart, peerNew, peerStartCPU, peerFirst, peerPrompt, peerCall}
	memoryColumns = []*row{peerIdle, peerIdlePSS, peerWorked, peerWorkedPSS, peerSize}
)

const (
	peerTimeout    = 2 * time.Minute
	peerPause      = 200 * time.Millisecond // before the memory is read
	readsInATurn   = 20
	promptsToAPeer = 5
)

// A peer is an agent that is measured as an editor starts it. Ours is one too.
type peer struct {
	contender
	*agents.Agent
	model   *agents.Model
	home    string
	version string // its package and the package's version
	failed  error  // why it is not measured
}

// findPeers returns our binary and the agents that are installed in dir or on PATH.
func findPeers(root, dir, binary string) ([]*peer, error) {
	var all []*peer
	for _, a := range agents.All {
		p := &peer{Agent: a, contender: contender{name: a.Name, path: binary, samples: map[*row][]float64{}}, home: filepath.Join(root, "home-of-"+a.Name)}
		all = append(all, p)
		if a.Peer {
			p.path = agents.Find(dir, a.ACP[0])
		}
		if p.path == "" {
			p.failed = fmt.Errorf("%s is not installed", a.ACP[0])
			continue
		}
		size, version, err := installation(p.path)
		if err != nil {
			return nil, err
		}
		p.add(peerSize, size)
		p.version = version
		if p.model, err = agents.NewModel(); err != nil {
			return nil, err
		}
		_, files := a.Config(p.model.Base)
		if err := agents.WriteFiles(p.home, files); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// measurePeers lets the agents take turns. The samples of the first round, in which an agent
// makes its files, are dropped. An agent that fails is measured no further.
func measurePeers(all []*peer, dir string, rounds int) {
	for i := range rounds + 1 {
		for _, p := range all {
			if p.failed != nil {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", i, rounds, p.name)
			if p.failed = p.round(dir); p.failed != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", p.name, p.failed)
			}
			if i == 0 {
				p.samples = map[*row][]float64{peerSize: p.samples[peerSize]}
			}
		}
	}
}

// round measures a process from its start to its end.
func (p *peer) round(dir string) error {
	env, _ := p.Config(p.model.Base)
	cmd := exec.Command(p.path, p.ACP[1:]...)
	// scripts find the interpreter that was installed with them
	path := filepath.Dir(p.path) + string(os.PathListSeparator) + os.Getenv("PATH")
	cmd.Env = append(env, "PATH="+path, "HOME="+p.home, "ZEPH_HOME="+filepath.Join(p.home, ".zeph"), "LANG=C.UTF-8", "NO_COLOR=1")
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &said, time.Second
	began := time.Now()
	a, err := connect(cmd, p.home, dir)
	if err != nil {
		return err
	}
	a.permits = true
	watchdog := time.AfterFunc(peerTimeout, a.kill)
	err = p.drive(a, began)
	watchdog.Stop()
	a.kill()
	_ = cmd.Wait() // it was killed
	if err != nil {
		return fmt.Errorf("%w: %s", err, tail(said.String()))
	}
	return nil
}

// drive plays the editor.
func (p *peer) drive(a *agent, began time.Time) error {
	if err := a.initialize(noCapabilities); err != nil {
		return err
	}
	p.add(peerStart, ms(time.Since(began)))
	var session string
	took, err := timed(func() (err error) { session, err = a.open(); return err })
	if err != nil {
		return err
	}
	p.add(peerNew, took)
	p.add(peerStartCPU, ms(treeTime(a.cmd.Process.Pid)))
	time.Sleep(peerPause)
	p.weigh(a, peerIdle, peerIdlePSS)
	p.model.Script(0, nil)
	for i := range promptsToAPeer + 1 {
		took, err := timed(func() error { return a.prompt(session) })
		if err != nil {
			return err
		}
		r := peerPrompt
		if i == 0 {
			r = peerFirst
		}
		p.add(r, took)
	}
	if err := p.reads(a, session); err != nil {
		return err
	}
	time.Sleep(peerPause)
	p.weigh(a, peerWorked, peerWorkedPSS)
	return nil
}

// reads measures a turn with calls that read files, and checks that the model got the files.
func (p *peer) reads(a *agent, session string) error {
	var at []time.Time
	p.model.Script(readsInATurn, func(n int) agents.ToolCall {
		at = append(at, time.Now())
		return p.Call(agents.Call{Verb: agents.Reads, Path: fileName(n)}, a.dir)
	})
	if err := a.prompt(session); err != nil {
		return err
	}
	got := p.model.Received()
	if got.Answered < readsInATurn {
		return fmt.Errorf("it made %d of %d calls", got.Answered, readsInATurn)
	}
	if len(got.Absent) > 0 {
		return fmt.Errorf("it has no tool %s", strings.Join(got.Absent, ", "))
	}
	for n := range readsInATurn {
		if !slices.ContainsFunc(got.Requests, func(r *agents.Request) bool { return r.HasResult(fmt.Sprintf("name%d_19()", n)) }) {
			return fmt.Errorf("its model never got %s", fileName(n))
		}
	}
	for n := range at[2:] { // the first call may load what the tool needs
		p.add(peerCall, ms(at[n+2].Sub(at[n+1])))
	}
	return nil
}

// weigh adds the memory of all processes of an agent.
func (p *peer) weigh(a *agent, whole, share *row) {
	rss, pss := 0.0, 0.0
	for _, pid := range processTree(a.cmd.Process.Pid) {
		rss += resident(pid)
		pss += proportional(pid)
	}
	p.add(whole, rss)
	p.add(share, pss)
}

// kill ends all processes of an agent.
func (a *agent) kill() {
	for _, pid := range processTree(a.cmd.Process.Pid) {
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill() // it may have ended
		}
	}
}

// tail returns the end of an output.
func tail(text string) string {
	const most = 500
	text = strings.TrimSpace(text)
	return text[max(0, len(text)-most):]
}
