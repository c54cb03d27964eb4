package trust

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// The kinds of subjects, which their names begin with, and the subject of web pages.
const (
	toolPrefix   = "tool:"
	serverPrefix = "server:"
	skillPrefix  = "skill:"
	content      = "content"
)

// Server returns the subject of an MCP server.
func Server(name string) string { return serverPrefix + name }

// subjectOf parses the name of a subject. A name without a prefix names a tool.
func subjectOf(name string) (string, error) {
	kind, rest, ok := strings.Cut(name, ":")
	switch {
	case name == content:
		return name, nil
	case name == "" || ok && rest == "":
		return "", fmt.Errorf("%q is not a subject, such as bash, tool:bash, server:NAME, skill:NAME or content", name)
	case !ok:
		return toolPrefix + name, nil
	case kind+":" == toolPrefix || kind+":" == serverPrefix || kind+":" == skillPrefix:
		return name, nil
	}
	return "", fmt.Errorf("%q is not one of tool, server, skill", kind)
}

// subjects returns the subjects that a call uses.
func subjects(call *executors.Call) []string {
	out := []string{toolPrefix + call.Tool}
	if call.Server() != "" {
		out = append(out, Server(call.Server()))
	}
	if skill := skillOf(call); skill != "" {
		out = append(out, skillPrefix+skill)
	}
	return out
}

// origins returns the subjects whose text a result shows.
func origins(call *executors.Call, res executors.Result) []string {
	var out []string
	if call.Server() != "" {
		out = append(out, Server(call.Server()))
	}
	if skill := skillOf(call); skill != "" && !res.Failed {
		out = append(out, skillPrefix+skill)
	}
	if call.Card.URL != "" {
		out = append(out, content)
	}
	return out
}

// skillOf returns the name of the skill that a call loads, or "".
func skillOf(call *executors.Call) string {
	if call.Spec.Subject.Of != executors.SkillSubject {
		return ""
	}
	var in map[string]any
	if json.Unmarshal(call.Input, &in) != nil {
		return ""
	}
	name, _ := in[call.Spec.Subject.Param].(string)
	return name
}
