package executors

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// wrappers are members in which models put all parameters of a call, and wrapped are the members beside
// them.
var (
	wrappers = []string{"arguments", "parameters", "params", "input", "args", "kwargs"}
	wrapped  = []string{"name", "tool", "tool_name", "tool_id", "function", "type", "id", "call_id"}
)

// unwrap returns the parameters of a call that has them inside one of the wrappers, if the tool has no
// parameter of any name outside.
func (c *corrector) unwrap(members map[string]any) map[string]any {
	var inside map[string]any
	var wrapper string
	for name, v := range members {
		if _, known := c.root.Properties[name]; known {
			return members
		}
		if slices.Contains(wrapped, name) {
			continue
		}
		if text, ok := v.(string); ok {
			v, _ = decodeStrict([]byte(text))
		}
		object, ok := v.(map[string]any)
		if !ok || inside != nil || !slices.Contains(wrappers, name) {
			return members
		}
		inside, wrapper = object, name
	}
	if inside == nil || !closed(c.root) && len(c.root.Required) == 0 {
		return members
	}
	c.changed, c.renamed = true, append(c.renamed, fmt.Sprintf("[the parameters were inside %q: pass them directly]", wrapper))
	return inside
}

// sameParams are names for one thing, as tools of other agents have them. Models that learned those
// tools use them for ours.
var sameParams = [][]string{
	{"path", "file_path", "file", "filename", "target_file", "absolute_path", "directory", "dir", "dir_path", "directory_path", "folder"},
	{"command", "cmd", "script", "bash_command", "shell_command"},
	{"content", "contents", "text", "file_text", "file_content"},
	{"old_string", "old_str", "old_text", "search"},
	{"new_string", "new_str", "new_text", "replace", "replacement"},
	{"pattern", "regex", "regexp", "query", "search", "search_pattern", "glob", "glob_pattern"},
	{"query", "search_query", "search_term", "pattern"},
	{"include", "glob", "file_pattern", "include_pattern"},
	{"url", "uri", "link"},
	{"source", "src", "from", "source_path", "old_path"},
	{"destination", "dest", "dst", "to", "destination_path", "new_path"},
	{"task", "prompt", "instructions"},
	{"question", "prompt"},
	{"name", "skill", "skill_name", "task_name"},
	{"until", "wait_for"},
	{"id", "bash_id", "task_id", "process_id", "shell_id"},
}

// rename maps unknown members to parameters, by the groups of synonyms. A member maps to the only
// parameter of its group without a value, or the only required one. The value must fit, and no
// other member may map to the same parameter.
func (c *corrector) rename(s *jsonschema.Schema, at string, members map[string]any) {
	if !closed(s) {
		return
	}
	for _, preferRequired := range []bool{false, true} {
		meant := map[string][]string{} // parameter -> members
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, known := s.Properties[name]; known || members[name] == nil {
				continue
			}
			if param := meantParam(s, members, name, preferRequired); param != "" {
				meant[param] = append(meant[param], name)
			}
		}
		for _, param := range slices.Sorted(maps.Keys(meant)) {
			if name := meant[param][0]; len(meant[param]) == 1 {
				c.renameTo(s, at, members, name, param)
			}
		}
	}
}

// renameTo renames a member if its value fits.
func (c *corrector) renameTo(s *jsonschema.Schema, at string, members map[string]any, name, param string) {
	if _, fits := c.nested().attempt(s.Properties[param], at, members[name]); !fits {
		return
	}
	members[param] = members[name]
	delete(members, name)
	c.changed, c.renamed = true, append(c.renamed, fmt.Sprintf("[the parameter is called %s, not %s]", strings.TrimPrefix(at+"."+param, "."), name))
}

// meantParam returns the parameter without a value that an unknown name means, "" if there is no such
// parameter, or more than one.
func meantParam(s *jsonschema.Schema, members map[string]any, name string, preferRequired bool) string {
	var spelled, same, required []string
	for param := range s.Properties {
		switch {
		case members[param] != nil:
		case foldParam(param) == foldParam(name):
			spelled = append(spelled, param)
		case meanSame(param, name):
			same = append(same, param)
			if preferRequired && slices.Contains(s.Required, param) {
				required = append(required, param)
			}
		}
	}
	for _, params := range [][]string{spelled, same, required} {
		if len(params) == 1 {
			return params[0]
		}
	}
	return ""
}

// meanSame reports whether two names of parameters stand for one thing.
func meanSame(a, b string) bool {
	a, b = foldParam(a), foldParam(b)
	return slices.ContainsFunc(sameParams, func(names []string) bool {
		folds := func(name string) func(string) bool { return func(one string) bool { return foldParam(one) == name } }
		return slices.ContainsFunc(names, folds(a)) && slices.ContainsFunc(names, folds(b))
	})
}

// foldParam returns a name without its case and its separators.
func foldParam(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name[:min(len(name), maxSimilarName)]))
}
