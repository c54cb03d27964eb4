package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// agent is a program behind pipes, and the editor that speaks with it.
type agent struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	out       *bufio.Reader
	id        int
	home, dir string // dir is its workspace
	permits   bool   // answers its questions with "allow"
	terminals map[string]*terminal
}

// terminal is a command that the agent runs in the editor.
type terminal struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

// frame is a line from the agent.
type frame struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Command    string
		Args       []string
		Cwd        string
		TerminalID string
		Options    []struct{ OptionID, Kind string }
	}
	Result struct{ SessionID string }
	Error  json.RawMessage
}

const config = `[[llm.providers]]
type = "compatible"
model = "m"
base_url = %q
context_window = 10000000
[agent]
mode = "auto"
max_tool_iterations = 10000
max_tool_iterations_hard = 10000
[tools.permissions]
bash = [{ pattern = "*", action = "allow" }]
`

// start runs a program with a new home and workspace below root.
func start(program, root, base string) (*agent, error) {
	home, err := os.MkdirTemp(root, "home-")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), fmt.Appendf(nil, config, base), 0o600); err != nil {
		return nil, err
	}
	return startAt(home, program, root, base)
}

// startAt runs a program with a home that start made.
func startAt(home, program, root, base string) (*agent, error) {
	cmd := exec.Command(program)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "ZEPH_HOME=" + home, "BASE_URL=" + base}
	cmd.Stderr = os.Stderr
	return connect(cmd, home, filepath.Join(root, "work"))
}

// connect starts a command that works in dir.
func connect(cmd *exec.Cmd, home, dir string) (_ *agent, err error) {
	a := &agent{cmd: cmd, home: home, dir: dir, terminals: map[string]*terminal{}}
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.out = bufio.NewReaderSize(out, 1<<20)
	return a, a.cmd.Start()
}

// stop ends the agent as an editor does.
func (a *agent) stop() error {
	return errors.Join(a.in.Close(), a.cmd.Wait())
}

func (a *agent) processor() time.Duration { return processorTime(a.cmd.Process.Pid) }

// send writes a request.
func (a *agent) send(method, params string) error {
	a.id++
	_, err := fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", a.id, method, params)
	return err
}

// answers reads the answers of n requests, and serves the agent's own meanwhile.
func (a *agent) answers(n int) (sessions []string, err error) {
	for n > 0 {
		line, err := a.out.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if bytes.Contains(line[:min(len(line), 60)], []byte(`"session/update"`)) {
			continue
		}
		if line[0] != '{' { // some peers log to stdout
			continue
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, err
		}
		switch {
		case f.Error != nil:
			return nil, fmt.Errorf("the agent answered %s", f.Error)
		case f.Method != "" && f.ID != nil:
			if err := a.serve(f); err != nil {
				return nil, err
			}
		case f.Method == "":
			sessions = append(sessions, f.Result.SessionID)
			n--
		}
	}
	return sessions, nil
}

// call sends a request and waits for its answer.
func (a *agent) call(method, params string) (session string, err error) {
	if err := a.send(method, params); err != nil {
		return "", fmt.Errorf("%s: %w", method, err)
	}
	got, err := a.answers(1)
	if err != nil {
		return "", fmt.Errorf("%s: %w", method, err)
	}
	return got[0], nil
}

func (a *agent) initialize(capabilities string) error {
	_, err := a.call("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`}`)
	return err
}

// open opens a session.
func (a *agent) open() (session string, err error) {
	return a.call("session/new", a.newParams())
}

// begin initializes the agent and opens a session.
func (a *agent) begin(capabilities string) (session string, err error) {
	if err := a.initialize(capabilities); err != nil {
		return "", err
	}
	return a.open()
}

// prompt runs a turn.
func (a *agent) prompt(session string) error {
	_, err := a.call("session/prompt", promptParams(session))
	return err
}

func (a *agent) newParams() string {
	return `{"mcpServers":[],"cwd":` + strconv.Quote(a.dir) + `}`
}

func promptParams(session string) string {
	return `{"sessionId":"` + session + `","prompt":[{"type":"text","text":"go on"}]}`
}

// serve answers a request of the agent.
func (a *agent) serve(f frame) error {
	result := "{}"
	t := a.terminals[f.Params.TerminalID]
	switch f.Method {
	case "terminal/create":
		id, err := a.run(f)
		if err != nil {
			return err
		}
		result = `{"terminalId":"` + id + `"}`
	case "terminal/wait_for_exit":
		_ = t.cmd.Wait() // an exit status is an answer too
		result = fmt.Sprintf(`{"exitCode":%d,"signal":null}`, t.cmd.ProcessState.ExitCode())
	case "terminal/output":
		text, _ := json.Marshal(t.out.String()) // a string
		result = fmt.Sprintf(`{"output":%s,"truncated":false}`, text)
	case "session/request_permission":
		i := slices.IndexFunc(f.Params.Options, func(o struct{ OptionID, Kind string }) bool { return strings.HasPrefix(o.Kind, "allow") })
		if !a.permits || i < 0 {
			return errors.New("the agent asked for permission")
		}
		result = fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%q}}`, f.Params.Options[i].OptionID)
	}
	_, err := fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", f.ID, result)
	return err
}

// run starts a command in a terminal.
func (a *agent) run(f frame) (id string, err error) {
	t := &terminal{cmd: exec.Command(f.Params.Command, f.Params.Args...)}
	t.cmd.Dir = f.Params.Cwd
	t.cmd.Stdout, t.cmd.Stderr = &t.out, &t.out
	id = strconv.Itoa(len(a.terminals) + 1)
	a.terminals[id] = t
	return id, t.cmd.Start()
}
