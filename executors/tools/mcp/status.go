package mcp

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Status describes a server to people and clients.
type Status struct {
	Name      string            `json:"name"`
	Target    string            `json:"target"` // command or address
	State     State             `json:"state"`
	Revision  string            `json:"protocolVersion,omitempty"`
	Tools     []string          `json:"tools"`               // their names in the session
	LeftOut   map[string]string `json:"leftOut,omitempty"`   // the reason for not offering a tool, by its name at the server
	Prompts   []string          `json:"prompts,omitempty"`   // their commands
	Resources int               `json:"resources,omitempty"` // the number of resources and templates
	Error     string            `json:"error,omitempty"`     // the last error

	Connect, List time.Duration `json:"-"` // duration of the last start, and of the last listing of tools
}

// Status returns the state of each server.
func (s *Session) Status() []Status {
	out := []Status{}
	s.mu.Lock()
	held := slices.Clone(s.withheld)
	s.mu.Unlock()
	for _, server := range s.allServers() {
		st := server.status(s.pool.mask)
		for _, o := range held {
			if o.server == server {
				st.leaveOut(o.Name, o.remoteName, o.withheldReason)
			}
		}
		out = append(out, st)
	}
	return out
}

// status returns the state of the server for people; mask redacts its texts.
func (j *sessionServer) status(mask func(string) string) Status {
	st := Status{Name: j.entry.Name, Target: mask(j.entry.Target()), Tools: []string{}}
	for _, o := range j.offers() {
		st.Tools = append(st.Tools, o.Name)
	}
	_, st.Prompts, _ = j.promptCommands()
	j.mu.Lock()
	defer j.mu.Unlock()
	st.Resources = len(j.lists.resources) + len(j.lists.templates)
	st.State, st.Revision, st.Connect, st.List = j.state, j.revision, j.connected, j.listed
	if j.err != nil {
		st.Error = mask(oneLine(j.err.Error()))
	}
	for _, t := range j.tools {
		if t.problem != "" {
			st.leaveOut("", t.name, t.problem)
		}
	}
	return st
}

// Refuse moves tools to LeftOut that the model's provider refuses, with its reasons by
// their names in the session.
func (s *Status) Refuse(reasons map[string]string) {
	for _, name := range slices.Clone(s.Tools) {
		if reason, ok := reasons[name]; ok {
			s.leaveOut(name, name, reason)
		}
	}
}

// leaveOut moves a tool from Tools to LeftOut. as is its name there. The server may have
// chosen the name and parts of the reason.
func (s *Status) leaveOut(name, as, reason string) {
	s.Tools = slices.DeleteFunc(s.Tools, func(other string) bool { return other == name })
	if s.LeftOut == nil {
		s.LeftOut = map[string]string{}
	}
	s.LeftOut[cmp.Or(oneLine(as), "(no name)")] = oneLine(reason)
}

// String describes the server in a few lines of Markdown.
func (s Status) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- `%s`: %s", s.Name, s.State)
	if s.State == Ready {
		fmt.Fprintf(&b, ", %s", quantity.Count(len(s.Tools), "tool"))
		if len(s.Prompts) > 0 {
			fmt.Fprintf(&b, ", %s", quantity.Count(len(s.Prompts), "prompt"))
		}
		if s.Resources > 0 {
			fmt.Fprintf(&b, ", %s", quantity.Count(s.Resources, "resource"))
		}
	}
	if s.Revision != "" {
		fmt.Fprintf(&b, ", protocol %s", s.Revision)
	}
	if s.Error != "" {
		fmt.Fprintf(&b, "; %s", s.Error)
	}
	b.WriteByte('\n')
	for _, t := range s.Tools {
		fmt.Fprintf(&b, "  - `%s`\n", t)
	}
	for _, name := range slices.Sorted(maps.Keys(s.LeftOut)) {
		fmt.Fprintf(&b, "  - `%s` is left out: %s\n", name, s.LeftOut[name])
	}
	return b.String()
}
