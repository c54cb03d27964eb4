package mcp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/approval"
)

// ProjectFile is the name of a repository's file of servers.
const ProjectFile = ".mcp.json"

// ParseProject returns the servers of a repository's file, which lies in dir. Each
// starts a program of the repository's choice, so a session starts it only after the
// user has approved exactly that entry for that directory. ${NAME} and
// ${NAME:-default} stand for variables of the environment.
func ParseProject(dir string, data []byte, getenv func(string) string) ([]Server, error) {
	entries, wrong := ParseFile(data)
	var servers []Server
	for _, e := range entries {
		shown, err := json.MarshalIndent(e.view(), "", "  ")
		if err == nil {
			err = e.expand(getenv)
		}
		if err == nil {
			err = firstOf(e.Validate())
		}
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		e.subject, e.Guarded = &approval.Subject{What: "the MCP server " + e.Name, File: ProjectFile, Dir: dir, Text: string(shown)}, true
		servers = append(servers, e)
	}
	return servers, wrong
}

// view returns the parts of an entry that the user approves.
func (s Server) view() any {
	return struct {
		Name    string            `json:"name"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}{s.Name, s.Command, s.Args, s.Env, s.URL, s.Headers}
}

// expand replaces the variables in all texts of an entry.
func (s *Server) expand(getenv func(string) string) (err error) {
	one := func(text string) string {
		out, wrong := expand(text, getenv)
		err = errors.Join(err, wrong)
		return out
	}
	s.Command, s.URL = one(s.Command), one(s.URL)
	for i, a := range s.Args {
		s.Args[i] = one(a)
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for name, value := range values {
			values[name] = one(value)
		}
	}
	return err
}
