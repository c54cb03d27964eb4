package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// ParseFile returns the entries of a JSON file in the format that other clients use:
// an object mcpServers, or servers, with an entry for each name. Entries are sorted
// by name. Text such as ${NAME} stays unchanged. An entry that cannot be used is an
// error among others; the rest is returned with it.
func ParseFile(data []byte) ([]Server, error) {
	var file struct {
		MCPServers map[string]json.RawMessage `json:"mcpServers"`
		Servers    map[string]json.RawMessage `json:"servers"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("not JSON with mcpServers: %w", err)
	}
	entries := file.MCPServers
	if entries == nil {
		entries = file.Servers
	}
	var servers []Server
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		s, err := parseEntry(name, entries[name])
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
			continue
		}
		servers = append(servers, s)
	}
	return servers, errors.Join(wrong...)
}

// parseEntry returns the server that an entry of the file describes.
func parseEntry(name string, raw json.RawMessage) (Server, error) {
	var in struct {
		Type     string            `json:"type"`
		Command  string            `json:"command"`
		Args     []string          `json:"args"`
		Env      map[string]string `json:"env"`
		URL      string            `json:"url"`
		Headers  map[string]string `json:"headers"`
		Disabled bool              `json:"disabled"`
	}
	s := NewServer()
	if err := json.Unmarshal(raw, &in); err != nil {
		return s, err
	}
	s.Name = strings.Trim(safeName(name), "_-")
	s.Command, s.Args, s.Env, s.URL, s.Headers, s.Enabled = in.Command, in.Args, in.Env, in.URL, in.Headers, !in.Disabled
	switch in.Type {
	case "", "stdio", "http", "streamable-http", "streamableHttp":
	case transportSSE:
		s.Transport = transportSSE
	default:
		return s, fmt.Errorf("unknown type %q", in.Type)
	}
	wrong := setting.Check(s)
	if strings.Contains(s.URL, "${") {
		delete(wrong, "url") // it may be right once its variables are replaced
	}
	return s, firstOf(wrong)
}

// firstOf returns one of the messages of Validate as an error; nil if there is none.
func firstOf(wrong map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		return fmt.Errorf("%s: %s", key, wrong[key])
	}
	return nil
}
