package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// ProjectFile is the name of a repository's file of servers.
const ProjectFile = ".mcp.json"

// ParseProject returns the servers of a repository's file, which lies in dir. Each
// starts a program of the repository's choice. So a session starts it only after the
// user has approved exactly that entry for that directory. The approval covers the files
// of the repository that the entry names; hash returns the hash of one by its name
// relative to dir. ${NAME} and ${NAME:-default} stand for variables of the environment, but not for those
// for which reserved returns true: a repository must not send the keys of providers anywhere.
func ParseProject(dir string, data []byte, getenv func(string) string, reserved func(name string) bool, hash func(name string) (string, error)) ([]Server, error) {
	entries, wrong := ParseFile(data)
	var servers []Server
	for _, e := range entries {
		shown, err := json.MarshalIndent(e.view(), "", "  ")
		if err == nil {
			err = e.expandFor(getenv, reserved, nil)
		}
		if err == nil {
			err = firstOf(setting.Check(e))
		}
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		e.covered = func() ([]string, error) { return e.files(dir, hash) }
		covers, err := e.covered()
		if err != nil {
			wrong = errors.Join(wrong, fmt.Errorf("%s: %w", e.Name, err))
			continue
		}
		e.subject, e.Guarded = &approval.Subject{What: "the MCP server " + e.Name, File: ProjectFile, Dir: dir, Text: string(shown), Covers: covers}, true
		servers = append(servers, e)
	}
	return servers, wrong
}

// maxWords bounds the words of an entry that may name files.
const maxWords = 1000

// files returns the files of the repository in dir that an entry names, with their hashes.
func (s Server) files(dir string, hash func(name string) (string, error)) ([]string, error) {
	texts := slices.Concat([]string{s.Command}, s.Args, slices.Collect(maps.Values(s.Env)))
	var words []string
	for _, text := range texts { // whole, since a name may have spaces, and in parts: --require=./a.js, sh -c "./b.sh"
		words = append(append(words, text), strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`;|&<>()=,:", r) })...)
	}
	if len(words) > maxWords {
		return nil, fmt.Errorf("it has more than %d words", maxWords)
	}
	command := append([]string{s.Command}, s.Args...)
	for _, text := range s.Args { // sh -c "python3 -m srv"
		command = append(command, strings.Fields(text)...)
	}
	words = append(words, approval.Implied(command, filepath.SplitList(s.Env["PYTHONPATH"]))...)
	slices.Sort(words)
	words = slices.Compact(words)
	var out []string
	for _, name := range words {
		if filepath.IsAbs(name) {
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				continue
			}
			name = rel
		}
		if !filepath.IsLocal(filepath.Clean(name)) {
			continue
		}
		if sum, err := hash(filepath.Clean(name)); err == nil { // else it is no file
			out = append(out, name+" "+sum)
		}
	}
	return out, nil
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
