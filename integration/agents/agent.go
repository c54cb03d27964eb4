// Package agents is the table of coding agents that zeph-acp is measured beside, and the
// scripted model that they all speak to.
//
// A measurement describes a call in neutral terms, such as "read these lines". The table
// translates it to the tools of each agent, so that all do the same work. It also says how
// an agent is started, for one turn or as an agent of an editor, so that its model is a
// server on loopback.
//
//	a := agents.All[0]
//	m, err := agents.NewModel()
//	m.Script(1, func(int) agents.ToolCall { return a.Call(agents.Call{Verb: agents.Reads, Path: "a.txt"}, dir) })
//	cmd := exec.Command(agents.Find("", a.Program), a.Turn("Read a.txt")...)
//	env, files := a.Config(m.Base)
package agents

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// An Agent is a program that does the work of a coding agent.
type Agent struct {
	Name    string
	Peer    bool   // another program than ours
	Program string // the file name of the program that runs one turn; "" if there is none
	// Config returns the variables with which the program uses a model at an address, such as
	// "http://127.0.0.1:80", and the files that it needs, relative to its home.
	Config func(base string) (env []string, files map[string]string)
	Turn   func(prompt string) (args []string) // the arguments of a run of one turn, without questions
	ACP    []string                            // the program that serves an editor by ACP, and its arguments
	Tools  map[Verb]Translation
}

// A Translation makes a call of an agent's tool. The path is absolute.
type Translation struct {
	Tool string
	Args func(c Call, path string) any
}

// A ToolCall is a call in the names of an agent.
type ToolCall struct {
	Tool  string
	Input any
}

// A Verb is a kind of call.
type Verb string

// The kinds of calls.
const (
	Runs     Verb = "run"
	Reads    Verb = "read"
	Edits    Verb = "edit"
	Searches Verb = "search"
)

// A Call is what the model wants done, whatever the agent's tools are called.
type Call struct {
	Verb     Verb
	Command  string // run
	Path     string // read, edit, and search: slashes, relative to the workspace
	From, To int    // read: the first and the last line, from 1; 0 is the whole file
	Old, New string // edit: whole lines
	Pattern  string // search: a word
}

// All are the agents, ours first.
var All = slices.Concat([]*Agent{&ours}, peers)

// Names returns the names of all agents.
func Names() (all []string) {
	for _, a := range All {
		all = append(all, a.Name)
	}
	return all
}

// Find returns the path of an agent's program in a directory or on PATH. It returns "" if the
// program is in neither, or has no name.
func Find(dir, program string) string {
	if program == "" {
		return ""
	}
	if dir != "" {
		if path, err := filepath.Abs(filepath.Join(dir, program)); err == nil {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	path, _ := exec.LookPath(program) // "" if it is not there
	return path
}

// Call translates a call for an agent that works in dir. An agent without a tool for it runs
// a command.
func (a *Agent) Call(c Call, dir string) ToolCall {
	t, ok := a.Tools[c.Verb]
	if !ok {
		c, t = c.asCommand(), a.Tools[Runs]
	}
	return ToolCall{t.Tool, t.Args(c, filepath.Join(dir, filepath.FromSlash(c.Path)))}
}

// asCommand returns a command that does what the call does.
func (c Call) asCommand() Call {
	switch c.Verb {
	case Reads:
		if c.To == 0 {
			return Call{Verb: Runs, Command: "cat " + c.Path}
		}
		return Call{Verb: Runs, Command: fmt.Sprintf("sed -n %d,%dp %s", c.From, c.To, c.Path)}
	case Searches:
		return Call{Verb: Runs, Command: fmt.Sprintf("grep -rnE '%s' %s", c.Pattern, c.Path)}
	}
	return c
}

// WriteFiles writes files that Config returned.
func WriteFiles(home string, files map[string]string) error {
	var failed error
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		failed = errors.Join(failed, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	return failed
}
